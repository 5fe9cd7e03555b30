// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/nearby_inverse.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "algebra/blas.h"
#include "algebra/single_precision.h"
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

// Fixed-point iteration x ← Σ(right − Δx).
Vector NearbyInverse::solve(const Vector& delta, const Vector& right) const {
  constexpr int kTerms = 60;
  constexpr double kRounding = 1e-14;
  Vector x(right.size());
  Vector term(right.size());
  algebra::gemv(algebra::Op::none, 1.0, inverse_.view(), right, 0.0, term);
  for (int k = 0; k < kTerms; ++k) {
    algebra::axpy(1.0, term, x);
    if (algebra::dot(term, term) <= kRounding * kRounding * algebra::dot(x, x)) break;
    Vector shifted = term;
    for (std::size_t i = 0; i < shifted.size(); ++i) shifted[i] *= delta[i];
    algebra::gemv(algebra::Op::none, -1.0, inverse_.view(), shifted, 0.0, term);
  }
  return x;
}

NearbyInverse::Terms NearbyInverse::terms(const Vector& delta) const {
  Terms result{Vector(delta.size()), Vector(delta.size())};
  for (std::size_t i = 0; i < delta.size(); ++i) {
    const Sums sums = sums_of(inverse_.column(static_cast<Index>(i)).data(), delta.data(), inverse_.rows());
    result.first[i] = sums.first;
    result.size[i] = sums.size;
    result.radius = std::max(result.radius, sums.radius);
  }
  return result;
}

namespace {

// Indices of the largest |δ_j|, as few as leave at most `share` of Σ|δ_j| to the others: the second-order terms
// of the others fall with the square of their sum.
std::vector<Index> largest(const Vector& delta, double share) {
  std::vector<Index> order(delta.size());
  std::iota(order.begin(), order.end(), Index{0});
  const auto size = [&](Index j) { return std::abs(delta[static_cast<std::size_t>(j)]); };
  std::ranges::sort(order, [&](Index i, Index j) { return size(i) > size(j); });
  double left = 0.0;
  for (const double d : delta) left += std::abs(d);
  const double enough = share * left;
  std::size_t count = 0;
  while (count < order.size() && left > enough) left -= size(order[count++]);
  order.resize(count);
  return order;
}

}  // namespace

bool NearbyInverse::add_higher(const Vector& delta, const Terms& terms, double tolerance, double step,
                               Answer& answer) const {
  const auto entry = [&](std::size_t i) { return inverse_(static_cast<Index>(i), static_cast<Index>(i)); };
  double beside = 0.0;
  for (std::size_t i = 0; i < delta.size(); ++i) beside = std::max(beside, terms.size[i] / entry(i));
  // For δ scaled by this factor the first two terms would suffice.
  const double within = std::sqrt(tolerance / (terms.radius * beside));
  const std::vector<Index> kept = largest(delta, 0.6 * within);
  // Costs in units of a factorisation: an inverse 1.5, two terms next to nothing, four terms about 0.15 plus
  // half the share of entries of δ that are in δ₁.
  const double worth = std::min(0.8, 3.0 / (1.0 + within / step) - 0.3);
  if (static_cast<double>(kept.size()) > worth * static_cast<double>(delta.size())) return false;
  Vector others = delta;
  for (const Index j : kept) others[static_cast<std::size_t>(j)] = 0.0;
  const Terms rest = this->terms(others);
  const algebra::SandwichSums sums = algebra::sandwich_sums(inverse_.view(), delta, kept);
  const double rho = terms.radius / (1.0 - terms.radius);
  for (std::size_t i = 0; i < delta.size(); ++i) {
    const double of_rest = rest.radius * rest.size[i];
    const double left = of_rest + 2.0 * std::sqrt(sums.third_size[i] * rho * of_rest) + rho * of_rest +
                        rho * sums.third_size[i];
    if (!(left <= tolerance * entry(i))) return false;
    answer.diagonal[i] += sums.second[i] - sums.third[i];
    answer.log_det += delta[i] * (sums.third[i] / 4.0 - sums.second[i] / 3.0);
  }
  return true;
}

std::optional<NearbyInverse::Answer> NearbyInverse::at(const Vector& delta, const Vector& right,
                                                       double tolerance, double step) const {
  const Terms found = terms(delta);
  if (!(found.radius < 0.5)) return std::nullopt;
  Answer answer{Vector(delta.size()), log_det_, {}};
  bool enough = true;
  for (std::size_t i = 0; i < delta.size(); ++i) {
    const double entry = inverse_(static_cast<Index>(i), static_cast<Index>(i));
    answer.diagonal[i] = entry - found.first[i];
    answer.log_det += delta[i] * (0.5 * found.first[i] - entry);
    enough = enough && found.radius * found.size[i] <= tolerance * entry * (1.0 - found.radius);
  }
  if (!enough && !add_higher(delta, found, tolerance, step, answer)) return std::nullopt;
  answer.solution = solve(delta, right);
  return answer;
}

}  // namespace kloom::solvers
