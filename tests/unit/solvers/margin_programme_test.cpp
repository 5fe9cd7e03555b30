// SPDX-License-Identifier: BSD-3-Clause
//
// The linear programme of LP-β and LP-B: proved by its own gap, with objectives written down naively, against closed forms,
// and under permutations. tests/cli/test_lp_beta.py compares whole models with SciPy.
#include "solvers/margin_programme.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "support/problems.h"

namespace kloom {
namespace {

using solvers::MarginProgramme;
using solvers::MarginWeights;

// Scores that know something of the classes, each kernel something else.
struct Scores {
  Matrix values;
  std::vector<int> labels;
  Index outputs = 1;
  Index kernels = 0;
};

Scores scores_of(Index n, Index kernels, Index outputs, unsigned seed) {
  Scores made{test::normal_matrix(n, kernels * outputs, seed), {}, outputs, kernels};
  test::Normal noise(seed + 1);
  const Index classes = std::max<Index>(2, outputs);
  for (Index i = 0; i < n; ++i) {
    const auto label = static_cast<int>(i % classes);
    made.labels.push_back(label);
    for (Index p = 0; p < kernels; ++p) {
      const double push = 0.5 + 0.2 * static_cast<double>(p);
      if (outputs == 1) {
        made.values(i, p) += label == 1 ? push : -push;
      } else {
        made.values(i, p + kernels * label) += push;
      }
    }
  }
  return made;
}

MarginProgramme programme_of(const Scores& made, double nu, bool shared = true) {
  MarginProgramme programme{made.values, made.labels, Vector(made.labels.size(), 1.0)};
  programme.outputs = made.outputs;
  programme.shared = shared;
  programme.nu = nu;
  return programme;
}

double weight_at(const MarginWeights& found, Index c, Index p) {
  return found.beta(found.beta.rows() == 1 ? 0 : c, p);
}

// Margin of sample i to rival u, term by term.
double margin_of(const Scores& made, const MarginWeights& found, Index i, Index u) {
  const int y = made.labels[at(i)];
  double margin = 0.0;
  for (Index p = 0; p < made.kernels; ++p) {
    if (made.outputs == 1) {
      margin += (y == 1 ? 1.0 : -1.0) * weight_at(found, 0, p) * made.values(i, p);
    } else {
      margin += weight_at(found, y, p) * made.values(i, p + made.kernels * y) -
                weight_at(found, u, p) * made.values(i, p + made.kernels * u);
    }
  }
  return margin;
}

bool is_rival(const Scores& made, Index i, Index u) {
  return made.outputs == 1 || u != made.labels[at(i)];
}

// Weak duality: a feasible v bounds every feasible β, so that equal objectives prove both.
void expect_optimal(const Scores& made, const MarginProgramme& programme) {
  const MarginWeights found = solve_margin_programme(programme);
  EXPECT_TRUE(found.converged);
  const double total = std::accumulate(programme.weights.begin(), programme.weights.end(), 0.0);
  double primal = -found.rho;
  double sum = 0.0;
  Matrix pushes(found.beta.rows(), made.kernels);
  for (Index i = 0; i < std::ssize(made.labels); ++i) {
    const double cap = programme.weights[at(i)] / (programme.nu * total);
    double slack = 0.0;
    double own = 0.0;
    const int y = made.labels[at(i)];
    for (Index u = 0; u < made.outputs; ++u) {
      const double v = found.dual(i, u);
      EXPECT_GE(v, 0.0);
      own += v;
      if (!is_rival(made, i, u)) {
        EXPECT_EQ(v, 0.0);
        continue;
      }
      slack = std::max(slack, found.rho - margin_of(made, found, i, u));
      for (Index p = 0; p < made.kernels; ++p) {
        if (made.outputs == 1) {
          pushes(0, p) += v * (y == 1 ? 1.0 : -1.0) * made.values(i, p);
          continue;
        }
        pushes(programme.shared ? 0 : y, p) += v * made.values(i, p + made.kernels * y);
        pushes(programme.shared ? 0 : u, p) -= v * made.values(i, p + made.kernels * u);
      }
    }
    EXPECT_LE(own, cap * (1.0 + 1e-12));
    primal += cap * slack;
    sum += own;
  }
  EXPECT_NEAR(sum, 1.0, 1e-12);
  double dual = 0.0;
  for (Index g = 0; g < pushes.rows(); ++g) {
    double largest = pushes(g, 0);
    double weights = 0.0;
    for (Index p = 0; p < made.kernels; ++p) {
      EXPECT_GE(found.beta(g, p), 0.0);
      weights += found.beta(g, p);
      largest = std::max(largest, pushes(g, p));
    }
    EXPECT_NEAR(weights, 1.0, 1e-12);
    dual -= largest;
  }
  // Sums of some hundred products of size 1.
  EXPECT_NEAR(found.primal, primal, 1e-12 * std::max(1.0, std::abs(primal)));
  EXPECT_NEAR(found.bound, dual, 1e-12 * std::max(1.0, std::abs(dual)));
  // CLP's tolerances are 1e-10, of margins and of v.
  EXPECT_LE(primal - dual, 1e-8);
}

TEST(MarginProgramme, HasNoGap) {
  for (const double nu : {0.02, 0.1, 0.3, 0.7, 1.0}) {
    SCOPED_TRACE(nu);
    const Scores two = scores_of(60, 6, 1, 3);
    expect_optimal(two, programme_of(two, nu));
    const Scores several = scores_of(60, 5, 4, 5);
    for (const bool shared : {true, false}) expect_optimal(several, programme_of(several, nu, shared));
  }
}

// Rivals change places with the smallest change of the weights.
TEST(MarginProgramme, ScoresThatHardlyDifferHaveNoGap) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Scores made = scores_of(20, 2, 4, 100 + seed);
    for (Index c = 0; c < 4; ++c) {
      for (double& value : made.values.column(2 * c)) value = 1e-3 * value - 1.0;
      for (double& value : made.values.column(2 * c + 1)) value *= 10.0;
    }
    for (const bool shared : {true, false}) expect_optimal(made, programme_of(made, 0.2, shared));
  }
}

