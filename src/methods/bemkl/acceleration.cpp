// SPDX-License-Identifier: BSD-3-Clause
//
// What makes the updates of BEMKL converge (not in the paper).
//
// The means of a and G together. Taking turns, each hardly moves while the other stays: G follows [K_p a]
// closely, and a follows G. With G at its best for every a, the bound is a quadratic function of a:
//
//   G(a) = Σ(g)(υ[K_p a] + r)                          r what f, e and b ask of G
//   slope      υ Σ_p K_p(G(a)_p − K_p a) − λa
//   curvature  H = diag λ + υS − υ² Σ_pl K_p Σ(g)_pl K_l
//
// Σ(g) is nearly a multiple of the identity, υΣ(g) ≈ (1 − t)I, and with that H ≈ diag λ + υtS, where the update
// of a alone has diag λ + υS: t is about 1/N. One step along the slope, scaled by the inverse of that, as far
// as the bound rises.
//
// And the state of an iteration as one vector, for Anderson's extrapolation (run.cpp).
#include <algorithm>
#include <cmath>
#include <utility>

#include "algebra/blas.h"
#include "methods/bemkl/factors.h"

namespace kloom::methods {

using Purpose = WeightedKernels::Purpose;

bool BemklFactors::iterate_from_intermediate() {
  if (!update_g_covariance()) return false;
  update_lambda();
  for (Index c = 0; c < outputs(); ++c) step_means_together(c);
  update_g_means();
  update_gamma_omega();
  if (gaussian()) update_epsilon();
  if (!update_be()) return false;
  if (!gaussian()) update_f();
  update_lambda();
  if (gaussian()) update_upsilon();
  return update_a();
}

void BemklFactors::step_means_together(Index c) {
  const double upsilon = upsilon_[at(c)];
  const auto block = [&](Matrix& stacked) {
    return MatrixView{stacked.data(), samples(), kernels(), samples()};
  };
  // υ Σ_p K_p x_p + sign · λ∘a.
  const auto pulled_back = [&](Matrix x, double sign, std::span<const double> a) {
    Matrix sum = kernels_.apply_adjoint(std::move(x), Purpose::correction);
    for (Index i = 0; i < samples(); ++i)
      sum(i, 0) = upsilon * sum(i, 0) + (present(i) ? sign * lambda_(i, c) * a[at(i)] : 0.0);
    return sum;
  };
  Matrix away(intermediate_.rows(), 1);  // G(a) − [K_p a]
  covariances_->times_outputs(c, linear_term_of_g(c).view(), block(away));
  algebra::axpy(-1.0, kernel_outputs_.column(c), away.values());
  const Matrix slope = pulled_back(std::move(away), -1.0, a_.column(c));

  const Matrix direction = scaled_slope(c, slope);
  if (direction.empty()) return;
  const Matrix moved = kernels_.apply(direction, Purpose::correction);
  Matrix curvature(intermediate_.rows(), 1);  // (I − υΣ(g))[K_p direction]
  covariances_->times_outputs(c, of_output(moved, 0), block(curvature));
  algebra::scale(-upsilon, curvature.values());
  algebra::axpy(1.0, moved.values(), curvature.values());
  const Matrix curved = pulled_back(std::move(curvature), 1.0, direction.values());

  const double length =
      algebra::dot(direction.values(), slope.values()) / algebra::dot(direction.values(), curved.values());
  if (!(length > 0.0) || !std::isfinite(length)) return;
  algebra::axpy(length, direction.values(), a_.column(c));
  algebra::axpy(length, moved.values(), kernel_outputs_.column(c));
}

// (diag λ + υtS)⁻¹ of `slope`; empty if that is not positive definite.
Matrix BemklFactors::scaled_slope(Index c, Matrix slope) const {
  const double upsilon = upsilon_[at(c)];
  const double t = 1.0 - upsilon * covariances_->output_trace(c) / static_cast<double>(kernels());
  Matrix factor = kernels_.precision_of_a(lambda_.column(c), upsilon * std::clamp(t, 1e-8, 1.0));
  if (algebra::cholesky(factor.view()) != 0) return {};
  algebra::cholesky_solve(factor.view(), slope.view());
  return slope;
}

Vector BemklFactors::state() const {
  Vector state;
  const auto add = [&](std::span<const double> values, bool as_logs) {
    for (const double value : values)  // a variance of 0: an absent sample
      state.push_back(!as_logs ? value : value > 0.0 ? std::log(value) : 0.0);
  };
  add(a_.values(), false);
  add(a_variance_.values(), true);
  add(be_, false);
  add(be_variance_, true);
  add(cross_.values(), false);
  if (!gaussian()) {
    add(f_.values(), false);
    return state;
  }
  for (const Vector* part : {&upsilon_, &epsilon_, &trace_a_}) add(*part, true);
  return state;
}

bool BemklFactors::set_state(const Vector& state, const BemklFactors& others) {
  if (!std::ranges::all_of(state, [](double value) { return std::isfinite(value); })) return false;
  auto next = state.begin();
  const auto take = [&](std::span<double> values, bool as_logs) {
    for (double& value : values) {
      if (!as_logs || value > 0.0) value = as_logs ? std::exp(*next) : *next;
      ++next;
    }
  };
  take(a_.values(), false);
  take(a_variance_.values(), true);
  take(be_, false);
  take(be_variance_, true);
  take(cross_.values(), false);
  if (gaussian()) {
    for (Vector* part : {&upsilon_, &epsilon_, &trace_a_}) take(*part, true);
  } else {
    take(f_.values(), false);
  }
  covariances_ = others.covariances_;
  trace_of_weights_.reset();
  kernel_outputs_ = others.kernel_outputs_;
  a_of_last_pass_ = others.a_of_last_pass_;
  move_kernel_outputs(others.a_);
  return true;
}

}  // namespace kloom::methods
