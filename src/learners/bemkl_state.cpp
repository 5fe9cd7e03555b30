// SPDX-License-Identifier: BSD-3-Clause
//
// What an iteration of BEMKL goes on from, as one vector: the variables of its acceleration.
#include <algorithm>
#include <cmath>
#include <span>

#include "learners/bemkl_factors.h"

namespace kloom::learners {

Vector BemklFactors::state() const {
  Vector state;
  const auto add = [&](std::span<const double> values) {
    state.insert(state.end(), values.begin(), values.end());
  };
  const auto add_logs = [&](std::span<const double> values) {
    for (double value : values) state.push_back(value > 0.0 ? std::log(value) : 0.0);  // 0: an absent sample
  };
  add(a_.values());
  add_logs(a_variance_.values());
  add(be_);
  add_logs(be_variance_);
  add(cross_.values());
  if (gaussian()) {
    add_logs(upsilon_);
    add_logs(epsilon_);
    add_logs(trace_a_);
  } else {
    add(f_.values());
  }
  return state;
}

bool BemklFactors::set_state(const Vector& state, const BemklFactors& core_of) {
  if (!std::ranges::all_of(state, [](double value) { return std::isfinite(value); })) return false;
  auto next = state.begin();
  const auto take = [&](std::span<double> values, bool logs) {
    for (double& value : values) {
      if (!logs || value > 0.0) value = logs ? std::exp(*next) : *next;
      ++next;
    }
  };
  take(a_.values(), false);
  take(a_variance_.values(), true);
  take(be_, false);
  take(be_variance_, true);
  take(cross_.values(), false);
  if (gaussian()) {
    take(upsilon_, true);
    take(epsilon_, true);
    take(trace_a_, true);
  } else {
    take(f_.values(), false);
  }
  core_ = core_of.core_;
  log_det_core_ = core_of.log_det_core_;
  log_det_e_ = core_of.log_det_e_;
  weights_trace_known_ = false;
  apply_a();
  return true;
}

}  // namespace kloom::learners
