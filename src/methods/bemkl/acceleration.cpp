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
// as the bound rises. [K_p a] and G(a) are linear in a, so that the step takes them along.
//
// And the state of an iteration as one vector, for Anderson's extrapolation (run.cpp).
#include <algorithm>
#include <cmath>
#include <utility>

#include "algebra/blas.h"
#include "algebra/for_each.h"
#include "methods/bemkl/factors.h"

namespace kloom::methods {

bool BemklFactors::iterate_from_intermediate() {
  return iterate_from_intermediate_to_weights() && update_be() && iterate_from_intermediate_from_weights();
}

bool BemklFactors::iterate_from_intermediate_to_weights() {
  if (!update_g_covariance()) return false;
  update_lambda();
  step_means_together();
  update_gamma_omega();
  if (gaussian()) update_epsilon();
  return true;
}

bool BemklFactors::iterate_from_intermediate_from_weights() {
  if (!gaussian()) update_f();
  update_lambda();
  if (gaussian()) update_upsilon();
  return update_a();
}

// All outputs at once: the kernels are read twice, however many outputs there are.
void BemklFactors::step_means_together() {
  for (Index c = 0; c < outputs(); ++c)
    covariances_->times_outputs(c, linear_term_of_g(c).view(), of_output(intermediate_, c));  // G(a)
  Matrix away = intermediate_;  // G(a) − [K_p a]
  algebra::axpy(-1.0, kernel_outputs_.values(), away.values());
  const Matrix pull = kernels_.apply_adjoint(std::move(away));
  Matrix slope(samples(), outputs());
  Matrix direction(samples(), outputs());
  algebra::for_each(threads_of_outputs(), outputs(), [&](Index c) {
    for (Index i = 0; i < samples(); ++i)
      slope(i, c) = direction(i, c) = upsilon_[at(c)] * pull(i, c) - lambda_(i, c) * a_(i, c);
    precondition(c, direction.column(c));
  });
  const Matrix moved = kernels_.apply(direction);  // by how much [K_p a] moves along the direction
  for (Index c = 0; c < outputs(); ++c)
    move_means(c, slope.column(c), direction.column(c), of_output(moved, c));
}

// υΣ(g) ≈ (1 − t)I: the slope over diag λ + υtS. 0, no step, where that is not positive definite.
void BemklFactors::precondition(Index c, std::span<double> slope) const {
  const double upsilon = upsilon_[at(c)];
  const double t = 1.0 - upsilon * covariances_->output_trace(c) / static_cast<double>(kernels());
  Matrix factor = kernels_.precision_of_a(lambda_.column(c), upsilon * std::clamp(t, 1e-8, 1.0));
  Matrix direction = kernels_.of_present(slope);
  if (algebra::cholesky(factor.view()) == 0) {
    algebra::cholesky_solve(factor.view(), direction.view());
  } else {
    algebra::scale(0.0, direction.values());
  }
  kernels_.spread(direction.values(), slope);
}

// As far along the direction as the bound rises.
void BemklFactors::move_means(Index c, std::span<const double> slope, std::span<const double> direction,
                              ConstMatrixView moved) {
  const double upsilon = upsilon_[at(c)];
  Matrix g_moved(samples(), kernels());  // by how much G(a) moves: υΣ(g)[K_p direction]
  covariances_->times_outputs(c, moved, g_moved.view());
  algebra::scale(upsilon, g_moved.values());
  const std::span all_moved(moved.data, at(moved.rows * moved.cols));
  double curvature =  // of the bound along the direction, directionᵀ H direction
      upsilon * (algebra::dot(all_moved, all_moved) - algebra::dot(all_moved, g_moved.values()));
  for (Index i = 0; i < samples(); ++i) curvature += lambda_(i, c) * direction[at(i)] * direction[at(i)];

  const double length = algebra::dot(direction, slope) / curvature;
  if (!(length > 0.0) || !std::isfinite(length)) return;
  algebra::axpy(length, direction, a_.column(c));
  algebra::axpy(length, all_moved, kernel_outputs_.column(c));
  algebra::axpy(length, g_moved.values(), intermediate_.column(c));
}

template <typename Factors, typename Visit>
void BemklFactors::visit_state(Factors& q, Visit visit) {
  visit(q.a_.values(), false);
  visit(q.a_variance_.values(), true);
  visit(q.be_, false);
  if (!q.gaussian()) return visit(q.f_.values(), false);
  for (auto* part : {&q.upsilon_, &q.epsilon_, &q.trace_a_}) visit(*part, true);
}

Vector BemklFactors::state() const {
  Vector state;
  visit_state(*this, [&](std::span<const double> values, bool as_logs) {
    for (const double value : values)  // a variance of 0: an absent sample
      state.push_back(!as_logs ? value : value > 0.0 ? std::log(value) : 0.0);
  });
  return state;
}

bool BemklFactors::set_state(const Vector& state, const BemklFactors& others) {
  if (!std::ranges::all_of(state, [](double value) { return std::isfinite(value); })) return false;
  auto next = state.begin();
  visit_state(*this, [&](std::span<double> values, bool as_logs) {
    for (double& value : values) {
      if (!as_logs || value > 0.0) value = as_logs ? std::exp(*next) : *next;
      ++next;
    }
  });
  covariances_ = others.covariances_;
  kernel_outputs_ = kernels_.apply(a_);
  return true;
}

}  // namespace kloom::methods
