// SPDX-License-Identifier: BSD-3-Clause
//
// The BLAS/LAPACK seam: the few dense operations that kloom is made of, on column-major views. Nothing
// outside this folder names a BLAS routine, so another backend replaces one folder.
#pragma once

#include <span>

#include "kloom/matrix.h"

namespace kloom::algebra {

enum class Op { none, transpose };

// C = alpha op(A) op(B) + beta C.
void gemm(Op op_a, Op op_b, double alpha, ConstMatrixView a, ConstMatrixView b, double beta, MatrixView c);
// y = alpha op(A) x + beta y.
void gemv(Op op, double alpha, ConstMatrixView a, std::span<const double> x, double beta, std::span<double> y);
// C = alpha A Aᵀ + beta C (op none) or alpha Aᵀ A + beta C (transpose); both triangles of C are filled.
void syrk(Op op, double alpha, ConstMatrixView a, double beta, MatrixView c);
// The same for the lower triangle alone, for sums of many terms.
void syrk_lower(Op op, double alpha, ConstMatrixView a, double beta, MatrixView c);
[[nodiscard]] double dot(std::span<const double> x, std::span<const double> y);
// y += alpha x.
void axpy(double alpha, std::span<const double> x, std::span<double> y);
void scale(double alpha, std::span<double> x);
// A ← A + alpha x xᵀ, full matrix.
void rank_one(double alpha, std::span<const double> x, MatrixView a);
// The same for the lower triangle alone.
void rank_one_lower(double alpha, std::span<const double> x, MatrixView a);
// Copies the lower triangle onto the upper one.
void symmetrise_from_lower(MatrixView a);

// Cholesky A = L Lᵀ in place (lower triangle). Returns 0, or the order of the first minor that is
// not positive definite.
[[nodiscard]] Index cholesky(MatrixView a);
// x ← (L Lᵀ)⁻¹ x for every column of x, L from `cholesky`.
void cholesky_solve(ConstMatrixView l, MatrixView x);
// x ← L x for every column of x, L lower triangular.
void lower_multiply(ConstMatrixView l, MatrixView x);
// x ← L⁻¹ x for every column of x.
void lower_solve(ConstMatrixView l, MatrixView x);
// A ← L⁻¹ in place where A = L Lᵀ (lower triangle of A is read; the strict upper one becomes 0). Cholesky and
// triangular inverse in one recursion of large products: faster than the two after each other. Returns 0, or
// the order of a minor that is not positive definite. A is of no use then.
[[nodiscard]] Index cholesky_inverse_factor(MatrixView a);
// x ← (L Lᵀ)⁻¹ x for every column of x, from L⁻¹.
void solve_from_inverse_factor(ConstMatrixView l_inverse, MatrixView x);
// L⁻ᵀ L⁻¹ = (L Lᵀ)⁻¹ in place of L⁻¹, full symmetric matrix.
void inverse_from_factor(MatrixView l_inverse);
// A symmetric positive definite matrix ← its inverse, and the log det of that. False if it is not
// one, or not finite.
[[nodiscard]] bool invert_positive(MatrixView a, double& log_det);
// log det(L Lᵀ).
[[nodiscard]] double cholesky_log_det(ConstMatrixView l);
// diag((L Lᵀ)⁻¹) = squared column norms of L⁻¹.
[[nodiscard]] Vector inverse_diagonal(ConstMatrixView l_inverse);

// Eigenvalues (ascending) and, if asked, eigenvectors (columns) of a symmetric matrix.
struct Eigen {
  Vector values;
  Matrix vectors;
};
[[nodiscard]] Eigen symmetric_eigen(ConstMatrixView a, bool vectors);

}  // namespace kloom::algebra
