// SPDX-License-Identifier: BSD-3-Clause
//
// The trees of a kernel of trees. They are boosted on half of the labelled samples, so that the other half can judge the
// kernel; or on all of them and once more without each of some folds, so that every fold can judge the trees that never
// saw it.
#pragma once

#include <string>
#include <vector>

#include "kloom/dataset.h"
#include "kloom/kernels.h"
#include "kloom/targets.h"

namespace kloom::kernels {

// The samples on which trees are grown: at most 10,000 and at most half of those with a label.
[[nodiscard]] std::vector<Index> tree_samples(const Targets& targets);

// The fold of every sample, 0 … folds − 1, classes spread evenly; −1 of a sample without a label. The same for the same
// targets.
[[nodiscard]] std::vector<Index> tree_folds(const Targets& targets, Index folds);

// Whether there are samples enough to grow trees and to judge them by others, and few enough columns.
[[nodiscard]] bool trees_pay(const Targets& targets, Index columns);

// The folds that judge trees; 0 where there are so many samples that half of them are enough to grow trees.
[[nodiscard]] Index folds_worth_growing(const Targets& targets);

// Leaves per tree that are worth trying: 8, and where there are some 100 samples for each also 32 or 128.
[[nodiscard]] std::vector<Index> leaves_worth_trying(const Targets& targets);

// Who teaches the kernels of one family. Without folds there is one kernel, number 0. With folds number 0 is taught by all
// labelled samples, and number k by those outside of fold k − 1, for every fold that judges.
class TreeTeachers {
 public:
  // Throws InvalidArgument where there are no targets to learn from, or fewer samples than folds.
  TreeTeachers(const Targets* targets, Index folds);

  [[nodiscard]] std::vector<Index> samples(Index kernel) const;
  // What the kernel's name says of its teachers, behind the leaves.
  [[nodiscard]] std::string label(Index kernel) const;
  [[nodiscard]] const Targets& targets() const { return *targets_; }
  [[nodiscard]] Index folds() const { return folds_; }
  [[nodiscard]] Index kernels() const { return kernels_; }

 private:
  const Targets* targets_;
  Index folds_;
  Index kernels_ = 1;
};

// Trees of at most `term.parameter` leaves on the features of the term.
[[nodiscard]] std::vector<DecisionTree> grow_trees(const Dataset& train, const KernelTerm& term,
                                                   const TreeTeachers& teachers, Index kernel);

}  // namespace kloom::kernels
