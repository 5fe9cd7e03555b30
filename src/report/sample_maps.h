// SPDX-License-Identifier: BSD-3-Clause
//
// Maps of samples × kernels, ordered and counted for people to look at.
#pragma once

#include <string>
#include <vector>

#include "kloom/report.h"

namespace kloom::report {

// A sample's switches as text, a character per kernel: '1' on, '0' off, '-' off where the kernel
// has no weight anyway.
[[nodiscard]] std::string pattern_text(const Report::SampleMap& map, Index sample);

struct PatternCount {
  std::string pattern;
  Index samples = 0;
  std::vector<Index> by_class;
};
// The distinct patterns, the most frequent first.
[[nodiscard]] std::vector<PatternCount> pattern_counts(const Report::SampleMap& map);

// Samples by class, then by pattern (switches) or by the kernel with the largest gate.
[[nodiscard]] std::vector<Index> drawing_order(const Report::SampleMap& map);

// Mean of the map over the samples of each class: classes × kernels; over all samples where
// there are no classes.
[[nodiscard]] Matrix class_means(const Report::SampleMap& map);

}  // namespace kloom::report
