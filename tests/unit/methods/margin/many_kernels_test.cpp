// SPDX-License-Identifier: BSD-3-Clause
//
// Thousands of kernels and many classes: what is not needed is not computed, and the user is heard on the way.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kloom/certify.h"
#include "kloom/parts.h"
#include "methods/margin/margin.h"
#include "methods/samkl/samkl.h"
#include "support/problems.h"

namespace kloom {
namespace {

using methods::MarginSettings;
using methods::MarginSolution;
using methods::MarginTask;
using methods::WeightRule;

// Gaussian kernels of one feature each; the first two features tell the classes apart, the others are noise.
struct ManyKernels {
  ManyKernels(Index samples, Index kernels) : x(test::normal_matrix(samples, kernels, 17)) {
    for (Index i = 0; i < samples; ++i) {
      targets.codes.push_back(x(i, 0) + x(i, 1) > 0.0 ? 1 : 0);
      task.y.push_back(x(i, 0) + x(i, 1) > 0.0 ? 1.0 : -1.0);
    }
    targets.task = Task::binary;
    targets.classes = {"a", "b"};
    task.box = Vector(at(samples), 10.0);
    std::vector<Matrix> matrices;
    std::vector<std::string> names;
    for (Index p = 0; p < kernels; ++p) {
      Matrix column(samples, 1);
      std::ranges::copy(x.column(p), column.values().begin());
      matrices.push_back(test::rbf_kernel(column, column, 1.0));
      names.push_back("k" + std::to_string(p));
    }
    test::make_symmetric(matrices);
    bank = make_dense_bank(matrices, names, true);
  }

  Matrix x;
  Targets targets;
  MarginTask task;
  std::unique_ptr<KernelBank> bank;
};

// Remembers which kernels it was asked about.
class WatchedBank final : public KernelBank {
 public:
  explicit WatchedBank(const KernelBank& bank)
      : KernelBank(bank.rows(), bank.cols(), true, bank.names()), bank_(bank) {}
  [[nodiscard]] std::string_view kind() const override { return "watched"; }
  [[nodiscard]] std::size_t bytes() const override { return 0; }
  void panels(Range kernels, Range rows, double* out) const override {
    for (Index p = kernels.begin; p < kernels.end; ++p) asked_.insert(p);
    bank_.panels(kernels, rows, out);
  }
  // Kernels without weight, and without a vector, are free.
  void add_combination(std::span<const double> w, MatrixView out) const override {
    for (Index p = 0; p < kernels(); ++p)
      if (w[at(p)] != 0.0) asked_.insert(p);
    bank_.add_combination(w, out);
  }
  [[nodiscard]] Matrix apply_each(ConstMatrixView v) const override {
    for (Index p = 0; p < kernels(); ++p)
      if (std::ranges::any_of(v.column(p), [](double x) { return x != 0.0; })) asked_.insert(p);
    return bank_.apply_each(v);
  }
  [[nodiscard]] const std::set<Index>& asked() const { return asked_; }

