// SPDX-License-Identifier: BSD-3-Clause
//
// Covariances of BEMKL's kernel weights e and intermediate outputs g where kernels are many times more than
// samples. Both P × P matrices are then diagonal but for a few directions,
//
//   Σ(e) = diag(d) − VᵀV + UᵀU     V has rows for the samples, U a handful
//   Σ(g) = diag(s) + ZᵀZ − WᵀW     Z has as many rows as V, W one more than U
//
// and each follows from the other by the matrix inversion lemma, in PN² instead of P³ operations:
//
//   Σ(g) = (υI + Σ(e) + μμᵀ)⁻¹
//   Σ(e) = (diag ω + AᵀA + n Σ(g))⁻¹     A the outputs, N rows for each of M outputs, biases eliminated
//
// The second adds the rows of Z to those of A. They would grow with every update, but weigh 1/N of the others
// and nearly lie in the span of those that came from the last A: they are put there, unless what that loses is
// more than `kNegligible` of Σ(e).
#pragma once

#include <optional>
#include <span>

#include "kloom/matrix.h"

namespace kloom::methods {

// diag(d) + AᵀA − BᵀB, A and B with few rows: Σ(g) with A = Z, B = W, and Σ(e) with A = U, B = V.
struct ThinCovariance {
  Vector diagonal;
  Matrix added, taken;  // rows × P
  Index first = 0;      // rows of Z or V that come from the last outputs
  double log_det = 0.0;

  static ThinCovariance identity(Index kernels);
  [[nodiscard]] Vector variances() const;
  [[nodiscard]] double trace() const;
  [[nodiscard]] Matrix times(ConstMatrixView rows) const;  // rows · it
  [[nodiscard]] Matrix dense() const;
};

// None if a matrix is not positive definite.
[[nodiscard]] std::optional<ThinCovariance> thin_outputs(const ThinCovariance& weights,
                                                         std::span<const double> mean, double upsilon);
[[nodiscard]] std::optional<ThinCovariance> thin_weights(const ThinCovariance& outputs, const Vector& omega,
                                                         const Matrix& a, double n);

// With fewer kernels for each sample of each output the plain inverses are as fast.
[[nodiscard]] bool thin_pays(Index samples, Index outputs, Index kernels);

}  // namespace kloom::methods
