// SPDX-License-Identifier: BSD-3-Clause
//
// Tails against fifty-digit arithmetic.
#include "solvers/truncated_normal.h"

#include <gtest/gtest.h>

#include <boost/math/special_functions/erf.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>

#include "base/normal.h"

namespace kloom {
namespace {

using Exact = boost::multiprecision::cpp_bin_float_100;

Exact exact_cdf(double z) {
  return erfc(-Exact(z) / sqrt(Exact(2))) / 2;
}
Exact exact_hazard(double z) {
  const Exact& pi = boost::math::constants::pi<Exact>();
  return exp(-Exact(z) * z / 2) / sqrt(2 * pi) / exact_cdf(z);
}

// A few roundings. For z > 0 the density itself is what is asked for, and exp(−z²/2) magnifies the rounding
// of its argument by z²; for z < 0 that exponential is never formed.
constexpr double kUlps = 64 * std::numeric_limits<double>::epsilon();
double conditioned(double z) {
  return z > 0.0 ? kUlps * (1.0 + z * z) : kUlps;
}

// log Φ(z) with the digits that Φ(z) itself has lost when it is close to 1.
Exact exact_log_cdf(double z) {
  if (z < 5.0) return log(exact_cdf(z));
  const Exact above = exact_cdf(-z);
  return -above - above * above / 2 - above * above * above / 3;
}

double relative(double value, const Exact& exact) {
  return static_cast<double>(abs((Exact(value) - exact) / exact));
}

TEST(TruncatedNormal, MomentsAndMassAgreeWithHighPrecisionFarIntoTheTails) {
  for (double z : {-200.0, -100.0, -60.0, -40.0, -30.0, -20.5, -20.0, -19.5, -10.0, -6.5,
                   -3.0,   -1.0,   -1e-8, 0.0,   0.5,   1.0,   4.0,   8.0,   20.0,  37.0}) {
    SCOPED_TRACE(z);
    const Exact hazard = exact_hazard(z);
    EXPECT_LE(relative(solvers::normal_hazard(z), hazard), conditioned(z));
    // z + r cancels for negative z above −20 by at most a factor of z² = 400.
    EXPECT_LE(relative(solvers::truncated_excess(z), Exact(z) + hazard), kUlps * 400);
    EXPECT_LE(relative(solvers::truncated_variance(z), 1 - hazard * (Exact(z) + hazard)), kUlps * 400 * 400);
    EXPECT_LE(relative(log_normal_cdf(z), exact_log_cdf(z)), conditioned(z));
  }
}

TEST(TruncatedNormal, StaysFiniteAndOrderedAtExtremes) {
  for (double z : {-1e300, -1e100, -1e8, 1e8, 1e300}) {
    EXPECT_TRUE(std::isfinite(solvers::normal_hazard(z))) << z;
    EXPECT_GE(solvers::truncated_excess(z), 0.0) << z;
    EXPECT_GE(solvers::truncated_variance(z), 0.0) << z;
    EXPECT_LE(solvers::truncated_variance(z), 1.0) << z;
    EXPECT_LE(log_normal_cdf(z), 0.0) << z;
  }
}

}  // namespace
}  // namespace kloom