 private:
  const KernelBank& bank_;
  mutable std::set<Index> asked_;
};

// An SVM on one of many kernels reads that one alone; it used to make a pass over all of them at every point.
TEST(ManyKernels, FixedWeightsReadNoOtherKernel) {
  const ManyKernels problem(40, 50);
  const WatchedBank bank(*problem.bank);
  MarginSettings settings;
  settings.rule = WeightRule::fixed;
  Vector theta(50);
  theta[7] = 1.0;
  const MarginSolution solution = solve_margin_mkl(bank, problem.task, settings, theta, {});
  EXPECT_EQ(solution.status, Status::converged);
  EXPECT_EQ(bank.asked(), (std::set<Index>{7}));
}

// Where most kernels were left out of a Newton step, it gave weight to kernels whose outputs nobody had computed, and
// never arrived. The gap is over all kernels, so it proves the objective; the referee computes it once more.
TEST(ManyKernels, NewtonStepsArriveWithThousandsOfThem) {
  const ManyKernels problem(60, 2000);
  for (const double price : {1.0, 100.0}) {
    methods::MarginOptions options;
    options.C = price;
    options.probability = false;
    options.tolerance = 1e-4;
    const FitResult fit =
        methods::fit_margin(methods::MarginMethod::simplemkl, *problem.bank, problem.targets, options, {});
    EXPECT_EQ(fit.report.status, Status::converged) << price << ": " << fit.report.message;
    EXPECT_LE(fit.report.gap, 1e-4);
    const Certificate certificate = certify(*problem.bank, problem.targets, fit.model, {});
    EXPECT_EQ(certificate.finding, Certificate::Finding::proved) << certificate.verdict;
  }
}

// One SVM can take minutes: the user is asked in the middle of it, and is obeyed.
TEST(ManyKernels, TheUserIsHeardInsideOfAnSvm) {
  const ManyKernels problem(300, 2);
  MarginTask task = problem.task;
  for (std::size_t i = 0; i < task.y.size(); i += 3) task.y[i] = -task.y[i];  // not separable: a long way
  task.box.assign(task.box.size(), 1e6);
  MarginSettings settings;
  settings.rule = WeightRule::fixed;
  settings.tolerance = 1e-9;
  int calls = 0;
  Context context;
  context.progress = [&](const Progress&) { return ++calls == 3 ? Signal::stop : Signal::go_on; };
  const MarginSolution solution =
      solve_margin_mkl(*problem.bank, task, settings, methods::uniform_weights(2, 1.0), context);
  EXPECT_EQ(solution.status, Status::stopped);
  EXPECT_EQ(solution.iterations, 1) << "it was asked before the first SVM was done";
  EXPECT_LE(calls, 4);
}

// Fifteen classes: ten of them choose, all get their fit and their probabilities, and progress is that of the whole.
TEST(ManyKernels, ManyClassesDoNotMultiplyTheChoices) {
  constexpr Index kClasses = 15;
  constexpr Index kSamples = 6 * kClasses;
  Matrix x = test::normal_matrix(kSamples, 2, 5);
  Targets targets;
  targets.task = Task::multiclass;
  for (Index c = 0; c < kClasses; ++c) targets.classes.push_back("c" + std::to_string(c));
  for (Index i = 0; i < kSamples; ++i) {
    const Index c = i % kClasses;
    targets.codes.push_back(static_cast<int>(c));
    const Index row = c / 4;
    x(i, 0) = 0.2 * x(i, 0) + 3.0 * static_cast<double>(c % 4);
    x(i, 1) = 0.2 * x(i, 1) + 3.0 * static_cast<double>(row);
  }
  std::vector<Matrix> kernels{test::rbf_kernel(x, x, 1.0), test::rbf_kernel(x, x, 4.0)};
  test::make_symmetric(kernels);
  const auto bank = make_dense_bank(kernels, {"near", "far"}, true);
  methods::SamklOptions options;
  options.C_grid = "1,100";
  options.m0 = "0..1";
  options.folds = 3;
  std::set<std::pair<std::string, Index>> said;  // stage and number of steps
  Context context;
  context.progress = [&](const Progress& progress) {
    said.emplace(progress.stage, progress.steps);
    return Signal::go_on;
  };
  const FitResult fit = methods::fit_samkl(*bank, targets, options, context);
  EXPECT_EQ(said, (std::set<std::pair<std::string, Index>>{
                      {"samkl: cross-validation", 3 * 10}, {"samkl: held-out scores", 3 * 15}, {"samkl", 15}}));
  EXPECT_EQ(part_of<GatedPart>(fit.model).platt.rows(), kClasses);
  const Predictions predictions = predict(fit.model, *bank, {}, {});
  EXPECT_EQ(predictions.codes, targets.codes);
}

}  // namespace
}  // namespace kloom
