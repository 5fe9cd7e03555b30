// SPDX-License-Identifier: BSD-3-Clause
//
// The predictive distribution of BEMKL: mean, variance and probability of new samples.
#pragma once

#include "kloom/bank.h"
#include "kloom/model.h"

namespace kloom::models {

// Var f⋆ for every row of `bank`, given the kernels' outputs ḡ = [k_m⋆ᵀ μ_a]_m (rows × P).
//
//   1 + [1 ḡᵀ] Σ_(b,e) [1; ḡ] + σ_g² (‖μ_e‖² + tr Σ_e) + k_eᵀ Σ_a k_e,   k_e = Σ_m μ_em k_m⋆
//
// The paper [Gonen2012, section 4.3] keeps the first two terms only; so does `literal`. Without Σ_a in the
// model the last one is left out.
[[nodiscard]] Vector bemkl_variance(const Model& model, const KernelBank& bank, const Matrix& outputs);

// P(y = +1) = Φ((μ−ν)/s) / (Φ((μ−ν)/s) + Φ((−μ−ν)/s)), in log space; s the standard deviation (`literal`: the
// variance, as published).
[[nodiscard]] double bemkl_probability(double mean, double variance, const BemklPosterior& posterior);

}  // namespace kloom::models
