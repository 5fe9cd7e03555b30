// SPDX-License-Identifier: BSD-3-Clause
//
// Covariances of BEMKL's kernel weights e and intermediate outputs g in classification, unless kernels are many
// times more than samples (bemkl_thin.h). With Ĉ the precision of e, biases eliminated, and s = σ_g²,
//
//   Σ(e) = Ĉ⁻¹
//   Σ(g) = (I/s + Σ(e) + μμᵀ)⁻¹ = sI − s²T − κwwᵀ     T = (Ĉ + sI)⁻¹,  w = (sI − s²T)μ,  κ = 1/(1 + wᵀμ)
//
// and T is the only inverse. Ĉ is about N times s or more, since every sample adds Σ(g) to it: sT is about 1/N.
// So Σ(e) = T + sT² + s²T³ + … ends after a few terms, and in products with Σ(g) the term of T is small enough
// for single precision. Both are checked against what they leave away; where they do not hold (few samples, the
// first iterations) the other inverse is taken and products are double.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "kloom/matrix.h"

namespace kloom::methods {

// Diagonals of T³ and T⁴ beside what those of T and T² would make of them, T³ ≈ (T²)²/T and T⁴ ≈ (T²)³/T². From
// one update to the next they hardly move, and what they stand for is 1/N² of Σ(e).
struct PowerRatios {
  Vector level;  // T²/T, where they were computed
  Vector third, fourth;
  int age = 0;
};

struct CoreWeights {
  std::shared_ptr<const Matrix> t;
  double share = 1.0;  // at least the norm of sT
  double log_det_t = 0.0;
  double log_det = 0.0;  // of Σ(e)
  Vector variances;      // diag Σ(e)
  PowerRatios ratios;    // empty where Σ(e) was inverted

  // Of Ĉ, whose lower triangle is read; `before` is what the last update had. asked ← Σ(e)·asked. None if a
  // matrix is not positive definite or not finite.
  static std::optional<CoreWeights> of(Matrix precision, double s, const CoreWeights* before, Matrix& asked);
  // Of Σ(e) = I.
  static CoreWeights identity(Index kernels, double s);
};

struct CoreOutputs {
  std::shared_ptr<const Matrix> t;
  double s = 1.0;
  bool small = false;  // sT is small enough for single precision
  Vector w;
  double kappa = 0.0;
  double log_det = 0.0;  // of Σ(g)

  static CoreOutputs of(const CoreWeights& weights, std::span<const double> mean, double s);
  [[nodiscard]] double trace() const;
  void times(ConstMatrixView rows, MatrixView out) const;  // out = rows · it
  [[nodiscard]] Matrix scaled_lower(double n) const;       // n times it, lower triangle
  [[nodiscard]] Matrix dense() const;
};

}  // namespace kloom::methods
