// SPDX-License-Identifier: BSD-3-Clause
//
// Ridge regression with kernel weights in groups, against the objective by Eigen at other weights of the set: random ones,
// and those of a plain descent.
#include "methods/mkr/grouped.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "kloom/certify.h"
#include "kloom/error.h"
#include "kloom/learner.h"
#include "kloom/parts.h"
#include "support/problems.h"
#include "support/weight_sets.h"

namespace kloom::methods {
namespace {

constexpr Index kSamples = 30;
constexpr double kTolerance = 1e-5;
constexpr double kInf = std::numeric_limits<double>::infinity();

struct RidgeProblem {
  std::vector<Matrix> kernels;
  std::unique_ptr<KernelBank> bank;
  RidgeTask task;
};

// Two kernels on each of three columns; the last column says nothing about y.
RidgeProblem problem_of() {
  RidgeProblem problem;
  const Matrix x = test::normal_matrix(kSamples, 3, 1);
  std::vector<std::string> names;
  for (Index view = 0; view < 3; ++view) {
    Matrix own(kSamples, 1);
    std::ranges::copy(x.column(view), own.column(0).begin());
    for (const double width : {0.5, 2.0}) {
      problem.kernels.push_back(test::rbf_kernel(own, own, width));
      names.push_back("rbf(width=" + std::to_string(width) + ") on " + std::to_string(view));
    }
  }
  problem.bank = make_dense_bank(problem.kernels, names, true);
  test::Normal noise(2);
  problem.task.y = Matrix(kSamples, 2);
  for (Index i = 0; i < kSamples; ++i) {
    problem.task.y(i, 0) = std::sin(2.0 * x(i, 0)) + 0.5 * x(i, 1) + 0.1 * noise();
    problem.task.y(i, 1) = x(i, 1) * x(i, 1) - 1.0 + 0.1 * noise();
    problem.task.weights.push_back(i % 5 == 0 ? 2.0 : 1.0);
  }
  return problem;
}

// What is left to minimise over θ when c is the best one: α yᵀ(K_θ + αS⁻¹)⁻¹y, by Eigen.
double objective(const RidgeProblem& problem, Index target, double strength, const Vector& theta) {
  Eigen::MatrixXd system = Eigen::MatrixXd::Zero(kSamples, kSamples);
  Eigen::VectorXd y(kSamples);
  for (Index i = 0; i < kSamples; ++i) {
    y(i) = problem.task.y(i, target);
    system(i, i) = strength / problem.task.weights[at(i)];
    for (Index j = 0; j < kSamples; ++j) {
      for (std::size_t m = 0; m < theta.size(); ++m) system(i, j) += theta[m] * problem.kernels[m](i, j);
    }
  }
  return strength * y.dot(system.ldlt().solve(y));
}

// One weight after the other is raised or lowered, and all are brought back to the edge, by ever smaller factors.
double plain_descent(const RidgeProblem& problem, const WeightSet& set, Index target, double strength) {
  Vector theta = test::at_edge(set, Vector(problem.kernels.size(), 1.0));
  double best = objective(problem, target, strength, theta);
  for (double factor = 2.0; factor > 1.0005;) {
    bool better = false;
    for (std::size_t m = 0; m < theta.size(); ++m) {
      for (const double change : {factor, 1.0 / factor}) {
        Vector other = theta;
        other[m] *= change;
        other = test::at_edge(set, other);
        const double value = objective(problem, target, strength, other);
        if (value >= best) continue;
        best = value;
        theta = other;
        better = true;
      }
    }
    if (!better) factor = std::sqrt(factor);
  }
  return best;
}

class RidgeInGroups : public testing::TestWithParam<std::pair<double, double>> {};

TEST_P(RidgeInGroups, NoOtherWeightsOfTheSetAreBetter) {
  const RidgeProblem problem = problem_of();
  for (const char* words : {"views", "none", "all"}) {
    const WeightSet set = weight_set(problem.bank->names(), words, GetParam().first, GetParam().second);
    const GroupedRidge found = learn_grouped(*problem.bank, problem.task, {set, kTolerance, 20000}, {0.1}, {});
    EXPECT_LE(found.gap, kTolerance);
    for (const Index target : {0, 1}) {
      Vector theta;
      for (Index m = 0; m < 6; ++m) theta.push_back(found.choice.theta(target, m));
      EXPECT_NEAR(test::size_of(set, theta), 1.0, 1e-12);
      const double own = objective(problem, target, 0.1, theta);
      const double descended = plain_descent(problem, set, target, 0.1);
      EXPECT_GE(descended, own * (1.0 - kTolerance)) << words;
      EXPECT_LE(own, descended * (1.0 + kTolerance)) << words;
      test::Normal normal(3);
      for (int k = 0; k < 100; ++k) {
        Vector other;
        for (Index m = 0; m < 6; ++m) other.push_back(std::exp(2.0 * normal()));
        EXPECT_GE(objective(problem, target, 0.1, test::at_edge(set, other)), own * (1.0 - kTolerance));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, RidgeInGroups,
                         testing::Values(std::pair{2.0, 1.0}, std::pair{1.0, 1.0}, std::pair{kInf, 1.0},
                                         std::pair{2.0, 0.5}, std::pair{1.5, 0.0}));

Targets targets_of(const RidgeProblem& problem) {
  Targets targets;
  targets.task = Task::multi_regression;
  targets.values = problem.task.y;
  targets.weights = problem.task.weights;
  return targets;
}

TEST(GroupedRidgeFit, IsProvedAndLeavesUselessViewsOut) {
  const RidgeProblem problem = problem_of();
  const Targets targets = targets_of(problem);
  const FitResult fit =
      find_learner("mkr").fit(*problem.bank, targets, {{"weights", "groups"}, {"alpha_grid", "1"}}, {});
  const Certificate certificate = certify(*problem.bank, targets, fit.model, {});
  EXPECT_EQ(certificate.finding, Certificate::Finding::proved) << certificate.verdict;
  for (const Index target : {0, 1}) {
    EXPECT_EQ(fit.model.weights.values(target, 4), 0.0);
    EXPECT_EQ(fit.model.weights.values(target, 5), 0.0);
    EXPECT_GT(fit.model.weights.values(target, 2), 0.0);
  }
  const FitResult all = find_learner("mkr").fit(*problem.bank, targets,
                                                {{"weights", "groups"}, {"mix", "0"}, {"alpha_grid", "1"}}, {});
  for (Index m = 0; m < 6; ++m) EXPECT_GT(all.model.weights.values(0, m), 0.0);
}

// Other weights on the edge of the set, with the coefficients that belong to them: solved as well as it goes, not optimal.
TEST(GroupedRidgeFit, OtherWeightsAreNotProved) {
  const RidgeProblem problem = problem_of();
  const Targets targets = targets_of(problem);
  const OptionValues options = {{"weights", "groups"}, {"alpha_grid", "0.1"}, {"iterations", "1"}};
  const FitResult fit = find_learner("mkr").fit(*problem.bank, targets, options, {});
  EXPECT_EQ(fit.report.status, Status::iteration_limit);
  const Certificate certificate = certify(*problem.bank, targets, fit.model, {});
  EXPECT_FALSE(certificate.proof);
  EXPECT_NEAR(certificate.items.at(1).value, fit.report.gap, 1e-6);
}

TEST(GroupedRidgeFit, ChoosesTheStrengthOfLeastLeaveOneOutError) {
  const RidgeProblem problem = problem_of();
  const WeightSet set = weight_set(problem.bank->names(), "views", 2.0, 1.0);
  const GroupedSettings settings{set, kTolerance, 20000};
  const GroupedRidge both = learn_grouped(*problem.bank, problem.task, settings, {0.01, 1.0, 100.0}, {});
  for (const Index target : {0, 1}) {
    double least = kInf;
    double strength = 0.0;
    for (const double one : {0.01, 1.0, 100.0}) {
      const GroupedRidge alone = learn_grouped(*problem.bank, problem.task, settings, {one}, {});
      if (alone.choice.losses[at(target)] >= least) continue;
      least = alone.choice.losses[at(target)];
      strength = one;
    }
    EXPECT_EQ(both.choice.strengths[at(target)], strength);
    EXPECT_NEAR(both.choice.losses[at(target)], least, 1e-2 * least);
  }
}

}  // namespace
}  // namespace kloom::methods
