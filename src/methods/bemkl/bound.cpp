// SPDX-License-Identifier: BSD-3-Clause
//
// The exact lower bound of BEMKL for its factors as they are.
#include <boost/math/special_functions/digamma.hpp>
#include <cmath>
#include <numbers>

#include "algebra/blas.h"
#include "base/normal.h"
#include "methods/bemkl/factors.h"
#include "solvers/truncated_normal.h"

namespace kloom::methods {
namespace {

const double kLog2Pi = std::log(2.0 * std::numbers::pi);

// q(x) = Gamma(shape, scale) of a precision, by its shape and mean.
double log_mean(double shape, double mean) {
  return boost::math::digamma(shape) + std::log(mean / shape);
}

// E[log p(x)] − E[log q(x)] of a precision.
double bound_of_gamma(const GammaPrior& prior, double shape, double mean) {
  const double scale = mean / shape;
  const double prior_part = -std::lgamma(prior.shape) - prior.shape * std::log(prior.scale) +
                            (prior.shape - 1.0) * log_mean(shape, mean) - mean / prior.scale;
  const double entropy =
      shape + std::log(scale) + std::lgamma(shape) + (1.0 - shape) * boost::math::digamma(shape);
  return prior_part + entropy;
}

// The same for the precision x of one variable v, with E[log p(v | x)].
double bound_of_precision(const GammaPrior& prior, double mean, double second_moment) {
  const double shape = prior.shape + 0.5;
  return bound_of_gamma(prior, shape, mean) - 0.5 * kLog2Pi + 0.5 * log_mean(shape, mean) -
         0.5 * mean * second_moment;
}

}  // namespace

double BemklFactors::lower_bound() const {
  return bound_of_priors() + bound_of_weights() + bound_of_intermediate() + bound_of_outputs();
}

// λ, a, γ, ω: their priors, and the entropy of a.
double BemklFactors::bound_of_priors() const {
  double sum = 0.0;
  for (Index c = 0; c < outputs(); ++c) {
    sum += bound_of_precision(hyper_.gamma, gamma_[at(c)], second_moment_be(c));
    for (Index i = 0; i < samples(); ++i) {
      if (!present(i)) continue;
      sum += bound_of_precision(hyper_.lambda, lambda_(i, c), a_(i, c) * a_(i, c) + a_variance_(i, c));
    }
    sum += 0.5 * (present_count_ * (1.0 + kLog2Pi) + log_det_a_[at(c)]);
  }
  for (Index m = 0; m < kernels(); ++m) {
    sum += bound_of_precision(hyper_.omega, omega_[at(m)], second_moment_be(outputs() + m));
  }
  return sum;
}

// The entropy of q(b,e); half-normal priors have twice the density.
double BemklFactors::bound_of_weights() const {
  if (!hyper_.non_negative) {
    return 0.5 * (static_cast<double>(be_.size()) * (1.0 + kLog2Pi) + log_det_be_);
  }
  double sum = 0.5 * (static_cast<double>(outputs()) * (1.0 + kLog2Pi) + log_det_be_);
  for (std::size_t m = 0; m < omega_.size(); ++m) {
    const double z = e_location_[m] * std::sqrt(e_precision_[m]);
    sum += std::numbers::ln2 + 0.5 * (1.0 + kLog2Pi - std::log(e_precision_[m])) + log_normal_cdf(z) -
           0.5 * z * solvers::normal_hazard(z);
  }
  return sum;
}

// υ, E[log p(G | a)] − E[log q(G)]. With weights, Σw counts in the likelihood and the samples in the entropy.
double BemklFactors::bound_of_intermediate() const {
  const auto p = static_cast<double>(kernels());
  const double shape = hyper_.upsilon.shape + 0.5 * total_weight_ * p;
  double sum = 0.0;
  for (Index c = 0; c < outputs(); ++c) {
    const double upsilon = upsilon_[at(c)];
    const double log_upsilon = gaussian() ? log_mean(shape, upsilon) : std::log(upsilon);
    if (gaussian()) sum += bound_of_gamma(hyper_.upsilon, shape, upsilon);
    sum += -0.5 * total_weight_ * p * (kLog2Pi - log_upsilon) - 0.5 * upsilon * intermediate_residual(c);
    sum += 0.5 * present_count_ * (p * (1.0 + kLog2Pi) + log_det_g_[log_det_g_.size() == 1 ? 0 : at(c)]) -
           0.5 * p * log_weight_;
  }
  return sum;
}

// Classification: E[log p(f | b, e, G)] − E[log q(f)]. E[f²] cancels, what is left is
// Σ_i (log Z_i + E f_i (m_i − μ_i) + ½ μ_i²) − ½ E‖G e + b 1‖², μ_i the location at q(f)'s last update.
// Regression: ε and E[log p(y | b, e, G)].
double BemklFactors::bound_of_outputs() const {
  const double shape = hyper_.epsilon.shape + 0.5 * total_weight_;
  double sum = gaussian() ? 0.0 : log_mass_ - 0.5 * (mean_square(0) + weights_trace());
  for (Index c = 0; c < outputs(); ++c) {
    if (gaussian()) {
      const double epsilon = epsilon_[at(c)];
      sum += bound_of_gamma(hyper_.epsilon, shape, epsilon) +
             0.5 * total_weight_ * (log_mean(shape, epsilon) - kLog2Pi) - 0.5 * epsilon * target_residual(c);
      continue;
    }
    const Vector means = output_means(c);
    const auto location = f_location_.column(c);
    sum += algebra::dot(f_.column(c), means) - algebra::dot(f_.column(c), location) +
           0.5 * algebra::dot(location, location) - 0.5 * bias_square(c);
    sum += 0.5 * (present_count_ - total_weight_) * kLog2Pi - 0.5 * log_weight_;
  }
  return sum;
}

}  // namespace kloom::methods
