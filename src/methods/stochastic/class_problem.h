// SPDX-License-Identifier: BSD-3-Clause
//
// What the stochastic learners of classes have in common around their algorithms.
#pragma once

#include <functional>

#include "kloom/learner.h"
#include "kloom/parts.h"
#include "methods/stochastic/counted_sgd.h"

namespace kloom::methods {

[[nodiscard]] ClassLabels labels_of(const Targets& targets);

// A fit where samples may lack kernels. What a sample has is then taken times √(P/its kernels), so that the sum of all its
// kernels with itself is as large as that of a whole sample; the scales are in the coefficients. Prediction does the same
// with the kernels that have weight (StochasticPart).
[[nodiscard]] FitResult balanced_fit(const KernelBank& bank,
                                     const std::function<FitResult(const KernelBank&)>& fit);

// Weights, coefficients and biases of so many outputs, all 0.
void shape_outputs(Model& model, const KernelBank& bank, Index outputs);
// The model's own weights and coefficients from the solutions that predict: mean and deviation, and sum.
void summarise_terms(const StochasticPart& part, Model& model);

}  // namespace kloom::methods
