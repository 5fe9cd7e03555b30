// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/evaluate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "kloom/error.h"

namespace kloom {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
// Sums of at most a few hundred terms of size 1, in another order than the code under test.
constexpr double kSumError = 1e-12;

std::map<std::string, double> by_name(const Evaluation& evaluation) {
  return {evaluation.values.begin(), evaluation.values.end()};
}

Targets class_targets(Task task, std::vector<std::string> classes, std::vector<int> codes) {
  Targets targets;
  targets.task = task;
  targets.classes = std::move(classes);
  targets.codes = std::move(codes);
  return targets;
}

// Random predictions for random labels, some of them missing; scores are rounded so that ties occur.
struct Problem {
  Predictions predictions;
  Targets targets;
};

Problem random_problem(int classes, Index samples, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  std::uniform_int_distribution<int> any_class(0, classes - 1);
  Problem problem;
  std::vector<std::string> names;
  for (int c = 0; c < classes; ++c) names.push_back("class" + std::to_string(c));
  problem.targets = class_targets(classes == 2 ? Task::binary : Task::multiclass, names, {});
  Predictions& p = problem.predictions;
  p.scores = Matrix(samples, classes == 2 ? 1 : classes);
  p.probabilities = Matrix(samples, classes);
  for (Index i = 0; i < samples; ++i) {
    problem.targets.codes.push_back(uniform(random) < 0.1 ? Targets::unlabelled : any_class(random));
    p.codes.push_back(any_class(random));
    for (Index c = 0; c < p.scores.cols(); ++c) p.scores(i, c) = std::round(20.0 * uniform(random));
    double sum = 0.0;
    for (Index c = 0; c < classes; ++c) sum += p.probabilities(i, c) = uniform(random);
    for (Index c = 0; c < classes; ++c) p.probabilities(i, c) /= sum;
  }
  return problem;
}

// Every pair of a positive and a negative sample, counted.
double naive_auc(const Problem& problem) {
  double wins = 0.0;
  double pairs = 0.0;
  for (std::size_t i = 0; i < problem.targets.codes.size(); ++i) {
    for (std::size_t j = 0; j < problem.targets.codes.size(); ++j) {
      if (problem.targets.codes[i] != 1 || problem.targets.codes[j] != 0) continue;
      const double a = problem.predictions.scores(static_cast<Index>(i), 0);
      const double b = problem.predictions.scores(static_cast<Index>(j), 0);
      wins += a > b ? 1.0 : (a == b ? 0.5 : 0.0);
      pairs += 1.0;
    }
  }
  return wins / pairs;
}

std::map<std::string, double> naive_scores(const Problem& problem) {
  const auto classes = static_cast<int>(problem.targets.classes.size());
  double n = 0.0, right = 0.0, loss = 0.0, brier = 0.0;
  std::map<int, double> hits, totals;
  for (std::size_t i = 0; i < problem.targets.codes.size(); ++i) {
    const int truth = problem.targets.codes[i];
    if (truth < 0) continue;
    n += 1.0;
    totals[truth] += 1.0;
    if (problem.predictions.codes[i] == truth) {
      right += 1.0;
      hits[truth] += 1.0;
    }
    const auto row = static_cast<Index>(i);
    loss += -std::log(problem.predictions.probabilities(row, truth));
    if (classes == 2) {
      brier += std::pow(problem.predictions.probabilities(row, 1) - truth, 2);
    } else {
      for (int c = 0; c < classes; ++c) {
        brier += std::pow(problem.predictions.probabilities(row, c) - (c == truth ? 1 : 0), 2);
      }
    }
  }
  double recalls = 0.0;
  for (const auto& [c, total] : totals) recalls += hits[c] / total;
  return {{"accuracy", right / n},
          {"balanced accuracy", recalls / static_cast<double>(totals.size())},
          {"log loss", loss / n},
          {"Brier score", brier / n}};
}

TEST(Evaluate, BinaryAgreesWithNaiveFormulas) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const Problem problem = random_problem(2, 90, seed);
    const Evaluation evaluation = evaluate(problem.predictions, problem.targets);
    auto expected = naive_scores(problem);
    expected["AUC"] = naive_auc(problem);
    const auto values = by_name(evaluation);
    for (const auto& [name, value] : expected) EXPECT_NEAR(values.at(name), value, kSumError) << name;
  }
}

