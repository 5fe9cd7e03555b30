// SPDX-License-Identifier: BSD-3-Clause
//
// Gradient boosting of decision trees [Friedman2001], with second-order gains and leaf values [ChenGuestrin2016, eq. 6, 7]:
//
//   f_c ← f_c + rate·v_c(leaf of x),   v_c = −G_c/(H_c + 1),   G_c = Σ_i ∂loss_i/∂f_c,  H_c = Σ_i ∂²loss_i/∂f_c²
//   gain of a question = Σ_c [ G_c,yes²/(H_c,yes + 1) + G_c,no²/(H_c,no + 1) − G_c²/(H_c + 1) ]
//
// over the samples of a node. The loss is the squared error, the logistic loss, or the log loss of softmax(f). One tree a
// round serves all classes: its leaves hold a value for each, and gains are summed over them. The leaf of greatest gain
// is divided next. Questions compare a feature with one of at most 254 values in between its own.
//
// Only the partitions of the trees are used here, as kernels; the values of the leaves are what makes the next tree.
#pragma once

#include <vector>

#include "kloom/kernels.h"
#include "kloom/matrix.h"

namespace kloom::kernels {

struct BoostingProblem {
  Matrix features;          // samples × features
  std::vector<int> labels;  // 0 … classes − 1
  Index classes = 0;        // 0: numbers
  Vector numbers;           // mean 0, mean square 1
};

struct BoostingSettings {
  Index trees = 100;        // fewer where samples, features and classes are many
  double operations = 4e9;  // at most about so many, unless ten trees take more
  Index leaves = 16;        // of a tree, at most
  Index least = 10;         // samples in a leaf
  double rate = 0.1;
};

// At least one tree; where no question helps any more, fewer than were asked for.
[[nodiscard]] std::vector<DecisionTree> boosted_trees(const BoostingProblem& problem,
                                                      const BoostingSettings& settings);

}  // namespace kloom::kernels
