// SPDX-License-Identifier: BSD-3-Clause
//
// Rules that find kernel weights from kernels and labels alone, before any machine is trained on Σ_m θ_m K_m:
//
//   easymkl      θ_m ∝ γᵀ Y K_m Y γ,  γ the distributions over positives and negatives that minimise
//                (1 − λ) γᵀ Y (Σ_m K_m) Y γ + λ ‖γ‖²                               [AiolliDonini2015, eq. 8 to 11]
//   align        θ_m ∝ ⟨K̃_m, L⟩ / ‖K̃_m‖, K̃ the centred kernel, L the labels' kernel     [Cortes2012, section 3.1]
//   alignf       θ ∝ argmin over v ≥ 0 of vᵀ M v − 2 vᵀ a,  M_ml = ⟨K̃_m, K̃_l⟩, a_m = ⟨K̃_m, L⟩
//                                                                             [Cortes2012, proposition 9]
//
// All weights are scaled to Σ_m θ_m = 1, so that C means what it means for `uniform`. A sample of weight s counts as s
// copies of it, one of weight 0 as none. Where a rule has nothing to go by, the weights are equal.
#pragma once

#include "kloom/bank.h"
#include "kloom/context.h"

namespace kloom::methods {

// What a rule looks at besides the kernels.
struct RuleTask {
  Matrix labels;   // N × columns; L = labels labelsᵀ: ±1, a number, or a column of 0 and 1 for every class
  Vector weights;  // of the samples
};

struct EasyWeights {
  Vector theta;
  Vector gamma;  // 0 for samples of weight 0; empty where one side has no samples
};
// 0 < lambda ≤ 1; labels: one column of ±1.
[[nodiscard]] EasyWeights easymkl_weights(const KernelBank& bank, const RuleTask& task, double lambda,
                                          const Context& context);

[[nodiscard]] Vector align_weights(const KernelBank& bank, const RuleTask& task);
[[nodiscard]] Vector alignf_weights(const KernelBank& bank, const RuleTask& task);

// Scaled to the sum 1, with values below 0, which kernels that are not semidefinite can give, raised to 0; equal weights
// where nothing is left.
[[nodiscard]] Vector weights_of(Vector values);

}  // namespace kloom::methods
