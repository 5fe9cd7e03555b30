// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/anderson.h"

#include <utility>

#include "algebra/blas.h"

namespace kloom::solvers {

using algebra::Op;

void Anderson::remember(Vector before, Vector after) {
  constexpr std::size_t kPasses = 12;
  before_.push_back(std::move(before));
  after_.push_back(std::move(after));
  if (before_.size() <= kPasses) return;
  before_.erase(before_.begin());
  after_.erase(after_.begin());
}

std::optional<Vector> Anderson::extrapolated() const {
  if (after_.size() < 2) return std::nullopt;
  const auto columns = std::ssize(after_) - 1;
  Matrix change(std::ssize(after_.back()), columns);  // r_{j+1} − r_j
  Vector last(after_.back().size());
  for (std::size_t i = 0; i < last.size(); ++i) {
    const auto residual = [&](Index j) { return after_[at(j)][i] - before_[at(j)][i]; };
    for (Index j = 0; j < columns; ++j) change(static_cast<Index>(i), j) = residual(j + 1) - residual(j);
    last[i] = residual(columns);
  }
  Matrix normal(columns, columns);
  algebra::syrk(Op::transpose, 1.0, change.view(), 0.0, normal.view());
  double trace = 0.0;
  for (Index j = 0; j < columns; ++j) trace += normal(j, j);
  for (Index j = 0; j < columns; ++j) normal(j, j) += 1e-10 * trace;
  Vector share(at(columns));
  algebra::gemv(Op::transpose, 1.0, change.view(), last, 0.0, share);
  if (!(trace > 0.0) || algebra::cholesky(normal.view()) != 0) return std::nullopt;
  algebra::cholesky_solve(normal.view(), {share.data(), columns, 1, columns});
  Vector target = after_.back();
  for (std::size_t j = 0; j < share.size(); ++j) {
    algebra::axpy(-share[j], after_[j + 1], target);
    algebra::axpy(share[j], after_[j], target);
  }
  return target;
}

}  // namespace kloom::solvers
