// SPDX-License-Identifier: BSD-3-Clause
//
// Weights of classes and standardised numbers, against what they are defined by.
#include "methods/seam/prepared_targets.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/problems.h"

namespace kloom {
namespace {

// Sums of 30 numbers of size 1 to 10: rounding stays below this.
constexpr double kRounding = 1e-13;

TEST(PreparedTargets, BalancedClassesHaveTheSameTotalAndTheSumStays) {
  const std::vector<int> codes = {0, 0, 0, 0, 1, 2, 2, Targets::unlabelled, 1};
  Vector weights = {1.0, 2.0, 0.5, 0.0, 3.0, 1.0, 0.25, 7.0, 1.0};
  double before = 0.0;
  for (std::size_t i = 0; i < codes.size(); ++i) before += codes[i] == Targets::unlabelled ? 0.0 : weights[i];
  methods::balance_classes(codes, 3, weights);
  Vector totals(3);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] != Targets::unlabelled) totals[static_cast<std::size_t>(codes[i])] += weights[i];
  }
  for (const double total : totals) EXPECT_NEAR(total, before / 3.0, kRounding);
  EXPECT_EQ(weights[7], 7.0) << "a sample without a label";
  EXPECT_EQ(weights[3], 0.0) << "an absent sample";
  EXPECT_NEAR(weights[1] / weights[0], 2.0, kRounding) << "inside of a class the shares stay";
}

TEST(PreparedTargets, StandardisedNumbersHaveMeanZeroAndDeviationOneUnderTheWeights) {
  test::Normal normal(3);
  Vector values(30);
  Vector weights(30);
  for (std::size_t i = 0; i < 30; ++i) {
    values[i] = 5.0 + 3.0 * normal();
    weights[i] = static_cast<double>(i % 4);
  }
  for (const Vector& w : {Vector(), weights}) {
    const methods::Standardised made = methods::standardised(values, w);
    double total = 0.0;
    double mean = 0.0;
    double square = 0.0;
    for (std::size_t i = 0; i < 30; ++i) {
      const double own = w.empty() ? 1.0 : w[i];
      total += own;
      mean += own * made.values[i];
      square += own * made.values[i] * made.values[i];
      EXPECT_NEAR(made.centre + made.scale * made.values[i], values[i], kRounding);
    }
    EXPECT_NEAR(mean / total, 0.0, kRounding);
    EXPECT_NEAR(square / total, 1.0, kRounding);
  }
  EXPECT_EQ(methods::standardised(Vector(5, 2.0), {}).scale, 1.0) << "all the same";
}

}  // namespace
}  // namespace kloom
