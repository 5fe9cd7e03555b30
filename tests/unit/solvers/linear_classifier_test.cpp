// SPDX-License-Identifier: BSD-3-Clause
//
// Held to the definition of the problem: gradients by differences of a naive objective, and plain gradient descent.
#include "solvers/linear_classifier.h"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>
#include <utility>

#include "support/problems.h"

namespace kloom::solvers {
namespace {

struct Problem {
  Matrix features;
  std::vector<int> labels;
  Vector weights;
  Index classes = 2;
  ClassLoss loss = ClassLoss::logistic;

  [[nodiscard]] ClassifierProblem view() const { return {features.view(), labels, classes, weights, loss}; }
};

Problem made_up(Index n, Index r, Index classes, unsigned seed) {
  Problem problem;
  problem.classes = classes;
  problem.features = test::normal_matrix(n, r, seed);
  test::Normal noise(seed + 1);
  for (Index i = 0; i < n; ++i) {
    const double value = problem.features(i, 0) + 0.5 * noise();
    const int label = static_cast<int>(std::floor((value + 2.0) / 4.0 * static_cast<double>(classes)));
    problem.labels.push_back(std::clamp(label, 0, static_cast<int>(classes) - 1));
    problem.weights.push_back(i % 5 == 0 ? 0.0 : 0.5 + noise.uniform());
  }
  return problem;
}

// The objective, straight from its definition.
double naive(const Problem& problem, double ridge, const Matrix& w, const Vector& b) {
  double sum = 0.0;
  for (const double value : w.values()) sum += 0.5 * ridge * value * value;
  for (Index i = 0; i < problem.features.rows(); ++i) {
    Vector scores(b);
    for (Index c = 0; c < w.cols(); ++c) {
      for (Index k = 0; k < w.rows(); ++k) scores[at(c)] += w(k, c) * problem.features(i, k);
    }
    if (problem.loss == ClassLoss::squared_hinge) {
      for (std::size_t c = 0; c < scores.size(); ++c) {
        const bool own = problem.labels[at(i)] == static_cast<int>(scores.size() == 1 ? 1 : c);
        const double missing = std::max(0.0, 1.0 - (own ? scores[c] : -scores[c]));
        sum += 0.5 * problem.weights[at(i)] * missing * missing;
      }
      continue;
    }
    if (scores.size() == 1) scores.insert(scores.begin(), 0.0);
    double total = 0.0;
    for (const double s : scores) total += std::exp(s);
    sum -= problem.weights[at(i)] * std::log(std::exp(scores[at(problem.labels[at(i)])]) / total);
  }
  return sum;
}

class LinearClassifier : public ::testing::TestWithParam<std::tuple<Index, ClassLoss>> {
 protected:
  static Problem problem(unsigned seed) {
    Problem made = made_up(60, 7, std::get<0>(GetParam()), seed);
    made.loss = std::get<1>(GetParam());
    return made;
  }
};

TEST_P(LinearClassifier, IsAMinimumOfTheDefinition) {
  const Problem problem = LinearClassifier::problem(3);
  const double ridge = 0.3;
  ClassifierSolution found = fit_classifier(problem.view(), ridge, 1e-13, nullptr);
  const double value = naive(problem, ridge, found.w, found.b);
  EXPECT_NEAR(found.objective, value, 1e-10 * value);
  // Central differences with step h are right to h² and to rounding of the objective over h.
  const double h = 1e-4;
  const double allowed = 1e-5 * value;
  const auto moved = [&](double& x, double step) {
    const double kept = std::exchange(x, x + step);
    const double there = naive(problem, ridge, found.w, found.b);
    x = kept;
    return there;
  };
  for (double& x : found.w.values()) {
    EXPECT_NEAR((moved(x, h) - moved(x, -h)) / (2.0 * h), 0.0, allowed);
    EXPECT_GT(moved(x, h) + moved(x, -h), 2.0 * value);  // and not a saddle
  }
  for (double& x : found.b) EXPECT_NEAR((moved(x, h) - moved(x, -h)) / (2.0 * h), 0.0, allowed);
}

TEST_P(LinearClassifier, StartsFromAnotherSolution) {
  const Problem problem = LinearClassifier::problem(4);
  const ClassifierSolution strong = fit_classifier(problem.view(), 3.0, 1e-12, nullptr);
  const ClassifierSolution cold = fit_classifier(problem.view(), 1.0, 1e-12, nullptr);
  const ClassifierSolution warm = fit_classifier(problem.view(), 1.0, 1e-12, &strong);
  EXPECT_NEAR(warm.objective, cold.objective, 1e-9 * cold.objective);
}

INSTANTIATE_TEST_SUITE_P(Classes, LinearClassifier,
                         ::testing::Combine(::testing::Values<Index>(2, 3, 5),
                                            ::testing::Values(ClassLoss::logistic, ClassLoss::squared_hinge)));

TEST(SoftmaxProbabilities, AddUpAndSurviveLargeScores) {
  Matrix scores(2, 3);
  scores(0, 0) = 1000.0;
  scores(1, 2) = -1000.0;
  const Matrix p = softmax_probabilities(scores);
  EXPECT_DOUBLE_EQ(p(0, 0), 1.0);
  EXPECT_NEAR(p(1, 0) + p(1, 1) + p(1, 2), 1.0, 1e-15);
  EXPECT_NEAR(p(1, 0), 0.5, 1e-15);
  Matrix one(1, 1, -800.0);
  EXPECT_DOUBLE_EQ(softmax_probabilities(one)(0, 0), 1.0);
  EXPECT_GE(softmax_probabilities(one)(0, 1), 0.0);
}

}  // namespace
}  // namespace kloom::solvers
