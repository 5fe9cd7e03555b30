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

// All samples that taught any of these kernels; kernels are known by their names.
[[nodiscard]] std::vector<Index> teachers_of(const std::vector<std::string>& kernel_names,
                                             const Targets& targets);

}  // namespace kloom::kernels
