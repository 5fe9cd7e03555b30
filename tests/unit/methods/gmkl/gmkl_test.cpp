// SPDX-License-Identifier: BSD-3-Clause
//
// Products of kernels: slopes against differences, predictions and contributions by their formulas, a descent that never
// rises, permutations, banks, files, and what is refused. tests/cli/test_gmkl.py compares with LIBSVM.
#include "methods/gmkl/gmkl.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kloom/certify.h"
#include "kloom/error.h"
#include "kloom/parts.h"
#include "kloom/recipe.h"
#include "methods/gmkl/solver.h"
#include "methods/margin/outputs.h"
#include "support/model_files.h"
#include "support/multiclass.h"

namespace kloom::methods {
namespace {

constexpr Index kSamples = 60;
constexpr Index kColumns = 4;

// A Gaussian of width 1 on every column; the label goes by the first two.
struct Problem {
  Matrix x;
  std::vector<Matrix> kernels;
  std::vector<std::string> names;
  Targets targets;
};

Matrix column_kernel(const Matrix& x, const Matrix& z, Index d) {
  Matrix k(x.rows(), z.rows());
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < z.rows(); ++j) k(i, j) = std::exp(-0.5 * std::pow(x(i, d) - z(j, d), 2));
  }
  return k;
}

Problem problem_of(Index classes, unsigned seed = 3) {
  Problem made{test::normal_matrix(kSamples, kColumns, seed), {}, {}, {}};
  for (Index d = 0; d < kColumns; ++d) {
    made.kernels.push_back(column_kernel(made.x, made.x, d));
    made.names.push_back("column " + std::to_string(d));
  }
  test::Normal noise(seed + 1);
  made.targets.task = classes == 0 ? Task::regression : classes == 2 ? Task::binary : Task::multiclass;
  made.targets.values = Matrix(classes == 0 ? kSamples : 0, classes == 0 ? 1 : 0);
  for (Index c = 0; c < classes; ++c) made.targets.classes.push_back("class " + std::to_string(c));
  for (Index i = 0; i < kSamples; ++i) {
    const double value = std::sin(2.0 * made.x(i, 0)) + made.x(i, 1) + 0.2 * noise();
    if (classes == 0) made.targets.values(i, 0) = 5.0 + 3.0 * value;
    if (classes > 0) made.targets.codes.push_back(value < -0.5 ? 0 : classes == 2 || value < 0.7 ? 1 : 2);
  }
  return made;
}

std::unique_ptr<KernelBank> bank_of(const Problem& problem) {
  return make_dense_bank(problem.kernels, problem.names, true);
}

FitResult fitted(const Problem& problem, OptionValues options = {}) {
  options.emplace("C", "2");
  return find_learner("gmkl").fit(*bank_of(problem), problem.targets, options, {});
}

const std::vector<Index> kAllTasks = {0, 2, 3};  // classes; 0: numbers

// T of given exponents: no step is taken.
ProductSolution at_gamma(const Problem& problem, const Vector& gamma, bool squared) {
  std::vector<MarginTask> tasks;
  MarginPart part;
  if (problem.targets.task == Task::regression) {
    tasks.push_back(with_price(regression_output(problem.targets, 0.1, part).task, 2.0));
  } else {
    for (const MarginOutput& output : class_outputs(problem.targets, false))
      tasks.push_back(with_price(output.task, 2.0));
  }
  // Machines within 1e-10 of their objectives.
  return solve_product(LogKernels(*bank_of(problem)), tasks, {0.5, squared, 1e-7, 0}, {gamma}, {});
}

// Machines within 1e-10 of T make differences of step 1e-4 wrong by 1e-6 T.
TEST(Gmkl, TheSlopeIsThatOfTheObjective) {
  for (const Index classes : kAllTasks) {
    const Problem problem = problem_of(classes);
    const Vector gamma = {0.8, 0.5, 0.3, 0.1};
    const ProductSolution here = at_gamma(problem, gamma, false);
    const LogKernels logs(*bank_of(problem));
    const Vector products = logs.slopes(here.kernel, here.machines);
    for (std::size_t p = 0; p < gamma.size(); ++p) {
      constexpr double kStep = 1e-4;
      Vector up = gamma;
      Vector down = gamma;
      up[p] += kStep;
      down[p] -= kStep;
      const double slope =
          (at_gamma(problem, up, false).objective - at_gamma(problem, down, false).objective) / (2.0 * kStep);
      const double found = 0.5 - 0.5 * products[p];
      EXPECT_NEAR(found, slope, 1e-5 * here.objective) << classes << ", " << p;
    }
  }
}

TEST(Gmkl, TheProductIsTheProduct) {
  const Problem problem = problem_of(2);
  const Vector gamma = {0.7, 0.0, 2.0, 0.1};
  const Matrix product = LogKernels(*bank_of(problem)).product(gamma);
  for (Index i = 0; i < kSamples; ++i) {
    for (Index j = 0; j < kSamples; ++j) {
      double expected = 1.0;
      for (Index p = 0; p < kColumns; ++p) expected *= std::pow(problem.kernels[at(p)](i, j), gamma[at(p)]);
      // Exponents are sums of four terms of size up to 30.
      EXPECT_NEAR(product(i, j), expected, 1e-13 * expected);
    }
  }
}

