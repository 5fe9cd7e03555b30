// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/spec/boosting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "kernels/functions/decision_trees.h"

namespace kloom::kernels {
namespace {

// Few different values, so that every threshold between them is looked at.
BoostingProblem small_problem(Index n, Index classes, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  BoostingProblem problem;
  problem.features = Matrix(n, 3);
  for (double& value : problem.features.values()) value = std::round(8.0 * normal(engine));
  problem.classes = classes;
  for (Index i = 0; i < n; ++i) {
    const double f = std::sin(problem.features(i, 0) / 4.0) + (problem.features(i, 1) > 2.0 ? 1.0 : 0.0) +
                     0.3 * normal(engine);
    if (classes == 0) problem.numbers.push_back(f);
    if (classes == 2) problem.labels.push_back(f > 0.4 ? 1 : 0);
    if (classes > 2) problem.labels.push_back(std::clamp(static_cast<int>(std::floor(1.5 * f + 1.0)), 0, 2));
  }
  return problem;
}

// The formulas of the header, sum by sum, over lists of samples.
class Naive {
 public:
  Naive(const BoostingProblem& problem, const BoostingSettings& settings)
      : problem_(problem), settings_(settings), outputs_(problem.classes <= 2 ? 1U : 3U) {
    scores_.assign(samples(), std::vector<double>(outputs_, 0.0));
  }

  // The leaves of the next tree, as sets of samples.
  std::set<std::set<Index>> next_tree() {
    slopes();
    std::vector<std::vector<Index>> leaves(1);
    for (std::size_t i = 0; i < samples(); ++i) leaves[0].push_back(static_cast<Index>(i));
    while (std::ssize(leaves) < settings_.leaves) {
      double most = 0.0;
      std::size_t which = 0;
      std::pair<std::vector<Index>, std::vector<Index>> parts;
      for (std::size_t k = 0; k < leaves.size(); ++k) {
        auto [gain, two] = best_division(leaves[k]);
        if (gain > most) std::tie(most, which, parts) = std::tuple(gain, k, two);
      }
      if (most <= 0.0) break;
      leaves[which] = parts.first;
      leaves.push_back(parts.second);
    }
    std::set<std::set<Index>> found;
    for (const auto& leaf : leaves) {
      for (std::size_t c = 0; c < outputs_; ++c) {
        const double step = sum(g_, leaf, c) / (sum(h_, leaf, c) + 1.0);
        for (const Index i : leaf) scores_[at(i)][c] -= settings_.rate * step;
      }
      found.insert({leaf.begin(), leaf.end()});
    }
    return found;
  }

 private:
  using Table = std::vector<std::vector<double>>;
  [[nodiscard]] std::size_t samples() const { return at(problem_.features.rows()); }

  void slopes() {
    g_ = h_ = Table(samples(), std::vector<double>(outputs_, 1.0));
    for (std::size_t i = 0; i < samples(); ++i) {
      double total = problem_.classes == 2 ? 1.0 : 0.0;  // softmax of (0, f) where there are two classes
      for (const double f : scores_[i]) total += std::exp(f);
      for (std::size_t c = 0; c < outputs_; ++c) {
        if (problem_.classes == 0) {
          g_[i][c] = scores_[i][c] - problem_.numbers[i];
          continue;
        }
        const double p = std::exp(scores_[i][c]) / total;
        g_[i][c] = p - (problem_.labels[i] == static_cast<int>(outputs_ == 1 ? 1 : c) ? 1.0 : 0.0);
        h_[i][c] = p * (1.0 - p);
      }
    }
  }

  [[nodiscard]] static double sum(const Table& table, const std::vector<Index>& leaf, std::size_t c) {
    double total = 0.0;
    for (const Index i : leaf) total += table[at(i)][c];
    return total;
  }

  [[nodiscard]] double score(const std::vector<Index>& leaf) const {
    double total = 0.0;
    for (std::size_t c = 0; c < outputs_; ++c) {
      const double g = sum(g_, leaf, c);
      total += g * g / (sum(h_, leaf, c) + 1.0);
    }
    return total;
  }

  [[nodiscard]] std::pair<double, std::pair<std::vector<Index>, std::vector<Index>>> best_division(
      const std::vector<Index>& leaf) const {
    std::pair<double, std::pair<std::vector<Index>, std::vector<Index>>> best{0.0, {}};
    for (Index f = 0; f < problem_.features.cols(); ++f) {
      std::set<double> values;
      for (const Index i : leaf) values.insert(problem_.features(i, f));
      for (const double value : values) {
        std::vector<Index> yes;
        std::vector<Index> no;
        for (const Index i : leaf) (problem_.features(i, f) <= value ? yes : no).push_back(i);
        if (std::ssize(yes) < settings_.least || std::ssize(no) < settings_.least) continue;
        const double gain = score(yes) + score(no) - score(leaf);
        if (gain > best.first + 1e-9) best = {gain, {yes, no}};
      }
    }
    return best;
  }

