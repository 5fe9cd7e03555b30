// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/anderson.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

namespace kloom {
namespace {

using solvers::Anderson;

// F(x) = Mx + b with four slow directions: its fixed point is (I − M)⁻¹b.
struct Linear {
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(4, 4);
  Eigen::VectorXd b = Eigen::VectorXd::LinSpaced(4, -1.0, 2.0);

  Linear() {
    m.diagonal() << 0.99, 0.9, 0.5, -0.7;
    m(0, 3) = m(2, 1) = 0.2;
  }
  [[nodiscard]] Vector operator()(const Vector& x) const {
    const Eigen::VectorXd y = m * Eigen::Map<const Eigen::VectorXd>(x.data(), 4) + b;
    return {y.begin(), y.end()};
  }
  [[nodiscard]] double distance(const Vector& x) const {
    const Eigen::VectorXd fixed = (Eigen::MatrixXd::Identity(4, 4) - m).fullPivLu().solve(b);
    return (Eigen::Map<const Eigen::VectorXd>(x.data(), 4) - fixed).norm() / fixed.norm();
  }
};

// Five residuals span all four directions. The ridge of 1e-10 of the trace leaves about its root times the condition
// (the fixed point is up to 1/(1 − 0.99) times as far as a residual is long).
TEST(Anderson, LinearIterationsEndAtTheirFixedPoint) {
  const Linear f;
  Anderson states;
  Vector x(4);
  for (int pass = 0; pass < 5; ++pass) {
    Vector next = f(x);
    states.remember(x, next);
    x = std::move(next);
  }
  EXPECT_GT(f.distance(x), 0.5);
  EXPECT_LT(f.distance(states.extrapolated().value()), 1e-3);
}

// More passes than are remembered, every one from where the last extrapolation led.
TEST(Anderson, GoesOnFromWhatItFound) {
  const Linear f;
  Anderson states;
  Vector x(4);
  for (int pass = 0; pass < 20; ++pass) {
    Vector next = f(x);
    states.remember(x, next);
    x = states.extrapolated().value_or(std::move(next));
  }
  EXPECT_LT(f.distance(x), 1e-9);
}

TEST(Anderson, SaysNothingWithoutTwoDifferentResiduals) {
  Anderson states;
  EXPECT_FALSE(states.extrapolated());
  states.remember({0.0, 0.0}, {1.0, 1.0});
  EXPECT_FALSE(states.extrapolated());
  states.remember({1.0, 1.0}, {2.0, 2.0});  // the same residual again
  EXPECT_FALSE(states.extrapolated());
  states.remember({2.0, 2.0}, {2.5, 2.5});  // halves along the way to 3
  ASSERT_TRUE(states.extrapolated());
  EXPECT_NEAR(states.extrapolated()->front(), 3.0, 1e-8);
}

}  // namespace
}  // namespace kloom
