// SPDX-License-Identifier: BSD-3-Clause
//
// The referee of Gaussian processes agrees with the fit, and finds what was changed behind its back.
#include <gtest/gtest.h>

#include <cmath>

#include "kloom/certify.h"
#include "kloom/learner.h"
#include "kloom/parts.h"
#include "support/problems.h"

namespace kloom {
namespace {

struct Case {
  std::unique_ptr<KernelBank> bank;
  Targets targets;
  FitResult fit;
};

Case fitted(bool numbers) {
  const auto problem = test::binary_problem(70, 3, {0.5, 1.0, 2.0}, 61);
  Case made{test::bank_of(problem), problem.targets, {}};
  if (numbers) {
    test::Normal noise(62);
    made.targets = {};
    made.targets.task = Task::regression;
    made.targets.values = Matrix(70, 1);
    for (Index i = 0; i < 70; ++i)
      made.targets.values(i, 0) = 3.0 + std::sin(problem.x(i, 0)) + problem.x(i, 1) + 0.2 * noise();
  }
  made.fit =
      find_learner("gp-mkl").fit(*made.bank, made.targets, {{"tolerance", "1e-6"}, {"iterations", "500"}}, {});
  return made;
}

double item(const Case& made, const Model& model, std::size_t which) {
  return certify(*made.bank, made.targets, model, {}).items[which].value;
}

Index largest_weight(const Model& model) {
  Index best = 0;
  for (Index p = 0; p < model.weights.values.cols(); ++p) {
    if (model.weights.values(0, p) > model.weights.values(0, best)) best = p;
  }
  return best;
}

TEST(GpMklCertificate, AgreesWithTheFit) {
  for (const bool numbers : {true, false}) {
    const Case made = fitted(numbers);
    EXPECT_NEAR(item(made, made.fit.model, 0), made.fit.report.objective,
                1e-8 * std::abs(made.fit.report.objective));
    // What the fit promised, and as much again for rounding.
    EXPECT_LT(item(made, made.fit.model, 1), 2e-6);
    EXPECT_LT(item(made, made.fit.model, 2), 1e-8);
    EXPECT_LT(item(made, made.fit.model, 3), 1e-10);
  }
}

TEST(GpMklCertificate, FindsAWeightThatWasMoved) {
  for (const bool numbers : {true, false}) {
    const Case made = fitted(numbers);
    Model model = made.fit.model;
    model.weights.values(0, largest_weight(model)) *= 1.5;
    EXPECT_GT(item(made, model, 1), 1e-4) << "the slope is no longer 0";
    EXPECT_GT(item(made, model, 2), 1e-4) << "the coefficients belong to other weights";
    EXPECT_LT(item(made, model, 0), item(made, made.fit.model, 0)) << "less evidence";
  }
}

TEST(GpMklCertificate, FindsAKernelThatWasForgotten) {
  for (const bool numbers : {true, false}) {
    const Case made = fitted(numbers);
    Model model = made.fit.model;
    model.weights.values(0, largest_weight(model)) = 0.0;
    EXPECT_GT(item(made, model, 1), 1e-3) << "the slope at 0 is upward";
  }
}

TEST(GpMklCertificate, FindsAChangedCoefficientAndBias) {
  for (const bool numbers : {true, false}) {
    const Case made = fitted(numbers);
    Model model = made.fit.model;
    model.coefficients(3, 0) += 0.1;
    EXPECT_GT(item(made, model, 2), 1e-4);
    model = made.fit.model;
    model.bias[0] += 0.01;
    EXPECT_NEAR(item(made, model, 3), 0.01, 1e-9);
  }
}

}  // namespace
}  // namespace kloom
