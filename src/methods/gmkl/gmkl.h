// SPDX-License-Identifier: BSD-3-Clause
//
// gmkl: support vector machines on a product of powers of kernels, Π_p k_p^γ_p, the exponents learned with them
// (solver.h) [VarmaBabu2009]. With a Gaussian kernel on each column that is one Gaussian with a width for every column.
// All outputs share the product.
#pragma once

#include <memory>
#include <string>

#include "kloom/learner.h"
#include "kloom/part_file.h"
#include "methods/seam/option_table.h"

namespace kloom::methods {

struct GmklOptions {
  double C = 0.0;  // 0: choose it from C_grid
  std::string C_grid = "10^-1..10^3";
  Index folds = 3;
  double lambda = 1.0;
  std::string regulariser = "l1";  // or "l2"
  double epsilon = 0.1;
  double tolerance = 1e-2;
  Index iterations = 200;
  std::string class_weight = "none";  // or "balanced"
  bool probability = true;
};

[[nodiscard]] const OptionTable<GmklOptions>& gmkl_option_table();
[[nodiscard]] Learner gmkl_learner();
[[nodiscard]] FitResult fit_gmkl(const KernelBank& bank, const Targets& targets, const GmklOptions& options,
                                 const Context& context);
[[nodiscard]] std::shared_ptr<const ModelPart> load_gmkl(PartReader& file, const Model& model);

}  // namespace kloom::methods
