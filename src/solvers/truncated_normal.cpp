// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/truncated_normal.h"

#include <cerf.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/normal.h"

namespace kloom::solvers {
namespace {

constexpr double kFarTail = -20.0;

// Laplace's continued fraction φ(z)/Φ(z) = t + 1/(t + 2/(t + 3/(t + …))), t = −z, from its k-th level on.
// Sixty levels give full precision for t ≥ 20 (the terms k/t² contract the error by at least 7 a level).
double fraction_from_level(double t, int level) {
  double tail = t;
  for (int k = 60; k >= level; --k) tail = t + k / tail;
  return tail;
}

}  // namespace

double normal_hazard(double z) {
  if (z < kFarTail) return fraction_from_level(-z, 1);
  return std::sqrt(2.0 / std::numbers::pi) / erfcx(-z / std::numbers::sqrt2);
}

double truncated_excess(double z) {
  if (z < kFarTail) return 1.0 / fraction_from_level(-z, 2);
  return z + normal_hazard(z);
}

double truncated_variance(double z) {
  if (z < kFarTail) {
    // With r = t + 1/A and A = t + 2/B: 1 − r/A = (A − t − 1/A)/A = (2/B − 1/A)/A, no cancellation of ones.
    const double t = -z;
    const double b = fraction_from_level(t, 3);
    const double a = t + 2.0 / b;
    return (2.0 / b - 1.0 / a) / a;
  }
  return 1.0 - normal_hazard(z) * truncated_excess(z);
}

TwoSided two_sided(double location, double margin) {
  const double above = log_normal_cdf(location - margin);
  const double below = log_normal_cdf(-location - margin);
  const double larger = std::max(above, below);
  const double log_mass = larger + std::log1p(std::exp(std::min(above, below) - larger));
  // φ(ν ∓ μ)/Z, relative to the mass.
  const auto edge = [&](double distance) {
    return std::exp(-0.5 * distance * distance - 0.5 * std::log(2.0 * std::numbers::pi) - log_mass);
  };
  return {location + edge(margin - location) - edge(margin + location), log_mass};
}

}  // namespace kloom::solvers
