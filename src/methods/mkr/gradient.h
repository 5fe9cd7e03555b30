// SPDX-License-Identifier: BSD-3-Clause
//
// From the best point of a search on: descent of the leave-one-out error by the logarithms of v_m = θ_m/α, the step that
// [LaTour2022] takes with folds. With Ĝ = Σ_m v_m K̂_m + I, c = Ĝ⁻¹ŷ, h the diagonal of Ĝ⁻¹ and e = c/h,
//
//   ∂ Σ_i e_i² / ∂ log v_m = v_m Σ_ij K̂_m(i, j) B_ij,   B = Ĝ⁻¹ diag(2e²/h) Ĝ⁻¹ − ½ (a cᵀ + c aᵀ),   a = Ĝ⁻¹(2e/h)
#pragma once

#include "kloom/bank.h"
#include "kloom/context.h"
#include "methods/mkr/task.h"

namespace kloom::methods {

// Betters one target of `choice` by at most so many steps; an evaluation costs N³ and a pass over the kernels.
void descend(const KernelBank& bank, const RidgeTask& task, Index target, Index steps, RidgeChoice& choice);

// Value and slope, for tests.
struct LeaveOneOut {
  double loss = 0.0;
  Vector slope;  // by log v
  Vector dual;   // c
};
[[nodiscard]] LeaveOneOut leave_one_out(const KernelBank& bank, const RidgeTask& task, Index target,
                                        const Vector& v);

}  // namespace kloom::methods
