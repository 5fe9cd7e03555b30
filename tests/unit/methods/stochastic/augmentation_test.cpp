// SPDX-License-Identifier: BSD-3-Clause
#include "methods/stochastic/augmentation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "solvers/draws.h"

namespace kloom::methods {
namespace {

// Completing the square: β is N(μ₀/(1+τσ₀²), σ₀²/(1+τσ₀²)), α Gamma with scale 2θ₀/(2 + wθ₀),
// from the priors anew.
TEST(Augmentation, PlainConditionalsStartFromThePriors) {
  Augmentation augmentation({1.0, 2.0, 3.0, 0.5}, 2, 2, false);
  solvers::Draws draws(1);
  Matrix norms(2, 2, 0.5);
  for (int round = 0; round < 2; ++round) {
    augmentation.draw_strengths(draws);
    augmentation.draw_auxiliaries(norms, draws);
    double tau = 0.0;
    for (const double inverse : augmentation.inverse_lambda.values()) tau += 0.25 * inverse;
    EXPECT_NEAR(augmentation.priors.theta, 4.0 / (2.0 + 1.0 * 2.0), 1e-15);
    EXPECT_NEAR(augmentation.priors.mu, 3.0 / (1.0 + 0.25 * tau), 1e-12);
    EXPECT_NEAR(augmentation.priors.sigma, 0.5 / std::sqrt(1.0 + 0.25 * tau), 1e-12);
  }
  // ‖w‖ = 0: a Lévy draw, a number all the same.
  augmentation.draw_auxiliaries(Matrix(2, 2, 0.0), draws);
  for (const double inverse : augmentation.inverse_lambda.values()) EXPECT_TRUE(std::isfinite(inverse));
}

// One output of two classes has the weights 1/γ_0f + 1/γ_1f, several have 1/γ_mf each; weights times scale are these.
TEST(Augmentation, PenaltiesBecomeWeightsThatSumToOne) {
  for (const Index classes : {2, 3}) {
    Matrix penalties(classes, 2);
    for (Index m = 0; m < classes; ++m) {
      penalties(m, 0) = 0.5 + static_cast<double>(m);
      penalties(m, 1) = 0.25 * static_cast<double>(m + 1);
    }
    const PenaltyWeights found = weights_of(penalties);
    ASSERT_EQ(found.weights.cols(), classes == 2 ? 1 : 3);
    for (Index k = 0; k < found.weights.cols(); ++k) {
      EXPECT_NEAR(found.weights(0, k) + found.weights(1, k), 1.0, 1e-15);
      for (Index f = 0; f < 2; ++f) {
        const double expected =
            classes == 2 ? 1.0 / penalties(0, f) + 1.0 / penalties(1, f) : 1.0 / penalties(k, f);
        EXPECT_NEAR(found.weights(f, k) * found.scales[at(k)], expected, 1e-14 * expected);
      }
    }
  }
}

}  // namespace
}  // namespace kloom::methods
