// SPDX-License-Identifier: BSD-3-Clause
//
// gp-mkl: kernel weights of greatest evidence. The scores are a Gaussian process with the covariance
//
//   K = Σ_p w_p K_p + w_0 11ᵀ,   w ≥ 0,
//
// numbers are scores plus Gaussian noise, classes come from the logistic likelihood, every class against the rest with
// the same weights. The evidence, the probability of the targets with the scores integrated out, chooses w
// [RasmussenWilliams2006, chapter 5]: exactly for numbers, by Laplace's approximation for classes (likelihood.h). Unlike a
// margin it does not grow with every kernel that fits the training samples better, so it can choose among widths.
#pragma once

#include <memory>

#include "kloom/learner.h"
#include "methods/seam/option_table.h"

namespace kloom::methods {

struct GpmklOptions {
  Index evidence_samples = 2000;
  Index variance_samples = 2000;
  double penalty = 0.0;
  bool calibrate = true;
  Index iterations = 200;
  double tolerance = 1e-3;
};

[[nodiscard]] const OptionTable<GpmklOptions>& gpmkl_option_table();
[[nodiscard]] Learner gpmkl_learner();
[[nodiscard]] FitResult fit_gpmkl(const KernelBank& bank, const Targets& targets, const GpmklOptions& options,
                                  const Context& context);
[[nodiscard]] std::shared_ptr<const ModelPart> load_gpmkl(PartReader& file, const Model& model);

}  // namespace kloom::methods
