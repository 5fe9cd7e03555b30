// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/simplex_cuts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "support/problems.h"

namespace kloom {
namespace {

using solvers::SimplexCuts;

double largest_cut(const std::vector<double>& constants, const std::vector<Vector>& slopes, const Vector& x) {
  double largest = -1e300;
  for (std::size_t t = 0; t < constants.size(); ++t) {
    largest = std::max(largest, std::inner_product(x.begin(), x.end(), slopes[t].begin(), constants[t]));
  }
  return largest;
}

// Two variables: the largest of the lines over [0, 1], by a fine grid.
TEST(SimplexCuts, MinimisesOverASegment) {
  SimplexCuts cuts(2);
  const std::vector<double> constants = {3.0, 1.0, 2.0};
  const std::vector<Vector> slopes = {{-1.0, -3.0}, {2.0, -4.0}, {-0.5, -0.25}};
  for (std::size_t t = 0; t < 3; ++t) cuts.add(constants[t], slopes[t]);
  double least = 1e300;
  for (int k = 0; k <= 100000; ++k) {
    const double x = k / 100000.0;
    least = std::min(least, largest_cut(constants, slopes, {x, 1.0 - x}));
  }
  const SimplexCuts::Minimum minimum = cuts.minimise();
  EXPECT_NEAR(minimum.value, least, 1e-4);
  EXPECT_NEAR(largest_cut(constants, slopes, minimum.point), minimum.value, 1e-9);
  EXPECT_NEAR(std::accumulate(minimum.multipliers.begin(), minimum.multipliers.end(), 0.0), 1.0, 1e-12);
}

// Weak duality makes the value a lower bound; that it is attained at the point shows that it is the least
// value. Cuts added later go on from the last answer.
TEST(SimplexCuts, ValueIsAttainedAndGrowsWithCuts) {
  test::Normal normal(4);
  SimplexCuts cuts(7);
  std::vector<double> constants;
  std::vector<Vector> slopes;
  double before = -1e300;
  for (int t = 0; t < 25; ++t) {
    constants.push_back(1000.0 + 100.0 * normal());
    Vector slope(7);
    for (double& value : slope) value = -300.0 * std::abs(normal());
    slopes.push_back(slope);
    cuts.add(constants.back(), slope);
    const SimplexCuts::Minimum minimum = cuts.minimise();
    EXPECT_NEAR(largest_cut(constants, slopes, minimum.point), minimum.value, 1e-6);
    EXPECT_GE(minimum.value, before - 1e-6);
    before = minimum.value;
  }
}

// The nearest point: feasible, and no feasible point of many random ones is nearer.
TEST(SimplexCuts, ProjectsOntoALevel) {
  test::Normal normal(8);
  for (int round = 0; round < 10; ++round) {
    SimplexCuts cuts(4);
    std::vector<double> constants;
    std::vector<Vector> slopes;
    for (int t = 0; t < 6; ++t) {
      constants.push_back(50.0 + 5.0 * normal());
      Vector slope(4);
      for (double& value : slope) value = -20.0 * normal.uniform();
      slopes.push_back(slope);
      cuts.add(constants.back(), slope);
    }
    const Vector centre = {0.7, 0.3, 0.0, 0.0};
    const double least = cuts.minimise().value;
    const double level = least + 0.3 * (largest_cut(constants, slopes, centre) - least) + 1e-3;
    const Vector point = cuts.project(centre, level);
    EXPECT_NEAR(std::accumulate(point.begin(), point.end(), 0.0), 1.0, 1e-12);
    EXPECT_LE(largest_cut(constants, slopes, point), level + 1e-6);
    const auto distance = [&](const Vector& x) {
      double sum = 0.0;
      for (std::size_t k = 0; k < 4; ++k) sum += (x[k] - centre[k]) * (x[k] - centre[k]);
      return sum;
    };
    for (int k = 0; k < 20000; ++k) {
      Vector x;
      double sum = 0.0;
      for (int e = 0; e < 4; ++e) sum += x.emplace_back(-std::log(normal.uniform()));
      for (double& value : x) value /= sum;
      if (largest_cut(constants, slopes, x) > level) continue;
      EXPECT_GE(distance(x), distance(point) - 1e-9);
    }
  }
}

// Slopes at the edge of what the linear programme tells from 0.
TEST(SimplexCuts, TinySlopesDoNotStopTheProgramme) {
  SimplexCuts cuts(4);
  const std::vector<double> constants = {1.9998, 1.3333, 1.0};
  const std::vector<Vector> slopes = {
      {-1.19e-19, -1.9995, 0.0, -1.9995}, {-1.9e-19, -0.889, 0.0, -0.889}, {-1.17e-5, -0.5, 0.0, -0.5}};
  for (std::size_t t = 0; t < 3; ++t) cuts.add(constants[t], slopes[t]);
  const SimplexCuts::Minimum minimum = cuts.minimise();
  EXPECT_NEAR(minimum.value, 0.5, 1e-9);
  EXPECT_NEAR(largest_cut(constants, slopes, minimum.point), 0.5, 1e-9);
}

TEST(SimplexCuts, ForgetsCuts) {
  SimplexCuts cuts(2);
  cuts.add(1.0, Vector{0.0, 0.0});
  cuts.add(5.0, Vector{0.0, 0.0});
  EXPECT_NEAR(cuts.minimise().value, 5.0, 1e-12);
  cuts.keep({true, false});
  EXPECT_EQ(cuts.cuts(), 1);
  EXPECT_NEAR(cuts.minimise().value, 1.0, 1e-12);
}

}  // namespace
}  // namespace kloom
