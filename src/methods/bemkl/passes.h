// SPDX-License-Identifier: BSD-3-Clause
//
// Passes of BEMKL, accelerated or plain, until the bound has settled. `Factors`: those of one fit (factors.h), or of several
// tasks that share kernel weights (../bemkl_tasks).
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/progress.h"
#include "kloom/report.h"
#include "methods/bemkl/bemkl.h"
#include "solvers/anderson.h"

namespace kloom::methods {

// The bound of every pass, and when to stop (run.cpp).
class PassLog {
 public:
  PassLog(const BemklOptions& options, const Context& context) : options_(options), meter_(context, "bemkl") {}

  [[nodiscard]] double bound() const { return bound_; }
  // Notes the bound after a pass, which is no finite number where a matrix was lost; true if it was the last pass.
  [[nodiscard]] bool ends(Index pass, double now);
  [[nodiscard]] Report take() { return std::move(report_); }

 private:
  bool end(Status status, std::string message);

  const BemklOptions& options_;
  ProgressMeter meter_;
  double bound_ = -std::numeric_limits<double>::infinity();
  Index quiet_ = 0;  // passes in a row that hardly raised the bound
  Report report_;
};

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
  PassLog log(options, context);
  solvers::Anderson states;
  std::optional<Factors> spare;
  for (Index pass = 1;; ++pass) {
    const bool sound =
        plain || pass == 1 ? factors.iterate() : accelerated_pass(factors, log.bound(), spare, states);
    if (log.ends(pass, sound ? factors.lower_bound() : std::numeric_limits<double>::quiet_NaN()))
      return log.take();
  }
}

}  // namespace kloom::methods
