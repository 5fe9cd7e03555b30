// SPDX-License-Identifier: BSD-3-Clause
//
// The set of weights in groups: its support function and the best weights in it, against points of the set.
#include "methods/seam/weight_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kloom/error.h"
#include "support/problems.h"
#include "support/weight_sets.h"

namespace kloom::methods {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// A random direction, as far as the set goes.
Vector point_of(const WeightSet& set, test::Normal& normal) {
  Vector theta;
  for (std::size_t m = 0; m < set.group.size(); ++m) {
    const double one = normal();
    theta.push_back(std::exp(2.0 * one) * (one > -0.7 ? 1.0 : 0.0));
  }
  return test::at_edge(set, theta);
}

double dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double price_of(const Vector& lengths, const Vector& theta) {
  double sum = 0.0;
  for (std::size_t m = 0; m < lengths.size(); ++m)
    sum += lengths[m] == 0.0 ? 0.0 : lengths[m] * lengths[m] / theta[m];
  return sum;
}

class EveryWeightSet : public testing::TestWithParam<std::pair<double, double>> {
 protected:
  [[nodiscard]] static WeightSet set() { return {{0, 1, 0, 2, 1}, 3, GetParam().first, GetParam().second}; }
};

// No point of the set reaches further, and the weights whose lengths are those of q's own maximum reach as far.
TEST_P(EveryWeightSet, SupportIsTheLargestProduct) {
  test::Normal normal(1);
  const Vector q = {3.0, 1.0, 0.5, 2.0, 0.0};
  const double limit = support(set(), q);
  double largest = 0.0;
  for (int k = 0; k < 2000; ++k) largest = std::max(largest, dot(point_of(set(), normal), q));
  EXPECT_LE(largest, limit * (1.0 + 1e-12));
  // The alternation θ → best weights for the lengths θ√q climbs to the maximum: its fixed points are where
  // q_m = ‖w_m‖²/θ_m² is what the bound's slope says.
  Vector theta = even_weights(set());
  for (int k = 0; k < 5000; ++k) {
    Vector lengths;
    for (std::size_t m = 0; m < q.size(); ++m) lengths.push_back(theta[m] * std::sqrt(q[m]));
    theta = best_weights(set(), lengths, theta);
  }
  EXPECT_NEAR(dot(theta, q), limit, 1e-3 * limit);
}

TEST_P(EveryWeightSet, NoPointIsBetterThanTheBestWeights) {
  test::Normal normal(2);
  for (const Vector& lengths : {Vector{3.0, 1.0, 0.5, 2.0, 0.1}, Vector{1e-9, 1.0, 1.0, 0.0, 1.0}}) {
    const Vector best = best_weights(set(), lengths, {});
    EXPECT_NEAR(test::size_of(set(), best), 1.0, 1e-12);
    const double price = price_of(lengths, best);
    for (int k = 0; k < 2000; ++k) {
      const Vector other = point_of(set(), normal);
      EXPECT_GE(price_of(lengths, other), price * (1.0 - 1e-9));
      // Points nearby, too: a step towards the other one stays in the set, which is convex.
      Vector near = best;
      for (std::size_t m = 0; m < near.size(); ++m) near[m] += 1e-3 * (other[m] - best[m]);
      EXPECT_GE(price_of(lengths, near), price * (1.0 - 1e-9));
    }
  }
}

TEST_P(EveryWeightSet, SmallGroupsGoAndTheRestFillsTheSet) {
  const Vector even = even_weights(set());
  EXPECT_NEAR(test::size_of(set(), even), 1.0, 1e-12);
  Vector theta = even;
  theta[3] *= 1e-5;  // alone in its group
  const Vector rest = without_small_groups(set(), theta, 1e-3);
  EXPECT_EQ(rest[3], 0.0);
  EXPECT_NEAR(test::size_of(set(), rest), 1.0, 1e-12);
  EXPECT_NEAR(rest[0] / rest[1], theta[0] / theta[1], 1e-12);
  EXPECT_EQ(without_small_groups(set(), even, 1e-3), even);
}

INSTANTIATE_TEST_SUITE_P(All, EveryWeightSet,
                         testing::Values(std::pair{1.0, 1.0}, std::pair{2.0, 1.0}, std::pair{kInf, 1.0},
                                         std::pair{2.0, 0.5}, std::pair{1.5, 0.1}, std::pair{kInf, 0.0},
                                         std::pair{1.0, 0.9}, std::pair{2.0, 0.0}));

TEST(WeightSets, GroupsAreViewsOrNumbersOrNone) {
  const std::vector<std::string> names = {"rbf(width=1) on a", "linear on b", "rbf(width=2) on a", "K.npy"};
  EXPECT_EQ(weight_set(names, "views", 2.0, 1.0).group, (std::vector<Index>{0, 1, 0, 2}));
  EXPECT_EQ(weight_set(names, "none", 2.0, 1.0).groups, 4);
  EXPECT_EQ(weight_set(names, "x,x,3,3", 2.0, 1.0).group, (std::vector<Index>{0, 0, 1, 1}));
  EXPECT_THROW((void)weight_set(names, "1,2", 2.0, 1.0), InvalidArgument);
}

}  // namespace
}  // namespace kloom::methods
