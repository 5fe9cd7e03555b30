// SPDX-License-Identifier: BSD-3-Clause
//
// What the stochastic learners of classes have in common around their algorithms.
#pragma once

#include "kloom/learner.h"
#include "kloom/parts.h"
#include "methods/stochastic/counted_sgd.h"

namespace kloom::methods {

[[nodiscard]] ClassLabels labels_of(const Targets& targets);

// Weights, coefficients and biases of so many outputs, all 0.
void shape_outputs(Model& model, const KernelBank& bank, Index outputs);
// The model's own weights and coefficients from the solutions that predict: mean and deviation, and sum.
void summarise_terms(const StochasticPart& part, Model& model);

}  // namespace kloom::methods
