// SPDX-License-Identifier: BSD-3-Clause
//
// Division of samples into folds.
#pragma once

#include <cstdint>
#include <vector>

#include "kloom/matrix.h"

namespace kloom::data {

// Fold 0 … folds−1 of every sample: shuffled by the seed, every class spread evenly over the folds. Regression
// has one code for all.
[[nodiscard]] std::vector<Index> stratified_folds(const std::vector<int>& codes, Index folds,
                                                  std::uint64_t seed);

// At most `most` samples (ascending), shuffled by the seed, every class in its share of all samples.
[[nodiscard]] std::vector<Index> spread_samples(const std::vector<int>& codes, Index most, std::uint64_t seed);
// The same of the samples `among` (ascending), whose codes these are.
[[nodiscard]] std::vector<Index> spread_samples(const std::vector<Index>& among, const std::vector<int>& codes,
                                                Index most, std::uint64_t seed);

}  // namespace kloom::data