  const BoostingProblem& problem_;
  const BoostingSettings& settings_;
  std::size_t outputs_;
  Table scores_, g_, h_;
};

std::set<std::set<Index>> leaves_of(const DecisionTree& tree, const Matrix& features) {
  std::vector<Index> inputs(at(features.cols()));
  for (std::size_t f = 0; f < inputs.size(); ++f) inputs[f] = static_cast<Index>(f);
  const Matrix reached = leaves_reached({tree}, features.view(), inputs);
  std::map<double, std::set<Index>> leaves;
  for (Index i = 0; i < features.rows(); ++i) leaves[reached(0, i)].insert(i);
  std::set<std::set<Index>> found;
  for (const auto& [node, samples] : leaves) found.insert(samples);
  return found;
}

class BoostingOf : public testing::TestWithParam<Index> {};

TEST_P(BoostingOf, GrowsTheTreesOfTheFormulas) {
  const BoostingProblem problem = small_problem(80, GetParam(), 3);
  const BoostingSettings settings{.trees = 6, .leaves = 5, .least = 4, .rate = 0.3};
  const std::vector<DecisionTree> trees = boosted_trees(problem, settings);
  ASSERT_EQ(trees.size(), 6U);
  Naive naive(problem, settings);
  for (const DecisionTree& tree : trees) EXPECT_EQ(leaves_of(tree, problem.features), naive.next_tree());
}

INSTANTIATE_TEST_SUITE_P(Tasks, BoostingOf, testing::Values(Index{0}, Index{2}, Index{3}));

TEST(Boosting, LeavesAreAsManyAndAsLargeAsAllowed) {
  const BoostingProblem problem = small_problem(200, 2, 5);
  const BoostingSettings settings{.trees = 10, .leaves = 7, .least = 12};
  for (const DecisionTree& tree : boosted_trees(problem, settings)) {
    const auto leaves = leaves_of(tree, problem.features);
    EXPECT_LE(leaves.size(), 7U);
    for (const auto& leaf : leaves) EXPECT_GE(leaf.size(), 12U);
  }
}

// With more values than bins, questions stand between quantiles; only the order of values counts.
TEST(Boosting, RisingFunctionsOfFeaturesChangeNothing) {
  std::mt19937 engine(7);
  std::normal_distribution<double> normal;
  BoostingProblem problem{Matrix(500, 2), {}, 0, {}};
  for (double& value : problem.features.values()) value = normal(engine);
  for (Index i = 0; i < 500; ++i)
    problem.numbers.push_back(problem.features(i, 0) * problem.features(i, 1) + 0.1 * normal(engine));
  BoostingProblem bent = problem;
  for (double& value : bent.features.values()) value = std::exp(2.0 * value);
  const auto trees = boosted_trees(problem, {});
  const auto same = boosted_trees(bent, {});
  ASSERT_EQ(trees.size(), 100U);
  ASSERT_EQ(same.size(), 100U);
  for (std::size_t t = 0; t < trees.size(); ++t)
    EXPECT_EQ(leaves_of(trees[t], problem.features), leaves_of(same[t], bent.features)) << t;
}

TEST(Boosting, WhereNothingCanBeAskedThereIsOneLeaf) {
  BoostingProblem problem{Matrix(40, 2, 1.0), {}, 0, Vector(40, 0.0)};
  for (std::size_t i = 0; i < 40; ++i) problem.numbers[i] = i % 2 == 0 ? 1.0 : -1.0;
  const auto trees = boosted_trees(problem, {});
  ASSERT_EQ(trees.size(), 1U);
  EXPECT_EQ(trees[0].features, std::vector<Index>{-1});
}

TEST(DecisionTrees, ThatCannotBeAreNamed) {
  const DecisionTree good{{0, -1, -1}, {0.5, 0.0, 0.0}, {1, 0, 0}};
  EXPECT_EQ(trees_trouble({good}, 1), "");
  EXPECT_NE(trees_trouble({good}, 0), "");  // no such feature
  DecisionTree bad = good;
  bad.children[0] = 0;  // a walk without end
  EXPECT_NE(trees_trouble({bad}, 1), "");
  bad.children[0] = 2;  // the second child is beyond the last node
  EXPECT_NE(trees_trouble({bad}, 1), "");
  bad = good;
  bad.thresholds[0] = std::nan("");
  EXPECT_NE(trees_trouble({bad}, 1), "");
  bad = good;
  bad.thresholds.pop_back();
  EXPECT_NE(trees_trouble({bad}, 1), "");
  EXPECT_NE(trees_trouble({DecisionTree{}}, 1), "");
}

}  // namespace
}  // namespace kloom::kernels
