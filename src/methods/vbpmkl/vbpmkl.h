// SPDX-License-Identifier: BSD-3-Clause
//
// vbpmkl: the multinomial probit machine of Damoulas and Girolami on a convex combination of kernels, by variational
// inference (solver.h). All classes share the kernel weights.
#pragma once

#include <memory>

#include "kloom/learner.h"
#include "methods/seam/option_table.h"

namespace kloom::methods {

struct VbpmklOptions {
  double tau = 1e-3;
  double upsilon = 1e-3;
  Index iterations = 500;
  double tolerance = 1e-4;
  bool variance = true;  // keep the covariances of the coefficients
  bool literal = false;
  Index draws = 1000;
  double mu = 1.0;
  double lambda = 1.0;
};

[[nodiscard]] const OptionTable<VbpmklOptions>& vbpmkl_option_table();
[[nodiscard]] Learner vbpmkl_learner();
[[nodiscard]] FitResult fit_vbpmkl(const KernelBank& bank, const Targets& targets, const VbpmklOptions& options,
                                   const Context& context);
[[nodiscard]] std::shared_ptr<const ModelPart> load_vbpmkl(PartReader& file, const Model& model);

}  // namespace kloom::methods
