// SPDX-License-Identifier: BSD-3-Clause
//
// Losses of the margin and what coefficients are worth with them: against the definition of the conjugate, and
// derivatives against differences.
#include "solvers/margin_loss.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kloom {
namespace {

using solvers::largest_coefficient;
using solvers::loss_at;
using solvers::MarginLoss;
using solvers::worth;
using solvers::worth_curvature;
using solvers::worth_slope;

constexpr MarginLoss kLosses[] = {MarginLoss::hinge, MarginLoss::squared_hinge, MarginLoss::logistic};

double naive_loss(MarginLoss loss, double m) {
  if (loss == MarginLoss::logistic) return std::log(1.0 + std::exp(-m));
  return std::pow(std::max(0.0, 1.0 - m), loss == MarginLoss::hinge ? 1 : 2);
}

// −ℓ*(−a) = min over margins m of a·m + C ℓ(m), by looking.
double naive_worth(MarginLoss loss, double c, double a) {
  double least = std::numeric_limits<double>::infinity();
  for (double m = -30.0; m <= 30.0; m += 1e-4) least = std::min(least, a * m + c * naive_loss(loss, m));
  return least;
}

TEST(MarginLoss, WorthIsMinusTheConjugate) {
  for (const MarginLoss loss : kLosses) {
    for (const double c : {0.3, 7.0}) {
      for (const double share : {0.001, 0.2, 0.5, 0.9, 0.999}) {
        const double a = share * c;
        // Between two margins that are looked at the function changes by its second derivative, at most 2C,
        // times the square of half their distance; the hinge's kink is one of them.
        EXPECT_NEAR(worth(loss, c, a), naive_worth(loss, c, a), 2.0 * c * 1e-8 + 1e-10);
      }
    }
    for (const double m : {-3.0, 0.0, 0.7, 1.0, 20.0}) {
      EXPECT_NEAR(loss_at(loss, m), naive_loss(loss, m), 1e-14 * (1.0 + naive_loss(loss, m)));
    }
  }
}

TEST(MarginLoss, SlopeAndCurvatureAreDerivatives) {
  for (const MarginLoss loss : kLosses) {
    for (const double share : {0.1, 0.5, 0.95}) {
      const double c = 2.0;
      const double a = share * c;
      const double step = 1e-5;
      // Central differences err by step²/6 times the third derivatives, at most 1/0.1² and 2/0.1³ here, and
      // by rounding, eps/step.
      EXPECT_NEAR(worth_slope(loss, c, a), (worth(loss, c, a + step) - worth(loss, c, a - step)) / (2.0 * step),
                  1e-5);
      EXPECT_NEAR(worth_curvature(loss, c, a),
                  -(worth_slope(loss, c, a + step) - worth_slope(loss, c, a - step)) / (2.0 * step), 1e-5);
    }
  }
}

// Far margins neither overflow nor lose the small loss; coefficients at both ends have finite numbers.
TEST(MarginLoss, LogisticIsFiniteEverywhere) {
  EXPECT_EQ(loss_at(MarginLoss::logistic, -1e4), 1e4);
  EXPECT_NEAR(loss_at(MarginLoss::logistic, 40.0), std::exp(-40.0), 1e-30);
  EXPECT_EQ(loss_at(MarginLoss::logistic, 750.0), 0.0);
  for (const double a : {0.0, 1e-300, 3.0, largest_coefficient(MarginLoss::logistic, 3.0)}) {
    EXPECT_TRUE(std::isfinite(worth(MarginLoss::logistic, 3.0, a)));
    EXPECT_TRUE(std::isfinite(worth_slope(MarginLoss::logistic, 3.0, a)));
    EXPECT_TRUE(std::isfinite(worth_curvature(MarginLoss::logistic, 3.0, a)));
  }
  EXPECT_LT(largest_coefficient(MarginLoss::logistic, 3.0), 3.0);
  for (const MarginLoss loss : kLosses) EXPECT_EQ(largest_coefficient(loss, 0.0), 0.0);
}

}  // namespace
}  // namespace kloom
