// SPDX-License-Identifier: BSD-3-Clause
#include "select/paired_tests.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace kloom::select {
namespace {

struct Ranks {
  double positive = 0.0;  // sum of the ranks of positive differences
  double negative = 0.0;
  double tie_term = 0.0;  // Σ (t³ − t) over runs of t equal sizes
  std::size_t count = 0;
};

Ranks signed_ranks(std::span<const double> differences) {
  std::vector<double> d;
  for (const double value : differences) {
    if (value != 0.0) d.push_back(value);
  }
  std::ranges::sort(d, {}, [](double value) { return std::abs(value); });
  Ranks ranks;
  ranks.count = d.size();
  for (std::size_t first = 0; first < d.size();) {
    std::size_t last = first;
    while (last < d.size() && std::abs(d[last]) == std::abs(d[first])) ++last;
    const double rank = 0.5 * static_cast<double>(first + 1 + last);
    for (std::size_t k = first; k < last; ++k) (d[k] > 0.0 ? ranks.positive : ranks.negative) += rank;
    const auto run = static_cast<double>(last - first);
    ranks.tie_term += run * run * run - run;
    first = last;
  }
  return ranks;
}

// P(W ≤ w) where each rank 1 … n is positive with probability one half, by counting subsets with each sum.
double exact_tail(std::size_t n, double w) {
  std::vector<double> chance(n * (n + 1) / 2 + 1, 0.0);
  chance[0] = 1.0;
  std::size_t reach = 0;
  for (std::size_t rank = 1; rank <= n; ++rank) {
    reach += rank;
    for (std::size_t sum = reach + 1; sum-- > 0;)
      chance[sum] = 0.5 * (chance[sum] + (sum >= rank ? chance[sum - rank] : 0.0));
  }
  const auto end = static_cast<std::size_t>(w) + 1;
  return std::accumulate(chance.begin(),
                         chance.begin() + static_cast<std::ptrdiff_t>(std::min(end, chance.size())), 0.0);
}

}  // namespace

TestResult corrected_t_test(std::span<const double> differences, double test_per_train) {
  const auto k = static_cast<double>(differences.size());
  if (k < 2.0) return {};
  const double mean = std::accumulate(differences.begin(), differences.end(), 0.0) / k;
  double squares = 0.0;
  for (const double d : differences) squares += (d - mean) * (d - mean);
  const double variance = squares / (k - 1.0);
  if (mean == 0.0) return {};
  if (variance == 0.0) return {std::copysign(std::numeric_limits<double>::infinity(), mean), 0.0};
  const double t = mean / std::sqrt((1.0 / k + test_per_train) * variance);
  const boost::math::students_t distribution(k - 1.0);
  return {t, 2.0 * boost::math::cdf(boost::math::complement(distribution, std::abs(t)))};
}

TestResult wilcoxon_test(std::span<const double> differences) {
  constexpr std::size_t kExact = 50;
  const Ranks ranks = signed_ranks(differences);
  if (ranks.count == 0) return {};
  const double w = std::min(ranks.positive, ranks.negative);
  if (ranks.count <= kExact && ranks.tie_term == 0.0)
    return {w, std::min(1.0, 2.0 * exact_tail(ranks.count, w))};
  const auto n = static_cast<double>(ranks.count);
  const double mean = n * (n + 1.0) / 4.0;
  const double variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ranks.tie_term / 48.0;
  const double z = (w - mean) / std::sqrt(variance);
  return {w,
          std::min(1.0, 2.0 * boost::math::cdf(boost::math::complement(boost::math::normal(), std::abs(z))))};
}

}  // namespace kloom::select
