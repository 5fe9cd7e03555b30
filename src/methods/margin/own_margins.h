// SPDX-License-Identifier: BSD-3-Clause
//
// Margin MKL where samples lack kernels [Liu2015]: the margin of every sample is measured in the space of its own kernels.
//
//   minimise     ½ Σ_m ‖w_m‖²/θ_m + Σ_i C_i max(0, 1 − y_i (f_i + b)/τ_i)     (mkl.h has the rest)
//   with         τ_i = ‖w in the kernels that sample i has‖ / ‖w‖,   f_i = the sum over those kernels
//
// For fixed τ that is margin MKL with boxes C_i/τ_i and margins τ_i, convex and with a duality gap; τ is what the solution
// says it is, found by iterating, as [Chechik2008] and [Liu2014] (Algorithm 1) do. Nothing proves that the iteration ends
// at the best τ, nor that it ends; it is cut off, and says so.
//
//   ‖w‖  in the norm that the weights' rule belongs to: τ_i = (Σ_{m present} u_m)^(1/r), u_m the share of kernel m in
//        Σ_m ‖w_m‖^r with r = 2p/(p + 1) for ‖θ‖_p ≤ 1 [Kloft2011], or in Σ_m ‖w_m‖²/θ_m, r = 2, for weights that are given
#pragma once

#include <span>

#include "methods/margin/mkl.h"

namespace kloom::methods {

// The smallest τ: a sample that has next to nothing of w would have a box without end.
inline constexpr double kLeastOwnMargin = 0.05;

// 1/r; `norm`: p, or 0 where the weights are given.
[[nodiscard]] double margin_root(double norm);

// τ of each row of `presence` (samples × kernels), between kLeastOwnMargin and 1.
[[nodiscard]] Vector own_margins(const Matrix& presence, std::span<const double> shares, double root);

// u, `root` is 1/r; equal shares where all outputs of kernels are 0.
[[nodiscard]] Vector norm_shares(const KernelBank& bank, const MarginSolution& solution, double root);

// As solve_margin_mkl, and the same bits, where every sample has every kernel.
[[nodiscard]] MarginSolution solve_with_own_margins(const KernelBank& bank, const MarginTask& task,
                                                    const MarginSettings& settings, MarginStart start,
                                                    const Context& context);

// The dual variables of `start` scaled down as far as these boxes ask; they still sum to 0 with their signs.
void shrink_into(const Vector& box, MarginStart& start);

}  // namespace kloom::methods
