// SPDX-License-Identifier: BSD-3-Clause
//
// Margin methods: special cases with known answers, limits, several classes, regression, hard inputs.
#include "methods/margin/margin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/folds.h"
#include "kloom/certify.h"
#include "kloom/error.h"
#include "kloom/kernels.h"
#include "kloom/train.h"
#include "support/files.h"
#include "support/multiclass.h"
#include "support/problems.h"

namespace kloom {
namespace {

using methods::MarginMethod;
using methods::MarginOptions;
using methods::MarginSettings;
using methods::MarginSolution;
using methods::MarginTask;
using methods::WeightRule;
using test::bank_of;
using test::BinaryProblem;

MarginTask task_of(const BinaryProblem& problem, double c) {
  return {problem.targets.signs(), Vector(problem.targets.codes.size(), c)};
}

MarginSolution solve(const BinaryProblem& problem, WeightRule rule, double norm, double c,
                     double tolerance = 1e-8) {
  const auto bank = bank_of(problem);
  MarginSettings settings;
  settings.rule = rule;
  settings.norm = norm;
  settings.tolerance = tolerance;
  settings.iterations = 2000;
  return solve_margin_mkl(*bank, task_of(problem, c), settings, methods::uniform_weights(bank->kernels(), norm),
                          {});
}

TEST(Margin, OneKernelIsAPlainSvmForEveryRule) {
  BinaryProblem problem = test::binary_problem(60, 2, {1.0}, 1);
  problem.kernels.resize(1);
  problem.names.resize(1);
  const MarginSolution plain = solve(problem, WeightRule::fixed, 1.0, 5.0);
  for (const auto& [rule, norm] :
       std::vector<std::pair<WeightRule, double>>{{WeightRule::second_order, 1.0},
                                                  {WeightRule::reduced_gradient, 1.0},
                                                  {WeightRule::silp, 1.0},
                                                  {WeightRule::level, 1.0},
                                                  {WeightRule::norm, 2.0},
                                                  {WeightRule::norm, 7.0}}) {
    const MarginSolution mkl = solve(problem, rule, norm, 5.0);
    EXPECT_EQ(mkl.status, Status::converged);
    EXPECT_NEAR(mkl.primal, plain.primal, 1e-7 * plain.primal);
    EXPECT_NEAR(mkl.theta[0], 1.0, 1e-12);
  }
}

// ‖θ‖_p ≤ 1 shrinks towards ‖θ‖_1 ≤ 1 as p → 1, so the objectives come from below; at p = 1 + d they differ by
// at most a factor P^(1 − 1/p).
TEST(Margin, NormTendsToOneAndToInfinity) {
  const BinaryProblem problem = test::binary_problem(50, 3, {0.3, 1.0, 3.0}, 2);
  const double p_count = 4.0;
  const MarginSolution one = solve(problem, WeightRule::second_order, 1.0, 2.0);
  double last = 0.0;
  for (double p : {4.0, 2.0, 1.3, 1.05}) {
    const MarginSolution s = solve(problem, WeightRule::norm, p, 2.0, 1e-6);
    EXPECT_EQ(s.status, Status::converged) << p;
    EXPECT_LE(s.primal, one.primal * (1.0 + 1e-6));
    EXPECT_GE(s.primal * std::pow(p_count, 1.0 - 1.0 / p), one.primal * (1.0 - 1e-6)) << p;
    EXPECT_GE(s.primal, last * (1.0 - 1e-6));
    last = s.primal;
  }
  // p = ∞ is the sum of the kernels: uniform weights 1/P at P times the C.
  const MarginSolution infinite =
      solve(problem, WeightRule::norm, std::numeric_limits<double>::infinity(), 2.0);
  const MarginSolution uniform = solve(problem, WeightRule::fixed, 1.0, 2.0 * p_count);
  EXPECT_NEAR(infinite.primal, uniform.primal / p_count, 1e-6 * infinite.primal);
}

// At the optimum of ℓ1 every kernel in use has the largest q; checked through the gap of 1e-8, and that all
// algorithms and the norm update at p = 1 agree on the objective.
TEST(Margin, L1AlgorithmsAgree) {
  for (double c : {0.01, 1.0, 100.0}) {
    const BinaryProblem problem = test::binary_problem(70, 3, {0.3, 0.7, 1.5, 4.0}, 3);
    const MarginSolution newton = solve(problem, WeightRule::second_order, 1.0, c, 1e-8);
    const MarginSolution gradient = solve(problem, WeightRule::reduced_gradient, 1.0, c, 1e-5);
    const MarginSolution update = solve(problem, WeightRule::norm, 1.0, c, 1e-5);
    for (const WeightRule rule : {WeightRule::silp, WeightRule::level}) {
      const MarginSolution cuts = solve(problem, rule, 1.0, c, 1e-5);
      EXPECT_EQ(cuts.status, Status::converged) << c << ", gap " << cuts.gap();
      EXPECT_NEAR(cuts.primal, newton.primal, (1e-5 + 1e-8) * newton.primal);  // both gaps
      EXPECT_NEAR(std::accumulate(cuts.theta.begin(), cuts.theta.end(), 0.0), 1.0, 1e-9);
    }
    EXPECT_EQ(newton.status, Status::converged) << c << ", gap " << newton.gap();
    EXPECT_LE(newton.gap(), 1e-8);
    EXPECT_NEAR(gradient.primal, newton.primal, 2e-5 * newton.primal);
    EXPECT_NEAR(update.primal, newton.primal, 2e-5 * newton.primal);
    EXPECT_NEAR(std::accumulate(newton.theta.begin(), newton.theta.end(), 0.0), 1.0, 1e-12);
  }
}

// The same problem under three names, which tests/cli/test_oracles.py compares with a cone programme under one of them.
TEST(Margin, GroupsAreTheSameForEveryMethodThatHasThem) {
  const BinaryProblem problem = test::binary_problem(50, 3, {0.5, 1.0, 2.0}, 4);
  const auto bank = bank_of(problem);
  const auto weights = [&](const char* method, OptionValues options) {
    options.insert({{"C", "2"}, {"probability", "false"}});
    const FitResult fit = find_learner(method).fit(*bank, problem.targets, options, {});
    EXPECT_EQ(certify(*bank, problem.targets, fit.model, {}).finding, Certificate::Finding::proved) << method;
    return fit.model.weights.values;
  };
  std::string words;
  for (Index m = 0; m < bank->kernels(); ++m) words += (m > 0 ? "," : "") + std::to_string(m % 2);
  for (const char* mix : {"1", "0.4"}) {
    const Matrix expected = weights("group-mkl", {{"groups", words}, {"mix", mix}});
    EXPECT_EQ(weights("simplemkl", {{"groups", words}, {"mix", mix}}), expected);
    EXPECT_EQ(weights("lp-mkl", {{"groups", words}, {"mix", mix}}), expected);
  }
  const Matrix elastic = weights("group-mkl", {{"groups", "none"}, {"mix", "0.3"}});
  EXPECT_EQ(weights("simplemkl", {{"mix", "0.3"}}), elastic);
  // What a method is by itself stays what it was.
  EXPECT_EQ(weights("lp-mkl", {{"groups", "all"}, {"mix", "0.3"}}), weights("lp-mkl", {}));
  EXPECT_THROW((void)find_learner("simplemkl")
                   .fit(*bank, problem.targets, {{"groups", "views"}, {"algorithm", "silp"}}, {}),
               InvalidArgument);
}

TEST(Margin, DuplicatedKernelDoesNotChangePredictionsOfL1) {
  const BinaryProblem problem = test::binary_problem(60, 2, {0.5, 1.5}, 4);
  BinaryProblem doubled = problem;
  doubled.kernels.push_back(problem.kernels[0]);
  doubled.names.emplace_back("copy");
  const MarginSolution one = solve(problem, WeightRule::second_order, 1.0, 3.0);
  const MarginSolution two = solve(doubled, WeightRule::second_order, 1.0, 3.0);
  EXPECT_NEAR(one.primal, two.primal, 1e-7 * one.primal);
  EXPECT_NEAR(two.theta[0] + two.theta[3], one.theta[0], 2e-4);  // √(2·gap)
}

TEST(Margin, ExtremePricesAndDegenerateKernelsEndWithAStatus) {
  BinaryProblem problem = test::binary_problem(30, 2, {0.5, 1.5}, 5);
  for (double& value : problem.kernels[1].values()) value = 1.0;  // all samples equal
  for (double c : {1e-6, 1e-2, 1e2, 1e8}) {
    for (WeightRule rule : {WeightRule::second_order, WeightRule::norm, WeightRule::fixed}) {
      const MarginSolution s = solve(problem, rule, rule == WeightRule::norm ? 2.0 : 1.0, c, 1e-3);
      EXPECT_TRUE(std::isfinite(s.primal)) << c;
      EXPECT_NE(s.status, Status::numerical_trouble) << c;
      if (s.status == Status::converged) {
        EXPECT_LE(s.gap(), 1e-3);
      }
    }
  }
  for (double& value : problem.kernels[1].values()) value = 0.0;  // a kernel that says nothing
  EXPECT_EQ(solve(problem, WeightRule::second_order, 1.0, 1.0, 1e-6).status, Status::converged);
  const BinaryProblem two = test::binary_problem(2, 2, {1.0}, 6);
  EXPECT_EQ(solve(two, WeightRule::second_order, 1.0, 1.0, 1e-6).status, Status::converged);
}

// Kernels of low rank leave α free at a θ where some have no weight, so that no single solution of the SVM need balance
// them. The mixture of the cuts does, and the referee agrees; without convergence the answer is the best point all the same.
TEST(Margin, CuttingPlanesAreProvedByTheMixture) {
  BinaryProblem problem = test::binary_problem(60, 4, {1.0}, 23);
  problem.kernels.clear();
  problem.names.clear();
  for (Index d = 0; d < 4; ++d) {
    Matrix one(60, 1);
    std::ranges::copy(problem.x.column(d), one.column(0).begin());
    problem.kernels.push_back(test::dot_kernel(one, one));
    problem.names.push_back("x" + std::to_string(d));
  }
  const auto bank = bank_of(problem);
  MarginOptions options;
  options.C = 5.0;
  options.probability = false;
  options.tolerance = 1e-5;
  const double best =
      methods::fit_margin(MarginMethod::simplemkl, *bank, problem.targets, options, {}).report.objective;
  for (const char* algorithm : {"silp", "level"}) {
    options.algorithm = algorithm;
    const FitResult fit = methods::fit_margin(MarginMethod::simplemkl, *bank, problem.targets, options, {});
    EXPECT_EQ(fit.report.status, Status::converged) << algorithm;
    EXPECT_TRUE(certify(*bank, problem.targets, fit.model, {}).proof) << algorithm;
    EXPECT_NEAR(fit.report.objective, best, 2e-5 * best) << algorithm;
    MarginOptions early = options;
    early.iterations = 3;
    const FitResult some = methods::fit_margin(MarginMethod::simplemkl, *bank, problem.targets, early, {});
    EXPECT_LE(some.report.objective, some.report.trace.front().objective * (1.0 + 1e-9)) << algorithm;
  }
}

// Every kernel by itself against machines on it alone, fold by fold, without warm starts: the same folds, and scores that the
// gap of 1e-8 moves by less than what decides a class (where a machine has a sample between its bounds, so that its bias is
// one number: not so with a width of 8).
TEST(Margin, SingleKeepsTheHeldOutErrorOfEveryKernel) {
  const BinaryProblem problem = test::binary_problem(60, 3, {0.1, 0.3, 0.6, 1.0, 2.0, 4.0}, 24);
  const auto bank = bank_of(problem);
  MarginOptions options;
  options.C = 2.0;
  options.probability = false;
  options.tolerance = 1e-8;
  const FitResult some = methods::fit_margin(MarginMethod::single, *bank, problem.targets, options, {});
  ASSERT_EQ(some.report.errors_alone.size(), 7U);
  EXPECT_EQ(std::ranges::count_if(some.report.errors_alone, [](double e) { return std::isnan(e); }), 2);
  options.candidates = 0;
  const FitResult all = methods::fit_margin(MarginMethod::single, *bank, problem.targets, options, {});
  const std::vector<Index> folds = data::stratified_folds(problem.targets.codes, options.folds, Context{}.seed);
  std::size_t best = 0;
  for (std::size_t m = 0; m < 7; ++m) {
    MarginTask task = task_of(problem, 2.0);
    double wrong = 0.0;
    for (Index fold = 0; fold < options.folds; ++fold) {
      MarginTask rest = task;
      for (std::size_t i = 0; i < folds.size(); ++i) rest.box[i] = folds[i] == fold ? 0.0 : 2.0;
      MarginSettings settings;
      settings.rule = WeightRule::fixed;
      settings.tolerance = 1e-8;
      Vector theta(7);
      theta[m] = 1.0;
      const MarginSolution s = solve_margin_mkl(*bank, rest, settings, theta, {});
      for (std::size_t i = 0; i < folds.size(); ++i) {
        if (folds[i] != fold) continue;
        double score = s.bias;
        for (std::size_t j = 0; j < folds.size(); ++j)
          score += s.coefficients[j] * problem.kernels[m](static_cast<Index>(i), static_cast<Index>(j));
        wrong += task.y[i] * score > 0.0 ? 0.0 : 1.0;
      }
    }
    EXPECT_NEAR(all.report.errors_alone[m], wrong / 60.0, 1e-12) << m;
    if (!std::isnan(some.report.errors_alone[m])) {
      EXPECT_EQ(some.report.errors_alone[m], all.report.errors_alone[m]);
    }
    if (all.report.errors_alone[m] < all.report.errors_alone[best]) best = m;
  }
  EXPECT_EQ(all.model.weights.values(0, static_cast<Index>(best)), 1.0);
}

// The referee recomputes what the learner reports, for every method and task.
TEST(Margin, RefereeAgreesForEveryMethodAndTask) {
  const BinaryProblem problem = test::binary_problem(60, 3, {0.5, 1.0, 3.0}, 7);
  const auto bank = bank_of(problem);
  const Targets three = test::three_classes(problem);
  Targets numbers;
  numbers.task = Task::regression;
  numbers.values = Matrix(60, 1);
  for (Index i = 0; i < 60; ++i) numbers.values(i, 0) = 50.0 + 10.0 * std::sin(problem.x(i, 0));
  for (MarginMethod method :
       {MarginMethod::uniform, MarginMethod::single, MarginMethod::simplemkl, MarginMethod::lp_mkl}) {
    for (const Targets* targets : {&problem.targets, &three, static_cast<const Targets*>(&numbers)}) {
      for (const char* multiclass : {"one-versus-rest", "one-versus-one"}) {
        if (targets != &three && multiclass[11] == 'o') continue;
        MarginOptions options;
        options.C = 1.0;
        options.tolerance = 1e-6;
        options.multiclass = multiclass;
        const FitResult fit = methods::fit_margin(method, *bank, *targets, options, {});
        SCOPED_TRACE(fit.report.method + " " + fit.report.task + " " + multiclass);
        EXPECT_EQ(fit.report.status, Status::converged) << fit.report.message;
        const Certificate certificate = certify(*bank, *targets, fit.model, {});
        EXPECT_TRUE(certificate.proof) << certificate.verdict;
        // The referee takes the best bias, the learner the SVM's: its primal is the lower one,
        // both within the gap.
        EXPECT_LE(certificate.items[0].value, fit.report.objective * (1.0 + 1e-12));
        EXPECT_NEAR(certificate.items[0].value, fit.report.objective, 1e-6 * fit.report.objective);
        EXPECT_LE(certificate.items[2].value, 1e-6);
      }
    }
  }
}

TEST(Margin, RefereeNoticesAnAlteredModel) {
  const BinaryProblem problem = test::binary_problem(40, 2, {1.0}, 8);
  const auto bank = bank_of(problem);
  FitResult fit = methods::fit_margin(MarginMethod::simplemkl, *bank, problem.targets, {.C = 1.0}, {});
  fit.model.coefficients(3, 0) += 0.3;
  const Certificate certificate = certify(*bank, problem.targets, fit.model, {});
  EXPECT_FALSE(certificate.proof);
}

TEST(Margin, SeveralClassesAndNumbersArePredicted) {
  const BinaryProblem problem = test::binary_problem(120, 2, {0.5, 1.0, 3.0}, 9);
  const auto bank = bank_of(problem);
  Targets three;
  three.task = Task::multiclass;
  three.classes = {"low", "middle", "high"};
  for (Index i = 0; i < 120; ++i)
    three.codes.push_back(problem.x(i, 0) < -0.5 ? 0 : problem.x(i, 0) < 0.5 ? 1 : 2);
  for (const char* multiclass : {"one-versus-rest", "one-versus-one"}) {
    MarginOptions options;
    options.C = 10.0;
    options.multiclass = multiclass;
    const FitResult fit = methods::fit_margin(MarginMethod::lp_mkl, *bank, three, options, {});
    const Predictions p = predict(fit.model, *bank, {}, {});
    Index right = 0;
    for (std::size_t i = 0; i < 120; ++i) {
      right += p.codes[i] == three.codes[i] ? 1 : 0;
      double sum = 0.0;
      for (Index c = 0; c < 3; ++c) sum += p.probabilities(static_cast<Index>(i), c);
      EXPECT_NEAR(sum, 1.0, 1e-9);
    }
    EXPECT_GE(right, 114) << multiclass;  // separable but for the noise-free borders
  }
  Targets numbers;
  numbers.task = Task::regression;
  numbers.values = Matrix(120, 1);
  for (Index i = 0; i < 120; ++i) numbers.values(i, 0) = 1000.0 + 300.0 * std::sin(problem.x(i, 0));
  MarginOptions options;
  options.C = 10.0;
  const FitResult fit = methods::fit_margin(MarginMethod::simplemkl, *bank, numbers, options, {});
  const Predictions p = predict(fit.model, *bank, {}, {});
  // The tube is 0.1 standard deviations (about 20) wide.
  for (Index i = 0; i < 120; ++i) EXPECT_NEAR(p.scores(i, 0), numbers.values(i, 0), 100.0);
}

struct Curve {
  Dataset data;
  Targets targets;
};

// 50 sin(x) with noise of deviation 10.
Curve noisy_curve(Index n, unsigned seed) {
  const Matrix draws = test::normal_matrix(n, 2, seed);
  Curve curve;
  curve.data.samples = n;
  curve.data.feature_info = {{"x", ""}};
  curve.data.features = Matrix(n, 1);
  curve.targets.task = Task::regression;
  curve.targets.values = Matrix(n, 1);
  for (Index i = 0; i < n; ++i) {
    curve.data.features(i, 0) = draws(i, 0);
    curve.targets.values(i, 0) = 50.0 * std::sin(draws(i, 0)) + 10.0 * draws(i, 1);
  }
  return curve;
}

// The share of new numbers inside is that of the quantile of 200 held-out errors, whose deviation is
// sqrt(0.9 * 0.1 / 200) = 0.021, counted on 1000 numbers (0.0095): at least 0.9 less three deviations of both, 0.07. Machines that
// missed a fifth of the samples err more, so it may be more than that above 0.9.
TEST(Margin, NineOfTenNewNumbersAreInTheirIntervals) {
  const Curve known = noisy_curve(200, 21);
  const Curve fresh = noisy_curve(1000, 22);
  for (const char* method : {"uniform", "simplemkl", "lp-mkl", "single", "align"}) {
    SCOPED_TRACE(method);
    TrainRequest request;
    request.method = method;
    request.kernels = parse_kernel_spec("rbf(width=0.5,1,2)");
    const Model model = train(known.data, known.targets, request, {}).model;
    const Predictions p = predict(model, fresh.data, {}, {});
    ASSERT_EQ(p.deviation.rows(), 1000);
    Index inside = 0;
    for (Index i = 0; i < 1000; ++i) {
      const double error = std::abs(p.scores(i, 0) - fresh.targets.values(i, 0));
      inside += error <= 1.6448536 * p.deviation(i, 0) ? 1 : 0;
    }
    EXPECT_GE(inside, 830);
    EXPECT_LE(inside, 990);
    EXPECT_NEAR(p.deviation(0, 0), 10.0, 2.5);
    const testing::TemporaryFolder folder;
    save_model(model, folder.file("m.kloom"));
    const Predictions again = predict(load_model(folder.file("m.kloom")), fresh.data, {}, {});
    EXPECT_TRUE(std::ranges::equal(again.deviation.values(), p.deviation.values()));
  }
}

// A price that was given was not chosen by samples that a fit had not seen.
TEST(Margin, NumbersHaveNoIntervalsWhereNothingWasHeldOut) {
  const Curve known = noisy_curve(60, 23);
  TrainRequest request;
  request.method = "uniform";
  request.options = {{"C", "1"}};
  request.kernels = parse_kernel_spec("rbf(width=1)");
  const Model model = train(known.data, known.targets, request, {}).model;
  EXPECT_TRUE(predict(model, known.data, {}, {}).deviation.empty());
}

// Weight 0 is a sample that is not there; weight 2 is a sample that is there twice.
TEST(Margin, SampleWeightsCountSamples) {
  const BinaryProblem problem = test::binary_problem(40, 2, {0.7, 2.0}, 10);
  const auto bank = bank_of(problem);
  MarginOptions options;
  options.C = 1.0;
  options.tolerance = 1e-8;
  options.probability = false;
  Targets weighted = problem.targets;
  weighted.weights.assign(40, 1.0);
  weighted.weights[5] = 0.0;
  weighted.weights[7] = 2.0;
  const FitResult fit = methods::fit_margin(MarginMethod::simplemkl, *bank, weighted, options, {});
  EXPECT_EQ(fit.model.coefficients(5, 0), 0.0);
  BinaryProblem copied = problem;  // sample 5 replaced by a second sample 7
  for (Matrix& k : copied.kernels) {
    for (Index j = 0; j < 40; ++j) k(5, j) = k(7, j);
    for (Index i = 0; i < 40; ++i) k(i, 5) = k(i, 7);
  }
  copied.targets.codes[5] = problem.targets.codes[7];
  const FitResult twice =
      methods::fit_margin(MarginMethod::simplemkl, *bank_of(copied), copied.targets, options, {});
  EXPECT_NEAR(fit.report.objective, twice.report.objective, 1e-7 * twice.report.objective);
}

TEST(Margin, GridChoosesAPriceAndReportsThePath) {
  const BinaryProblem problem = test::binary_problem(60, 2, {0.7, 2.0}, 11);
  MarginOptions options;
  options.C_grid = "10^-2..10^2";
  const FitResult fit =
      methods::fit_margin(MarginMethod::uniform, *bank_of(problem), problem.targets, options, {});
  ASSERT_EQ(fit.report.tables.size(), 1U);
  ASSERT_EQ(fit.report.tables[0].rows.size(), 5U);
  double lowest = 1.0;
  double best = 0.0;
  for (const Vector& row : fit.report.tables[0].rows) {
    if (row[1] < lowest) {
      lowest = row[1];
      best = row[0];
    }
  }
  EXPECT_EQ(std::stod(fit.report.options.at("C")), best);
  // Every point of the path has an error, kernels, support vectors and a gap within the tolerance.
  for (const Vector& row : fit.report.tables[0].rows) {
    ASSERT_EQ(row.size(), fit.report.tables[0].columns.size());
    EXPECT_GE(row[2], 1.0);
    EXPECT_GE(row[3], 2.0);
    EXPECT_LE(row[4], options.tolerance);
  }
  options.C_grid = "0..3";
  EXPECT_THROW(
      (void)methods::fit_margin(MarginMethod::uniform, *bank_of(problem), problem.targets, options, {}),
      InvalidArgument);
}

// The point of a path that was reached by warm starts is the point that a fit from scratch reaches, for
// every method and task.
TEST(Margin, PathReachesWhatAFitFromScratchReaches) {
  const BinaryProblem problem = test::binary_problem(60, 2, {0.7, 2.0}, 11);
  const auto bank = bank_of(problem);
  Targets numbers;
  numbers.task = Task::regression;
  numbers.values = test::normal_matrix(60, 1, 5);
  for (const Targets& targets : {problem.targets, numbers}) {
    for (MarginMethod method :
         {MarginMethod::uniform, MarginMethod::single, MarginMethod::simplemkl, MarginMethod::lp_mkl}) {
      MarginOptions options;
      options.tolerance = 1e-6;
      options.folds = 3;
      options.probability = false;
      options.C_grid = "10^-2..10^2";
      const FitResult path = methods::fit_margin(method, *bank, targets, options, {});
      options.C = std::stod(path.report.options.at("C"));
      options.C_grid.clear();
      const FitResult scratch = methods::fit_margin(method, *bank, targets, options, {});
      SCOPED_TRACE(scratch.report.method);
      EXPECT_EQ(path.report.status, Status::converged);
      // Both are within the gap of the same optimum.
      EXPECT_NEAR(path.report.objective, scratch.report.objective, 2e-6 * scratch.report.objective);
    }
  }
}

// Held-out error of every price by fits from scratch, with the folds that the method takes.
double naive_error(const KernelBank& bank, const BinaryProblem& problem, const MarginOptions& options,
                   double price) {
  const std::vector<Index> folds = data::stratified_folds(problem.targets.codes, options.folds, Context{}.seed);
  const Vector signs = problem.targets.signs();
  double wrong = 0.0;
  for (Index fold = 0; fold < options.folds; ++fold) {
    MarginTask task = task_of(problem, price);
    for (std::size_t i = 0; i < folds.size(); ++i) task.box[i] = folds[i] == fold ? 0.0 : price;
    MarginSettings settings;
    settings.tolerance = options.tolerance;
    const MarginSolution s =
        solve_margin_mkl(bank, task, settings, methods::uniform_weights(bank.kernels(), 1.0), {});
    const Matrix combined = bank.combine(s.theta);
    for (std::size_t i = 0; i < folds.size(); ++i) {
      if (folds[i] != fold) continue;
      double score = s.bias;
      for (std::size_t j = 0; j < folds.size(); ++j)
        score += combined(static_cast<Index>(i), static_cast<Index>(j)) * s.coefficients[j];
      wrong += signs[i] * score > 0.0 ? 0.0 : 1.0;
    }
  }
  return wrong / static_cast<double>(folds.size());
}

TEST(Margin, WithoutAPriceTheOneOfLeastHeldOutErrorIsTaken) {
  const BinaryProblem problem = test::binary_problem(90, 2, {0.3, 0.7, 2.0}, 13);
  const auto bank = bank_of(problem);
  MarginOptions options;
  options.tolerance = 1e-8;  // scores within √(2·1e-8): no sample lies so near to the border
  const FitResult fit = methods::fit_margin(MarginMethod::simplemkl, *bank, problem.targets, options, {});
  const auto& rows = fit.report.tables.at(0).rows;
  ASSERT_EQ(rows.size(), 6U);
  double best = 0.0;
  double lowest = 2.0;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const double price = std::pow(10.0, static_cast<double>(k) - 2.0);
    const double error = naive_error(*bank, problem, options, price);
    EXPECT_NEAR(rows[k][0], price, 1e-12 * price);
    EXPECT_NEAR(rows[k][1], error, 90.0 * 2.3e-16) << price;
    if (error < lowest - 1e-9) {
      lowest = error;
      best = price;
    }
  }
  EXPECT_NEAR(std::stod(fit.report.options.at("C")), best, 1e-12 * best);
  EXPECT_EQ(predict(fit.model, *bank, {}, {}).probabilities.rows(), 90);
  // A price that is named is taken as it is.
  options.C = 0.37;
  const FitResult named = methods::fit_margin(MarginMethod::simplemkl, *bank, problem.targets, options, {});
  EXPECT_TRUE(named.report.tables.empty());
  EXPECT_EQ(named.report.options.at("C"), "0.37");
}

// With one output for every class an error is a wrong class, not a wrong sign: at low prices every sign may be "rest".
TEST(Margin, ErrorsOfSeveralClassesAreWrongClasses) {
  const BinaryProblem problem = test::binary_problem(90, 2, {0.7, 2.0}, 14);
  Targets three;
  three.task = Task::multiclass;
  three.classes = {"low", "middle", "high"};
  for (Index i = 0; i < 90; ++i) three.codes.push_back(static_cast<int>(i % 3));
  std::vector<Matrix> kernels(1, Matrix(90, 90));
  for (Index i = 0; i < 90; ++i) {
    for (Index j = 0; j < 90; ++j) kernels[0](i, j) = i % 3 == j % 3 ? 1.0 : 0.0;
  }
  const auto bank = make_dense_bank(kernels, {"same class"}, true);
  const FitResult fit = methods::fit_margin(MarginMethod::uniform, *bank, three, {}, {});
  for (const Vector& row : fit.report.tables.at(0).rows) EXPECT_EQ(row[1], 0.0) << row[0];
  EXPECT_EQ(fit.report.options.at("C"), "0.01");
}

// Twenty kernels of which one tells the classes: few of them are cross-validated, and that one is found.
TEST(Margin, SingleCrossValidatesOnlyPromisingKernels) {
  BinaryProblem problem = test::binary_problem(80, 2, {1.0}, 15);
  std::vector<Matrix> kernels;
  std::vector<std::string> names;
  for (unsigned k = 0; k < 20; ++k) {
    const Matrix noise = test::normal_matrix(80, 2, 100 + k);
    kernels.push_back(test::rbf_kernel(k == 13 ? problem.x : noise, k == 13 ? problem.x : noise, 1.0));
    names.push_back("k" + std::to_string(k));
  }
  problem.kernels = kernels;
  problem.names = names;
  const auto bank = bank_of(problem);
  Index most = 0;
  Context context;
  context.progress = [&](const Progress& progress) {
    if (progress.stage == "choice of the kernel") most = std::max<Index>(most, progress.steps);
    return Signal::go_on;
  };
  const FitResult fit = methods::fit_margin(MarginMethod::single, *bank, problem.targets, {.C = 1.0}, context);
  EXPECT_EQ(most, 5);
  EXPECT_EQ(fit.model.weights.values(0, 13), 1.0);
}

TEST(Margin, RowsComputedWithinAMemoryBudgetGiveTheSameAnswer) {
  const BinaryProblem problem = test::binary_problem(120, 3, {0.5, 1.0, 2.0}, 12);
  const auto bank = bank_of(problem);
  for (WeightRule rule : {WeightRule::second_order, WeightRule::fixed}) {
    MarginSettings settings;
    settings.rule = rule;
    settings.tolerance = 1e-6;
    const Vector start = methods::uniform_weights(bank->kernels(), 1.0);
    const MarginSolution whole = solve_margin_mkl(*bank, task_of(problem, 5.0), settings, start, {});
    Context context;
    context.memory_budget =
        bank->bytes() + methods::margin_memory(120, bank->kernels(), false) + 20 * 120 * sizeof(double);
    ASSERT_LT(context.memory_budget, bank->bytes() + methods::margin_memory(120, bank->kernels(), true));
    const MarginSolution rows = solve_margin_mkl(*bank, task_of(problem, 5.0), settings, start, context);
    EXPECT_EQ(rows.status, Status::converged);
    EXPECT_NEAR(rows.primal, whole.primal, 2e-6 * whole.primal);
  }
}

}  // namespace
}  // namespace kloom
