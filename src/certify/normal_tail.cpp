// SPDX-License-Identifier: BSD-3-Clause
#include "certify/normal_tail.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

namespace kloom::certify_detail {
namespace {

const double kLogRoot2Pi = 0.5 * std::log(2.0 * std::numbers::pi);

// Where −½u² + Σ_c log Φ(u + own − location_c) is largest: its slope falls from ≥ 0 at 0 to ≤ 0 at `high`.
double peak_of(const Vector& location, Index label, double root, double high) {
  double low = 0.0;
  for (int halving = 0; halving < 200 && high - low > 1e-3; ++halving) {
    const double u = 0.5 * (low + high);
    double slope = -u;
    for (std::size_t c = 0; c < location.size(); ++c) {
      if (static_cast<Index>(c) != label)
        slope += tail_of(u + root * (location[at(label)] - location[c])).hazard;
    }
    (slope > 0.0 ? low : high) = u;
  }
  return low;
}

}  // namespace

Tail tail_of(double z) {
  if (z > -30.0) {
    const double mass = 0.5 * std::erfc(-z / std::numbers::sqrt2);
    return {std::log(mass), std::exp(-0.5 * z * z - kLogRoot2Pi) / mass};
  }
  const double q = 1.0 / (z * z);
  const double series = 1.0 - q * (1.0 - q * (3.0 - q * (15.0 - q * (105.0 - q * 945.0))));
  return {-0.5 * z * z - kLogRoot2Pi - std::log(-z) + std::log(series), -z / series};
}

void multinomial_means(const Vector& location, Index label, double weight, Vector& mean, double& log_mass) {
  const double root = std::sqrt(weight);
  double reach = 0.0;
  for (double value : location) reach = std::max(reach, root * (value - location[at(label)]));
  const double peak = peak_of(location, label, root, reach + static_cast<double>(location.size()));
  // The trapezoidal rule on a density that is smooth on the scale of 1/M: its error is far below rounding here.
  constexpr double kStep = 0.02;
  constexpr int kSteps = 600;
  double largest = -std::numeric_limits<double>::infinity();
  std::vector<std::pair<double, double>> grid;  // u, log of the integrand
  for (int k = -kSteps; k <= kSteps; ++k) {
    const double u = peak + k * kStep;
    double value = -0.5 * u * u - kLogRoot2Pi;
    for (std::size_t c = 0; c < location.size(); ++c) {
      if (static_cast<Index>(c) != label)
        value += tail_of(u + root * (location[at(label)] - location[c])).log_mass;
    }
    largest = std::max(largest, value);
    grid.emplace_back(u, value);
  }
  double total = 0.0;
  Vector loss(location.size());
  for (const auto& [u, value] : grid) {
    const double density = std::exp(value - largest) * kStep;
    total += density;
    if (density == 0.0) continue;
    for (std::size_t c = 0; c < location.size(); ++c) {
      if (static_cast<Index>(c) != label)
        loss[c] += density * tail_of(u + root * (location[at(label)] - location[c])).hazard;
    }
  }
  log_mass += largest + std::log(total);
  mean = location;
  for (std::size_t c = 0; c < location.size(); ++c) {
    mean[c] -= loss[c] / (total * root);
    mean[at(label)] += loss[c] / (total * root);
  }
}

}  // namespace kloom::certify_detail
