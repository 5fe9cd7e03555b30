// SPDX-License-Identifier: BSD-3-Clause
#include "learners/bemkl_factors.h"

#include <algorithm>
#include <boost/math/special_functions/digamma.hpp>
#include <cmath>
#include <numbers>
#include <utility>

#include "algebra/blas.h"
#include "base/normal.h"
#include "solvers/truncated_normal.h"

namespace kloom::learners {

using algebra::Op;

namespace {

const double kLog2Pi = std::log(2.0 * std::numbers::pi);

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

// E[x] of q(x) = Gamma(shape + ½, (1/scale + ½ E[v²])⁻¹), the factor of every precision in the model.
double expected_precision(const GammaPrior& prior, double second_moment) {
  return (prior.shape + 0.5) / (1.0 / prior.scale + 0.5 * second_moment);
}

// E[log p(x)] + E[log p(v | x)] − E[log q(x)] for one precision x with mean E[x] and its variable v, v² given.
double bound_of_precision(const GammaPrior& prior, double mean, double second_moment) {
  const double shape = prior.shape + 0.5;
  const double scale = mean / shape;
  const double log_mean = boost::math::digamma(shape) + std::log(scale);
  const double prior_part = -std::lgamma(prior.shape) - prior.shape * std::log(prior.scale) +
                            (prior.shape - 1.0) * log_mean - mean / prior.scale;
  const double variable_part = -0.5 * kLog2Pi + 0.5 * log_mean - 0.5 * mean * second_moment;
  const double entropy =
      shape + std::log(scale) + std::lgamma(shape) + (1.0 - shape) * boost::math::digamma(shape);
  return prior_part + variable_part + entropy;
}

// Symmetric positive definite matrix ← its inverse; log det of the inverse comes back in `log_det`.
bool invert(Matrix& matrix, double& log_det) {
  if (algebra::cholesky(matrix.view()) != 0) return false;
  log_det = -algebra::cholesky_log_det(matrix.view());
  if (!std::isfinite(log_det)) return false;
  algebra::invert_lower(matrix.view());
  matrix = algebra::inverse_from_lower(matrix.view());
  return true;
}

Matrix identity(Index n) {
  Matrix result(n, n);
  for (Index i = 0; i < n; ++i) result(i, i) = 1.0;
  return result;
}

}  // namespace

BemklFactors::BemklFactors(const KernelBank& bank, Vector signs, const BemklHyper& hyper,
                           const BemklStart& start)
    : bank_(bank),
      hyper_(hyper),
      signs_(std::move(signs)),
      gram_(bank.gram()),
      lambda_(at(bank.rows()), hyper.lambda.shape * hyper.lambda.scale),
      a_(start.a),
      a_variance_(at(bank.rows()), 1.0),
      lambda_of_a_(lambda_),
      intermediate_(start.intermediate),
      g_covariance_(identity(bank.kernels())),
      omega_(at(bank.kernels()), hyper.omega.shape * hyper.omega.scale),
      be_(at(bank.kernels() + 1)),
      be_covariance_(identity(bank.kernels() + 1)),
      f_(start.f),
      f_location_(at(bank.rows()), 0.0) {
  be_[0] = start.b;
  std::copy(start.e.begin(), start.e.end(), be_.begin() + 1);
}

double BemklFactors::second_moment_be(Index m) const {
  return be_[at(m)] * be_[at(m)] + be_covariance_(m, m);
}

Vector BemklFactors::cross_moment_eb() const {
  Vector moment(omega_.size());
  for (Index m = 1; m <= bank_.kernels(); ++m) moment[at(m - 1)] = be_[0] * be_[at(m)] + be_covariance_(m, 0);
  return moment;
}

Vector BemklFactors::output_means() const {
  Vector means(f_.size(), be_[0]);
  algebra::gemv(Op::none, 1.0, intermediate_.view(), std::span(be_).subspan(1), 1.0, means);
  return means;
}

void BemklFactors::update_lambda() {
  for (std::size_t i = 0; i < lambda_.size(); ++i) {
    lambda_[i] = expected_precision(hyper_.lambda, a_[i] * a_[i] + a_variance_[i]);
  }
}

bool BemklFactors::update_a() {
  const Index n = bank_.rows();
  const double precision_g = 1.0 / (hyper_.sigma_g * hyper_.sigma_g);
  const Matrix sum = bank_.apply_adjoint({intermediate_.data(), n * bank_.kernels(), 1, n * bank_.kernels()});
  a_.assign(sum.values().begin(), sum.values().end());
  algebra::scale(precision_g, a_);

  Matrix factor = gram_;
  algebra::scale(precision_g, factor.values());
  for (Index i = 0; i < n; ++i) factor(i, i) += lambda_[at(i)];
  if (algebra::cholesky(factor.view()) != 0) return false;
  log_det_a_ = -algebra::cholesky_log_det(factor.view());
  algebra::cholesky_solve(factor.view(), {a_.data(), n, 1, n});
  algebra::invert_lower(factor.view());
  a_variance_ = algebra::inverse_diagonal(factor.view());
  lambda_of_a_ = lambda_;

  const Matrix applied = bank_.apply(as_column(a_));
  outputs_ = Matrix(n, bank_.kernels());
  std::ranges::copy(applied.values(), outputs_.values().begin());
  return std::isfinite(log_det_a_);
}

bool BemklFactors::update_intermediate() {
  const Index n = bank_.rows();
  const Index p = bank_.kernels();
  const double precision_g = 1.0 / (hyper_.sigma_g * hyper_.sigma_g);
  const auto e = std::span<const double>(be_).subspan(1);

  for (Index j = 0; j < p; ++j) {
    for (Index i = 0; i < p; ++i) {
      g_covariance_(i, j) = be_covariance_(i + 1, j + 1) + e[at(i)] * e[at(j)] + (i == j ? precision_g : 0.0);
    }
  }
  if (!invert(g_covariance_, log_det_g_)) return false;

  Matrix linear = outputs_;  // [K_p μ_a]/σ_g² + f μ_eᵀ − 1 E[e b]ᵀ
  const Vector eb = cross_moment_eb();
  for (Index m = 0; m < p; ++m) {
    const auto column = linear.column(m);
    for (Index i = 0; i < n; ++i)
      column[at(i)] = precision_g * column[at(i)] + f_[at(i)] * e[at(m)] - eb[at(m)];
  }
  algebra::gemm(Op::none, Op::none, 1.0, linear.view(), g_covariance_.view(), 0.0, intermediate_.view());

  g_moment_ = g_covariance_;
  algebra::syrk(Op::transpose, 1.0, intermediate_.view(), static_cast<double>(n), g_moment_.view());
  g_sum_.assign(at(p), 0.0);
  algebra::gemv(Op::transpose, 1.0, intermediate_.view(), Vector(at(n), 1.0), 0.0, g_sum_);
  return true;
}

void BemklFactors::update_gamma_omega() {
  gamma_ = expected_precision(hyper_.gamma, second_moment_be(0));
  for (Index m = 0; m < bank_.kernels(); ++m) {
    omega_[at(m)] = expected_precision(hyper_.omega, second_moment_be(m + 1));
  }
}

bool BemklFactors::update_be() {
  const Index n = bank_.rows();
  const Index p = bank_.kernels();
  be_covariance_(0, 0) = gamma_ + static_cast<double>(n);
  for (Index j = 0; j < p; ++j) {
    be_covariance_(0, j + 1) = be_covariance_(j + 1, 0) = g_sum_[at(j)];
    for (Index i = 0; i < p; ++i)
      be_covariance_(i + 1, j + 1) = g_moment_(i, j) + (i == j ? omega_[at(i)] : 0.0);
  }
  if (!invert(be_covariance_, log_det_be_)) return false;

  Vector linear(be_.size());  // [1ᵀf; Gf]
  for (double value : f_) linear[0] += value;
  algebra::gemv(Op::transpose, 1.0, intermediate_.view(), f_, 0.0, std::span(linear).subspan(1));
  algebra::gemv(Op::none, 1.0, be_covariance_.view(), linear, 0.0, be_);
  return true;
}

void BemklFactors::update_f() {
  f_location_ = output_means();
  for (std::size_t i = 0; i < f_.size(); ++i) {
    f_[i] = signs_[i] * (hyper_.margin + solvers::truncated_excess(signs_[i] * f_location_[i] - hyper_.margin));
  }
}

bool BemklFactors::iterate() {
  update_lambda();
  if (!update_a()) return false;
  if (!update_intermediate()) return false;
  update_gamma_omega();
  if (!update_be()) return false;
  update_f();
  return true;
}

double BemklFactors::lower_bound() const {
  return bound_of_priors() + bound_of_intermediate() + bound_of_outputs();
}

// λ, a, γ, ω, (b, e): their priors and entropies.
double BemklFactors::bound_of_priors() const {
  double sum = bound_of_precision(hyper_.gamma, gamma_, second_moment_be(0));
  for (std::size_t i = 0; i < lambda_.size(); ++i) {
    sum += bound_of_precision(hyper_.lambda, lambda_[i], a_[i] * a_[i] + a_variance_[i]);
  }
  for (Index m = 0; m < bank_.kernels(); ++m) {
    sum += bound_of_precision(hyper_.omega, omega_[at(m)], second_moment_be(m + 1));
  }
  const double dimensions = static_cast<double>(a_.size() + be_.size());
  return sum + 0.5 * dimensions * (1.0 + kLog2Pi) + 0.5 * (log_det_a_ + log_det_be_);
}

// E[log p(G | a)] − E[log q(G)].
double BemklFactors::bound_of_intermediate() const {
  const auto n = static_cast<double>(bank_.rows());
  const auto p = static_cast<double>(bank_.kernels());
  const double variance_g = hyper_.sigma_g * hyper_.sigma_g;
  double residual = 0.0;  // E‖G − [K_p a]‖²
  for (Index k = 0; k < intermediate_.size(); ++k) {
    const double d = intermediate_.data()[k] - outputs_.data()[k];
    residual += d * d;
  }
  for (Index m = 0; m < bank_.kernels(); ++m) residual += n * g_covariance_(m, m);
  // tr(S Σ_a) = σ_g² (N − Σ_i E[λ_i] (Σ_a)_ii) with the λ that formed Σ_a: no inverse is needed.
  double trace = n;
  for (std::size_t i = 0; i < a_.size(); ++i) trace -= lambda_of_a_[i] * a_variance_[i];
  residual += variance_g * trace;
  return -0.5 * n * p * (kLog2Pi + std::log(variance_g)) - 0.5 * residual / variance_g +
         0.5 * n * (p * (1.0 + kLog2Pi) + log_det_g_);
}

// E[log p(f | b, e, G)] − E[log q(f)]. E[f²] cancels, what is left is
// Σ_i (log Z_i + E f_i (m_i − μ_i) + ½ μ_i²) − ½ E‖G e + b 1‖², μ_i the location at q(f)'s last update.
double BemklFactors::bound_of_outputs() const {
  const Vector means = output_means();
  const Vector eb = cross_moment_eb();
  double sum = 0.0;
  for (std::size_t i = 0; i < f_.size(); ++i) {
    const double location = f_location_[i];
    sum += log_normal_cdf(signs_[i] * location - hyper_.margin) + f_[i] * (means[i] - location) +
           0.5 * location * location;
  }
  double square = static_cast<double>(bank_.rows()) * second_moment_be(0) + 2.0 * algebra::dot(g_sum_, eb);
  for (Index j = 0; j < bank_.kernels(); ++j) {
    for (Index i = 0; i < bank_.kernels(); ++i) {
      square += g_moment_(i, j) * (be_covariance_(i + 1, j + 1) + be_[at(i + 1)] * be_[at(j + 1)]);
    }
  }
  return sum - 0.5 * square;
}

Matrix BemklFactors::a_covariance() const {
  Matrix precision = gram_;
  algebra::scale(1.0 / (hyper_.sigma_g * hyper_.sigma_g), precision.values());
  for (Index i = 0; i < bank_.rows(); ++i) precision(i, i) += lambda_of_a_[at(i)];
  double ignored = 0.0;
  return invert(precision, ignored) ? precision : Matrix();
}

}  // namespace kloom::learners
