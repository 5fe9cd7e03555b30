// SPDX-License-Identifier: BSD-3-Clause
//
// LP-β and LP-B as a whole: predictions by their formula, held-out scores of samples that nobody saw, permuted kernels,
// files, and what is refused. The programme is tested in solvers/, models against SciPy in tests/cli/test_lp_beta.py.
#include "methods/lpbeta/lpbeta.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kloom/certify.h"
#include "kloom/error.h"
#include "kloom/parts.h"
#include "support/model_files.h"
#include "support/multiclass.h"

namespace kloom::methods {
namespace {

using test::bank_of;
using test::MulticlassProblem;
using test::simplex_problem;

MulticlassProblem problem_of(Index classes) {
  MulticlassProblem problem = simplex_problem(45, classes, {0.3, 1.0, 4.0}, 21, 0.6);
  test::make_symmetric(problem.kernels);
  return problem;
}

FitResult fitted(const MulticlassProblem& problem, OptionValues options) {
  options.emplace("C", "2");
  options.emplace("nu", "0.2");
  return find_learner("lp-beta").fit(*bank_of(problem), problem.targets, options, {});
}

TEST(LpBeta, PredictsByItsFormula) {
  for (const Index classes : {2, 3}) {
    for (const char* per : {"kernel", "class"}) {
      const MulticlassProblem problem = problem_of(classes);
      const Model model = fitted(problem, {{"weights_per", per}}).model;
      const auto& part = part_of<LpBetaPart>(model);
      const Predictions found = predict(model, *bank_of(problem), {}, {});
      const Index outputs = model.coefficients.cols();
      ASSERT_EQ(outputs, classes == 2 ? 1 : classes);
      for (Index i = 0; i < 45; ++i) {
        for (Index c = 0; c < outputs; ++c) {
          double score = 0.0;
          for (Index p = 0; p < 3; ++p) {
            double f = part.biases(p, c);
            for (Index j = 0; j < 45; ++j) f += part.machines(j, p + 3 * c) * problem.kernels[at(p)](i, j);
            score += model.weights.values(model.weights.values.rows() == 1 ? 0 : c, p) * f;
          }
          // Sums of 135 products, the largest of them about the price.
          EXPECT_NEAR(found.scores(i, c), score, 1e-12) << per;
        }
      }
    }
  }
}

TEST(LpBeta, TheRefereeProvesIt) {
  for (const Index classes : {2, 3}) {
    for (const char* per : {"kernel", "class"}) {
      const MulticlassProblem problem = problem_of(classes);
      Model model = fitted(problem, {{"weights_per", per}, {"class_weight", "balanced"}}).model;
      const auto bank = bank_of(problem);
      const Certificate good = certify(*bank, problem.targets, model, {});
      EXPECT_EQ(good.finding, Certificate::Finding::proved) << good.verdict;
      EXPECT_NE(good.verdict.find("held-out"), std::string::npos);
      edit_part<LpBetaPart>(model).dual(0, model.coefficients.cols() - 1) += 0.5;
      EXPECT_EQ(certify(*bank, problem.targets, model, {}).finding, Certificate::Finding::refuted);
    }
  }
}

// Weights that differ from the best have a gap, with the same dual point.
TEST(LpBeta, OtherWeightsAreNoProof) {
  const MulticlassProblem problem = problem_of(3);
  Model model = fitted(problem, {}).model;
  const auto bank = bank_of(problem);
  Index most = 0;
  for (Index p = 1; p < 3; ++p) most = model.weights.values(0, p) > model.weights.values(0, most) ? p : most;
  for (Index p = 0; p < 3; ++p) model.weights.values(0, p) = p == (most + 1) % 3 ? 1.0 : 0.0;
  EXPECT_NE(certify(*bank, problem.targets, model, {}).finding, Certificate::Finding::proved);
}

// With as many folds as samples, a sample's label changes the held-out scores of all samples but its own.
TEST(LpBeta, HeldOutScoresHaveNotSeenTheSample) {
  MulticlassProblem problem = problem_of(2);
  const OptionValues options = {{"folds", "45"}, {"probability", "false"}, {"tolerance", "1e-9"}};
  const Matrix before = part_of<LpBetaPart>(fitted(problem, options).model).held_out;
  problem.targets.weights.assign(45, 1.0);
  problem.targets.weights[7] = 5.0;
  const Matrix after = part_of<LpBetaPart>(fitted(problem, options).model).held_out;
  double others = 0.0;
  for (Index p = 0; p < 3; ++p) {
    EXPECT_EQ(after(7, p), before(7, p));
    for (Index i = 0; i < 45; ++i) others = std::max(others, std::abs(after(i, p) - before(i, p)));
  }
  EXPECT_GT(others, 1e-3);
}

TEST(LpBeta, PermutedKernelsHavePermutedWeights) {
  const MulticlassProblem problem = problem_of(3);
  MulticlassProblem turned = problem;
  std::rotate(turned.kernels.begin(), turned.kernels.begin() + 1, turned.kernels.end());
  std::rotate(turned.names.begin(), turned.names.begin() + 1, turned.names.end());
  for (const char* per : {"kernel", "class"}) {
    const Model one = fitted(problem, {{"weights_per", per}}).model;
    const Model other = fitted(turned, {{"weights_per", per}}).model;
    for (Index g = 0; g < one.weights.values.rows(); ++g) {
      // Machines are the same bits; the programme is known to 1e-9 of the margins.
      for (Index p = 0; p < 3; ++p)
        EXPECT_NEAR(other.weights.values(g, p), one.weights.values(g, (p + 1) % 3), 1e-6) << per;
    }
  }
}

TEST(LpBeta, TwoClassesAreTheSameForBothKindsOfWeights) {
  const MulticlassProblem problem = problem_of(2);
  const Model one = fitted(problem, {{"weights_per", "kernel"}}).model;
  const Model other = fitted(problem, {{"weights_per", "class"}}).model;
  EXPECT_EQ(one.weights.values, other.weights.values);
  EXPECT_EQ(one.coefficients, other.coefficients);
}

TEST(LpBeta, LoadedModelsPredictTheSameBits) {
  const MulticlassProblem problem = problem_of(3);
  for (const char* per : {"kernel", "class"}) {
    const FitResult fit = fitted(problem, {{"weights_per", per}});
    testing::expect_same_when_loaded(fit.model, *bank_of(problem));
  }
}

TEST(LpBeta, RefusesWhatItCannotDo) {
  const MulticlassProblem problem = problem_of(2);
  const auto bank = bank_of(problem);
  const Learner& learner = find_learner("lp-beta");
  Targets numbers;
  numbers.task = Task::regression;
  numbers.values = Matrix(45, 1);
  EXPECT_THROW((void)learner.fit(*bank, numbers, {}, {}), InvalidArgument);
  const auto fit = [&](const OptionValues& options) {
    return learner.fit(*bank, problem.targets, options, {});
  };
  EXPECT_THROW((void)fit({{"nu", "1.5"}}), InvalidArgument);
  EXPECT_THROW((void)fit({{"C", "1"}, {"nu_grid", "0.5,2"}}), InvalidArgument);
  EXPECT_THROW((void)fit({{"C_grid", "-1,1"}}), InvalidArgument);
  EXPECT_THROW((void)fit({{"weights_per", "sample"}}), InvalidArgument);
}

}  // namespace
}  // namespace kloom::methods