// With Gaussians of width 1 the model is one Gaussian with a width for every column.
TEST(Gmkl, PredictsAsOneGaussianWithAWidthPerColumn) {
  const Matrix fresh = test::normal_matrix(10, kColumns, 77);
  for (const Index classes : kAllTasks) {
    const Problem problem = problem_of(classes);
    const Model model = fitted(problem).model;
    std::vector<Matrix> kernels;
    for (Index d = 0; d < kColumns; ++d) kernels.push_back(column_kernel(fresh, problem.x, d));
    PredictOptions options;
    options.contributions = true;
    const Predictions found = predict(model, *make_dense_bank(kernels, problem.names, false), options, {});
    ASSERT_EQ(model.coefficients.cols(), classes == 3 ? 3 : 1);
    for (Index i = 0; i < 10; ++i) {
      for (Index c = 0; c < model.coefficients.cols(); ++c) {
        double score = model.bias[at(c)];
        double size = std::abs(score);
        for (Index j = 0; j < kSamples; ++j) {
          double distance = 0.0;
          for (Index d = 0; d < kColumns; ++d)
            distance += model.weights.values(0, d) * std::pow(fresh(i, d) - problem.x(j, d), 2);
          score += model.coefficients(j, c) * std::exp(-0.5 * distance);
          size += std::abs(model.coefficients(j, c));
        }
        EXPECT_NEAR(found.scores(i, c), score, 1e-12 * size);
        double sum = model.bias[at(c)];
        for (Index d = 0; d < kColumns; ++d) sum += found.contributions[at(c)](i, d);
        EXPECT_NEAR(sum, score, 1e-12 * size);
      }
    }
  }
}

// The share of a column is the mean over t of the slope along γt, by Simpson's rule.
TEST(Gmkl, ContributionsAreMeansAlongThePath) {
  const Problem problem = problem_of(2);
  const Model model = fitted(problem).model;
  PredictOptions options;
  options.contributions = true;
  const Predictions found = predict(model, *bank_of(problem), options, {});
  for (Index p = 0; p < kColumns; ++p) {
    double share = 0.0;
    constexpr int kParts = 2000;
    for (int part = 0; part <= kParts; ++part) {
      const double t = static_cast<double>(part) / kParts;
      double slope = 0.0;
      for (Index j = 0; j < kSamples; ++j) {
        double exponent = 0.0;
        for (Index q = 0; q < kColumns; ++q)
          exponent += model.weights.values(0, q) * std::log(problem.kernels[at(q)](5, j));
        slope += model.coefficients(j, 0) * std::exp(t * exponent) * model.weights.values(0, p) *
                 std::log(problem.kernels[at(p)](5, j));
      }
      share += (part == 0 || part == kParts ? 1.0 : part % 2 == 1 ? 4.0 : 2.0) * slope / (3.0 * kParts);
    }
    EXPECT_NEAR(found.contributions[0](5, p), share, 1e-6);
  }
}

TEST(Gmkl, TheObjectiveFallsWithEveryStepAndTheRightColumnsRemain) {
  for (const Index classes : kAllTasks) {
    for (const char* regulariser : {"l1", "l2"}) {
      const FitResult fit = fitted(problem_of(classes), {{"regulariser", regulariser}, {"tolerance", "1e-4"}});
      const auto& trace = fit.report.trace;
      ASSERT_GT(trace.size(), 2U);
      for (std::size_t t = 1; t < trace.size(); ++t)
        EXPECT_LT(trace[t].objective, trace[t - 1].objective) << classes << regulariser;
      const Matrix& gamma = fit.model.weights.values;
      EXPECT_GT(std::min(gamma(0, 0), gamma(0, 1)), std::max(gamma(0, 2), gamma(0, 3))) << classes;
    }
  }
}

TEST(Gmkl, TheRefereeChecksMachinesAndSlopes) {
  for (const Index classes : kAllTasks) {
    const Problem problem = problem_of(classes);
    const auto bank = bank_of(problem);
    const FitResult fit = fitted(problem, {{"tolerance", "1e-3"}});
    EXPECT_EQ(fit.report.status, Status::converged) << fit.report.message;
    const Certificate good = certify(*bank, problem.targets, fit.model, {});
    EXPECT_EQ(good.finding, Certificate::Finding::checked) << good.verdict;
    EXPECT_NE(good.verdict.find("not convex"), std::string::npos);
    const auto item = [](const Certificate& certificate, const char* name) {
      return std::ranges::find(certificate.items, name, &Certificate::Item::name)->value;
    };
    EXPECT_LE(item(good, "stationarity"), 1.01e-3);
    EXPECT_NEAR(item(good, "primal objective"), fit.report.objective, 1e-9 * fit.report.objective);
    Model other = fit.model;
    other.weights.values(0, 0) *= 2.0;
    EXPECT_EQ(certify(*bank, problem.targets, other, {}).finding, Certificate::Finding::refuted);
  }
}

