// SPDX-License-Identifier: BSD-3-Clause
//
// The lower bound of BEMKL as a plain transcription of its definition: Eigen, full matrices, no shortcuts.
#pragma once

#include <gtest/gtest.h>

#include <boost/math/distributions/normal.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <numbers>
#include <vector>

#include "unit/methods/bemkl/tasks.h"

namespace kloom::test {

inline double log_det(const Eigen::MatrixXd& m) {
  return Eigen::MatrixXd(m.llt().matrixL()).diagonal().array().log().sum() * 2.0;
}

// E[log p(x)] + E[log p(v|x)] + H[q(x)] of one gamma-distributed precision.
inline double precision_part(const GammaPrior& prior, double mean, double second) {
  const double k = prior.shape + 0.5;
  const double scale = mean / k;
  const double mean_log = boost::math::digamma(k) + std::log(scale);
  const double log_prior = (prior.shape - 1) * mean_log - mean / prior.scale - std::lgamma(prior.shape) -
                           prior.shape * std::log(prior.scale);
  const double log_variable = 0.5 * mean_log - 0.5 * std::log(2 * std::numbers::pi) - 0.5 * mean * second;
  const double entropy = k + std::log(scale) + std::lgamma(k) + (1 - k) * boost::math::digamma(k);
  return log_prior + log_variable + entropy;
}

inline double gamma_part(const GammaPrior& prior, double k, double mean) {
  const double scale = mean / k;
  const double mean_log = boost::math::digamma(k) + std::log(scale);
  return (prior.shape - 1) * mean_log - mean / prior.scale - std::lgamma(prior.shape) -
         prior.shape * std::log(prior.scale) + k + std::log(scale) + std::lgamma(k) +
         (1 - k) * boost::math::digamma(k);
}

// log of the mass that the label leaves of N(location, I), and the mean of what is left, by brute force.
inline double naive_mass(BemklLikelihood likelihood, const Vector& location, const Vector& y, double margin,
                         Vector& mean) {
  const boost::math::normal normal;
  mean = location;
  double log_mass = 0.0;
  if (likelihood == BemklLikelihood::probit) {
    for (std::size_t c = 0; c < y.size(); ++c) {
      const double above = y[c] >= 0 ? boost::math::cdf(normal, location[c] - margin) : 0.0;
      const double below = y[c] <= 0 ? boost::math::cdf(normal, -location[c] - margin) : 0.0;
      const double edge_up = y[c] >= 0 ? boost::math::pdf(normal, margin - location[c]) : 0.0;
      const double edge_down = y[c] <= 0 ? boost::math::pdf(normal, margin + location[c]) : 0.0;
      log_mass += std::log(above + below);
      mean[c] += (edge_up - edge_down) / (above + below);
    }
    return log_mass;
  }
  const auto label = static_cast<std::size_t>(std::max_element(y.begin(), y.end()) - y.begin());
  if (y[label] <= 0.0) return 0.0;
  double total = 0.0;
  Vector loss(y.size());
  for (double u = -10.0; u < 14.0; u += 0.02) {
    double density = 0.02 * boost::math::pdf(normal, u);
    for (std::size_t c = 0; c < y.size(); ++c) {
      if (c != label) density *= boost::math::cdf(normal, u + location[label] - location[c]);
    }
    total += density;
    for (std::size_t c = 0; c < y.size(); ++c) {
      const double z = u + location[label] - location[c];
      if (c != label && density > 0.0)
        loss[c] += density * boost::math::pdf(normal, z) / boost::math::cdf(normal, z);
    }
  }
  for (std::size_t c = 0; c < y.size(); ++c) {
    mean[c] -= loss[c] / total;
    mean[label] += loss[c] / total;
  }
  return std::log(total);
}

inline double weight_part(const BemklPrior& h, const BemklFactors& q, const BemklPosterior::Group& posterior) {
  const double log2pi = std::log(2 * std::numbers::pi);
  const Eigen::MatrixXd sbe = eigen(posterior.be_covariance);
  const auto dimension = static_cast<double>(sbe.rows());
  if (!h.non_negative) return 0.5 * (dimension * (1 + log2pi) + log_det(sbe));
  const boost::math::normal normal;
  double sum = 0.0;
  for (Index c = 0; c < q.outputs(); ++c) sum += 0.5 * (1 + log2pi + std::log(sbe(c, c)));
  for (Index m = 0; m < q.kernels(); ++m) {
    const double l = posterior.e_location[static_cast<std::size_t>(m)];
    const double t = posterior.e_precision[static_cast<std::size_t>(m)];
    const double d = q.be()[static_cast<std::size_t>(q.outputs() + m)] - l;
    const double square = sbe(q.outputs() + m, q.outputs() + m) + d * d;
    sum += std::log(2.0) + 0.5 * (log2pi - std::log(t)) + std::log(boost::math::cdf(normal, l * std::sqrt(t))) +
           0.5 * t * square;
  }
  return sum;
}

// log of the masses that the labels leave; the means of q(f) are looked at on the way.
inline double mass_part(const FamilyTask& task, double margin, const BemklFactors& q,
                        const BemklPosterior::Group& posterior) {
  double sum = 0.0;
  for (Index i = 0; i < q.samples(); ++i) {
    Vector location, y, mean;
    for (Index c = 0; c < q.outputs(); ++c) {
      location.push_back(posterior.f_location(i, c));
      y.push_back(task.problem.targets(i, c));
    }
    sum += naive_mass(task.problem.likelihood, location, y, margin, mean);
    for (Index c = 0; c < q.outputs(); ++c) {
      EXPECT_NEAR(q.f()(i, c), mean[static_cast<std::size_t>(c)], 1e-7) << "mean of f, sample " << i;
    }
  }
  return sum;
}

// What the lower bound has of everything but ω, the prior of e and the entropy of q(b,e); Σ(a) as of the last update of q(a).
inline double naive_bound_of_samples(const FamilyTask& task, const BemklPrior& h, const BemklFactors& q,
                                     const std::vector<Eigen::MatrixXd>& a_covariances) {
  const BemklPosterior::Group posterior = q.posterior(false);
  const Eigen::Index n = q.samples();
  const Eigen::Index p = q.kernels();
  const Index outputs = q.outputs();
  const auto count = static_cast<double>(n);
  const bool gaussian = task.problem.likelihood == BemklLikelihood::gaussian;
  const double log2pi = std::log(2 * std::numbers::pi);
  const Eigen::VectorXd be = eigen(q.be());
  const Eigen::MatrixXd mbe = eigen(posterior.be_covariance) + be * be.transpose();
  double bound = 0.0;
  for (Index c = 0; c < outputs; ++c) {
    const auto s = static_cast<std::size_t>(c);
    const Eigen::VectorXd a = eigen(q.a()).col(c);
    const Eigen::MatrixXd& sa = a_covariances[s];
    const Eigen::MatrixXd sg = eigen(q.g_covariance(c));
    const Eigen::MatrixXd g = Eigen::Map<const Eigen::MatrixXd>(q.intermediate().column(c).data(), n, p);
    bound += precision_part(h.gamma, posterior.gamma[s], mbe(c, c));
    for (Eigen::Index i = 0; i < n; ++i)
      bound += precision_part(h.lambda, posterior.lambda(i, c), a(i) * a(i) + sa(i, i));
    bound += 0.5 * (count * (1 + log2pi) + log_det(sa));
    bound += 0.5 * count * (static_cast<double>(p) * (1 + log2pi) + log_det(sg));
    const double k = h.upsilon.shape + 0.5 * count * static_cast<double>(p);
    const double log_upsilon =
        gaussian ? boost::math::digamma(k) + std::log(posterior.upsilon[s] / k) : -2 * std::log(h.sigma_g);
    if (gaussian) bound += gamma_part(h.upsilon, k, posterior.upsilon[s]);
    for (Eigen::Index m = 0; m < p; ++m) {
      Eigen::MatrixXd kernel = eigen(task.kernels[static_cast<std::size_t>(m)]);
      if (!task.presence.empty()) kernel *= eigen(task.presence).col(m).asDiagonal();
      for (Eigen::Index i = 0; i < n; ++i) {
        double square = g(i, m) * g(i, m) + sg(m, m);  // of N(0, 1/υ) where the sample lacks the kernel
        if (task.presence.empty() || task.presence(i, m) > 0.0) {
          const double mean = g(i, m) - kernel.row(i).dot(a);
          square = mean * mean + sg(m, m) + kernel.row(i) * sa * kernel.row(i).transpose();
        }
        bound += 0.5 * (log_upsilon - log2pi) - 0.5 * posterior.upsilon[s] * square;
      }
    }
    // E(eᵀg + b)² and its mean, per sample.
    const double ke = h.epsilon.shape + 0.5 * count;
    const double log_epsilon = gaussian ? boost::math::digamma(ke) + std::log(posterior.epsilon[s] / ke) : 0.0;
    if (gaussian) bound += gamma_part(h.epsilon, ke, posterior.epsilon[s]);
    for (Eigen::Index i = 0; i < n; ++i) {
      const Eigen::VectorXd gi = g.row(i).transpose();
      const Eigen::MatrixXd mee = mbe.bottomRightCorner(p, p);
      const double mean = be(c) + be.tail(p).dot(gi);
      const double second = mbe(c, c) + 2 * gi.dot(mbe.col(c).tail(p)) + gi.dot(mee * gi) + (mee * sg).trace();
      if (gaussian) {
        const double y = task.problem.targets(i, c);
        bound += 0.5 * (log_epsilon - log2pi) - 0.5 * posterior.epsilon[s] * (y * y - 2 * y * mean + second);
      } else {
        const double location = posterior.f_location(i, c);
        bound += q.f()(i, c) * (mean - location) + 0.5 * location * location - 0.5 * second;
      }
    }
  }
  return gaussian ? bound : bound + mass_part(task, h.margin, q, posterior);
}

// ω, and the prior of e.
inline double naive_bound_of_omega(const BemklPrior& h, const BemklFactors& q) {
  const BemklPosterior::Group posterior = q.posterior(false);
  const Eigen::VectorXd be = eigen(q.be());
  const Eigen::MatrixXd mbe = eigen(posterior.be_covariance) + be * be.transpose();
  double bound = 0.0;
  for (Index m = 0; m < q.kernels(); ++m) {
    const Index k = q.outputs() + m;
    bound += precision_part(h.omega, posterior.omega[static_cast<std::size_t>(m)], mbe(k, k));
  }
  return bound;
}

// The lower bound by its definition, from the factors and the kernels alone.
inline double naive_bound(const FamilyTask& task, const BemklPrior& h, const BemklFactors& q,
                          const std::vector<Eigen::MatrixXd>& a_covariances) {
  return weight_part(h, q, q.posterior(false)) + naive_bound_of_omega(h, q) +
         naive_bound_of_samples(task, h, q, a_covariances);
}

}  // namespace kloom::test
