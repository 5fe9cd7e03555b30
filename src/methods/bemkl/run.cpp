// SPDX-License-Identifier: BSD-3-Clause
//
// One run of BEMKL's updates: passes, accelerated or plain, until the bound has settled.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "algebra/blas.h"
#include "base/progress.h"
#include "methods/bemkl/bemkl.h"

namespace kloom::methods {
namespace {

// Anderson's extrapolation [WalkerNi2011]: with residuals r_j = after_j − before_j of the last passes, the
// combination of the `after`s whose residual, were the pass linear, would be smallest.
class Extrapolation {
 public:
  void remember(Vector before, Vector after) {
    constexpr std::size_t kPasses = 12;
    before_.push_back(std::move(before));
    after_.push_back(std::move(after));
    if (before_.size() <= kPasses) return;
    before_.erase(before_.begin());
    after_.erase(after_.begin());
  }

  [[nodiscard]] std::optional<Vector> state() const {
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
    algebra::syrk(algebra::Op::transpose, 1.0, change.view(), 0.0, normal.view());
    double trace = 0.0;
    for (Index j = 0; j < columns; ++j) trace += normal(j, j);
    for (Index j = 0; j < columns; ++j) normal(j, j) += 1e-10 * trace;
    Vector share(at(columns));
    algebra::gemv(algebra::Op::transpose, 1.0, change.view(), last, 0.0, share);
    if (!(trace > 0.0) || algebra::cholesky(normal.view()) != 0) return std::nullopt;
    algebra::cholesky_solve(normal.view(), {share.data(), columns, 1, columns});
    Vector target = after_.back();
    for (std::size_t j = 0; j < share.size(); ++j) {
      for (std::size_t i = 0; i < target.size(); ++i) target[i] -= share[j] * (after_[j + 1][i] - after_[j][i]);
    }
    return target;
  }

 private:
  std::vector<Vector> before_, after_;  // states before and after the last passes
};

// A pass from an extrapolated state, tried in `spare` and kept if the bound rose; else a plain one from where the
// last pass ended.
bool accelerated_pass(BemklFactors& factors, double bound, std::optional<BemklFactors>& spare,
                      Extrapolation& states) {
  if (auto state = states.state()) {
    if (!spare) spare = factors;
    if (spare->set_state(*state, factors) && spare->iterate_from_intermediate() &&
        spare->lower_bound() > bound) {
      std::swap(factors, *spare);
      states.remember(std::move(*state), factors.state());
      return true;
    }
    states = {};
  }
  Vector before = factors.state();
  const bool sound = factors.iterate_from_intermediate();
  states.remember(std::move(before), factors.state());
  return sound;
}

}  // namespace

Report run_bemkl(BemklFactors& factors, const BemklOptions& options, const Context& context) {
  const bool plain = options.literal || options.acceleration == "none";
  ProgressMeter meter(context, "bemkl");
  Extrapolation states;
  std::optional<BemklFactors> spare;
  double bound = -std::numeric_limits<double>::infinity();
  Index quiet = 0;  // passes in a row that hardly raised the bound
  Report report;
  const auto end = [&](Status status, std::string message) {
    report.status = status;
    report.message = std::move(message);
    return std::move(report);
  };
  for (Index pass = 1;; ++pass) {
    report.iterations = pass;
    const bool sound = plain || pass == 1 ? factors.iterate() : accelerated_pass(factors, bound, spare, states);
    const double now = sound ? factors.lower_bound() : std::numeric_limits<double>::quiet_NaN();
    if (!std::isfinite(now))
      return end(Status::numerical_trouble,
                 fmt::format("iteration {} lost a positive definite matrix; kernels of very different or huge "
                             "scale do that: normalise them",
                             pass));
    const double rise = now - bound;
    bound = now;
    report.trace.push_back({pass, bound, meter.seconds()});
    quiet = rise <= options.tolerance * std::abs(bound) ? quiet + 1 : 0;
    if (!options.literal && quiet >= 2 && options.tolerance > 0.0)
      return end(Status::converged,
                 fmt::format("the lower bound rose by less than {} of itself in iterations {} and {}",
                             options.tolerance, pass - 1, pass));
    if (meter.step(pass, options.iterations, bound))
      return end(Status::stopped,
                 fmt::format("stopped on request after iteration {}; the model is usable", pass));
    if (pass >= options.iterations)
      return end(Status::iteration_limit,
                 fmt::format("{} iterations done; the lower bound still rose by {:.2g} in the last one",
                             options.iterations, rise));
  }
}

}  // namespace kloom::methods
