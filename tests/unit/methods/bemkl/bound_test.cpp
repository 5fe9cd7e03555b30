// SPDX-License-Identifier: BSD-3-Clause
//
// The lower bound of BEMKL against a plain transcription of its definition (Eigen, full matrices, no shortcuts),
// after every update of every task; and the referee, which finds it from the model.
#include <gtest/gtest.h>

#include "kloom/certify.h"
#include "unit/methods/bemkl/naive_bound.h"

namespace kloom {
namespace {

using namespace test;

// After every factor update the bound equals its definition and has not fallen. Sizes of the rounding: the
// bound is a sum of about N·P·M terms; 1e-9 of its size is far above N·P·M·eps and far below any wrong term.
void check_updates(const FamilyTask& task, const BemklPrior& hyper, unsigned seed, int iterations) {
  const auto bank = bank_without(bank_of(task.kernels), task.presence);
  BemklFactors q(*bank, task.problem, hyper, random_start(task, seed));
  const bool gaussian = task.problem.likelihood == BemklLikelihood::gaussian;
  ASSERT_TRUE(q.iterate());
  double last = q.lower_bound();
  std::vector<Eigen::MatrixXd> a_covariances;
  const auto keep_a_covariances = [&] {
    a_covariances.clear();
    const BemklPosterior::Group posterior = q.posterior(true);
    for (const Matrix& covariance : posterior.a_covariance) a_covariances.push_back(eigen(covariance));
  };
  keep_a_covariances();
  const auto check = [&](const char* step) {
    const double now = q.lower_bound();
    const double slack = 1e-9 * std::max(1.0, std::abs(now));
    EXPECT_NEAR(now, naive_bound(task, hyper, q, a_covariances), slack) << step;
    EXPECT_GE(now, last - slack) << step;
    last = now;
  };
  for (int iteration = 0; iteration < iterations; ++iteration) {
    q.update_lambda();
    check("lambda");
    if (gaussian) q.update_upsilon();
    check("upsilon");
    ASSERT_TRUE(q.update_a());
    keep_a_covariances();
    check("a");
    ASSERT_TRUE(q.update_intermediate());
    check("G");
    q.update_gamma_omega();
    check("gamma, omega");
    if (gaussian) q.update_epsilon();
    check("epsilon");
    ASSERT_TRUE(q.update_be());
    check("(b, e)");
    if (!gaussian) q.update_f();
    check("f");
  }
  for (int iteration = 0; iteration < 3; ++iteration) {
    ASSERT_TRUE(q.iterate_from_intermediate());
    keep_a_covariances();
    check("cycle with a and G together");
  }
}

TEST(Bemkl, BoundIsExactAndNeverFallsAfterAnyFactorUpdate) {
  unsigned seed = 1;
  for (double sigma_g : {0.05, 0.1, 0.5, 1.0, 2.0}) {
    for (const GammaPrior omega : {GammaPrior{1.0, 1.0}, GammaPrior{1e-10, 1e+10}}) {
      for (Index n : {2, 12, 30}) {
        SCOPED_TRACE(testing::Message()
                     << "sigma_g " << sigma_g << ", shape of omega " << omega.shape << ", n " << n);
        const FamilyTask task = all_tasks(n, ++seed).front();
        check_updates(task, {sigma_g, 1.0, {1.0, 1.0}, {1.0, 1.0}, omega, {}, {}, false}, seed, 12);
      }
    }
  }
}

TEST(Bemkl, BoundIsExactAndNeverFallsForEveryTask) {
  for (double sigma_g : {0.1, 1.0}) {
    for (const FamilyTask& task : all_tasks(14, 5)) {
      SCOPED_TRACE(testing::Message() << task.name << ", sigma_g " << sigma_g);
      BemklPrior hyper;
      hyper.sigma_g = sigma_g;
      hyper.non_negative = task.non_negative;
      check_updates(task, hyper, 9, 3);
    }
  }
}

// Samples that lack kernels: no row and no column there, and an output that hangs on no a.
TEST(Bemkl, BoundIsExactAndNeverFallsWithAbsentKernels) {
  for (double sigma_g : {0.1, 1.0}) {
    for (FamilyTask& task : all_tasks(15, 5, {0.5, 1.0, 3.0, 6.0})) {
      SCOPED_TRACE(testing::Message() << task.name << ", sigma_g " << sigma_g);
      task.presence = some_presence(15, std::ssize(task.kernels));
      BemklPrior hyper;
      hyper.sigma_g = sigma_g;
      hyper.non_negative = task.non_negative;
      check_updates(task, hyper, 9, 4);
    }
  }
}

// More than four kernels for every sample and output: both covariances are then a diagonal and few directions.
TEST(Bemkl, BoundIsExactAndNeverFallsWithManyKernels) {
  for (double sigma_g : {0.05, 0.3, 2.0}) {
    for (const GammaPrior omega : {GammaPrior{1.0, 1.0}, GammaPrior{1e-10, 1e+10}}) {
      for (const FamilyTask& task : all_tasks(6, 5, many_widths(75))) {
        if (task.problem.likelihood == BemklLikelihood::gaussian || task.non_negative) continue;
        SCOPED_TRACE(testing::Message()
                     << task.name << ", sigma_g " << sigma_g << ", shape of omega " << omega.shape);
        check_updates(task, {sigma_g, 1.0, {1.0, 1.0}, {1.0, 1.0}, omega, {}, {}, task.non_negative}, 9, 4);
      }
    }
  }
}

// Enough samples and kernels for the recursion of Cholesky factors, which ends at 64.
TEST(Bemkl, BoundIsExactAndNeverFallsWithManySamples) {
  for (double sigma_g : {0.1, 1.0}) {
    const FamilyTask task = all_tasks(110, 5, many_widths(66)).front();
    SCOPED_TRACE(testing::Message() << task.name << ", sigma_g " << sigma_g);
    BemklPrior hyper;
    hyper.sigma_g = sigma_g;
    check_updates(task, hyper, 9, 4);
  }
}

// The referee, which shares no code with the learner, finds the bound that the learner reports.
TEST(Bemkl, RefereeFindsTheReportedBound) {
  for (bool sparse : {false, true}) {
    const BinaryProblem problem = test::binary_problem(40, 3, {0.5, 1.0, 2.0, 4.0}, 77);
    const auto bank = make_dense_bank(problem.kernels, problem.names, true);
    BemklOptions options;
    options.sparse = sparse;
    const FitResult fit = methods::fit_bemkl(*bank, problem.targets, options, {});
    const Certificate certificate = certify(*bank, problem.targets, fit.model, {});
    ASSERT_EQ(certificate.items.at(0).name, "lower bound");
    EXPECT_NEAR(certificate.items[0].value, fit.report.objective, 1e-9 * std::abs(fit.report.objective));
    EXPECT_FALSE(certificate.proof);
    // A weight that is not where the learner left it shows in both numbers.
    Model altered = fit.model;
    altered.coefficients(0, 0) += 0.5;
    const Certificate worse = certify(*bank, problem.targets, altered, {});
    EXPECT_LT(worse.items[0].value, certificate.items[0].value - 1e-3);
    EXPECT_GT(worse.items[1].value, 10 * certificate.items[1].value);
  }
}

struct Variant {
  const char* name;
  Targets targets;
  BemklOptions options;
};

std::vector<Variant> variants(Index n) {
  BemklOptions plain;
  plain.iterations = 40;
  BemklOptions apart = plain;
  apart.multiclass = "one-versus-all";
  BemklOptions largest = plain;
  largest.likelihood = "multinomial";
  BemklOptions positive = plain;
  positive.non_negative = true;
  BemklOptions balanced = plain;
  balanced.class_weight = "balanced";
  Targets weighted = targets_of(Task::binary, n, 3);
  for (Index i = 0; i < n; ++i) weighted.weights.push_back(i % 5 == 0 ? 0.0 : 0.5 + static_cast<double>(i % 3));
  Targets weighted_numbers = targets_of(Task::regression, n, 4);
  weighted_numbers.weights = weighted.weights;
  Targets weighted_classes = targets_of(Task::multiclass, n, 5);
  weighted_classes.weights = weighted.weights;
  return {{"binary", targets_of(Task::binary, n, 1), plain},
          {"binary, weighted", weighted, plain},
          {"binary, unlabelled", targets_of(Task::binary, n, 2, true), plain},
          {"binary, non-negative", targets_of(Task::binary, n, 2), positive},
          {"multiclass", targets_of(Task::multiclass, n, 3), plain},
          {"multiclass, balanced", targets_of(Task::multiclass, n, 3), balanced},
          {"multiclass, unlabelled", targets_of(Task::multiclass, n, 3, true), plain},
          {"one-versus-all", targets_of(Task::multiclass, n, 3), apart},
          {"one-versus-all, unlabelled", targets_of(Task::multiclass, n, 3, true), apart},
          {"multinomial", targets_of(Task::multiclass, n, 3), largest},
          {"multinomial, weighted, unlabelled", weighted_classes, largest},
          {"multilabel", targets_of(Task::multilabel, n, 6), plain},
          {"regression", targets_of(Task::regression, n, 7), plain},
          {"regression, weighted", weighted_numbers, plain},
          {"regression, non-negative", targets_of(Task::regression, n, 7), positive},
          {"two numbers", targets_of(Task::multi_regression, n, 8), plain}};
}

// The referee's plain pass, sample by sample with its weight, finds the bound of every task; the trace rises;
// the model can be asked.
TEST(Bemkl, RefereeFindsTheBoundOfEveryTask) {
  const BinaryProblem made = test::binary_problem(24, 3, {0.5, 1.0, 3.0}, 8);
  for (const Matrix& presence : {Matrix(), some_presence(24, std::ssize(made.kernels))}) {
    const auto bank = bank_without(bank_of(made.kernels), presence);
    for (const Variant& v : variants(24)) {
      SCOPED_TRACE(testing::Message() << v.name << (presence.empty() ? "" : ", some samples lack kernels"));
      const FitResult fit = methods::fit_bemkl(*bank, v.targets, v.options, {});
      ASSERT_NE(fit.report.status, Status::numerical_trouble);
      EXPECT_NEAR(certify(*bank, v.targets, fit.model, {}).items[0].value, fit.report.objective,
                  1e-8 * std::abs(fit.report.objective));
      for (std::size_t k = 1; k < fit.report.trace.size(); ++k) {
        EXPECT_GE(fit.report.trace[k].objective,
                  fit.report.trace[k - 1].objective - 1e-9 * std::abs(fit.report.objective));
      }
      const Predictions p = predict(fit.model, *bank, {}, {});
      EXPECT_EQ(p.deviation.cols(), p.scores.cols());
      for (double d : p.deviation.values()) EXPECT_GT(d, 0.0);
      if (v.targets.task == Task::multiclass) {
        for (Index i = 0; i < 24; ++i) {
          double sum = 0.0;
          for (Index c = 0; c < 3; ++c) sum += p.probabilities(i, c);
          EXPECT_NEAR(sum, 1.0, 1e-12);
        }
      }
    }
  }
}

}  // namespace
}  // namespace kloom
