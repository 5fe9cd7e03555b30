// SPDX-License-Identifier: BSD-3-Clause
//
// q(λ) and q(a), the factors of the sample weights and their precisions, and the outputs [K_p μ(a)] that
// follow.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "algebra/blas.h"
#include "methods/bemkl/factors.h"

namespace kloom::methods {

using algebra::Op;

namespace {

constexpr double kNear = 0.3;

double norm(const Matrix& m) {
  return std::sqrt(algebra::dot(m.values(), m.values()));
}

// g ← g − outputs if that is small beside them.
bool take_if_near(std::span<const double> outputs, std::span<double> g) {
  double difference = 0.0;
  double whole = 0.0;
  const double* k = outputs.data();
  double* x = g.data();
  const auto size = static_cast<Index>(g.size());
#pragma omp simd reduction(+ : difference, whole)
  for (Index i = 0; i < size; ++i) {
    difference += (x[i] - k[i]) * (x[i] - k[i]);
    whole += k[i] * k[i];
  }
  const bool near = difference <= kNear * kNear * whole;
  if (near) algebra::axpy(-1.0, outputs, g);
  return near;
}

}  // namespace

// Rows of every N × P block of a stacked matrix times √w.
void BemklFactors::scale_rows(Matrix& stacked) const {
  if (std::ranges::all_of(root_, [](double r) { return r == 1.0; })) return;
  for (Index k = 0; k < stacked.size(); ++k) stacked.data()[k] *= root_[at(k % samples())];
}

void BemklFactors::update_lambda() {
  for (Index k = 0; k < lambda_.size(); ++k) {
    const double a = a_.data()[k];
    lambda_.data()[k] = hyper_.lambda.expected_given(a * a + a_variance_.data()[k]);
  }
}

// (diag λ + υS) a = υ Σ_p K_p g_p; or, G being near [K_p a], from there (diag λ + υS) δ = υ Σ_p K_p(g_p − K_p
// a) − λa with kernels that are rounded: what that does to the difference is nothing beside the whole.
bool BemklFactors::update_a() {
  Matrix g = intermediate_;
  const bool step = rounded_ && take_if_near(outputs_.values(), g.values());
  scale_rows(g);
  Matrix right = (step ? *rounded_ : *bank_).apply_adjoint(g.view());
  if (!step && gram_of_dropped_)
    algebra::gemm(Op::none, Op::none, 1.0, gram_of_dropped_->view(), a_.view(), 1.0, right.view());
  const Matrix before = a_;
  bool sound = true;
  // One output: BLAS has the threads. Several: each has one.
#pragma omp parallel for schedule(dynamic) reduction(&& : sound) if (outputs() > 1)
  for (Index c = 0; c < outputs(); ++c) {
    sound = update_a(c, Vector(right.column(c).begin(), right.column(c).end()), step) && sound;
  }
  if (sound) follow_a(before);
  return sound;
}

// diag λ + υS; an absent sample is apart from all others.
Matrix BemklFactors::a_precision(std::span<const double> lambda, double upsilon) const {
  const Index n = samples();
  Matrix precision = *gram_;
  if (upsilon != 1.0) algebra::scale(upsilon, precision.values());
  for (Index i = 0; i < n; ++i) precision(i, i) += lambda[at(i)];
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n && !present(i); ++j) precision(i, j) = precision(j, i) = i == j ? 1.0 : 0.0;
  }
  return precision;
}

// By a whole inverse, which becomes the anchor of the next updates, or by its factor.
std::optional<BemklFactors::AnswerOfA> BemklFactors::invert_for_a(Index output, Vector right) {
  const Index n = samples();
  const auto lambda = lambda_.column(output);
  Matrix factor = a_precision(lambda, upsilon_[at(output)]);
  if (algebra::cholesky_inverse_factor(factor.view()) != 0) return std::nullopt;
  AnswerOfA answer;
  answer.log_det = algebra::cholesky_log_det(factor.view());
  answer.diagonal = algebra::inverse_diagonal(factor.view());
  algebra::solve_from_inverse_factor(factor.view(), {right.data(), n, 1, n});
  answer.solution = std::move(right);
  if (outputs() > 1 || gaussian() || anchor_.wait-- > 0) return answer;
  algebra::inverse_from_factor(factor.view());
  anchor_.inverse = std::make_shared<const solvers::NearbyInverse>(std::move(factor), answer.log_det);
  anchor_.lambda.assign(lambda.begin(), lambda.end());
  anchor_.served = 0;
  return answer;
}

