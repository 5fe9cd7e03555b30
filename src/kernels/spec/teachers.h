// SPDX-License-Identifier: BSD-3-Clause
//
// Kernels that learn from labels (scale=relevance, trees) learn from some of the training samples, their teachers. Whoever
// compares such kernels with others by held-out losses must count the losses of the other samples only: teachers would
// flatter what they taught.
#pragma once

#include <string>
#include <vector>

#include "kloom/matrix.h"
#include "kloom/targets.h"

namespace kloom::kernels {

// Samples that have a label and a weight above 0.
[[nodiscard]] std::vector<Index> labelled_samples(const Targets& targets);

// At most `most` samples and at most this share of those with a label, classes in their shares; the same for the same
// targets, and a smaller number of them is part of a larger one.
[[nodiscard]] std::vector<Index> teachers(const Targets& targets, double share, Index most);

// Samples from which one fold has enough of them to judge by.
constexpr Index kOneFoldJudges = 4000;

// A kernel of trees that all samples taught, and for every fold that judges the one that its samples did not teach.
struct CrossTaught {
  Index whole = 0;
  Index folds = 0;
  std::vector<Index> without;  // kernels; of the first fold, …
};
// Those among these kernels, which are known by their names.
[[nodiscard]] std::vector<CrossTaught> cross_taught(const std::vector<std::string>& kernel_names);

// All samples that taught any of these kernels, but for those that are cross-taught.
[[nodiscard]] std::vector<Index> teachers_of(const std::vector<std::string>& kernel_names,
                                             const Targets& targets);

}  // namespace kloom::kernels
