// SPDX-License-Identifier: BSD-3-Clause
//
// lp-beta: a support vector machine on every kernel alone, then weights of their scores by a linear programme: LP-β with
// one weight for each kernel, LP-B with one for each kernel and class [GehlerNowozin2009].
//
//   1  for every kernel C by cross-validation; what its machines say of samples that they have not seen (machines.h)
//   2  weights by the margins of these scores (solvers/margin_programme.h), ν by folds
//   3  machines from all samples on the kernels that got weight
//
//   score of class c:  Σ_p β_pc (Σ_i A_i,pc k_p(x, x_i) + b_pc)
#pragma once

#include <memory>
#include <string>

#include "kloom/learner.h"
#include "kloom/part_file.h"
#include "methods/seam/option_table.h"

namespace kloom::methods {

struct LpBetaOptions {
  std::string weights_per = "kernel";  // or "class"
  double nu = 0.0;                     // ν; 0: choose it from nu_grid
  std::string nu_grid = "0.05,0.1,0.2,0.4,0.8";
  double C = 0.0;  // of the machines; 0: choose it for every kernel from C_grid
  std::string C_grid = "10^-2..10^3";
  Index folds = 3;
  double tolerance = 1e-3;            // relative duality gap of the machines
  std::string class_weight = "none";  // or "balanced"
  bool probability = true;
};

[[nodiscard]] const OptionTable<LpBetaOptions>& lp_beta_option_table();
[[nodiscard]] Learner lp_beta_learner();
[[nodiscard]] FitResult fit_lp_beta(const KernelBank& bank, const Targets& targets,
                                    const LpBetaOptions& options, const Context& context);
[[nodiscard]] std::shared_ptr<const ModelPart> load_lp_beta(PartReader& file, const Model& model);

}  // namespace kloom::methods
