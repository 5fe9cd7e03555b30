// SPDX-License-Identifier: BSD-3-Clause
//
// Where samples end up in decision trees.
#pragma once

#include <string>
#include <vector>

#include "kloom/kernels.h"
#include "kloom/matrix.h"

namespace kloom::kernels {

// Trees × samples: the node of each tree at which a sample's questions end. `inputs`: the columns of `samples` that the
// features of the trees are.
[[nodiscard]] Matrix leaves_reached(const std::vector<DecisionTree>& trees, ConstMatrixView samples,
                                    const std::vector<Index>& inputs);

// Why these trees over so many features cannot have been grown; empty if they can.
[[nodiscard]] std::string trees_trouble(const std::vector<DecisionTree>& trees, Index features);

}  // namespace kloom::kernels
