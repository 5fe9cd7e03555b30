// SPDX-License-Identifier: BSD-3-Clause
//
// (A + diag δ)⁻¹ from a known A⁻¹ = Σ and a small δ: the first terms of
//
//   Σ − ΣΔΣ + ΣΔΣΔΣ − ΣΔΣΔΣΔΣ + …
//
// The first two give its diagonal in N² operations. Where they do not suffice, M = ΣΔ₁Σ with the larger numbers
// δ₁ of δ gives two more terms, by one product in single precision. What is left out is bounded for every
// entry of the diagonal: with p_i = Σ_j Σ_ij² |δ_j| and ρ = max_i Σ_j |Σ_ij δ_j|, which is not less than the
// norm of |Δ|^½ Σ |Δ|^½,
//
//   after two terms    ρ p_i                                  the third; with all later ones times 1/(1 − ρ)
//   after four         ρ₂ p₂_i                                what Δ₂ = Δ − Δ₁ adds to the third
//                      2 √(s_i ρ ρ₂ p₂_i) + ρ ρ₂ p₂_i         to the fourth, s_i = Σ_j |δ_j| M_ij²
//                      ρ s_i                                  the fifth
//
// These follow from ρ as a bound on the eigenvalues and from the Cauchy–Schwarz inequality.
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
  // Empty if the error of an entry of the diagonal might exceed `tolerance` of it, or if a new inverse would be
  // cheaper in the long run: δ changes by the fraction `step` of itself from one call to the next, which tells
  // for how many calls two terms around a new inverse would suffice.
  [[nodiscard]] std::optional<Answer> at(const Vector& delta, const Vector& right, double tolerance,
                                         double step) const;

 private:
  // First-order terms and their sizes.
  struct Terms {
    Vector first;         // Σ_j Σ_ij² δ_j
    Vector size;          // p
    double radius = 0.0;  // ρ
  };
  [[nodiscard]] Terms terms(const Vector& delta) const;
  [[nodiscard]] bool add_higher(const Vector& delta, const Terms& terms, double tolerance, double step,
                                Answer& answer) const;
  [[nodiscard]] Vector solve(const Vector& delta, const Vector& right) const;

  Matrix inverse_;
  double log_det_ = 0.0;
};

}  // namespace kloom::solvers
