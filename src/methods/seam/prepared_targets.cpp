// SPDX-License-Identifier: BSD-3-Clause
#include "methods/seam/prepared_targets.h"

#include <cmath>
#include <numeric>

namespace kloom::methods {

double weight_of(const Targets& targets, Index i) {
  return targets.weights.empty() ? 1.0 : targets.weights[at(i)];
}

void balance_classes(std::span<const int> codes, std::size_t classes, Vector& weights) {
  Vector totals(classes);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] != Targets::unlabelled) totals[at(codes[i])] += weights[i];
  }
  const double total = std::accumulate(totals.begin(), totals.end(), 0.0);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] == Targets::unlabelled || weights[i] == 0.0) continue;
    weights[i] *= total / (static_cast<double>(classes) * totals[at(codes[i])]);
  }
}

Standardised standardised(std::span<const double> values, const Vector& weights) {
  const auto weight = [&](std::size_t i) { return weights.empty() ? 1.0 : weights[i]; };
  Standardised result;
  double total = 0.0;
  double sum = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    total += weight(i);
    sum += weight(i) * values[i];
  }
  result.centre = total > 0.0 ? sum / total : 0.0;
  double square = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i)
    square += weight(i) * (values[i] - result.centre) * (values[i] - result.centre);
  result.scale = square > 0.0 ? std::sqrt(square / total) : 1.0;
  for (const double value : values) result.values.push_back((value - result.centre) / result.scale);
  return result;
}

}  // namespace kloom::methods
