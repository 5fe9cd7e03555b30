// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/nonnegative_qp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "algebra/blas.h"

namespace kloom::solvers {
namespace {

constexpr double kRidge = 1e-10;
// A slope below this part of the largest |a| is rounding, not a reason to let a variable in.
constexpr double kFlat = 1e-12;

// The unconstrained minimum over the variables of `free`, the others being 0.
Vector minimum_over(const Matrix& m, const Vector& a, const std::vector<Index>& free) {
  const auto f = std::ssize(free);
  Matrix factor(f, f);
  Matrix right(f, 1);
  for (Index k = 0; k < f; ++k) {
    right(k, 0) = a[at(free[at(k)])];
    for (Index l = 0; l < f; ++l) factor(l, k) = m(free[at(l)], free[at(k)]);
  }
  if (algebra::cholesky(factor.view()) != 0) return Vector(free.size(), 0.0);
  algebra::cholesky_solve(factor.view(), right.view());
  return {right.column(0).begin(), right.column(0).end()};
}

// From the feasible v towards the minimum over `free`; variables that reach 0 on the way leave, until none does.
void descend(const Matrix& m, const Vector& a, std::vector<Index>& free, Vector& v) {
  while (!free.empty()) {
    const Vector target = minimum_over(m, a, free);
    double step = 1.0;
    std::size_t first = free.size();
    for (std::size_t k = 0; k < free.size(); ++k) {
      const double now = v[at(free[k])];
      if (target[k] > 0.0) continue;
      const double reached = now > 0.0 ? now / (now - target[k]) : 0.0;
      if (first == free.size() || reached < step) {
        step = reached;
        first = k;
      }
    }
    for (std::size_t k = 0; k < free.size(); ++k) {
      double& value = v[at(free[k])];
      value = std::max(0.0, value + step * (target[k] - value));
    }
    if (first == free.size()) return;
    v[at(free[first])] = 0.0;
    std::erase_if(free, [&](Index k) { return v[at(k)] <= 0.0; });
  }
}

}  // namespace

Vector solve_nonnegative_qp(const Matrix& m, const Vector& a) {
  const auto p = std::ssize(a);
  Vector size(a.size());
  for (Index k = 0; k < p; ++k) size[at(k)] = std::sqrt(m(k, k));
  Matrix scaled(p, p);
  Vector right(a.size());
  double largest = 0.0;
  for (Index k = 0; k < p; ++k) {
    for (Index l = 0; l < p; ++l) scaled(l, k) = m(l, k) / (size[at(l)] * size[at(k)]);
    scaled(k, k) += kRidge;
    right[at(k)] = a[at(k)] / size[at(k)];
    largest = std::max(largest, std::abs(right[at(k)]));
  }
  Vector v(a.size());
  std::vector<Index> free;
  // Every round lowers the objective, so no set comes twice; rounding alone could make one, and the bound ends it.
  for (Index round = 0; round < 3 * p + 10; ++round) {
    Vector slope = right;
    algebra::gemv(algebra::Op::none, -1.0, scaled.view(), v, 1.0, slope);
    for (const Index k : free) slope[at(k)] = -std::numeric_limits<double>::infinity();
    const auto steepest = std::ranges::max_element(slope);
    if (steepest == slope.end() || *steepest <= kFlat * largest) break;
    free.push_back(steepest - slope.begin());
    descend(scaled, right, free, v);
  }
  for (std::size_t k = 0; k < v.size(); ++k) v[k] /= size[k];
  return v;
}

}  // namespace kloom::solvers
