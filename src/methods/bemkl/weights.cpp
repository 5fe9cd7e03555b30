// SPDX-License-Identifier: BSD-3-Clause
//
// q(b,e), the factor of kernel weights and biases: free, non-negative, and with far more kernels than samples.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "algebra/blas.h"
#include "methods/bemkl/factors.h"
#include "solvers/truncated_normal.h"

namespace kloom::methods {

using algebra::Op;

// diag E[ω] + Σ_c E[ε](G_cᵀG_c + N Σ_g), the precision of e for given biases.
Matrix BemklFactors::e_precision_given_b() const {
  Matrix precision = moment(0);
  if (epsilon_.front() != 1.0) algebra::scale(epsilon_.front(), precision.values());
  for (std::size_t k = 1; k < g_moment_.size(); ++k)
    algebra::axpy(epsilon_[k], g_moment_[k].values(), precision.values());
  for (Index m = 0; m < kernels(); ++m) precision(m, m) += omega_[at(m)];
  return precision;
}

// E[ε] [1ᵀf; Gf], the biases in the first M entries.
Matrix BemklFactors::be_right() const {
  Matrix right(static_cast<Index>(be_.size()), 1);
  for (Index c = 0; c < outputs(); ++c) {
    right(c, 0) = epsilon_[at(c)] * algebra::dot(root_, f_.column(c));
    algebra::gemv(Op::transpose, epsilon_[at(c)], of_output(intermediate_, c), f_.column(c), 1.0,
                  right.column(0).subspan(at(outputs())));
  }
  return right;
}

double BemklFactors::bias_precision(Index c) const {
  return gamma_[at(c)] + epsilon_[at(c)] * total_weight_;
}

// What Σ(e) will be multiplied with: the right side of e with the biases eliminated, and the columns B.
Matrix BemklFactors::be_asked() const {
  const Matrix right = be_right();
  Matrix asked(kernels(), 1 + outputs());
  std::copy_n(right.data() + outputs(), kernels(), asked.data());
  for (Index c = 0; c < outputs(); ++c) {
    algebra::axpy(epsilon_[at(c)], g_sum_.column(c), asked.column(1 + c));
    algebra::axpy(-right(c, 0) / bias_precision(c), asked.column(1 + c), asked.column(0));
  }
  return asked;
}

// Rows A with AᵀA = Σ_c G_cᵀ(I − rrᵀ/c_c)G_c, r the roots of the samples' weights: A_c = (I − κrrᵀ)G_c.
Matrix BemklFactors::outputs_without_bias() const {
  const Index n = samples();
  Matrix rows(n * outputs(), kernels());
  for (Index c = 0; c < outputs(); ++c) {
    const double share = std::min(1.0, total_weight_ / bias_precision(c));
    const double kappa = (1.0 - std::sqrt(1.0 - share)) / total_weight_;
    const ConstMatrixView g = of_output(intermediate_, c);
    for (Index m = 0; m < kernels(); ++m) {
      const double shift = kappa * g_sum_(m, c);
      double* to = rows.column(m).data() + c * n;
      for (Index i = 0; i < n; ++i) to[i] = g(i, m) - shift * root_[at(i)];
    }
  }
  return rows;
}

bool BemklFactors::update_thin_be() {
  std::optional<ThinCovariance> made = thin_weights(thin_outputs_, omega_, outputs_without_bias(),
                                                    present_count_ * static_cast<double>(outputs()));
  if (!made || !std::isfinite(made->log_det)) return false;
  const Matrix asked = be_asked();
  Matrix rows(asked.cols(), asked.rows());
  for (Index k = 0; k < asked.cols(); ++k) {
    for (Index m = 0; m < asked.rows(); ++m) rows(k, m) = asked(m, k);
  }
  const Matrix answer = made->times(rows.view());
  Matrix solved(asked.rows(), asked.cols());
  for (Index k = 0; k < asked.cols(); ++k) {
    for (Index m = 0; m < asked.rows(); ++m) solved(m, k) = answer(k, m);
  }
  log_det_e_ = made->log_det;
  std::ranges::copy(made->variances(), be_variance_.begin() + outputs());
  thin_weights_ = std::make_shared<const ThinCovariance>(std::move(*made));
  update_be_moments(solved);
  return true;
}

bool BemklFactors::update_core_be() {
  const auto n = present_count_ * static_cast<double>(outputs());
  Matrix precision = g_moment_.empty() ? add_squares(0, 1.0, core_outputs_.scaled_lower(n)) : g_moment_.front();
  for (Index m = 0; m < kernels(); ++m) precision(m, m) += omega_[at(m)];
  Matrix solved = be_asked();
  for (Index c = 0; c < outputs(); ++c)
    algebra::rank_one_lower(-1.0 / bias_precision(c), solved.column(1 + c), precision.view());
  std::optional<CoreWeights> made =
      CoreWeights::of(std::move(precision), 1.0 / upsilon_.front(), core_weights_.get(), solved);
  if (!made) return false;
  log_det_e_ = made->log_det;
  std::ranges::copy(made->variances, be_variance_.begin() + outputs());
  core_weights_ = std::make_shared<const CoreWeights>(std::move(*made));
  update_be_moments(solved);
  return true;
}

bool BemklFactors::update_regression_be() {
  Matrix solved = be_asked();
  Matrix factor = e_precision_given_b();
  for (Index c = 0; c < outputs(); ++c)
    algebra::rank_one(-1.0 / bias_precision(c), solved.column(1 + c), factor.view());
  if (algebra::cholesky_inverse_factor(factor.view()) != 0) return false;
  log_det_e_ = algebra::cholesky_log_det(factor.view());
  if (!std::isfinite(log_det_e_)) return false;
  algebra::solve_from_inverse_factor(factor.view(), solved.view());
  std::ranges::copy(algebra::inverse_diagonal(factor.view()), be_variance_.begin() + outputs());
  update_be_moments(solved);
  algebra::inverse_from_factor(factor.view());
  e_covariance_ = std::make_shared<const Matrix>(std::move(factor));
  return true;
}

// The precision of (b, e) is [diag c_c, Bᵀ; B, ·] with c_c = E[γ_c] + E[ε_c]N and columns B_c = E[ε_c] G_c1.
// Without the biases it is Ĉ = · − Σ_c B_c B_cᵀ/c_c.
bool BemklFactors::update_be() {
  if (thin()) return update_thin_be();
  if (core()) return update_core_be();
  if (!hyper_.non_negative) return update_regression_be();
  update_be_non_negative();
  return true;
}

// Means and the bias parts of Σ(b,e) from Σ(e)r, r the right side of e with the biases eliminated, and Σ(e)B.
void BemklFactors::update_be_moments(const Matrix& solved) {
  std::ranges::copy(solved.column(0), be_.begin() + outputs());
  log_det_be_ = log_det_e_;
  // tr(Σ(e) Σ_c E[G_cᵀG_c]) where Σ(e)⁻¹ = diag E[ω] + that − Σ_c B_cB_cᵀ/c_c.
  weights_trace_ = static_cast<double>(kernels());
  for (Index m = 0; m < kernels(); ++m) weights_trace_ -= omega_[at(m)] * be_variance_[at(outputs() + m)];
  for (Index c = 0; c < outputs(); ++c) {
    const double epsilon = epsilon_[at(c)];
    const double own = bias_precision(c);
    const double sum = epsilon * algebra::dot(root_, f_.column(c));
    be_[at(c)] = (sum - epsilon * algebra::dot(g_sum_.column(c), e())) / own;
    log_det_be_ -= std::log(own);
    for (Index m = 0; m < kernels(); ++m) cross_(m, c) = -solved(m, 1 + c) / own;
    for (Index d = 0; d < outputs(); ++d)
      bias_covariance_(d, c) = -epsilon_[at(d)] * algebra::dot(g_sum_.column(d), cross_.column(c)) /
                               (gamma_[at(d)] + epsilon_[at(d)] * total_weight_);
    weights_trace_ += own * bias_covariance_(c, c);
    bias_covariance_(c, c) += 1.0 / own;
    be_variance_[at(c)] = bias_covariance_(c, c);
  }
  weights_trace_known_ = !gaussian();
}

// Coordinate after coordinate, each at its optimum given the others: biases are normal, weights normal cut off
// at 0. Truncating the joint's marginals instead would not raise the bound.
void BemklFactors::update_be_non_negative() {
  const Matrix precision = e_precision_given_b();
  const Matrix right = be_right();
  e_location_.resize(omega_.size());
  e_precision_.resize(omega_.size());
  log_det_be_ = 0.0;
  for (Index c = 0; c < outputs(); ++c) {
    const double epsilon = epsilon_[at(c)];
    const double own = gamma_[at(c)] + epsilon * total_weight_;
    be_[at(c)] = (right(c, 0) - epsilon * algebra::dot(g_sum_.column(c), e())) / own;
    be_variance_[at(c)] = bias_covariance_(c, c) = 1.0 / own;
    log_det_be_ -= std::log(own);
  }
  const auto e = std::span(be_).subspan(at(outputs()));
  for (Index m = 0; m < kernels(); ++m) {
    const double own = precision(m, m);
    double pull = right(outputs() + m, 0) - algebra::dot(precision.column(m), e);
    for (Index c = 0; c < outputs(); ++c) pull -= epsilon_[at(c)] * g_sum_(m, c) * be_[at(c)];
    const double location = e[at(m)] + pull / own;
    const double deviation = 1.0 / std::sqrt(own);
    e[at(m)] = deviation * solvers::truncated_excess(location / deviation);
    be_variance_[at(outputs() + m)] = solvers::truncated_variance(location / deviation) / own;
    e_location_[at(m)] = location;
    e_precision_[at(m)] = own;
  }
}

}  // namespace kloom::methods
