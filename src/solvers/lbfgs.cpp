// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/lbfgs.h"

#include <utility>

#include "algebra/blas.h"

namespace kloom::solvers {

InverseHessian::InverseHessian(Vector diagonal) : diagonal_(std::move(diagonal)) {}

void InverseHessian::learn(Vector step, Vector change) {
  const double curvature = algebra::dot(step, change);
  if (!(curvature > 1e-14 * algebra::dot(change, change) * 1e-6)) return;
  constexpr std::size_t kMemory = 12;
  if (pairs_.size() == kMemory) pairs_.pop_front();
  pairs_.push_back({std::move(step), std::move(change), 1.0 / curvature});
}

Vector InverseHessian::direction(const Vector& gradient) const {
  Vector q = gradient;
  Vector a(pairs_.size());
  for (std::size_t k = pairs_.size(); k-- > 0;) {
    a[k] = pairs_[k].scale * algebra::dot(pairs_[k].step, q);
    algebra::axpy(-a[k], pairs_[k].change, q);
  }
  for (std::size_t i = 0; i < q.size(); ++i) q[i] /= diagonal_[i];
  for (std::size_t k = 0; k < pairs_.size(); ++k) {
    const double b = pairs_[k].scale * algebra::dot(pairs_[k].change, q);
    algebra::axpy(a[k] - b, pairs_[k].step, q);
  }
  algebra::scale(-1.0, q);
  return q;
}

}  // namespace kloom::solvers