std::optional<BemklFactors::AnswerOfA> BemklFactors::solve_for_a(Index output, Vector right) {
  constexpr double kNegligible = 3e-8;
  constexpr int kLongest = 32;
  if (anchor_.inverse) {
    Vector away(anchor_.lambda.size());
    double sum = 0.0;
    double step = 0.0;
    for (Index i = 0; i < samples(); ++i) {
      if (!present(i)) continue;
      away[at(i)] = lambda_(i, output) - anchor_.lambda[at(i)];
      sum += std::abs(away[at(i)]);
      step += std::abs(lambda_(i, output) - lambda_of_a_(i, output));
    }
    if (auto answer = anchor_.inverse->at(away, right, kNegligible, sum > 0.0 ? step / sum : 1.0)) {
      ++anchor_.served;
      return answer;
    }
    anchor_.next_wait = anchor_.served > 1 ? 1 : std::min(kLongest, 2 * anchor_.next_wait);
    anchor_.wait = anchor_.served > 1 ? 0 : anchor_.next_wait;
    anchor_.inverse = nullptr;
  }
  return invert_for_a(output, std::move(right));
}

bool BemklFactors::update_a(Index output, Vector right, bool step) {
  const Index n = samples();
  const double upsilon = upsilon_[at(output)];
  for (Index i = 0; i < n; ++i) {
    right[at(i)] = upsilon * right[at(i)] - (step ? lambda_(i, output) * a_(i, output) : 0.0);
    if (!present(i)) right[at(i)] = 0.0;
  }
  const std::optional<AnswerOfA> answer = solve_for_a(output, std::move(right));
  if (!answer) return false;
  log_det_a_[at(output)] = answer->log_det;
  // tr(S Σ_a) = (N − Σ_i E[λ_i] (Σ_a)_ii)/E[υ]: no inverse is needed.
  double trace = present_count_;
  for (Index i = 0; i < n; ++i) {
    a_(i, output) = (step ? a_(i, output) : 0.0) + answer->solution[at(i)];
    a_variance_(i, output) = present(i) ? answer->diagonal[at(i)] : 0.0;
    lambda_of_a_(i, output) = lambda_(i, output);
    trace -= lambda_(i, output) * a_variance_(i, output);
  }
  trace_a_[at(output)] = trace / upsilon;
  upsilon_of_a_[at(output)] = upsilon;
  return std::isfinite(log_det_a_[at(output)]);
}

void BemklFactors::apply_a() {
  outputs_ = bank_->apply(a_.view());
  scale_rows(outputs_);
  a_of_pass_ = a_;
}

// outputs, which are those of `before`, to those of a. Rounded kernels carry the difference as long as all such
// differences together are small: their errors add up to those of one step from the last whole pass.
void BemklFactors::follow_a(const Matrix& before) {
  Matrix away = a_;
  algebra::axpy(-1.0, a_of_pass_.values(), away.values());
  if (!rounded_ || !(norm(away) <= kNear * norm(a_))) return apply_a();
  Matrix step = a_;
  algebra::axpy(-1.0, before.values(), step.values());
  Matrix moved = rounded_->apply(step.view());
  scale_rows(moved);
  algebra::axpy(1.0, moved.values(), outputs_.values());
}

Matrix BemklFactors::a_covariance(Index output) const {
  Matrix covariance = a_precision(lambda_of_a_.column(output), upsilon_of_a_[at(output)]);
  double ignored = 0.0;
  if (!algebra::invert_positive(covariance.view(), ignored)) return {};
  for (Index i = 0; i < samples(); ++i) {
    if (!present(i)) covariance(i, i) = 0.0;
  }
  return covariance;
}

}  // namespace kloom::methods
