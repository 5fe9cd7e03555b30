// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/spec/relevance.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <random>

#include "kloom/error.h"
#include "kloom/kernels.h"
#include "kloom/recipe.h"
#include "kloom/train.h"

namespace kloom::kernels {
namespace {

// Four features in three columns of the table; the target depends on the first.
RelevanceProblem small_problem(Index n, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  RelevanceProblem problem{Matrix(n, 4), {0, 1, 1, 2}, Matrix(n, 1)};
  for (double& value : problem.features.values()) value = normal(engine);
  for (Index i = 0; i < n; ++i)
    problem.targets(i, 0) = std::sin(2.0 * problem.features(i, 0)) + 0.1 * normal(engine);
  return problem;
}

// The formula of the header with an explicit inverse, pair by pair.
double naive_value(const RelevanceProblem& problem, const Vector& x) {
  const Index n = problem.features.rows();
  const Index columns = 3;
  double squared = 0.0;
  double absolute = 0.0;
  const double pairs = static_cast<double>(n * (n - 1)) / 2.0;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < i; ++j) {
      for (Index f = 0; f < 4; ++f) {
        const double d = problem.features(i, f) - problem.features(j, f);
        squared += d * d / pairs;
        absolute += std::abs(d) / pairs;
      }
    }
  }
  const double start = std::sqrt(2.0 / squared);
  const double kappa = std::exp(x[6]) / (start * absolute);
  Eigen::MatrixXd c(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      double product = 0.0;
      double gaussian = 0.0;
      double laplacian = 0.0;
      for (Index f = 0; f < 4; ++f) {
        const double theta =
            std::exp(x[static_cast<std::size_t>(problem.columns[static_cast<std::size_t>(f)])]);
        const double d = problem.features(i, f) - problem.features(j, f);
        product += theta * theta * problem.features(i, f) * problem.features(j, f);
        gaussian += theta * theta * d * d;
        laplacian += theta * std::abs(d);
      }
      c(i, j) = std::exp(x[3]) * product + std::exp(x[4]) * std::exp(-0.5 * gaussian) +
                std::exp(x[5]) * std::exp(-kappa * laplacian) + 4.0;
    }
    c(i, i) += std::exp(x[7]) + 1e-5;
  }
  const Eigen::Map<const Eigen::VectorXd> y(problem.targets.data(), n);
  double value = 0.5 * y.dot(c.inverse() * y) + 0.5 * std::log(c.determinant());
  double mean = 0.0;
  for (Index g = 0; g < columns; ++g) mean += x[static_cast<std::size_t>(g)] / 3.0;
  value += 0.5 * std::pow(mean - std::log(start), 2);
  for (Index g = 0; g < columns; ++g) value += 0.5 * std::pow(x[static_cast<std::size_t>(g)] - mean, 2);
  for (const std::size_t k : {3U, 4U, 5U}) value += 0.05 * x[k] * x[k];
  return value + 0.5 * x[6] * x[6];
}

TEST(Relevance, ValueIsTheFormula) {
  const RelevanceProblem problem = small_problem(30, 1);
  const Vector x = {-0.3, 0.2, -1.0, -2.0, -0.5, -0.7, 0.3, -1.5};
  // Distances are kept in single precision.
  EXPECT_NEAR(relevance_value(problem, x).value, naive_value(problem, x),
              1e-5 * std::abs(naive_value(problem, x)));
}

TEST(Relevance, GradientIsThatOfTheValue) {
  const RelevanceProblem problem = small_problem(40, 2);
  const Vector x = {0.1, -0.4, -0.8, -1.5, -0.3, -0.9, -0.2, -1.0};
  const RelevanceValue here = relevance_value(problem, x);
  for (std::size_t k = 0; k < x.size(); ++k) {
    Vector above = x;
    Vector below = x;
    constexpr double kStep = 1e-5;
    above[k] += kStep;
    below[k] -= kStep;
    const double slope =
        (relevance_value(problem, above).value - relevance_value(problem, below).value) / (2.0 * kStep);
    // Central differences are off by the third derivative times the squared step, and by rounding over the step.
    EXPECT_NEAR(here.gradient[k], slope, 1e-6 * std::max(1.0, std::abs(slope))) << k;
  }
}

