// SPDX-License-Identifier: BSD-3-Clause
//
// Multiple-kernel ridge regression: the slope against differences, permutations, and copies of samples. What it chooses is
// compared with a transcription in tests/cli/test_mkr.py.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/banks/low_rank_bank.h"
#include "kernels/banks/summed_factor.h"
#include "kloom/certify.h"
#include "kloom/learner.h"
#include "kloom/parts.h"
#include "methods/mkr/gradient.h"
#include "methods/mkr/search.h"
#include "support/problems.h"

namespace kloom::methods {
namespace {

constexpr Index kSamples = 40;

RidgeTask task_of(const Matrix& x, unsigned seed) {
  test::Normal noise(seed);
  RidgeTask task{Matrix(x.rows(), 2), {}, {}};
  for (Index i = 0; i < x.rows(); ++i) {
    task.y(i, 0) = std::sin(2.0 * x(i, 0)) + 0.1 * noise();
    task.y(i, 1) = x(i, 0) * x(i, 1) + 0.1 * noise();
    task.weights.push_back(i % 5 == 0 ? 2.0 : 1.0);
  }
  return task;
}

struct Kernels {
  std::vector<Matrix> matrices;
  std::vector<std::string> names;
};

Kernels kernels_of(const Matrix& x) {
  return {{test::rbf_kernel(x, x, 0.5), test::rbf_kernel(x, x, 2.0), test::cosine_kernel(x, x)},
          {"narrow", "wide", "cosine"}};
}

// Central differences of step 1e-5 are right to the square of it times the third derivative, and to the rounding of the
// loss over it: about 1e-10 of the loss.
TEST(Mkr, TheSlopeIsThatOfTheLeaveOneOutError) {
  const Matrix x = test::normal_matrix(kSamples, 2, 1);
  const RidgeTask task = task_of(x, 2);
  const Kernels kernels = kernels_of(x);
  const auto bank = make_dense_bank(kernels.matrices, kernels.names, true);
  const Vector v = {3.0, 0.5, 10.0};
  for (const Index target : {0, 1}) {
    const LeaveOneOut found = leave_one_out(*bank, task, target, v);
    for (std::size_t m = 0; m < v.size(); ++m) {
      constexpr double kStep = 1e-5;
      Vector up = v;
      Vector down = v;
      up[m] *= std::exp(kStep);
      down[m] *= std::exp(-kStep);
      const double slope =
          (leave_one_out(*bank, task, target, up).loss - leave_one_out(*bank, task, target, down).loss) /
          (2.0 * kStep);
      EXPECT_NEAR(found.slope[m], slope, 1e-8 * found.loss) << m;
      EXPECT_GT(std::abs(slope), 1e-4 * found.loss) << "or the comparison says nothing";
    }
  }
}

// Two ways to the same number: a decomposition for all strengths, and the inverse for one.
TEST(Mkr, SearchAndSlopeHaveTheSameErrors) {
  const Matrix x = test::normal_matrix(kSamples, 2, 3);
  const RidgeTask task = task_of(x, 4);
  const Kernels kernels = kernels_of(x);
  const auto bank = make_dense_bank(kernels.matrices, kernels.names, true);
  const Matrix points = simplex_points(bank->names(), 12, 7);
  const RidgeChoice choice = search_points(*bank, task, points, {0.01, 0.1, 1.0}, {});
  for (const Index target : {0, 1}) {
    Vector v;
    for (Index m = 0; m < 3; ++m) v.push_back(choice.theta(target, m) / choice.strengths[at(target)]);
    // Condition 40 / 0.01 of the system, times rounding.
    EXPECT_NEAR(leave_one_out(*bank, task, target, v).loss, choice.losses[at(target)],
                1e-11 * choice.losses[at(target)]);
    RidgeChoice better = choice;
    descend(*bank, task, target, 40, better);
    EXPECT_LE(better.losses[at(target)], choice.losses[at(target)]);
  }
}

TEST(Mkr, PermutedKernelsHavePermutedPoints) {
  const Matrix first = simplex_points({"a", "b", "c"}, 30, 5);
  const Matrix second = simplex_points({"c", "a", "b"}, 30, 5);
  for (Index d = 0; d < 30; ++d) {
    const double sums[] = {first(d, 0) + first(d, 1) + first(d, 2), second(d, 0) + second(d, 1) + second(d, 2)};
    for (const double sum : sums) EXPECT_NEAR(sum, 1.0, 1e-15);
    // Sums of three numbers in another order.
    EXPECT_NEAR(first(d, 0), second(d, 1), 1e-15);
    EXPECT_NEAR(first(d, 2), second(d, 0), 1e-15);
  }
  EXPECT_NE(simplex_points({"a", "b", "c"}, 30, 6).values()[4], first.values()[4]);
}

// Bands of columns with linear kernels: 60 samples, 3 + 2 + 4 columns.
struct Bands {
  Matrix x = test::normal_matrix(60, 9, 11);
  std::vector<Range> columns = {{0, 3}, {3, 5}, {5, 9}};
  std::vector<Matrix> kernels;
  std::vector<Matrix> factors;
  std::vector<std::string> names = {"first", "second", "third"};
  RidgeTask task = task_of(x, 12);

