// SPDX-License-Identifier: BSD-3-Clause
//
// BEMKL, Bayesian efficient multiple kernel learning [Gonen2012], binary labels.
//
//   given        P kernels over N samples, labels y_i ∈ {−1, +1}
//   maximise     a lower bound on log p(y) over factorised posteriors (bemkl_factors.h)
//   returns      posterior means and covariances of sample weights a, kernel weights e and bias b; predictions
//                with variance and probability
//
// Departures from the paper, each with its reason, are in docs/methods/bemkl.md. `literal` keeps the published
// choices: random start, a fixed number of iterations, probabilities divided by the variance.
#pragma once

#include <string>

#include "kloom/learner.h"
#include "learners/bemkl_factors.h"
#include "learners/option_table.h"

namespace kloom::learners {

struct BemklOptions {
  double sigma_g = 1.0;     // standard deviation of the intermediate outputs
  double margin = 1.0;      // ν: |f| > ν
  Index iterations = 200;   // at most
  double tolerance = 1e-6;  // stop when the bound rises by less than this part of itself
  bool sparse = false;      // (1e-10, 1e+10) on ω instead of (alpha_omega, beta_omega)
  double alpha_lambda = 1.0, beta_lambda = 1.0;
  double alpha_gamma = 1.0, beta_gamma = 1.0;
  double alpha_omega = 1.0, beta_omega = 1.0;
  std::string start = "mean";  // or "random"
  bool variance = true;        // keep Σ(a), which the full predictive variance needs
  bool literal = false;
};

[[nodiscard]] const OptionTable<BemklOptions>& bemkl_option_table();
[[nodiscard]] Learner bemkl_learner();
// The model that the factors amount to.
[[nodiscard]] Model bemkl_model(const KernelBank& bank, const Targets& targets, const BemklFactors& factors,
                                const BemklOptions& options);
[[nodiscard]] FitResult fit_bemkl(const KernelBank& bank, const Targets& targets, const BemklOptions& options,
                                  const Context& context);

}  // namespace kloom::learners
