// SPDX-License-Identifier: BSD-3-Clause
//
// Multiple-kernel ridge regression of many targets, each with kernel weights and a strength of its own [LaTour2022].
//
//   f = Σ_m θ_m K_m c with (Σ_m θ_m K_m + α S⁻¹) c = y, which minimises Σ_i s_i (y_i − f_i)² + α cᵀ(Σ_m θ_m K_m)c
//   θ among points of the simplex, α in a grid: those of least leave-one-out error
//
// With K̂ = S^½ K S^½ = V Λ Vᵀ and Ĝ = K̂ + α I, the error of sample i when it is left out is (Ĝ⁻¹ŷ)_i / (Ĝ⁻¹)_ii, times
// S^−½: one decomposition for every point serves all strengths and targets.
//
// Where K̂ = F Fᵀ with fewer columns than rows, linear kernels on views of few columns for one, this is ridge regression on
// the columns of F, with a strength α/θ_m for each band of them: FᵀF = V Λ Vᵀ, W = F V, Ĝ⁻¹ = (I − W (Λ + αI)⁻¹ Wᵀ)/α.
//
// Where samples lack kernels, K(i, j) is divided by √(s_i s_j) with the shares s of the point's kernels that they have
// (present_scales of models/scores.h), and the coefficients hold the training samples' part of that.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kloom/bank.h"
#include "kloom/context.h"
#include "methods/mkr/task.h"

namespace kloom::methods {

// Points of the simplex, draws × P: equal weights first, then Dirichlet draws of concentration 1 (spread) and 0.1 (near
// its edges) in turn. A kernel's numbers depend on seed and name alone, so that permuted kernels have permuted points.
[[nodiscard]] Matrix simplex_points(const std::vector<std::string>& names, Index draws, std::uint64_t seed);

// Mean diagonals over the samples that have the kernel; nothing where every sample has every kernel.
[[nodiscard]] Vector kernel_sizes(const KernelBank& bank);

// The best point and strength of every target, the first of equal ones. Throws InvalidArgument where kernels are so far
// from semidefinite that no strength has a solution.
[[nodiscard]] RidgeChoice search_points(const KernelBank& bank, const RidgeTask& task, const Matrix& points,
                                        const Vector& grid, const Context& context);

}  // namespace kloom::methods
