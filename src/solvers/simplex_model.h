// SPDX-License-Identifier: BSD-3-Clause
//
// Where a quadratic model is least on the simplex: the step of Newton's method for kernel weights.
//
//   minimise     slopeᵀx + ½ (x − c)ᵀ H (x − c)     over x ≥ 0, Σ x = Σ c
//   given        H positive semidefinite, the slope, c ≥ 0
//   returns      x
#pragma once

#include "kloom/matrix.h"

namespace kloom::solvers {

// `tolerance`: on the differences of the model's slopes, in their units.
[[nodiscard]] Vector simplex_model_minimum(const Matrix& hessian, const Vector& slope, const Vector& centre,
                                           double tolerance);

// Uᵀ B U, B the inverse of a positive definite matrix on the subspace where Eᵀx = 0: how the least value of a quadratic
// form under the equations E changes with its linear terms U. `factor`: Cholesky factor of the matrix; `right`: [U E] with
// `equations` columns of E, overwritten. All 0 where the equations depend on each other.
[[nodiscard]] Matrix projected_inverse_form(const Matrix& factor, Matrix right, Index equations);

}  // namespace kloom::solvers
