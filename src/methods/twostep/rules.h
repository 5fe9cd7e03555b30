// SPDX-License-Identifier: BSD-3-Clause
//
// Rules that find kernel weights from kernels and labels alone, before any machine is trained on Σ_m θ_m K_m:
//
//   easymkl      θ_m ∝ γᵀ Y K_m Y γ,  γ the distributions over positives and negatives that minimise
//                (1 − λ) γᵀ Y (Σ_m K_m) Y γ + λ ‖γ‖²                               [AiolliDonini2015, eq. 8 to 11]
//   gram         θ that minimises R²/ρ², the squared radius of the smallest ball around all samples over the squared
//                distance of the classes, in the space of (1 − λ) Σ_m θ_m K_m + λ I                [Lauriola2017]
//   align        θ_m ∝ ⟨K̃_m, L⟩ / ‖K̃_m‖, K̃ the centred kernel, L the labels' kernel     [Cortes2012, section 3.1]
//   alignf       θ ∝ argmin over v ≥ 0 of vᵀ M v − 2 vᵀ a,  M_ml = ⟨K̃_m, K̃_l⟩, a_m = ⟨K̃_m, L⟩
//                                                                             [Cortes2012, proposition 9]
//   fheuristic   θ_m ∝ ⟨K_m, L⟩ / ‖K_m‖, nothing centred                                             [QiuLane2009]
//   pwmk         θ_m ∝ the accuracy of a support vector machine on K_m alone, less a threshold       [Tanabe2008]
//
// All weights are scaled to Σ_m θ_m = 1, so that C means what it means for `uniform`. A sample of weight s counts as s
// copies of it, one of weight 0 as none. Where a rule has nothing to go by, the weights are equal.
#pragma once

#include <cstdint>

#include "kloom/bank.h"
#include "kloom/context.h"

namespace kloom::methods {

// What a rule looks at besides the kernels.
struct RuleTask {
  Matrix labels;   // N × columns; L = labels labelsᵀ: ±1, a number, or a column of 0 and 1 for every class
  Vector weights;  // of the samples
};

// Weights and what they follow from, as far as the rule has it.
struct RuleWeights {
  Vector theta;
  Vector gamma;        // easymkl, gram: 0 for samples of weight 0; empty where one side has no samples
  Vector ball;         // gram: distribution over the samples whose mean is the centre of the ball; else empty
  Vector bound_gamma;  // gram: of the best lower bound on the ratio
  Vector bound_ball;
  Vector accuracies;  // pwmk: of every kernel
  double gap = 0.0;   // gram: no weights have a ratio that is lower by more than this part
  Index iterations = 0;
};

// 0 < lambda ≤ 1; labels: one column of ±1.
[[nodiscard]] RuleWeights easymkl_weights(const KernelBank& bank, const RuleTask& task, double lambda,
                                          const Context& context);

struct GramSettings {
  double lambda = 0.1;      // 0 < λ ≤ 1
  double tolerance = 1e-3;  // stop at this gap
  Index iterations = 500;   // or after as many weights were tried
};
// Labels: one column of ±1.
[[nodiscard]] RuleWeights gram_weights(const KernelBank& bank, const RuleTask& task,
                                       const GramSettings& settings, const Context& context);

struct PwmkSettings {
  double threshold = 0.5;
  double price = 1.0;  // C of the machines
  Index folds = 3;
  std::uint64_t seed = 0;
};
// Labels: one column of ±1. Accuracies are those of held-out samples that have the kernel.
[[nodiscard]] RuleWeights pwmk_weights(const KernelBank& bank, const RuleTask& task,
                                       const PwmkSettings& settings, const Context& context);

[[nodiscard]] Vector align_weights(const KernelBank& bank, const RuleTask& task);
[[nodiscard]] Vector alignf_weights(const KernelBank& bank, const RuleTask& task);
[[nodiscard]] Vector fheuristic_weights(const KernelBank& bank, const RuleTask& task);

// Samples of weight on both sides of labels ±1.
[[nodiscard]] bool has_both_sides(const RuleTask& task);

// Scaled to the sum 1, with values below 0, which kernels that are not semidefinite can give, raised to 0; equal weights
// where nothing is left.
[[nodiscard]] Vector weights_of(Vector values);

}  // namespace kloom::methods