TEST(Evaluate, MulticlassAgreesWithNaiveFormulas) {
  const Problem problem = random_problem(4, 150, 7);
  const auto values = by_name(evaluate(problem.predictions, problem.targets));
  const auto expected = naive_scores(problem);
  for (const auto& [name, value] : expected) EXPECT_NEAR(values.at(name), value, kSumError) << name;
}

TEST(Evaluate, ConfusionCountsTrueClassByRow) {
  Predictions predictions;
  predictions.codes = {0, 1, 1, 1, 0};
  const Targets targets = class_targets(Task::binary, {"no", "yes"}, {0, 0, 1, Targets::unlabelled, 1});
  const Evaluation evaluation = evaluate(predictions, targets);
  EXPECT_EQ(evaluation.samples, 4);
  EXPECT_EQ(evaluation.classes, targets.classes);
  EXPECT_EQ(evaluation.confusion, (std::vector<std::vector<Index>>{{1, 1}, {1, 1}}));
}

TEST(Evaluate, CertainAndWrongIsExpensiveButFinite) {
  Predictions predictions;
  predictions.codes = {0};
  predictions.scores = Matrix(1, 1, -50.0);
  predictions.probabilities = Matrix(1, 2);
  predictions.probabilities(0, 0) = 1.0;
  const auto values = by_name(evaluate(predictions, class_targets(Task::binary, {"a", "b"}, {1})));
  EXPECT_NEAR(values.at("log loss"), -std::log(1e-15), kSumError);
  EXPECT_EQ(values.at("Brier score"), 1.0);
  EXPECT_FALSE(values.contains("AUC")) << "one class only has no ranking to judge";
}

TEST(Evaluate, RegressionAgreesWithNaiveFormulas) {
  Predictions predictions;
  predictions.scores = Matrix(4, 1);
  Targets targets;
  targets.task = Task::regression;
  targets.values = Matrix(4, 1);
  const Vector truth{1.0, 2.0, kNaN, 6.0};
  const Vector guess{2.0, 2.0, 100.0, 3.0};
  for (std::size_t i = 0; i < 4; ++i) {
    targets.values(static_cast<Index>(i), 0) = truth[i];
    predictions.scores(static_cast<Index>(i), 0) = guess[i];
  }
  const Evaluation evaluation = evaluate(predictions, targets);
  const auto values = by_name(evaluation);
  EXPECT_EQ(evaluation.samples, 3);
  EXPECT_NEAR(values.at("RMSE"), std::sqrt((1.0 + 0.0 + 9.0) / 3.0), kSumError);
  EXPECT_NEAR(values.at("MAE"), 4.0 / 3.0, kSumError);
  EXPECT_NEAR(values.at("R²"), 1.0 - 10.0 / (4.0 + 1.0 + 9.0), kSumError);
}

TEST(Evaluate, RefusesWhatDoesNotFit) {
  Predictions predictions;
  predictions.codes = {0, 1};
  EXPECT_THROW((void)evaluate(predictions, class_targets(Task::binary, {"a", "b"}, {1})), InvalidArgument);
  EXPECT_THROW((void)evaluate(predictions, class_targets(Task::binary, {"a", "b"}, {-1, -1})), InvalidArgument);
  Targets values;
  values.task = Task::regression;
  values.values = Matrix(3, 1);
  EXPECT_THROW((void)evaluate(predictions, values), InvalidArgument);
}

TEST(TargetsFor, UsesTheModelsCodingAndListsUnknownNames) {
  Model model;
  model.task = Task::binary;
  model.classes = {"0", "1"};
  std::vector<std::string> unknown;
  const Targets targets = targets_for(model, {"1.0", "0", "", "maybe", "+1", "maybe", "2"}, &unknown);
  EXPECT_EQ(targets.codes, (std::vector<int>{1, 0, -1, -1, 1, -1, -1}));
  EXPECT_EQ(unknown, (std::vector<std::string>{"maybe", "2"}));
  model.classes = {"benign", "malignant"};
  EXPECT_EQ(targets_for(model, {"malignant", "Malignant"}).codes, (std::vector<int>{1, -1}));
}

TEST(TargetsFor, RegressionReadsNumbers) {
  Model model;
  model.task = Task::regression;
  const Targets targets = targets_for(model, {"1.5", "", "-2e3"});
  EXPECT_EQ(targets.values(0, 0), 1.5);
  EXPECT_TRUE(std::isnan(targets.values(1, 0)));
  EXPECT_EQ(targets.values(2, 0), -2000.0);
  EXPECT_THROW((void)targets_for(model, {"12x"}), InvalidArgument);
}

}  // namespace
}  // namespace kloom
