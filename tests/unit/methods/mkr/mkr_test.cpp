// SPDX-License-Identifier: BSD-3-Clause
//
// Multiple-kernel ridge regression: the slope against differences, permutations, and copies of samples. What it chooses is
// compared with a transcription in tests/cli/test_mkr.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

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
