// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/draws.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/gamma.hpp>
#include <boost/math/distributions/inverse_gaussian.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <functional>
#include <limits>

namespace kloom::solvers {
namespace {

constexpr int kDraws = 20000;

// Kolmogorov–Smirnov distance. For n draws of the right distribution, P(distance·√n > 2.2) < 1.3e-4; the seeds
// are fixed, so the tests do not depend on luck from run to run.
double distance_to(const std::function<double(Draws&)>& draw, const std::function<double(double)>& cdf,
                   std::uint64_t seed) {
  Draws draws(seed);
  Vector values;
  for (int i = 0; i < kDraws; ++i) values.push_back(draw(draws));
  std::ranges::sort(values);
  double worst = 0.0;
  for (int i = 0; i < kDraws; ++i) {
    const double f = cdf(values[static_cast<std::size_t>(i)]);
    worst = std::max({worst, f - static_cast<double>(i) / kDraws, static_cast<double>(i + 1) / kDraws - f});
  }
  return worst * std::sqrt(static_cast<double>(kDraws));
}

TEST(Draws, UniformNormalAndGammaFollowTheirDistributions) {
  EXPECT_LT(distance_to([](Draws& d) { return d.uniform(); }, [](double x) { return x; }, 1), 2.2);
  const boost::math::normal_distribution<> normal(-2.0, 3.0);
  EXPECT_LT(distance_to([](Draws& d) { return d.normal(-2.0, 3.0); },
                        [&](double x) { return boost::math::cdf(normal, x); }, 2),
            2.2);
  for (const double shape : {0.2, 1.0, 7.5}) {
    const boost::math::gamma_distribution<> gamma(shape, 2.0);
    EXPECT_LT(distance_to([&](Draws& d) { return d.gamma(shape, 2.0); },
                          [&](double x) { return boost::math::cdf(gamma, x); }, 3),
              2.2)
        << shape;
  }
}

TEST(Draws, InverseGaussianFollowsItsDistribution) {
  for (const double mean : {0.01, 0.5, 1.0, 30.0, 1e4}) {
    const boost::math::inverse_gaussian_distribution<> law(mean, 1.0);
    EXPECT_LT(distance_to([&](Draws& d) { return d.inverse_gaussian(mean, 1.0); },
                          [&](double x) { return boost::math::cdf(law, x); }, 4),
              2.2)
        << mean;
  }
}

// ‖w‖ → 0 makes the mean infinite: the law is then that of 1/z², with distribution function erfc(√(1/(2x))).
TEST(Draws, InverseGaussianOfInfiniteMeanIsLevy) {
  for (const double mean : {1e300, std::numeric_limits<double>::infinity()}) {
    EXPECT_LT(distance_to([&](Draws& d) { return d.inverse_gaussian(mean, 1.0); },
                          [](double x) { return std::erfc(std::sqrt(0.5 / x)); }, 5),
              2.2);
  }
  Draws tiny(6);
  for (int i = 0; i < 1000; ++i) {
    const double x = tiny.inverse_gaussian(1e-12, 1.0);
    EXPECT_GT(x, 0.0);
    EXPECT_NEAR(x, 1e-12, 1e-16);  // deviation √(mean³) = 1e-18
  }
}

TEST(Draws, IndicesAreEquallyLikelyAndShufflesKeepTheirMembers) {
  Draws draws(7);
  std::vector<int> counts(7);
  for (int i = 0; i < 70000; ++i) ++counts[static_cast<std::size_t>(draws.index(7))];
  double chi = 0.0;
  for (const int count : counts) chi += (count - 10000.0) * (count - 10000.0) / 10000.0;
  EXPECT_LT(chi, 27.9);  // χ² with 6 degrees of freedom: P < 1e-4
  std::vector<Index> values = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  draws.shuffle(values);
  EXPECT_FALSE(std::ranges::is_sorted(values));
  std::ranges::sort(values);
  EXPECT_EQ(values, (std::vector<Index>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(Draws, StateBringsTheSameDrawsBack) {
  Draws first(8);
  for (int i = 0; i < 10; ++i) static_cast<void>(first.word());
  Draws second(first.state());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(first.word(), second.word());
}

}  // namespace
}  // namespace kloom::solvers
