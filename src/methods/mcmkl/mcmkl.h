// SPDX-License-Identifier: BSD-3-Clause
//
// Multiclass MKL of Zien and Ong as a method of the registry: what is minimised is in solver.h. All
// classes share one set of kernel weights. With kernels on classes beside the identity, the weights say
// how similar the classes are.
#pragma once

#include <string>

#include "kloom/learner.h"
#include "methods/mcmkl/solver.h"
#include "methods/seam/option_table.h"

namespace kloom::methods {

struct McmklOptions {
  double C = 1.0;                          // price of a violation of the margin
  std::string C_grid;                      // values to choose C from by cross-validation; empty: take C
  Index folds = 3;                         // of that cross-validation
  bool probability = true;                 // fit a temperature on held-out samples
  std::string algorithm = "level";         // or "silp", "silp-compact", "qcqp"
  std::string class_kernels = "identity";  // class_kernels.h
  std::string loss = "hinge";              // or "squared-hinge", "logistic"
  bool bias = true;
  double tolerance = 1e-3;  // relative duality gap
  Index iterations = 500;   // m-SVMs, at most
};

[[nodiscard]] const OptionTable<McmklOptions>& mcmkl_option_table();
[[nodiscard]] Learner mcmkl_learner();
[[nodiscard]] std::shared_ptr<const ModelPart> load_mcmkl(PartReader& file, const Model& model);
[[nodiscard]] FitResult fit_mcmkl(const KernelBank& bank, const Targets& targets, const McmklOptions& options,
                                  const Context& context);

}  // namespace kloom::methods
