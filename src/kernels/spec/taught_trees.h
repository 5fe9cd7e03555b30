// SPDX-License-Identifier: BSD-3-Clause
//
// The trees of a kernel of trees: boosted on half of the labelled samples, so that the other half can judge the kernel.
#pragma once

#include <vector>

#include "kloom/dataset.h"
#include "kloom/kernels.h"
#include "kloom/targets.h"

namespace kloom::kernels {

// The samples on which trees are grown: at most 10,000 and at most half of those with a label.
[[nodiscard]] std::vector<Index> tree_samples(const Targets& targets);

// Whether there are samples enough to grow trees and to judge them by others, and few enough columns.
[[nodiscard]] bool trees_pay(const Targets& targets, Index columns);

// Leaves per tree that are worth trying: 8, and where there are some 50 teachers for each also 32 or 128.
[[nodiscard]] std::vector<Index> leaves_worth_trying(const Targets& targets);

// Trees of at most `term.parameter` leaves on the features of the term. Throws InvalidArgument where there are no targets
// to learn from.
[[nodiscard]] std::vector<DecisionTree> grow_trees(const Dataset& train, const KernelTerm& term,
                                                   const Targets* targets);

}  // namespace kloom::kernels
