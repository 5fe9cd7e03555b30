// SPDX-License-Identifier: BSD-3-Clause
//
// The predictive distribution of BEMKL: mean, variance and probability of new samples.
#pragma once

#include "kloom/bank.h"
#include "kloom/parts.h"

namespace kloom::methods {

// Var f⋆ (in regression Var y⋆) of one output for every row of `bank`, given the kernels' outputs
// ḡ = [k_m⋆ᵀ μ_a]_m (rows × P).
//
//   1/ε + [1 ḡᵀ] Σ_(b,e) [1; ḡ] + (1/υ) (‖μ_e‖² + tr Σ_e) + k_eᵀ Σ_a k_e,   k_e = Σ_m μ_em k_m⋆
//
// with ε = 1 and 1/υ = σ_g² in classification, and the mean square of outputs of kernel m in place of 1/υ where the
// sample lacks it. The paper [Gonen2012, section 4.3] keeps the first two terms
// only; so does `literal`. Without Σ_a in the model the last one is left out.
[[nodiscard]] Vector bemkl_variance(const Model& model, const KernelBank& bank, const Matrix& outputs,
                                    Index output);

// Standard deviations of what each kernel adds, e_m g_m⋆, rows × P: e_m and g_m⋆ are independent in q, so that
// Var(e_m g_m⋆) = μ_em² v_m + Var e_m (ḡ_m² + v_m) with v_m = Var g_m⋆ = 1/υ + k_m⋆ᵀ Σ_a k_m⋆ (without Σ_a in the model its
// part is left out). A pass of N² per row for every kernel.
[[nodiscard]] Matrix bemkl_contribution_deviation(const Model& model, const KernelBank& bank,
                                                  const Matrix& outputs, Index output);

// P(y = +1) = Φ((μ−ν)/s) / (Φ((μ−ν)/s) + Φ((−μ−ν)/s)), in log space; s the standard deviation (`literal`: the
// variance, as published).
[[nodiscard]] double bemkl_probability(double mean, double variance, const BemklPosterior& posterior);

// Probabilities of all classes (or of every label) from scores and deviations, both s × M. Two classes: as
// above. Several with a probit each: the same, normalised. Multinomial: the probability that a class has the
// largest f. Labels: one probability each.
[[nodiscard]] Matrix bemkl_probabilities(const Model& model, const Matrix& scores, const Matrix& deviation);

}  // namespace kloom::methods
