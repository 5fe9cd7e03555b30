// SPDX-License-Identifier: BSD-3-Clause
//
// BEMKL on samples that it has not seen with a label: how sure it may be of them, and what it learns from samples
// without labels.
#include <gtest/gtest.h>

#include <numbers>

#include "kloom/parts.h"
#include "unit/methods/bemkl/tasks.h"

namespace kloom {
namespace {

using namespace test;

// Labels of which a quarter is noise: without calibration the probabilities of samples that were not seen
// promise far too much.
TEST(Bemkl, HeldOutSamplesCalibrateProbabilities) {
  BinaryProblem problem = test::binary_problem(260, 3, {0.5, 1.0, 2.0}, 21);
  test::Normal normal(3);
  for (int& code : problem.targets.codes) code = std::abs(normal()) > 1.15 ? 1 - code : code;
  const auto train = [&](const char* calibration, const Targets& targets) {
    BemklOptions options;
    options.calibration = calibration;
    return methods::fit_bemkl(*bank_of(problem.kernels), targets, options, {});
  };
  Targets half = problem.targets;
  half.weights.assign(260, 1.0);
  for (std::size_t i = 0; i < 260; i += 2) half.weights[i] = 0.0;
  const auto loss = [&](const Model& model) {
    const Predictions p = predict(model, *bank_of(problem.kernels), {}, {});
    double sum = 0.0;
    for (Index i = 0; i < 260; i += 2)
      sum -= std::log(p.probabilities(i, problem.targets.codes[static_cast<std::size_t>(i)])) / 130.0;
    return sum;
  };
  const FitResult plain = train("none", half);
  const FitResult calibrated = train("held-out", half);
  EXPECT_EQ(part_of<BemklPosterior>(plain.model).temperature, 1.0);
  EXPECT_GT(part_of<BemklPosterior>(calibrated.model).temperature, 1.0);
  // The rest of the model is the same, and so are the classes.
  EXPECT_EQ(plain.model.coefficients.values().front(), calibrated.model.coefficients.values().front());
  EXPECT_LT(loss(calibrated.model), loss(plain.model));
  const auto& table = calibrated.report.tables.front();
  EXPECT_EQ(table.title, "calibration on held-out samples");
  EXPECT_LE(table.rows.front()[2], table.rows.front()[1]);
}

// Numbers with noise of deviation 1: intervals of samples that were not seen hold what they promise. Of 120
// samples a share q is seen with deviation √(q(1−q)/120); three of those.
TEST(Bemkl, HeldOutSamplesCalibrateIntervals) {
  BinaryProblem problem = test::binary_problem(240, 3, {0.5, 1.0, 2.0}, 22);
  test::Normal normal(5);
  Targets numbers;
  numbers.task = Task::regression;
  numbers.values = Matrix(240, 1);
  for (Index i = 0; i < 240; ++i)
    numbers.values(i, 0) = 3.0 * problem.kernels[1](i, 7) - 2.0 * problem.kernels[2](i, 100) + normal();
  numbers.weights.assign(240, 1.0);
  for (std::size_t i = 0; i < 240; i += 2) numbers.weights[i] = 0.0;
  const FitResult fit = methods::fit_bemkl(*bank_of(problem.kernels), numbers, {}, {});
  const Predictions p = predict(fit.model, *bank_of(problem.kernels), {}, {});
  double in50 = 0.0;
  double in90 = 0.0;
  for (Index i = 0; i < 240; i += 2) {
    const double z = std::abs(numbers.values(i, 0) - p.scores(i, 0)) / p.deviation(i, 0);
    in50 += z < 0.6745 ? 1.0 / 120.0 : 0.0;
    in90 += z < 1.6449 ? 1.0 / 120.0 : 0.0;
  }
  EXPECT_NEAR(in50, 0.5, 3.0 * std::sqrt(0.5 * 0.5 / 120.0));
  EXPECT_NEAR(in90, 0.9, 3.0 * std::sqrt(0.9 * 0.1 / 120.0));
}

// Two samples of a class cannot be held out in three folds.
TEST(Bemkl, TooFewSamplesToCalibrateLeaveProbabilitiesAsTheyAre) {
  BinaryProblem problem = test::binary_problem(20, 2, {1.0}, 3);
  for (std::size_t i = 0; i < 20; ++i) problem.targets.codes[i] = i < 2 ? 1 : 0;
  const FitResult fit = methods::fit_bemkl(*bank_of(problem.kernels), problem.targets, {}, {});
  EXPECT_EQ(part_of<BemklPosterior>(fit.model).temperature, 1.0);
}

struct Moons {
  Matrix x;
  Targets targets;
};

Moons two_moons(Index n) {
  test::Normal normal(4);
  Moons moons{Matrix(n, 2), {}};
  moons.targets.classes = {"lower", "upper"};
  for (Index i = 0; i < n; ++i) {
    const bool upper = i % 2 == 0;
    const Index pair = i / 2;
    const double angle = std::numbers::pi * (static_cast<double>(pair) + 0.5) / (static_cast<double>(n) / 2);
    moons.x(i, 0) = (upper ? std::cos(angle) : 1.0 - std::cos(angle)) + 0.05 * normal();
    moons.x(i, 1) = (upper ? std::sin(angle) : 0.5 - std::sin(angle)) + 0.05 * normal();
    moons.targets.codes.push_back(upper ? 1 : 0);
  }
  return moons;
}

// Wrong among all samples, trained on `targets`.
Index wrong_on(const Moons& moons, const KernelBank& bank, const Targets& targets) {
  const FitResult fit = methods::fit_bemkl(bank, targets, {}, {});
  const Predictions p = predict(fit.model, bank, {}, {});
  Index count = 0;
  for (std::size_t i = 0; i < p.codes.size(); ++i) count += p.codes[i] != moons.targets.codes[i] ? 1 : 0;
  return count;
}

// Four labels, two on each moon, at ten places: with the samples that have none, fewer are wrong in all.
TEST(Bemkl, UnlabelledSamplesHelpOnTwoMoons) {
  const Moons moons = two_moons(120);
  std::vector<Matrix> kernels;
  for (double width : {0.15, 0.25, 0.4}) kernels.push_back(test::rbf_kernel(moons.x, moons.x, width));
  const auto bank = bank_of(kernels);
  Index supervised = 0;
  Index semi = 0;
  for (Index draw = 0; draw < 10; ++draw) {
    Targets four = moons.targets;
    Targets alone = moons.targets;
    alone.weights.assign(120, 0.0);
    for (Index i = 0; i < 120; ++i) {
      const Index place = i / 2;
      if (place == 3 + 2 * draw || place == 56 - 2 * draw) {
        alone.weights[static_cast<std::size_t>(i)] = 1.0;
      } else {
        four.codes[static_cast<std::size_t>(i)] = Targets::unlabelled;
      }
    }
    supervised += wrong_on(moons, *bank, alone);
    semi += wrong_on(moons, *bank, four);
  }
  std::printf("  wrong of 1200: %td from four labels alone, %td with the others\n", supervised, semi);
  EXPECT_LT(semi, supervised);
}

// As labels leave one by one the fit goes on from the supervised one: with one missing, the scores are near.
TEST(Bemkl, OneMissingLabelChangesLittle) {
  const BinaryProblem problem = test::binary_problem(60, 2, {1.0, 2.0}, 14);
  const auto bank = bank_of(problem.kernels);
  const FitResult whole = fit(problem);
  BinaryProblem missing = problem;
  missing.targets.codes[7] = Targets::unlabelled;
  const FitResult rest = fit(missing);
  const Predictions a = predict(whole.model, *bank, {}, {});
  const Predictions b = predict(rest.model, *bank, {}, {});
  for (Index i = 0; i < 60; ++i) {
    if (i == 7) continue;
    EXPECT_NEAR(a.scores(i, 0), b.scores(i, 0), a.deviation(i, 0)) << i;
  }
}

}  // namespace
}  // namespace kloom
