// SPDX-License-Identifier: BSD-3-Clause
//
// MKL-DA, multiple kernel learning with data augmentation (Nguyen et al. 2016).
//
//   minimise  (1/N) Σ_n max(0, 1 + max_{m ≠ y_n} g(m, x_n) − g(y_n, x_n)) + ½ Σ_mf γ_mf ‖w_mf‖²,
//   g(m, x) = Σ_f ⟨w_mf, Φ_f(x)⟩,   γ_mf = (α + β² λ_mf⁻¹)/N
//
// over W by stochastic gradient descent (counted_sgd.h), in turn with the penalties γ. Symbols of the paper: F
// kernels (P elsewhere in kloom), M classes, W = (w_mf), α and β the strengths of the ℓ2 and the group penalty,
// λ_mf the auxiliary variables. `mode` says how γ is found:
//
//   soft      strength C = F/α by held-out folds, several values weighted by how good they are;
//             γ_mf = (F/(2CN))(1 + median‖w‖/‖w_mf‖)
//   plain     α, β, λ drawn from the published conditionals, each from the original priors; sweeps averaged
//   literal   Algorithm 1 as printed: each posterior is the next prior, the last W is the answer
#pragma once

#include <string>

#include "kloom/learner.h"
#include "methods/seam/option_table.h"

namespace kloom::methods {

struct MkldaOptions {
  std::string mode = "soft";
  Index sweeps = 0;                                      // 0: 12 (soft) or 21
  double epochs = 3.0;                                   // passes over the samples in a sweep
  std::string strengths = "0.3,1,3,10,30,100,300,3000";  // soft: values of C
  Index choose_on = 5000;                                // soft: samples on which C is chosen, at most
  bool probability = true;                               // soft: fit a temperature on held-out samples
  double kappa = 1.0;  // priors: α ~ Gamma(κ₀, scale θ₀), β ~ N(μ₀, σ₀²)
  double theta = 1.0;
  double mu = 1.0;
  double sigma = 1.0;
};

[[nodiscard]] const OptionTable<MkldaOptions>& mklda_option_table();
[[nodiscard]] Learner mklda_learner();
[[nodiscard]] FitResult fit_mklda(const KernelBank& bank, const Targets& targets, const MkldaOptions& options,
                                  const Context& context);

}  // namespace kloom::methods
