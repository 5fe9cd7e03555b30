// SPDX-License-Identifier: BSD-3-Clause
//
// Substrings that may differ in places: with mismatches, a substring of k letters counts for all strings that differ from
// it in at most so many places; with gaps, a window of k + gaps letters counts for all strings of k letters that are in it
// in this order, each once, and a shorter text is one window.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernels/functions/spectrum.h"
#include "kloom/matrix.h"

namespace kloom::kernels {

struct SubstringRule {
  Index k = 0;
  Index mismatches = 0;
  Index gaps = 0;
  friend auto operator<=>(const SubstringRule&, const SubstringRule&) = default;
};

// Numbers for the strings that are found, given out in the order in which they are met.
class SubstringNumbers {
 public:
  // Letters (bytes) of the training texts are those that others are changed into.
  SubstringNumbers(const SubstringRule& rule, const std::vector<std::string>& training);

  // Throws InvalidArgument where there would be too many strings to count.
  [[nodiscard]] KmerCounts counts(const std::vector<std::string>& texts);
  [[nodiscard]] Index size() const { return std::ssize(numbers_); }

 private:
  [[nodiscard]] Index window(std::string_view text) const;
  [[nodiscard]] double strings_per_window() const;
  void check_work(const std::vector<std::string>& texts) const;
  const std::vector<Index>& strings_of(const std::string& window);
  void vary(std::string& word, std::size_t from, Index left, std::vector<Index>& found);
  void leave_out(std::string_view window, std::size_t from, std::string& kept, std::vector<Index>& found);
  Index number(const std::string& string);

  SubstringRule rule_;
  std::string letters_;
  std::unordered_map<std::string, Index> numbers_;
  std::unordered_map<std::string, std::vector<Index>> windows_;  // what each window that was met counts for
};

}  // namespace kloom::kernels
