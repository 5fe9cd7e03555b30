// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/nearby_inverse.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "algebra/blas.h"
#include "base/clones.h"

namespace kloom::solvers {
namespace {

struct Sums {
  double first = 0.0;   // Σ_j Σ_ij² δ_j
  double size = 0.0;    // Σ_j Σ_ij² |δ_j|
  double radius = 0.0;  // Σ_j |Σ_ij δ_j|
};

KLOOM_CLONES Sums sums_of(const double* column, const double* delta, Index n) {
  double first = 0.0, size = 0.0, radius = 0.0;
#pragma omp simd reduction(+ : first, size, radius)
  for (Index j = 0; j < n; ++j) {
    const double product = column[j] * delta[j];
    const double term = column[j] * product;
    first += term;
    size += std::abs(term);
    radius += std::abs(product);
  }
  return {first, size, radius};
}

}  // namespace

NearbyInverse::NearbyInverse(Matrix inverse, double log_det)
    : inverse_(std::move(inverse)), log_det_(log_det) {}

// x = Σ(right − Δx), again and again.
Vector NearbyInverse::solve(const Vector& delta, const Vector& right) const {
  constexpr int kTerms = 60;
  Vector x(right.size());
  Vector term(right.size());
  algebra::gemv(algebra::Op::none, 1.0, inverse_.view(), right, 0.0, term);
  for (int k = 0; k < kTerms; ++k) {
    algebra::axpy(1.0, term, x);
    if (algebra::dot(term, term) <= 1e-32 * algebra::dot(x, x)) break;
    Vector shifted = term;
    for (std::size_t i = 0; i < shifted.size(); ++i) shifted[i] *= delta[i];
    algebra::gemv(algebra::Op::none, -1.0, inverse_.view(), shifted, 0.0, term);
  }
  return x;
}

std::optional<NearbyInverse::Answer> NearbyInverse::at(const Vector& delta, const Vector& right,
                                                       double tolerance) const {
  const Index n = inverse_.rows();
  Answer answer{Vector(delta.size()), log_det_, {}};
  double radius = 0.0;
  double largest = 0.0;  // of the sizes, beside the entries
  for (Index i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const Sums sums = sums_of(inverse_.column(i).data(), delta.data(), n);
    answer.diagonal[k] = inverse_(i, i) - sums.first;
    answer.log_det += delta[k] * (0.5 * sums.first - inverse_(i, i));
    radius = std::max(radius, sums.radius);
    largest = std::max(largest, sums.size / inverse_(i, i));
  }
  if (!(radius < 0.5) || !(radius * largest / (1.0 - radius) <= tolerance)) return std::nullopt;
  answer.solution = solve(delta, right);
  return answer;
}

}  // namespace kloom::solvers
