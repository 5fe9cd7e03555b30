// SPDX-License-Identifier: BSD-3-Clause
//
// Spectrum kernel: the inner product of the counts of all substrings of length k.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kloom/matrix.h"

namespace kloom::kernels {

// Numbers for k-mers, given out in the order in which they are met. The texts must outlive it.
using KmerNumbers = std::unordered_map<std::string_view, Index>;

// Counts of k-mers (bytes, overlapping) of each text, row-compressed.
class KmerCounts {
 public:
  KmerCounts() : starts_(1, 0) {}
  KmerCounts(const std::vector<std::string>& texts, Index k, KmerNumbers& numbers);
  // The next text: numbers of what is in it, in any order and repeated as often as they occur.
  void add(std::vector<Index> found);
  // A count c becomes 1 + ln c: what is repeated tells less each time.
  void dampen();
  // Multiplies the counts of each number by its factor.
  void weigh(const std::vector<double>& factors);
  // Texts in which each of `numbers` occurs.
  [[nodiscard]] std::vector<Index> frequencies(Index numbers) const;

  [[nodiscard]] Index texts() const { return static_cast<Index>(starts_.size()) - 1; }
  [[nodiscard]] std::size_t bytes() const {
    return entries_.size() * sizeof(Entry) + starts_.size() * sizeof(Index);
  }

  // Adds weight * count to dense[k-mer] for the k-mers of a text.
  void scatter(Index text, double weight, double* dense) const;
  // Sets dense to 0 at the k-mers of a text.
  void clear(Index text, double* dense) const;
  // Σ count * dense[k-mer] over the k-mers of a text.
  [[nodiscard]] double gather(Index text, const double* dense) const;
  // Σ count² of a text.
  [[nodiscard]] double squared_norm(Index text) const;

 private:
  struct Entry {
    Index kmer;
    double count;
  };
  [[nodiscard]] const Entry* begin(Index text) const {
    return entries_.data() + starts_[static_cast<std::size_t>(text)];
  }
  [[nodiscard]] const Entry* end(Index text) const {
    return entries_.data() + starts_[static_cast<std::size_t>(text) + 1];
  }

  std::vector<Index> starts_;
  std::vector<Entry> entries_;
};

}  // namespace kloom::kernels
