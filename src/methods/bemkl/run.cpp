// SPDX-License-Identifier: BSD-3-Clause
#include "methods/bemkl/run.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "algebra/blas.h"

namespace kloom::methods {
void BemklRun::go(Report& report) {
  const bool plain = options_.literal || options_.acceleration == "none";
  while (goes_on(plain || iteration_ == 0 ? factors_.iterate() : accelerated_pass(), report)) {
  }
}

bool BemklRun::goes_on(bool sound, Report& report) {
  report.iterations = ++iteration_;
  const double now = sound ? factors_.lower_bound() : std::numeric_limits<double>::quiet_NaN();
  if (!std::isfinite(now)) {
    report.status = Status::numerical_trouble;
    report.message = fmt::format(
        "iteration {} lost a positive definite matrix; kernels of very different or huge scale do that: "
        "normalise them",
        iteration_);
    return false;
  }
  const double rise = now - bound_;
  bound_ = now;
  report.trace.push_back({iteration_, bound_, meter_.seconds()});
  quiet_ = rise <= options_.tolerance * std::abs(bound_) ? quiet_ + 1 : 0;
  if (!options_.literal && quiet_ >= 2 && options_.tolerance > 0.0) {
    report.status = Status::converged;
    report.message = fmt::format("the lower bound rose by less than {} of itself in iterations {} and {}",
                                 options_.tolerance, iteration_ - 1, iteration_);
    return false;
  }
  if (meter_.step(iteration_, options_.iterations, bound_)) {
    report.status = Status::stopped;
    report.message = fmt::format("stopped on request after iteration {}; the model is usable", iteration_);
    return false;
  }
  if (iteration_ >= options_.iterations) {
    report.status = Status::iteration_limit;
    report.message = fmt::format("{} iterations done; the lower bound still rose by {:.2g} in the last one",
                                 options_.iterations, rise);
    return false;
  }
  return true;
}

// A pass from an extrapolated state, kept if the bound rose; else a plain one from where the last pass ended.
bool BemklRun::accelerated_pass() {
  constexpr std::size_t kMemory = 12;
  if (const auto target = extrapolated()) {
    if (!spare_) spare_ = factors_;
    if (spare_->set_state(*target, factors_) && spare_->iterate_from_intermediate() &&
        spare_->lower_bound() > bound_) {
      std::swap(factors_, *spare_);
      before_.push_back(*target);
      after_.push_back(factors_.state());
      if (before_.size() > kMemory) {
        before_.erase(before_.begin());
        after_.erase(after_.begin());
      }
      return true;
    }
    before_.clear();
    after_.clear();
  }
  before_.push_back(factors_.state());
  const bool sound = factors_.iterate_from_intermediate();
  after_.push_back(factors_.state());
  return sound;
}

// Anderson's extrapolation [WalkerNi2011]: with residuals r_j = after_j − before_j of the last passes, the
// combination of the `after`s whose residual, were the pass linear, would be smallest.
std::optional<Vector> BemklRun::extrapolated() const {
  const std::size_t count = after_.size();
  if (count < 2) return std::nullopt;
  const auto used = static_cast<Index>(after_.back().size());
  const auto columns = static_cast<Index>(count) - 1;
  Matrix change(used, columns);  // r_{j+1} − r_j
  Vector last(at(used));
  for (Index i = 0; i < used; ++i) {
    const auto residual = [&](std::size_t j) { return after_[j][at(i)] - before_[j][at(i)]; };
    for (Index j = 0; j < columns; ++j) change(i, j) = residual(at(j) + 1) - residual(at(j));
    last[at(i)] = residual(count - 1);
  }
  Matrix normal(columns, columns);
  algebra::syrk(algebra::Op::transpose, 1.0, change.view(), 0.0, normal.view());
  double trace = 0.0;
  for (Index j = 0; j < columns; ++j) trace += normal(j, j);
  for (Index j = 0; j < columns; ++j) normal(j, j) += 1e-10 * trace;
  Vector share(at(columns));
  algebra::gemv(algebra::Op::transpose, 1.0, change.view(), last, 0.0, share);
  if (!(trace > 0.0) || algebra::cholesky(normal.view()) != 0) return std::nullopt;
  algebra::cholesky_solve(normal.view(), {share.data(), columns, 1, columns});
  Vector target = after_.back();
  for (std::size_t j = 0; j + 1 < count; ++j) {
    for (std::size_t i = 0; i < target.size(); ++i) target[i] -= share[j] * (after_[j + 1][i] - after_[j][i]);
  }
  return target;
}

}  // namespace kloom::methods
