// SPDX-License-Identifier: BSD-3-Clause
//
// Kernels of unusual scale: large ones are solved, those whose squares overflow are numerical trouble.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kloom/bank.h"
#include "kloom/model.h"
#include "methods/bemkl/bemkl.h"
#include "support/problems.h"

namespace kloom {
namespace {

struct Scaled {
  test::BinaryProblem problem;
  std::shared_ptr<const KernelBank> bank;
  FitResult fit;
};

Scaled fit_scaled(double scale) {
  Scaled result{test::binary_problem(12, 2, {1.0}, 3), nullptr, {}};
  for (double& value : result.problem.kernels[0].values()) value *= scale;
  result.bank = make_dense_bank(result.problem.kernels, result.problem.names, true);
  result.fit = methods::fit_bemkl(*result.bank, result.problem.targets, {}, {});
  return result;
}

// A kernel of full rank and such size leaves the weights free to fit every sample.
TEST(BemklScale, LargeKernelsAreSolved) {
  const Scaled large = fit_scaled(1e10);
  EXPECT_EQ(large.fit.report.status, Status::converged) << large.fit.report.message;
  EXPECT_TRUE(std::isfinite(large.fit.report.objective));
  const Predictions predictions = predict(large.fit.model, *large.bank, {}, {});
  EXPECT_TRUE(std::ranges::all_of(predictions.scores.values(), [](double s) { return std::isfinite(s); }));
  EXPECT_EQ(predictions.codes, large.problem.targets.codes);
}

TEST(BemklScale, HugeKernelsAreNumericalTroubleWithARemedy) {
  const Scaled huge = fit_scaled(1e160);
  EXPECT_EQ(huge.fit.report.status, Status::numerical_trouble);
  EXPECT_THAT(huge.fit.report.message, ::testing::HasSubstr("normalise"));
}

}  // namespace
}  // namespace kloom
