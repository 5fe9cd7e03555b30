// SPDX-License-Identifier: BSD-3-Clause
#include "methods/auto/auto.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "kloom/certify.h"
#include "kloom/error.h"
#include "kloom/parts.h"
#include "methods/auto/blend.h"
#include "methods/auto/candidates.h"
#include "support/problems.h"

namespace kloom::methods {
namespace {

double accuracy(const Predictions& predictions, const std::vector<int>& codes) {
  double right = 0.0;
  for (std::size_t i = 0; i < codes.size(); ++i) right += predictions.codes[i] == codes[i] ? 1.0 : 0.0;
  return right / static_cast<double>(codes.size());
}

TEST(KernelLabel, ReadsKindAndGroup) {
  EXPECT_EQ(label_of("rbf(width=2) on age").kind, "rbf");
  EXPECT_EQ(label_of("rbf(width=2) on age").group, "age");
  EXPECT_EQ(label_of("linear on view a").kind, "linear");
  EXPECT_EQ(label_of("K1").group, "K1");
  EXPECT_NE(label_of("poly(degree=2) on all").kind, label_of("poly(degree=3) on all").kind);
  EXPECT_NE(label_of("trees(leaves=8) on all").kind, label_of("trees(leaves=32) on all").kind);
}

// A tenth of a loss in the screening does not say which degree is right; both are tried.
TEST(Candidates, EveryDegreeIsAKindOfItsOwn) {
  const std::vector<std::string> names = {"rbf(width=1) on all", "rbf(width=2) on all", "poly(degree=2) on all",
                                          "poly(degree=3) on all"};
  const Vector losses = {0.30, 0.29, 0.33, 0.31};
  const Vector diagonals(4, 1.0);
  const auto found = propose_candidates(names, losses, diagonals, 20);
  for (const Vector& alone : {Vector{0, 0, 1, 0}, Vector{0, 0, 0, 1}})
    EXPECT_TRUE(std::ranges::any_of(found, [&](const Candidate& c) { return c.weights == alone; }));
}

TEST(Candidates, AreSumsOfUsefulKernelsWithoutRepetition) {
  const std::vector<std::string> names = {"rbf(width=1) on a", "rbf(width=1) on b", "linear on a",
                                          "linear on b"};
  const Vector losses = {0.5, 0.2, std::numeric_limits<double>::infinity(), 0.4};
  const Vector diagonals = {1.0, 2.0, 1.0, 4.0};
  const auto found = propose_candidates(names, losses, diagonals, 20);
  ASSERT_FALSE(found.empty());
  for (std::size_t k = 0; k < found.size(); ++k) {
    EXPECT_EQ(found[k].weights[2], 0.0) << "a kernel of no use";
    double total = 0.0;
    for (std::size_t p = 0; p < 4; ++p) total += found[k].weights[p] * diagonals[p];
    EXPECT_NEAR(total, 1.0, 1e-12) << found[k].name;
    for (std::size_t other = 0; other < k; ++other) EXPECT_NE(found[k].weights, found[other].weights);
  }
  EXPECT_EQ(propose_candidates(names, losses, diagonals, 2).size(), 2U);
}

// The narrow kernel is nearly an identity and separates everything; it must not be what is chosen.
TEST(Auto, DoesNotFallForNarrowKernels) {
  const auto problem = test::binary_problem(150, 2, {0.005, 1.0}, 11);
  const auto bank = test::bank_of(problem);
  const FitResult fit = fit_auto(*bank, problem.targets, {}, {});
  const Matrix& weights = fit.model.weights.values;
  EXPECT_LT(weights(0, 0), 0.3 * (weights(0, 1) + weights(0, 2)));
}

TEST(Auto, ShuffledLabelsGiveChance) {
  auto problem = test::binary_problem(200, 3, {0.5, 1.0, 2.0}, 12);
  std::mt19937 engine(1);
  std::shuffle(problem.targets.codes.begin(), problem.targets.codes.end(), engine);
  const FitResult fit = fit_auto(*test::bank_of(problem), problem.targets, {}, {});
  // The loss on held-out samples is that of the class frequencies, to three standard errors: the deviation of
  // one sample's log loss is at most about 1 for such probabilities.
  double share = 0.0;
  for (const int code : problem.targets.codes) share += code / 200.0;
  const double chance = -share * std::log(share) - (1.0 - share) * std::log(1.0 - share);
  EXPECT_NEAR(fit.report.objective, chance, 3.0 / std::sqrt(200.0));
  EXPECT_GT(fit.report.objective, chance - 0.1);
}

TEST(Auto, SameDataAndSeedGiveTheSameModel) {
  const auto problem = test::binary_problem(90, 3, {0.5, 2.0}, 13);
  const auto bank = test::bank_of(problem);
  const FitResult one = fit_auto(*bank, problem.targets, {}, {});
  const FitResult two = fit_auto(*bank, problem.targets, {}, {});
  EXPECT_EQ(one.model.coefficients, two.model.coefficients);
  EXPECT_EQ(one.model.bias, two.model.bias);
}

TEST(Auto, WhatWasChosenCanBeRepeatedWithoutChoosing) {
  const auto problem = test::binary_problem(120, 3, {0.5, 1.0, 2.0}, 15);
  const auto bank = test::bank_of(problem);
  for (const bool numbers : {false, true}) {
    Targets targets = problem.targets;
    if (numbers) {
      targets = Targets{};
      targets.task = Task::regression;
      targets.values = Matrix(120, 1);
      for (Index i = 0; i < 120; ++i)
        targets.values(i, 0) = problem.targets.codes[at(i)] + 0.01 * static_cast<double>(i);
    }
    const FitResult first = fit_auto(*bank, targets, {}, {});
    AutoOptions again;
    again.machines = first.report.options.at("machines");
    const FitResult second = fit_auto(*bank, targets, again, {});
    EXPECT_EQ(first.model.coefficients, second.model.coefficients);
    EXPECT_EQ(first.model.bias, second.model.bias);
    EXPECT_EQ(first.model.weights.values, second.model.weights.values);
    EXPECT_EQ(first.report.objective, second.report.objective);
    EXPECT_EQ(part_of<BlendPart>(first.model).deviation, part_of<BlendPart>(second.model).deviation);
  }
}

TEST(Auto, WordsThatAreNoMachinesAreRefused) {
  const auto problem = test::binary_problem(40, 2, {1.0, 2.0}, 16);
  for (const char* text :
       {"ridge", "loss 0.1", "ridge 1 1 1 99*1", "ridge 1 1 1 0*1", "ridge 1 1 1 1", "ridge -1 1 1 1*1",
        "ridge 0 1 1 1*1", "ridge nan 1 1 1*1", "forest 1 1 1 1*1", "ridge 1 1 1 1*1 2"}) {
    AutoOptions options;
    options.machines = text;
    EXPECT_THROW((void)fit_auto(*test::bank_of(problem), problem.targets, options, {}), InvalidArgument)
        << text;
  }
}
TEST(Auto, TheRefereeAgrees) {
  auto problem = test::binary_problem(100, 3, {0.5, 1.0, 2.0}, 14);
  const auto bank = test::bank_of(problem);
  for (const bool numbers : {false, true}) {
    Targets targets = problem.targets;
    if (numbers) {
      targets = {};
      targets.task = Task::regression;
      targets.values = Matrix(100, 1);
      for (Index i = 0; i < 100; ++i) targets.values(i, 0) = 5.0 + 3.0 * std::sin(problem.x(i, 0));
    }
    const FitResult fit = fit_auto(*bank, targets, {}, {});
    const Certificate certificate = certify(*bank, targets, fit.model, {});
    // L-BFGS stops when the objective moves by 1e-7 of itself: its gradient is then about the root of that.
    EXPECT_LT(certificate.items[1].value, 1e-2) << certificate.items[1].name;
    EXPECT_LT(certificate.items[2].value, 1e-9) << certificate.items[2].name;
    // A model that was tampered with does not pass.
    Model wrong = fit.model;
    for (double& value : edit_part<BlendPart>(wrong).terms.front().coefficients.values()) value *= 1.5;
    EXPECT_GT(certify(*bank, targets, wrong, {}).items[1].value, 10.0 * certificate.items[1].value + 1e-3);
  }
}

TEST(Auto, LandmarksAloneCarryCoefficients) {
  const auto problem = test::binary_problem(120, 3, {1.0, 2.0}, 15);
  AutoOptions options;
  options.landmarks = 30;
  const FitResult fit = fit_auto(*test::bank_of(problem), problem.targets, options, {});
  EXPECT_LE(needs(fit.model).samples.size(), 30U);
  EXPECT_GT(accuracy(predict(fit.model, *test::bank_of(problem), {}, {}), problem.targets.codes), 0.7);
}

TEST(Auto, ModelsComeBackToTheBit) {
  const auto problem = test::binary_problem(50, 3, {1.0, 2.0}, 16);
  const auto bank = test::bank_of(problem);
  const FitResult fit = fit_auto(*bank, problem.targets, {}, {});
  const Model loaded = model_from_bytes(model_bytes(fit.model));
  EXPECT_EQ(predict(fit.model, *bank, {}, {}).probabilities, predict(loaded, *bank, {}, {}).probabilities);
}

TEST(Blend, LosesNoMoreThanTheBestMachine) {
  const auto problem = test::binary_problem(80, 2, {1.0}, 17);
  MachineTask task;
  task.classes = 2;
  task.labels = problem.targets.codes;
  std::vector<Machine> machines(3);
  test::Normal noise(3);
  for (auto& machine : machines) machine.held_out = Matrix(80, 1);
  for (Index i = 0; i < 80; ++i) {
    const double truth = task.labels[at(i)] == 1 ? 1.0 : -1.0;
    machines[0].held_out(i, 0) = truth + noise();
    machines[1].held_out(i, 0) = truth + noise();
    machines[2].held_out(i, 0) = noise();
  }
  std::vector<const Machine*> all;
  for (const auto& machine : machines) all.push_back(&machine);
  const Blend blend = blend_machines(all, task);
  const double best =
      std::min(held_out_loss(machines[0].held_out, task), held_out_loss(machines[1].held_out, task));
  EXPECT_LT(blend.loss, best);
  EXPECT_GT(blend.shares[0], 2.0 * blend.shares[2]);
  EXPECT_GT(blend.shares[1], 2.0 * blend.shares[2]);
}

}  // namespace
}  // namespace kloom::methods