// Nothing is chosen by folds, so the order of samples does not matter, nor that of kernels; machines within 1e-6 of their
// objective leave exponents undetermined by about the root of that.
TEST(Gmkl, PermutedSamplesAndKernelsHavePermutedExponents) {
  const Problem problem = problem_of(3);
  Problem turned = problem;
  for (Index i = 0; i < kSamples; ++i) {
    const Index from = (i * 7 + 3) % kSamples;
    turned.targets.codes[at(i)] = problem.targets.codes[at(from)];
    for (Index d = 0; d < kColumns; ++d) turned.x(i, d) = problem.x(from, (d + 1) % kColumns);
  }
  for (Index d = 0; d < kColumns; ++d) turned.kernels[at(d)] = column_kernel(turned.x, turned.x, d);
  const OptionValues options = {{"probability", "false"}, {"tolerance", "1e-3"}};
  const Matrix one = fitted(problem, options).model.weights.values;
  const Matrix other = fitted(turned, options).model.weights.values;
  for (Index d = 0; d < kColumns; ++d) EXPECT_NEAR(other(0, d), one(0, (d + 1) % kColumns), 3e-2);
}

TEST(Gmkl, SamplesOfNoWeightDoNotMatter) {
  Problem problem = problem_of(2);
  problem.targets.weights.assign(kSamples, 1.0);
  problem.targets.weights[5] = 0.0;
  const OptionValues options = {{"probability", "false"}};
  const Model one = fitted(problem, options).model;
  EXPECT_EQ(one.coefficients(5, 0), 0.0);
  problem.targets.codes[5] = 1 - problem.targets.codes[5];
  const Model other = fitted(problem, options).model;
  EXPECT_LE(test::relative_difference(other.weights.values.values(), one.weights.values.values()), 1e-9);
}

TEST(Gmkl, EveryBankOfWholeEntriesHasTheSameScores) {
  const Problem problem = problem_of(2);
  const Dataset data = test::dataset_of(problem.x);
  const Recipe recipe = Recipe::fit(data, parse_kernel_spec("rbf(width=1) on each"), {}, {});
  const std::shared_ptr<const KernelBank> computed = recipe.training_bank();
  const OptionValues options = {{"C", "2"}, {"iterations", "5"}, {"probability", "false"}};
  const auto scores = [&](const KernelBank& bank) {
    const Model model = find_learner("gmkl").fit(bank, problem.targets, options, {}).model;
    return predict(model, *recipe.bank_for(data), {}, {}).scores;
  };
  const auto as = [&](BankKind kind) {
    BankRequest request;
    request.kind = kind;
    return store_bank(computed, request, {});
  };
  const Matrix reference = scores(*as(BankKind::dense));
  // Rounding of the entries, 1e-15 and 6e-8, times the condition of five steps.
  EXPECT_LE(test::relative_difference(scores(*as(BankKind::computed)).values(), reference.values()), 1e-8);
  EXPECT_LE(test::relative_difference(scores(*as(BankKind::dense32)).values(), reference.values()), 1e-3);
}

TEST(Gmkl, LoadedModelsPredictTheSameBits) {
  for (const Index classes : kAllTasks) {
    const Problem problem = problem_of(classes);
    const FitResult fit = fitted(problem);
    testing::expect_same_when_loaded(fit.model, *bank_of(problem));
  }
}

TEST(Gmkl, RefusesKernelsThatAreNotAboveZero) {
  Problem problem = problem_of(2);
  problem.kernels.push_back(test::dot_kernel(problem.x, problem.x));
  problem.names.emplace_back("linear");
  try {
    (void)fitted(problem);
    FAIL() << "a linear kernel has no logarithm";
  } catch (const InvalidArgument& error) {
    const std::string sentence = error.what();
    for (const char* word : {"kernel 'linear'", "between samples", "rbf(width=1) on each"})
      EXPECT_NE(sentence.find(word), std::string::npos) << sentence;
  }
  problem = problem_of(2);
  problem.kernels[1](3, 4) = problem.kernels[1](4, 3) = 0.0;
  EXPECT_THROW((void)fitted(problem), InvalidArgument);
}

TEST(Gmkl, RefusesWhatItCannotDo) {
  Problem problem = problem_of(2);
  EXPECT_THROW((void)fitted(problem, {{"lambda", "-1"}}), InvalidArgument);
  EXPECT_THROW((void)fitted(problem, {{"regulariser", "l3"}}), InvalidArgument);
  Targets several;
  several.task = Task::multi_regression;
  several.values = Matrix(kSamples, 2);
  EXPECT_THROW((void)find_learner("gmkl").fit(*bank_of(problem), several, {}, {}), InvalidArgument);
  // A model says the same of samples to predict.
  const Model model = fitted(problem).model;
  std::vector<Matrix> kernels = problem.kernels;
  kernels[0](2, 1) = -0.5;
  EXPECT_THROW((void)predict(model, *make_dense_bank(kernels, problem.names, false), {}, {}), InvalidArgument);
}

}  // namespace
}  // namespace kloom::methods
