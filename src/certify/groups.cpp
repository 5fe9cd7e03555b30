// SPDX-License-Identifier: BSD-3-Clause
#include "certify/groups.h"

#include <algorithm>
#include <cmath>

#include "certify/gap.h"

namespace kloom::certify_detail {
namespace {

// ‖x_g‖_power of every group.
Vector norms_of_groups(const KernelGroups& set, const Vector& x, double power) {
  Vector norms(set.groups.size());
  for (std::size_t m = 0; m < x.size(); ++m) {
    double& norm = norms[static_cast<std::size_t>(set.groups[m])];
    norm = std::isinf(power) ? std::max(norm, x[m]) : norm + std::pow(x[m], power);
  }
  for (double& norm : norms) norm = std::isinf(power) ? norm : std::pow(norm, 1.0 / power);
  return norms;
}

}  // namespace

// The bound is convex in η: the least one by golden sections of log η, whatever of it is reached.
double largest_sum(const KernelGroups& set, const Vector& q) {
  const double star = set.norm == 1.0 ? HUGE_VAL : std::isinf(set.norm) ? 1.0 : set.norm / (set.norm - 1.0);
  const Vector sums = norms_of_groups(set, q, star);
  const double largest = *std::ranges::max_element(sums);
  if (set.mix == 1.0 || largest <= 0.0) return largest;
  const auto bound = [&](double log_eta) {
    const double eta = std::exp(log_eta);
    double value = eta;
    for (const double sum : sums)
      value += std::pow(std::max(0.0, sum - eta * set.mix), 2.0) / (4.0 * eta * (1.0 - set.mix));
    return value;
  };
  constexpr double kGolden = 0.6180339887498949;
  double low = std::log(largest) - 5.0;
  double high = std::log(largest) + std::log(static_cast<double>(sums.size())) + 5.0;
  for (int step = 0; step < 100; ++step) {
    const double left = high - kGolden * (high - low);
    const double right = low + kGolden * (high - low);
    (bound(left) < bound(right) ? high : low) = bound(left) < bound(right) ? right : left;
  }
  return bound(0.5 * (low + high));
}

double distance_from_edge(const KernelGroups& set, const Vector& theta) {
  Vector positive = theta;
  double negative = 0.0;
  for (double& one : positive) {
    negative = worse(negative, -one);
    one = std::max(0.0, one);
  }
  double size = 0.0;
  for (const double beta : norms_of_groups(set, positive, set.norm))
    size += set.mix * beta + (1.0 - set.mix) * beta * beta;
  return worse(negative, std::abs(size - 1.0));
}

}  // namespace kloom::certify_detail
