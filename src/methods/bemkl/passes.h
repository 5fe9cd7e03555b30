// SPDX-License-Identifier: BSD-3-Clause
//
// Passes of BEMKL, accelerated or plain, until the bound has settled. `Factors`: those of one fit (factors.h), or of several
// tasks that share kernel weights (../bemkl_tasks).
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/progress.h"
#include "kloom/report.h"
#include "methods/bemkl/bemkl.h"
#include "solvers/anderson.h"

namespace kloom::methods {

// A pass from an extrapolated state, tried in `spare` and kept if the bound rose; else a plain one from where the
// last pass ended.
template <typename Factors>
bool accelerated_pass(Factors& factors, double bound, std::optional<Factors>& spare,
                      solvers::Anderson& states) {
  if (auto state = states.extrapolated()) {
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

// Iterates until the bound has settled: status, message, trace and iterations.
template <typename Factors>
Report run_passes(Factors& factors, const BemklOptions& options, const Context& context) {
  const bool plain = options.acceleration == "none";
  ProgressMeter meter(context, "bemkl");
  solvers::Anderson states;
  std::optional<Factors> spare;
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
    if (quiet >= 2 && options.tolerance > 0.0)
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
