// SPDX-License-Identifier: BSD-3-Clause
//
// (A + diag δ)⁻¹ from a known A⁻¹ = Σ, for δ so small that the first two terms of
//
//   Σ − ΣΔΣ + ΣΔΣΔΣ − …
//
// give its diagonal, in N² operations instead of N³. What is left of entry ii is at most ρ Σ_j Σ_ij² |δ_j| with ρ
// = max_i Σ_j |Σ_ij δ_j|, since Σ_j |Σ_ij δ_j| bounds the eigenvalues of |Δ|^½ Σ |Δ|^½.
#pragma once

#include <optional>

#include "kloom/matrix.h"

namespace kloom::solvers {

class NearbyInverse {
 public:
  // Σ, symmetric and positive definite, and its log det.
  NearbyInverse(Matrix inverse, double log_det);

  struct Answer {
    Vector diagonal;
    double log_det = 0.0;
    Vector solution;  // (A + diag δ)⁻¹ right
  };
  // None if more than `tolerance` of an entry of the diagonal would be left away.
  [[nodiscard]] std::optional<Answer> at(const Vector& delta, const Vector& right, double tolerance) const;

 private:
  [[nodiscard]] Vector solve(const Vector& delta, const Vector& right) const;

  Matrix inverse_;
  double log_det_ = 0.0;
};

}  // namespace kloom::solvers
