// SPDX-License-Identifier: BSD-3-Clause
//
// What an iteration of BEMKL goes on from: as one vector, the variables of its acceleration, and with fewer
// samples.
#include <algorithm>
#include <cmath>
#include <span>

#include "algebra/blas.h"
#include "methods/bemkl/factors.h"

namespace kloom::methods {
namespace {

// Σ_p K_p[rest, gone] W K_p[gone, rest], a few of the samples that go at a time.
Matrix gram_part(const KernelBank& bank, std::span<const Index> rest, std::span<const Index> gone,
                 const Vector& root) {
  constexpr Index kAtATime = 8;
  const auto n = static_cast<Index>(rest.size());
  Matrix part(n, n);
  for (Index first = 0; first < std::ssize(gone); first += kAtATime) {
    const auto some = gone.subspan(at(first), at(std::min(kAtATime, std::ssize(gone) - first)));
    Matrix rows(n, bank.kernels() * std::ssize(some));
    bank.entries(some, rest, rows.data());
    for (Index k = 0; k < rows.cols(); ++k)
      algebra::scale(root[at(some[at(k % std::ssize(some))])], rows.column(k));
    algebra::syrk_lower(algebra::Op::none, 1.0, rows.view(), 1.0, part.view());
  }
  algebra::symmetrise_from_lower(part.view());
  return part;
}

}  // namespace

void BemklFactors::leave_out(std::span<const Index> gone) {
  problem_.weights.resize(root_.size(), 1.0);
  const Vector before = root_;
  for (const Index i : gone) root_[at(i)] = problem_.weights[at(i)] = 0.0;
  count_samples();
  std::vector<Index> rest;
  for (Index i = 0; i < samples(); ++i) {
    if (present(i)) rest.push_back(i);
  }
  const Matrix part = gram_part(*bank_, rest, gone, before);
  Matrix gram = *gram_;
  for (Index j = 0; j < part.cols(); ++j) {
    for (Index i = 0; i < part.rows(); ++i) gram(rest[at(i)], rest[at(j)]) -= part(i, j);
  }
  gram_ = std::make_shared<const Matrix>(std::move(gram));
  anchor_ = {};
  for (const Index i : gone) {
    for (Index c = 0; c < outputs(); ++c) {
      a_(i, c) = a_variance_(i, c) = f_(i, c) = f_location_(i, c) = 0.0;
      for (Index m = 0; m < kernels(); ++m) intermediate_(m * samples() + i, c) = 0.0;
    }
  }
  apply_a();
}

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
  e_covariance_ = core_of.e_covariance_;
  core_weights_ = core_of.core_weights_;
  thin_weights_ = core_of.thin_weights_;
  log_det_e_ = core_of.log_det_e_;
  weights_trace_known_ = false;
  outputs_ = core_of.outputs_;
  a_of_pass_ = core_of.a_of_pass_;
  follow_a(core_of.a_);
  return true;
}

}  // namespace kloom::methods
