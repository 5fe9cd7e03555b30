// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/platt.h"

#include <cmath>
#include <cstddef>
#include <vector>

namespace kloom::solvers {
namespace {

// log(1 + exp(x)) without overflow.
double softplus(double x) {
  return x > 0.0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

// Negative log likelihood of targets t under P = 1/(1 + exp(a f + b)).
double loss(std::span<const double> scores, const std::vector<double>& t, double a, double b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double x = a * scores[i] + b;
    sum += t[i] * x + softplus(-x);
  }
  return sum;
}

}  // namespace

double Sigmoid::operator()(double score) const {
  const double x = a * score + b;
  return x > 0.0 ? std::exp(-x) / (1.0 + std::exp(-x)) : 1.0 / (1.0 + std::exp(x));
}

Sigmoid fit_sigmoid(std::span<const double> scores, std::span<const double> positive) {
  double up = 0.0;
  double down = 0.0;
  for (double p : positive) (p > 0.5 ? up : down) += 1.0;
  std::vector<double> target;
  for (double p : positive) target.push_back(p > 0.5 ? (up + 1.0) / (up + 2.0) : 1.0 / (down + 2.0));
  double a = 0.0;
  double b = std::log((down + 1.0) / (up + 1.0));
  double value = loss(scores, target, a, b);
  for (int iteration = 0; iteration < 100; ++iteration) {
    double h11 = 1e-12;
    double h22 = 1e-12;
    double h21 = 0.0;
    double g1 = 0.0;
    double g2 = 0.0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const double p = Sigmoid{a, b}(scores[i]);
      const double weight = p * (1.0 - p);
      h11 += scores[i] * scores[i] * weight;
      h22 += weight;
      h21 += scores[i] * weight;
      g1 += scores[i] * (target[i] - p);
      g2 += target[i] - p;
    }
    if (std::abs(g1) < 1e-8 && std::abs(g2) < 1e-8) break;
    const double determinant = h11 * h22 - h21 * h21;
    const double da = -(h22 * g1 - h21 * g2) / determinant;
    const double db = -(-h21 * g1 + h11 * g2) / determinant;
    double step = 1.0;
    for (; step >= 1e-10; step *= 0.5) {
      const double next = loss(scores, target, a + step * da, b + step * db);
      if (next < value + 1e-4 * step * (g1 * da + g2 * db)) {
        a += step * da;
        b += step * db;
        value = next;
        break;
      }
    }
    if (step < 1e-10) break;
  }
  return {a, b};
}

}  // namespace kloom::solvers
