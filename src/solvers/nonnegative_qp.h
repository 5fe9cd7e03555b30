// SPDX-License-Identifier: BSD-3-Clause
//
// The nonnegative quadratic programme of kernel alignment.
//
//   minimise     vᵀ M v − 2 vᵀ a     over v ≥ 0
//   given        M positive semidefinite with positive diagonal, a
//   returns      v
//
// Active sets as in [LawsonHanson1974, chapter 23], on M scaled to a diagonal of 1.
#pragma once

#include "kloom/matrix.h"

namespace kloom::solvers {

// Variables that M cannot tell apart get equal shares, whatever their order: a ridge of 1e-10 on the scaled diagonal
// decides between them and makes every subproblem definite.
[[nodiscard]] Vector solve_nonnegative_qp(const Matrix& m, const Vector& a);

}  // namespace kloom::solvers
