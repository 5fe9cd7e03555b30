// SPDX-License-Identifier: BSD-3-Clause
//
// The exact lower bound of BEMKL [Gonen2012, eq. 2] for its factors as they are: E[log p] − E[log q], variable
// by variable.
#include <boost/math/special_functions/digamma.hpp>
#include <cmath>
#include <numbers>

#include "algebra/blas.h"
#include "methods/bemkl/factors.h"

namespace kloom::methods {
namespace {

const double kLog2Pi = std::log(2.0 * std::numbers::pi);

// E[log x] of a precision x with q(x) = Gamma, by its shape and mean.
double mean_of_log(double shape, double mean) {
  return boost::math::digamma(shape) + std::log(mean / shape);
}

// E[log p(x)] − E[log q(x)] of a precision.
double bound_of_gamma(const GammaPrior& prior, double shape, double mean) {
  const double prior_part = -std::lgamma(prior.shape) - prior.shape * std::log(prior.scale) +
                            (prior.shape - 1.0) * mean_of_log(shape, mean) - mean / prior.scale;
  const double entropy =
      shape + std::log(mean / shape) + std::lgamma(shape) + (1.0 - shape) * boost::math::digamma(shape);
  return prior_part + entropy;
}

// The same for the precision x of one variable v, with E[log p(v | x)].
double bound_of_precision(const GammaPrior& prior, double mean, double second_moment) {
  const double shape = prior.shape + 0.5;
  return bound_of_gamma(prior, shape, mean) - 0.5 * kLog2Pi + 0.5 * mean_of_log(shape, mean) -
         0.5 * mean * second_moment;
}

}  // namespace

double BemklFactors::lower_bound() const {
  return bound_of_precisions_and_a() + covariances_->weight_entropy() + bound_of_intermediate() + bound_of_f();
}

// λ, γ, ω; the priors of a, b and e given those; the entropy of a.
double BemklFactors::bound_of_precisions_and_a() const {
  double sum = 0.0;
  for (Index c = 0; c < outputs(); ++c) {
    for (Index i = 0; i < samples(); ++i) {
      if (!present(i)) continue;
      sum += bound_of_precision(prior_.lambda, lambda_(i, c), a_(i, c) * a_(i, c) + a_variance_(i, c));
    }
    sum += 0.5 * (kernels_.count() * (1.0 + kLog2Pi) + log_det_a_[at(c)]);
  }
  for (Index k = 0; k < outputs() + kernels(); ++k)
    sum += bound_of_precision(prior_of_be(k), gamma_omega_[at(k)], second_moment_be(k));
  return sum;
}

double BemklFactors::bound_of_weight_precisions() const {
  double sum = 0.0;
  for (Index k = outputs(); k < outputs() + kernels(); ++k)
    sum += bound_of_precision(prior_.omega, gamma_omega_[at(k)], second_moment_be(k));
  return sum;
}

// υ, and E[log p(G | a)] − E[log q(G)]. With weights the likelihood counts Σw and the entropy the samples.
double BemklFactors::bound_of_intermediate() const {
  const auto p = static_cast<double>(kernels());
  const double total = kernels_.total_weight();
  const double shape = prior_.upsilon.shape + 0.5 * total * p;
  double sum = 0.0;
  for (Index c = 0; c < outputs(); ++c) {
    const double upsilon = upsilon_[at(c)];
    const double log_upsilon = gaussian() ? mean_of_log(shape, upsilon) : std::log(upsilon);
    if (gaussian()) sum += bound_of_gamma(prior_.upsilon, shape, upsilon);
    sum -= 0.5 * (total * p * (kLog2Pi - log_upsilon) + upsilon * kernel_residual(c));
    sum += 0.5 * kernels_.count() * (p * (1.0 + kLog2Pi) + covariances_->output_log_det(c)) -
           0.5 * p * kernels_.log_weight();
  }
  return sum;
}

// Classification: E[log p(f | b, e, G)] − E[log q(f)]. E[f²] cancels, and what is left is
// Σ_i (log Z_i + E f_i (m_i − μ_i) + ½ μ_i²) − ½ E‖G e + b 1‖², μ_i the location at q(f)'s last update and m_i
// that of now. Regression: ε and E[log p(y | b, e, G)].
double BemklFactors::bound_of_f() const {
  const double total = kernels_.total_weight();
  const double shape = prior_.epsilon.shape + 0.5 * total;
  double sum = (gaussian() ? 0.0 : log_mass_) - 0.5 * (spread_ ? *spread_ : spread_of_outputs(epsilon_));
  for (Index c = 0; c < outputs(); ++c) {
    if (gaussian()) {
      const double epsilon = epsilon_[at(c)];
      sum += bound_of_gamma(prior_.epsilon, shape, epsilon) +
             0.5 * total * (mean_of_log(shape, epsilon) - kLog2Pi) - 0.5 * epsilon * target_residual(c);
      continue;
    }
    const auto location = f_location_.column(c);
    sum += algebra::dot(f_.column(c), output_means(c)) - algebra::dot(f_.column(c), location) +
           0.5 * algebra::dot(location, location) - 0.5 * square_of_outputs(c);
    sum += 0.5 * (kernels_.count() - total) * kLog2Pi - 0.5 * kernels_.log_weight();
  }
  return sum;
}

// ---- the expectations that it is made of

double BemklFactors::kernel_residual(Index c) const {
  Vector away(intermediate_.column(c).begin(), intermediate_.column(c).end());
  algebra::axpy(-1.0, kernel_outputs_.column(c), away);
  return algebra::dot(away, away) + trace_a_[at(c)] + kernels_.count() * covariances_->output_trace(c);
}

double BemklFactors::square_of_outputs(Index c) const {
  const Vector means = output_means(c);
  Matrix product(1, kernels());
  covariances_->times_outputs(c, {e().data(), 1, kernels(), 1}, product.view());
  return algebra::dot(means, means) + kernels_.count() * algebra::dot(product.values(), e());
}

double BemklFactors::spread_of_outputs(const Vector& epsilon) const {
  const Matrix moments = covariances_->second_moments(weight_system(epsilon));
  return algebra::dot(covariances_->weights().values(), moments.values());
}

double BemklFactors::target_residual(Index c) const {
  const auto y = f_.column(c);
  return algebra::dot(y, y) - 2.0 * algebra::dot(y, output_means(c)) + square_of_outputs(c);
}

}  // namespace kloom::methods
