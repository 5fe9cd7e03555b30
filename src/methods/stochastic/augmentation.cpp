// SPDX-License-Identifier: BSD-3-Clause
#include "methods/stochastic/augmentation.h"

#include <algorithm>
#include <cmath>

namespace kloom::methods {
namespace {

// The published conditional of α leaves out a normaliser that depends on α, and sampled values fall without end. F/α is
// the price of a violation; a price above 10⁴ makes no difference that can be seen.
constexpr double kHighestPrice = 1e4;
// With the recursion as printed a small α is squared at every sweep: this keeps penalties above 0.
constexpr double kSmallestPenalty = 1e-100;

}  // namespace

Augmentation::Augmentation(const Priors& given, Index classes, Index kernels, bool literal)
    : priors(given), inverse_lambda(classes, kernels, 1.0), original_(given), literal_(literal) {}

void Augmentation::draw_strengths(solvers::Draws& draws) {
  alpha = draws.gamma(priors.kappa, priors.theta);
  beta = draws.normal(priors.mu, priors.sigma);
  if (!literal_) alpha = std::max(alpha, static_cast<double>(inverse_lambda.cols()) / kHighestPrice);
}

void Augmentation::draw_auxiliaries(const Matrix& norms, solvers::Draws& draws) {
  double w = 0.0;
  double tau = 0.0;
  for (Index m = 0; m < norms.rows(); ++m) {
    for (Index f = 0; f < norms.cols(); ++f) {
      // 1/0 is infinity: the Lévy limit.
      inverse_lambda(m, f) = draws.inverse_gaussian(1.0 / (std::abs(beta) * norms(m, f)), 1.0);
      w += norms(m, f) * norms(m, f);
      tau += inverse_lambda(m, f) * norms(m, f) * norms(m, f);
    }
  }
  const Priors from = literal_ ? priors : original_;
  const double spread = 1.0 + tau * from.sigma * from.sigma;
  priors.theta = 2.0 * from.theta / (2.0 + w * from.theta);
  priors.mu = from.mu / (literal_ ? std::sqrt(spread) : spread);
  priors.sigma = from.sigma / std::sqrt(spread);
}

Matrix Augmentation::penalties(double n) const {
  Matrix gamma(inverse_lambda.rows(), inverse_lambda.cols());
  for (Index f = 0; f < gamma.cols(); ++f) {
    for (Index m = 0; m < gamma.rows(); ++m)
      gamma(m, f) = std::max(kSmallestPenalty, (alpha + beta * beta * inverse_lambda(m, f)) / n);
  }
  return gamma;
}

PenaltyWeights weights_of(const Matrix& penalties) {
  const Index outputs = penalties.rows() == 2 ? 1 : penalties.rows();
  PenaltyWeights result{Matrix(penalties.cols(), outputs), Vector(static_cast<std::size_t>(outputs))};
  for (Index k = 0; k < outputs; ++k) {
    double sum = 0.0;
    for (Index f = 0; f < penalties.cols(); ++f) {
      double& weight = result.weights(f, k);
      weight = 1.0 / penalties(k, f);
      if (penalties.rows() == 2) weight += 1.0 / penalties(1, f);
      sum += weight;
    }
    for (double& weight : result.weights.column(k)) weight /= sum;
    result.scales[static_cast<std::size_t>(k)] = sum;
  }
  return result;
}

Matrix norms_of(const Matrix& forms, const Matrix& penalties, double steps) {
  Matrix norms(penalties.rows(), penalties.cols());
  for (Index f = 0; f < norms.cols(); ++f) {
    for (Index m = 0; m < norms.rows(); ++m) {
      // Rounding may leave a form of 0 just below it.
      const double form = std::max(0.0, forms(f, forms.cols() == 1 ? 0 : m));
      norms(m, f) = std::sqrt(form) / (penalties(m, f) * steps);
    }
  }
  return norms;
}

}  // namespace kloom::methods