TEST(MarginProgramme, WeightedSamplesHaveNoGapEither) {
  const Scores made = scores_of(50, 4, 3, 8);
  MarginProgramme programme = programme_of(made, 0.25, false);
  for (std::size_t i = 0; i < programme.weights.size(); ++i) programme.weights[i] = static_cast<double>(i % 4);
  expect_optimal(made, programme);
}

// ν = 1: the programme maximises the mean margin, which is linear, so the best kernel has all weight.
TEST(MarginProgramme, TheMeanMarginIsThatOfOneKernel) {
  const Scores made = scores_of(40, 5, 1, 11);
  Vector means(5);
  for (Index p = 0; p < 5; ++p) {
    for (Index i = 0; i < 40; ++i)
      means[at(p)] += (made.labels[at(i)] == 1 ? 1.0 : -1.0) * made.values(i, p) / 40.0;
  }
  const auto best = std::ranges::max_element(means) - means.begin();
  const MarginWeights found = solve_margin_programme(programme_of(made, 1.0));
  EXPECT_EQ(found.beta(0, best), 1.0);
  EXPECT_NEAR(found.primal, -means[at(best)], 1e-12);
}

// ν ≤ 1/N: the least margin, of two kernels by a fine grid.
TEST(MarginProgramme, SmallNuIsTheHardMargin) {
  const Scores made = scores_of(20, 2, 1, 13);
  double largest = -1e300;
  for (int k = 0; k <= 100000; ++k) {
    const double t = k / 100000.0;
    double least = 1e300;
    for (Index i = 0; i < 20; ++i) {
      const double sign = made.labels[at(i)] == 1 ? 1.0 : -1.0;
      least = std::min(least, sign * (t * made.values(i, 0) + (1.0 - t) * made.values(i, 1)));
    }
    largest = std::max(largest, least);
  }
  // Margins change by at most the spread of the values, below 10, times the step.
  EXPECT_NEAR(solve_margin_programme(programme_of(made, 0.05)).rho, largest, 1e-4);
}

TEST(MarginProgramme, CopiesOfASampleAreItsWeight) {
  const Scores made = scores_of(30, 4, 3, 17);
  MarginProgramme weighted = programme_of(made, 0.3);
  Scores copied = made;
  weighted.weights[4] = 3.0;
  weighted.weights[7] = 0.0;
  copied.values = Matrix(31, 12);
  copied.labels.clear();
  std::vector<Index> rows;
  for (Index i = 0; i < 30; ++i) {
    if (i != 7) rows.push_back(i);
  }
  rows.insert(rows.end(), {4, 4});
  for (const Index i : rows) {
    const auto to = std::ssize(copied.labels);
    for (Index j = 0; j < 12; ++j) copied.values(to, j) = made.values(i, j);
    copied.labels.push_back(made.labels[at(i)]);
  }
  const MarginWeights one = solve_margin_programme(weighted);
  const MarginWeights other = solve_margin_programme(programme_of(copied, 0.3));
  // Both are vertices that are known to 1e-9 of the margins, times the condition of four margins.
  EXPECT_LE(test::relative_difference(one.beta.values(), other.beta.values()), 1e-6);
  EXPECT_NEAR(one.primal, other.primal, 1e-8);
}

TEST(MarginProgramme, PermutedSamplesAndKernelsHavePermutedWeights) {
  constexpr Index kSamples = 40;
  constexpr Index kKernels = 5;
  const Scores made = scores_of(kSamples, kKernels, 3, 19);
  Scores turned = made;
  for (Index i = 0; i < kSamples; ++i) {
    const Index from = (i * 7 + 3) % kSamples;
    turned.labels[at(i)] = made.labels[at(from)];
    for (Index c = 0; c < 3; ++c) {
      for (Index p = 0; p < kKernels; ++p)
        turned.values(i, p + kKernels * c) = made.values(from, (p + 2) % kKernels + kKernels * c);
    }
  }
  for (const bool shared : {true, false}) {
    const MarginWeights one = solve_margin_programme(programme_of(made, 0.2, shared));
    const MarginWeights other = solve_margin_programme(programme_of(turned, 0.2, shared));
    for (Index g = 0; g < one.beta.rows(); ++g) {
      for (Index p = 0; p < kKernels; ++p) EXPECT_NEAR(other.beta(g, p), one.beta(g, (p + 2) % kKernels), 1e-6);
    }
    EXPECT_NEAR(one.primal, other.primal, 1e-8);
  }
}

}  // namespace
}  // namespace kloom
