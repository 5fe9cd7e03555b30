// SPDX-License-Identifier: BSD-3-Clause
//
// Products in single precision, twice as fast: for terms that are so small beside the rest of a sum that their
// rounding, about 1e-7 of themselves, is lost in it. What comes in and goes out is double.
#pragma once

#include <span>

#include "kloom/matrix.h"

namespace kloom::algebra {

// C += alpha A B.
void add_product_in_single(double alpha, ConstMatrixView a, ConstMatrixView b, MatrixView c);

// Diagonals of powers of a symmetric matrix; the third and the fourth are rounded.
struct DiagonalPowers {
  Vector second, third, fourth;
};
[[nodiscard]] DiagonalPowers diagonal_powers(ConstMatrixView a);

// With M = A Δ₁ A, A symmetric and δ₁ the numbers of δ at the places `kept` (0 elsewhere), for every i:
struct SandwichSums {
  Vector second;      // Σ_j (2δ − δ₁)_j A_ij M_ij, the diagonal of AΔAΔA but for that of AΔ₂AΔ₂A
  Vector third;       // Σ_j δ_j M_ij²
  Vector third_size;  // Σ_j |δ_j| M_ij²
};
[[nodiscard]] SandwichSums sandwich_sums(ConstMatrixView a, const Vector& delta, std::span<const Index> kept);

}  // namespace kloom::algebra
