// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/temperature.h"

#include <algorithm>
#include <cmath>

namespace kloom::solvers {
namespace {

// log Σ_c exp(l_c/τ), and the mean of l under exp(l_c/τ).
struct Softened {
  double log_sum = 0.0;
  double mean = 0.0;
};

Softened soften(const Vector& log_chance, double sharpness) {
  const double largest = *std::ranges::max_element(log_chance);
  double sum = 0.0;
  double first = 0.0;
  for (const double l : log_chance) {
    const double share = std::exp(sharpness * (l - largest));
    sum += share;
    first += share * l;
  }
  return {sharpness * largest + std::log(sum), first / sum};
}

double total_weight(const std::vector<HeldOutSample>& samples) {
  double total = 0.0;
  for (const HeldOutSample& sample : samples) total += sample.weight;
  return total;
}

// Derivative of the smoothed log loss in the sharpness 1/τ; increasing, because the loss is convex in 1/τ.
double slope(const std::vector<HeldOutSample>& samples, double sharpness, double smoothing) {
  double sum = 0.0;
  for (const HeldOutSample& sample : samples) {
    double mean = 0.0;
    for (const double l : sample.log_chance) mean += l / static_cast<double>(sample.log_chance.size());
    const double wanted = (1.0 - smoothing) * sample.log_chance[sample.truth] + smoothing * mean;
    sum += sample.weight * (soften(sample.log_chance, sharpness).mean - wanted);
  }
  return sum;
}

}  // namespace

double log_loss(const std::vector<HeldOutSample>& samples, double temperature) {
  double sum = 0.0;
  for (const HeldOutSample& sample : samples) {
    const double log_truth = sample.log_chance[sample.truth] / temperature;
    sum += sample.weight * (soften(sample.log_chance, 1.0 / temperature).log_sum - log_truth);
  }
  return sum / total_weight(samples);
}

double fit_temperature(const std::vector<HeldOutSample>& samples, TemperatureRange range) {
  const double total = total_weight(samples);
  if (!(total > 0.0)) return 1.0;
  const double smoothing = 1.0 / (total + 2.0);
  double low = std::log(1.0 / range.hottest);  // of the sharpness
  double high = std::log(1.0 / range.coldest);
  for (int halving = 0; halving < 50; ++halving) {
    const double middle = 0.5 * (low + high);
    (slope(samples, std::exp(middle), smoothing) > 0.0 ? high : low) = middle;
  }
  return std::exp(-0.5 * (low + high));
}

}  // namespace kloom::solvers
