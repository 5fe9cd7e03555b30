// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/switches.h"

#include <algorithm>

namespace kloom::solvers {
namespace {

// What sorting leaves of the problem: changes in the order in which they are made, and the sum after
// each number of them.
struct Order {
  std::vector<std::size_t> kernels;
  Vector sums;  // sums[k]: what the first k changes add to Σ h_p g_p
};

// `sign` −1: kernels that are on, smallest gain first; +1: kernels that are off, largest gain first.
Order order_of(std::span<const double> gains, std::span<const double> start, double sign) {
  Order order;
  for (std::size_t p = 0; p < gains.size(); ++p) {
    if ((start[p] != 0.0) == (sign < 0.0)) order.kernels.push_back(p);
  }
  std::ranges::stable_sort(order.kernels,
                           [&](std::size_t p, std::size_t q) { return sign * gains[p] > sign * gains[q]; });
  order.sums.push_back(0.0);
  for (const std::size_t p : order.kernels) order.sums.push_back(order.sums.back() + sign * gains[p]);
  return order;
}

}  // namespace

std::optional<Vector> fewest_switches(std::span<const double> gains, std::span<const double> start,
                                      double needed, Index changes) {
  const Order off = order_of(gains, start, -1.0);
  const Order on = order_of(gains, start, 1.0);
  double sum = 0.0;
  for (std::size_t p = 0; p < gains.size(); ++p) sum += start[p] * gains[p];

  struct Choice {
    Index off = 0;
    Index on = 0;
    double sum = 0.0;
  };
  std::optional<Choice> best;
  for (Index b = 0; b <= std::min(changes, std::ssize(on.kernels)); ++b) {
    for (Index a = 0; a <= std::min(changes - b, std::ssize(off.kernels)); ++a) {
      const double reached = sum + off.sums[at(a)] + on.sums[at(b)];
      if (!(reached >= needed)) continue;
      const Index fewer = best ? (a - b) - (best->off - best->on) : 1;
      if (fewer > 0 || (fewer == 0 && reached > best->sum)) best = {a, b, reached};
    }
  }
  if (!best) return std::nullopt;
  Vector switches(start.begin(), start.end());
  for (Index k = 0; k < best->off; ++k) switches[off.kernels[at(k)]] = 0.0;
  for (Index k = 0; k < best->on; ++k) switches[on.kernels[at(k)]] = 1.0;
  return switches;
}

}  // namespace kloom::solvers
