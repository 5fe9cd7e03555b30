// SPDX-License-Identifier: BSD-3-Clause
//
// What the stochastic learners of classes have in common around their algorithms.
#pragma once

#include <string>

#include "kloom/learner.h"
#include "methods/stochastic/counted_sgd.h"

namespace kloom::methods {

// Throws InvalidArgument: samples that do not fit the kernels, a task without classes, a sample without a
// label.
void check_class_problem(const std::string& method, const KernelBank& bank, const Targets& targets);
[[nodiscard]] ClassLabels labels_of(const Targets& targets);

// Classes, kernel names and the shape of the weights.
void describe_classes(Model& model, const Targets& targets, const KernelBank& bank, Index outputs);
// The model's own weights and coefficients from the solutions that predict: mean and deviation, and sum.
void summarise_terms(const StochasticPart& part, Model& model);

}  // namespace kloom::methods