  Bands() {
    for (const Range band : columns) {
      Matrix own(x.rows(), band.size());
      Matrix kernel(x.rows(), x.rows());
      for (Index f = band.begin; f < band.end; ++f)
        std::ranges::copy(x.column(f), own.column(f - band.begin).begin());
      for (Index i = 0; i < x.rows(); ++i) {
        for (Index j = 0; j < x.rows(); ++j) {
          for (Index f = band.begin; f < band.end; ++f) kernel(i, j) += x(i, f) * x(j, f);
        }
      }
      factors.push_back(own);
      kernels.push_back(kernel);
    }
  }
};

// Errors by feature space and by sample space. Eigenvalues are right to rounding of the largest, here 2·60·9, over the least
// strength, 0.01: 1e3/1e-2 roundings, some hundreds of them added up.
constexpr double kBands = 1e5 * 0x1p-52 * 1e3;

TEST(Mkr, ThinKernelsAreSolvedInTheSpaceOfTheirColumns) {
  const Bands bands;
  const auto entries = make_dense_bank(bands.kernels, bands.names, true);
  const kernels::LowRankBank thin(bands.factors, bands.names);
  ASSERT_FALSE(kernels::summed_factor(thin, Vector(3, 1.0), 30).empty());
  ASSERT_TRUE(kernels::summed_factor(*entries, Vector(3, 1.0), 30).empty());
  const Matrix points = simplex_points(bands.names, 15, 3);
  const Vector grid = {0.01, 1.0, 100.0};
  const RidgeChoice one = search_points(*entries, bands.task, points, grid, {});
  const RidgeChoice two = search_points(thin, bands.task, points, grid, {});
  EXPECT_EQ(one.strengths, two.strengths);
  EXPECT_EQ(one.theta, two.theta);
  for (const Index target : {0, 1}) {
    EXPECT_NEAR(two.losses[at(target)], one.losses[at(target)], kBands * one.losses[at(target)]);
    for (Index i = 0; i < 60; ++i)
      EXPECT_NEAR(two.coefficients(i, target), one.coefficients(i, target), kBands / one.strengths[at(target)]);
  }
}

// The definition of banded ridge: the minimum of Σ_i s_i (y_i − x_iᵀb)² + Σ_m (α/θ_m) ‖b_m‖² over the coefficients of the
// columns, with every sample left out in turn.
TEST(Mkr, LinearKernelsAreBandedRidge) {
  const Bands bands;
  const kernels::LowRankBank thin(bands.factors, bands.names);
  const RidgeChoice choice =
      search_points(thin, bands.task, simplex_points(bands.names, 15, 3), {0.1, 10.0}, {});
  const Eigen::Map<const Eigen::MatrixXd> x(bands.x.values().data(), 60, 9);
  for (const Index target : {0, 1}) {
    Eigen::VectorXd penalty(9);
    for (std::size_t m = 0; m < 3; ++m) {
      for (Index f = bands.columns[m].begin; f < bands.columns[m].end; ++f)
        penalty(f) = choice.strengths[at(target)] / choice.theta(target, static_cast<Index>(m));
    }
    const auto solution = [&](Index without) {
      Eigen::MatrixXd system = penalty.asDiagonal();
      Eigen::VectorXd right = Eigen::VectorXd::Zero(9);
      for (Index i = 0; i < 60; ++i) {
        if (i == without) continue;
        system += bands.task.weights[at(i)] * x.row(i).transpose() * x.row(i);
        right += bands.task.weights[at(i)] * bands.task.y(i, target) * x.row(i).transpose();
      }
      return Eigen::VectorXd(system.ldlt().solve(right));
    };
    const Eigen::VectorXd b = solution(-1);
    double loss = 0.0;
    double total = 0.0;
    for (Index i = 0; i < 60; ++i) {
      double f = 0.0;  // Σ_m θ_m K_m c
      for (Index j = 0; j < 60; ++j) {
        for (Index m = 0; m < 3; ++m)
          f += choice.theta(target, m) * bands.kernels[at(m)](i, j) * choice.coefficients(j, target);
      }
      EXPECT_NEAR(f, x.row(i).dot(b), kBands);
      const double error = bands.task.y(i, target) - x.row(i).dot(solution(i));
      loss += bands.task.weights[at(i)] * error * error;
      total += bands.task.weights[at(i)];
    }
    EXPECT_NEAR(choice.losses[at(target)], loss / total, kBands * loss / total);
  }
}

TEST(Mkr, SamplesOfNoWeightArePredictedOnly) {
  const Matrix x = test::normal_matrix(kSamples, 2, 8);
  Targets targets;
  targets.task = Task::multi_regression;
  targets.values = task_of(x, 9).y;
  targets.weights.assign(kSamples, 1.0);
  targets.weights[3] = 0.0;
  targets.values(3, 0) = 1e6;  // nobody may look
  const Kernels kernels = kernels_of(x);
  const auto bank = make_dense_bank(kernels.matrices, kernels.names, true);
  const FitResult fit = find_learner("mkr").fit(*bank, targets, {{"draws", "10"}, {"steps", "3"}}, {});
  EXPECT_EQ(fit.model.coefficients(3, 0), 0.0);
  EXPECT_LT(std::abs(fit.model.bias[0]), 10.0);
  const Certificate certificate = certify(*bank, targets, fit.model, {});
  EXPECT_EQ(certificate.finding, Certificate::Finding::proved) << certificate.verdict;
}

}  // namespace
}  // namespace kloom::methods
