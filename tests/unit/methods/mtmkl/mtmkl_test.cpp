// SPDX-License-Identifier: BSD-3-Clause
//
// Spike and slab: permutations, weights and copies of samples, constant outputs, banks, files, stops, what is kept and
// what is refused. Bound, updates and predictions are compared with a transcription in tests/cli/test_mtmkl.py.
#include "methods/mtmkl/mtmkl.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kloom/certify.h"
#include "kloom/error.h"
#include "kloom/parts.h"
#include "support/model_files.h"
#include "support/problems.h"

namespace kloom::methods {
namespace {

constexpr Index kSamples = 50;
constexpr Index kColumns = 4;
constexpr Index kOutputs = 3;

// A Gaussian of width 1 on every column; the outputs go by the first and the third.
struct Problem {
  std::vector<Matrix> kernels;
  std::vector<std::string> names;
  Targets targets;
};

// Samples, kernels and outputs in the order of `rows`, `columns` and `outputs`, which may repeat.
Problem problem_of(const std::vector<Index>& rows, const std::vector<Index>& columns,
                   const std::vector<Index>& outputs) {
  const Matrix x = test::normal_matrix(kSamples, kColumns, 5);
  const Matrix noise = test::normal_matrix(kSamples, kOutputs, 6);
  const Matrix mix = test::normal_matrix(2, kOutputs, 8);
  Problem made;
  const auto n = std::ssize(rows);
  for (const Index d : columns) {
    Matrix column(n, 1);
    for (Index i = 0; i < n; ++i) column(i, 0) = x(rows[at(i)], d);
    made.kernels.push_back(test::rbf_kernel(column, column, 1.0));
    made.names.push_back("column " + std::to_string(d));
  }
  made.targets.task = outputs.size() == 1 ? Task::regression : Task::multi_regression;
  made.targets.values = Matrix(n, std::ssize(outputs));
  for (Index q = 0; q < std::ssize(outputs); ++q) {
    for (Index i = 0; i < n; ++i) {
      const Index sample = rows[at(i)];
      const Index output = outputs[at(q)];
      made.targets.values(i, q) =
          -4.0 + 2.0 * (mix(0, output) * std::sin(2.0 * x(sample, 0)) +
                        mix(1, output) * std::cos(2.0 * x(sample, 2)) + 0.2 * noise(sample, output));
    }
  }
  return made;
}

std::vector<Index> first(Index n) {
  std::vector<Index> all(at(n));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

Problem plain(Index outputs = kOutputs) {
  return problem_of(first(kSamples), first(kColumns), first(outputs));
}

std::unique_ptr<KernelBank> bank_of(const Problem& problem) {
  return make_dense_bank(problem.kernels, problem.names, true);
}

FitResult fitted(const Problem& problem, const OptionValues& options = {}, const Context& context = {}) {
  return find_learner("mtmkl").fit(*bank_of(problem), problem.targets, options, context);
}

const MtmklPart& part_in(const FitResult& fit) {
  return part_of<MtmklPart>(fit.model);
}

// With every number of a fit that has settled so far, sums in another order are enlarged by the passes to some 1e-8.
constexpr double kSameFit = 1e-6;

TEST(Mtmkl, PermutedSamplesKernelsAndOutputsGiveThePermutedPosterior) {
  std::vector<Index> rows = first(kSamples);
  for (Index& i : rows) i = (i * 7 + 3) % kSamples;
  const std::vector<Index> columns = {2, 0, 3, 1};
  const std::vector<Index> outputs = {1, 2, 0};
  const FitResult one = fitted(plain());
  const FitResult other = fitted(problem_of(rows, columns, outputs));
  EXPECT_NEAR(one.report.objective, other.report.objective, kSameFit);
  for (Index q = 0; q < kOutputs; ++q) {
    const Index before = outputs[at(q)];
    EXPECT_NEAR(part_in(other).noise[at(q)], part_in(one).noise[at(before)], kSameFit);
    for (Index m = 0; m < kColumns; ++m) {
      const Index kernel = columns[at(m)];
      EXPECT_NEAR(part_in(other).inclusion(q, m), part_in(one).inclusion(before, kernel), kSameFit);
      EXPECT_NEAR(part_in(other).mean_square(q, m), part_in(one).mean_square(before, kernel), kSameFit);
      EXPECT_NEAR(other.model.weights.values(q, m), one.model.weights.values(before, kernel), kSameFit);
    }
    for (Index i = 0; i < kSamples; ++i)
      EXPECT_NEAR(other.model.coefficients(i, q), one.model.coefficients(rows[at(i)], before), 1e-4);
  }
}

TEST(Mtmkl, WeightsAreNumbersOfCopies) {
  std::vector<Index> rows = first(kSamples);
  rows.insert(rows.end(), {3, 4, 5, 5});
  const FitResult copies = fitted(problem_of(rows, first(kColumns), first(kOutputs)), {{"tolerance", "1e-12"}});
  Problem problem = plain();
  problem.targets.weights.assign(kSamples, 1.0);
  problem.targets.weights[3] = problem.targets.weights[4] = 2.0;
  problem.targets.weights[5] = 3.0;
  const FitResult weighted = fitted(problem, {{"tolerance", "1e-12"}});
  EXPECT_NEAR(copies.report.objective, weighted.report.objective, kSameFit);
  for (Index m = 0; m < kColumns; ++m)
    EXPECT_NEAR(part_in(copies).inclusion(0, m), part_in(weighted).inclusion(0, m), kSameFit);
  EXPECT_EQ(certify(*bank_of(problem), problem.targets, weighted.model, {}).finding,
            Certificate::Finding::checked);
}

TEST(Mtmkl, SampleOfWeightZeroIsNotThere) {
  Problem problem = plain();
  problem.targets.weights.assign(kSamples, 1.0);
  problem.targets.weights[7] = 0.0;
  problem.targets.values(7, 0) = 1e6;
  const FitResult fit = fitted(problem);
  std::vector<Index> rows = first(kSamples);
  rows.erase(rows.begin() + 7);
  const FitResult without = fitted(problem_of(rows, first(kColumns), first(kOutputs)));
  EXPECT_NEAR(fit.report.objective, without.report.objective, kSameFit);
  EXPECT_EQ(fit.model.coefficients(7, 0), 0.0);
  EXPECT_EQ(certify(*bank_of(problem), problem.targets, fit.model, {}).finding, Certificate::Finding::checked);
  Model other = fit.model;
  edit_part<MtmklPart>(other).functions(7, 0) = 0.1;
  EXPECT_EQ(certify(*bank_of(problem), problem.targets, other, {}).finding, Certificate::Finding::refuted);
}

// An output that never varies is its own value, and takes no kernel.
TEST(Mtmkl, ConstantOutputsAreTheirValue) {
  Problem problem = plain();
  std::ranges::fill(problem.targets.values.column(1), 3.0);
  const FitResult fit = fitted(problem);
  const Predictions found = predict(fit.model, *bank_of(problem), {}, {});
  for (Index i = 0; i < kSamples; ++i) EXPECT_NEAR(found.scores(i, 1), 3.0, 1e-6);
  for (Index m = 0; m < kColumns; ++m) EXPECT_LT(part_in(fit).inclusion(1, m), 0.5);
  std::ranges::fill(problem.targets.values.values(), -2.0);
  const FitResult nothing = fitted(problem);
  EXPECT_TRUE(std::isfinite(nothing.report.objective));
  EXPECT_EQ(certify(*bank_of(problem), problem.targets, nothing.model, {}).finding,
            Certificate::Finding::checked);
}

// A kernel of zeros has no function but 0, and says nothing about its use: that stays as probable as before.
TEST(Mtmkl, KernelsOfZerosAddNothing) {
  Problem problem = plain();
  problem.kernels[1] = Matrix(kSamples, kSamples);
  const FitResult fit = fitted(problem);
  EXPECT_NEAR(part_in(fit).inclusion(0, 1), part_in(fit).share, 1e-3);
  EXPECT_EQ(fit.model.weights.values(0, 1), 0.0);
  EXPECT_EQ(certify(*bank_of(problem), problem.targets, fit.model, {}).finding, Certificate::Finding::checked);
  const Predictions found = predict(fit.model, *bank_of(problem), {}, {});
  EXPECT_TRUE(
      std::ranges::all_of(found.deviation.values(), [](double d) { return std::isfinite(d) && d > 0.0; }));
}

TEST(Mtmkl, RescalingReachesTheSameMaximumInFewerPasses) {
  const FitResult quick = fitted(plain(), {{"tolerance", "1e-10"}});
  const FitResult slow =
      fitted(plain(), {{"tolerance", "1e-10"}, {"rescale", "false"}, {"iterations", "20000"}});
  EXPECT_NEAR(quick.report.objective, slow.report.objective, 1e-3);
  EXPECT_LT(2 * quick.report.iterations, slow.report.iterations);
}

TEST(Mtmkl, ContributionsAndTheirDeviationsAddUp) {
  const Problem problem = plain();
  const FitResult fit = fitted(problem);
  PredictOptions options;
  options.contributions = options.contribution_deviations = true;
  const Predictions found = predict(fit.model, *bank_of(problem), options, {});
  ASSERT_EQ(found.contribution_deviations.size(), at(kOutputs));
  for (Index q = 0; q < kOutputs; ++q) {
    const double noise = part_in(fit).noise[at(q)] * std::pow(part_in(fit).scale[at(q)], 2);
    for (Index i = 0; i < kSamples; ++i) {
      double score = fit.model.bias[at(q)];
      double variance = noise;
      for (Index m = 0; m < kColumns; ++m) {
        score += found.contributions[at(q)](i, m);
        variance += std::pow(found.contribution_deviations[at(q)](i, m), 2);
      }
      EXPECT_NEAR(found.scores(i, q), score, 1e-12 * std::abs(score));
      EXPECT_NEAR(found.deviation(i, q), std::sqrt(variance), 1e-12);
    }
  }
}

TEST(Mtmkl, WithoutVariancesItPredictsTheSameNumbers) {
  const Problem problem = plain();
  const auto bank = bank_of(problem);
  const Model whole = fitted(problem).model;
  const Model small = fitted(problem, {{"variance", "false"}}).model;
  const Predictions one = predict(whole, *bank, {}, {});
  const Predictions other = predict(small, *bank, {}, {});
  EXPECT_EQ(one.scores, other.scores);
  EXPECT_EQ(one.deviation.rows(), kSamples);
  EXPECT_TRUE(other.deviation.empty());
  EXPECT_LT(model_file_bytes(small), model_file_bytes(whole));
  EXPECT_EQ(certify(*bank, problem.targets, small, {}).finding, Certificate::Finding::checked);
}

TEST(Mtmkl, LoadedModelsPredictTheSameBits) {
  for (const Index outputs : {Index{1}, kOutputs}) {
    const Problem problem = plain(outputs);
    testing::expect_same_when_loaded(fitted(problem).model, *bank_of(problem));
  }
}

TEST(Mtmkl, TheRefereeFindsWhatWasChanged) {
  const Problem problem = plain();
  const auto bank = bank_of(problem);
  const FitResult fit = fitted(problem);
  EXPECT_EQ(certify(*bank, problem.targets, fit.model, {}).finding, Certificate::Finding::checked);
  const auto finding = [&](const auto& change) {
    Model other = fit.model;
    change(edit_part<MtmklPart>(other));
    return certify(*bank, problem.targets, other, {}).finding;
  };
  using Refuted = Certificate::Finding;
  EXPECT_EQ(finding([](MtmklPart& part) { part.inclusion(0, 0) *= 0.99; }), Refuted::refuted);
  EXPECT_EQ(finding([](MtmklPart& part) { part.location(0, 0) *= 1.01; }), Refuted::refuted);
  EXPECT_EQ(finding([](MtmklPart& part) { part.sizes[2] *= 1.01; }), Refuted::refuted);
  EXPECT_EQ(finding([](MtmklPart& part) { part.scale[1] *= 1.01; }), Refuted::refuted);
  EXPECT_EQ(finding([](MtmklPart& part) { part.functions(3, 2) += 0.01; }), Refuted::refuted);
  EXPECT_EQ(finding([](MtmklPart& part) { part.factors[0](3, 1) += 0.1; }), Refuted::refuted);
  EXPECT_EQ(finding([](MtmklPart& part) { part.factors[0] = {}; }), Refuted::refuted);
}

// A stop keeps what there is; before there is anything it says so.
TEST(Mtmkl, StopsWhenAsked) {
  const Problem problem = plain();
  Context context;
  Index calls = 0;
  context.progress = [&](const Progress& progress) {
    calls += progress.stage == "mtmkl" ? 1 : 0;
    return calls >= 5 ? Signal::stop : Signal::go_on;
  };
  const FitResult fit = fitted(problem, {}, context);
  EXPECT_EQ(fit.report.status, Status::stopped);
  EXPECT_EQ(fit.report.iterations, 5);
  EXPECT_EQ(certify(*bank_of(problem), problem.targets, fit.model, {}).finding, Certificate::Finding::checked);
  context.progress = [](const Progress&) { return Signal::stop; };
  EXPECT_THROW((void)fitted(problem, {}, context), Interrupted);
}

// Eigenvectors of all kernels are most of it.
TEST(Mtmkl, AnnouncesItsMemory) {
  const Learner& learner = find_learner("mtmkl");
  EXPECT_GE(learner.working_memory(1000, 20, 3), std::size_t{20} * 1000 * 1000 * sizeof(double));
  Context context;
  context.memory_budget = std::size_t{50} << 20U;
  EXPECT_THROW((void)share_memory(learner, 1000, 20, 3, context), ResourceError);
}

TEST(Mtmkl, RefusesWhatItCannotDo) {
  Problem problem = plain();
  EXPECT_THROW((void)fitted(problem, {{"tolerance", "-1"}}), InvalidArgument);
  EXPECT_THROW((void)fitted(problem, {{"least_noise", "0"}}), InvalidArgument);
  problem.targets.weights.assign(kSamples, 0.0);
  problem.targets.weights[0] = 1.0;
  EXPECT_THROW((void)fitted(problem), InvalidArgument);
  problem = plain();
  problem.kernels[2](0, 0) = -5.0;
  try {
    (void)fitted(problem);
    FAIL() << "an indefinite kernel is no covariance";
  } catch (const InvalidArgument& error) {
    const std::string sentence = error.what();
    for (const char* word : {"kernel 'column 2'", "positive semidefinite", "--clip-spectrum"})
      EXPECT_NE(sentence.find(word), std::string::npos) << sentence;
  }
  Targets classes;
  classes.classes = {"a", "b"};
  classes.codes.assign(kSamples, 0);
  classes.codes[0] = 1;
  EXPECT_THROW((void)find_learner("mtmkl").fit(*bank_of(problem), classes, {}, {}), InvalidArgument);
}

}  // namespace
}  // namespace kloom::methods
