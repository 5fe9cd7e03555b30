// SPDX-License-Identifier: BSD-3-Clause
//
// Localised MKL as a method of the registry: what is minimised is in solver.h. Two classes, one output
// per class (one-versus-rest, each with its own gates), or regression with the ε-insensitive loss on
// the standardised target.
#pragma once

#include <string>

#include "kloom/learner.h"
#include "methods/seam/option_table.h"

namespace kloom::methods {

struct LmklOptions {
  double C = 1.0;                // price of a violation
  std::string C_grid;            // values to choose C from by cross-validation; empty: take C
  std::string gate = "softmax";  // or "sigmoid"
  // The kernel whose principal components are the inputs of the gates: "mean" of all, a name, or a number.
  std::string gate_kernel = "mean";
  Index gate_inputs = 10;   // so many components at most
  Index steps = 50;         // of the gradient
  double change = 1e-4;     // relative fall of the objective to stop at
  double tolerance = 1e-5;  // relative duality gap of each SVM
  double epsilon = 0.1;     // half width of the tube, in standard deviations of the target
  Index folds = 5;
  std::string class_weight = "none";
  bool probability = true;
};

[[nodiscard]] const OptionTable<LmklOptions>& lmkl_option_table();
[[nodiscard]] Learner lmkl_learner();
[[nodiscard]] FitResult fit_lmkl(const KernelBank& bank, const Targets& targets, const LmklOptions& options,
                                 const Context& context);

}  // namespace kloom::methods