TEST(Relevance, ColumnsThatMatterGetLargerScales) {
  const Vector theta = learn_relevance(small_problem(150, 3));
  ASSERT_EQ(theta.size(), 3U);
  EXPECT_GT(theta[0], 3.0 * theta[1]);
  EXPECT_GT(theta[0], 3.0 * theta[2]);
}

Targets two_classes(Index n) {
  Targets targets;
  targets.classes = {"a", "b"};
  for (Index i = 0; i < n; ++i) targets.codes.push_back(i % 4 == 0 ? 1 : 0);
  return targets;
}

TEST(Relevance, SamplesAreAShareOfEveryClass) {
  Targets targets = two_classes(400);
  targets.codes[7] = Targets::unlabelled;
  const std::vector<Index> chosen = relevance_samples(targets);
  EXPECT_EQ(chosen.size(), 159U);  // 40 % of 399
  EXPECT_TRUE(std::ranges::is_sorted(chosen));
  EXPECT_EQ(std::ranges::count(chosen, 7), 0);
  const auto rare = std::ranges::count_if(chosen, [&](Index i) { return targets.codes[at(i)] == 1; });
  EXPECT_NEAR(static_cast<double>(rare), 40.0, 2.0);
  EXPECT_EQ(chosen, relevance_samples(targets));
  EXPECT_EQ(relevance_samples(two_classes(9000)).size(), 500U);
}

TEST(Relevance, PaysWithManySamplesAndFewColumns) {
  EXPECT_TRUE(relevance_pays(two_classes(3000), 10));
  EXPECT_FALSE(relevance_pays(two_classes(300), 10));
  EXPECT_FALSE(relevance_pays(two_classes(3000), 1));
  EXPECT_FALSE(relevance_pays(two_classes(3000), 600));
}

struct Table {
  Dataset data;
  Targets targets;
};

Table noisy_table(Index n, bool shuffled) {
  std::mt19937 engine(4);
  std::normal_distribution<double> normal;
  Table table;
  table.data.samples = n;
  table.data.features = Matrix(n, 6);
  for (Index f = 0; f < 6; ++f) table.data.feature_info.push_back({"x" + std::to_string(f), ""});
  for (double& value : table.data.features.values()) value = normal(engine);
  table.targets.classes = {"a", "b"};
  for (Index i = 0; i < n; ++i)
    table.targets.codes.push_back(std::sin(2.5 * table.data.features(i, 0)) > 0.0 ? 1 : 0);
  if (shuffled) std::shuffle(table.targets.codes.begin(), table.targets.codes.end(), engine);
  return table;
}

TEST(Relevance, IsRefusedWithoutTargets) {
  const Table table = noisy_table(60, false);
  const KernelSpec spec = parse_kernel_spec("rbf(width=1, scale=relevance) on all");
  EXPECT_THROW((void)Recipe::fit(table.data, spec, {}, {}), InvalidArgument);
  const Recipe recipe = Recipe::fit(table.data, spec, {}, {}, &table.targets);
  EXPECT_EQ(recipe.terms.front().name, "rbf(width=1, scale=relevance) on all");
}

// A wave along one of six columns: kernels that weigh all columns alike see mostly noise.
TEST(Relevance, AutoUsesItWhereItHelpsAndIsNotFooled) {
  TrainRequest request;
  request.method = "auto";
  request.kernels = parse_kernel_spec("rbf(width=1, scale=relevance) on all; rbf(auto=0.5,1) on all");
  const Table real = noisy_table(300, false);
  TrainRequest plain = request;
  plain.kernels = parse_kernel_spec("rbf(auto=0.5,1) on all");
  const double with = train(real.data, real.targets, request, {}).report.objective;
  const double without = train(real.data, real.targets, plain, {}).report.objective;
  EXPECT_LT(with, 0.8 * without);
  // Shuffled labels: the scales are fitted to noise, but the samples that judge them did not take part. The deviation of
  // one sample's log loss is below 1/2 for probabilities near 1/2; 180 samples judge.
  const Table noise = noisy_table(300, true);
  const double loss = train(noise.data, noise.targets, request, {}).report.objective;
  EXPECT_GT(loss, std::log(2.0) - 3.0 * 0.5 / std::sqrt(180.0));
}

}  // namespace
}  // namespace kloom::kernels
