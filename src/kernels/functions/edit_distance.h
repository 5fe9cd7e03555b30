// SPDX-License-Identifier: BSD-3-Clause
//
// Edit distances: the least number of letters (bytes) that are inserted, left out or changed to make one text of another.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kloom/matrix.h"

namespace kloom::kernels {

// A text that others are compared with, sixty-four letters of it at a time.
class EditPattern {
 public:
  explicit EditPattern(std::string_view pattern);

  // Differences of the table's last column from one letter of the pattern to the next, in bits: rises and falls.
  struct Column {
    std::vector<std::uint64_t> rises;
    std::vector<std::uint64_t> falls;
  };
  [[nodiscard]] Index distance(std::string_view text, Column& scratch) const;

 private:
  Index length_;
  std::size_t blocks_;
  std::vector<std::uint64_t> places_;  // of each letter, by block and letter
};

// Texts × references: the edit distance of each text to each reference, divided by the root of their number. The references
// are the training texts, or a thousand of them in even steps where there are more. Throws InvalidArgument where
// this would take hours.
[[nodiscard]] Matrix edit_vectors(const std::vector<std::string>& texts,
                                  const std::vector<std::string>& training);

}  // namespace kloom::kernels
