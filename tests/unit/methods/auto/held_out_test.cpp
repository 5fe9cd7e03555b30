// SPDX-License-Identifier: BSD-3-Clause
//
// auto: a kernel that knows the answer is found among kernels that do not, and the held-out loss is
// that of new samples.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kloom/evaluate.h"
#include "methods/auto/auto.h"
#include "support/multiclass.h"

namespace kloom {
namespace {

// Labels or numbers that depend on the first feature alone; one kernel sees it, the others see noise.
struct Needle {
  std::unique_ptr<KernelBank> bank;
  Targets targets;
};

Needle needle(Task task, Index n, unsigned seed) {
  const Matrix x = test::normal_matrix(n, 4, seed);
  Needle problem;
  std::vector<Matrix> kernels;
  std::vector<std::string> names;
  for (Index f = 0; f < 4; ++f) {
    Matrix one(n, 1);
    std::ranges::copy(x.column(f), one.column(0).begin());
    kernels.push_back(test::rbf_kernel(one, one, 1.0));
    names.push_back("feature " + std::to_string(f));
  }
  problem.bank = make_dense_bank(kernels, names, true);
  problem.targets.task = task;
  problem.targets.values = Matrix(task == Task::regression ? n : 0, task == Task::regression ? 1 : 0);
  if (task != Task::regression) problem.targets.classes = {"no", "yes"};
  for (Index i = 0; i < n; ++i) {
    const double value = std::sin(2.0 * x(i, 0));
    if (task == Task::regression) {
      problem.targets.values(i, 0) = 100.0 + 5.0 * value;
    } else {
      problem.targets.codes.push_back(value > 0.0 ? 1 : 0);
    }
  }
  return problem;
}

TEST(AutoHeldOut, FindsTheKernelThatKnows) {
  for (const Task task : {Task::binary, Task::regression}) {
    const Needle problem = needle(task, 120, 5);
    const FitResult fit = methods::fit_auto(*problem.bank, problem.targets, {}, {});
    EXPECT_EQ(fit.report.status, Status::converged) << fit.report.message;
    const auto weights = fit.model.weights.values.values();
    EXPECT_EQ(std::ranges::max_element(weights), weights.begin()) << to_string(task);
  }
}

// What was chosen on held-out samples must hold on new ones: better than always saying the larger class.
TEST(AutoHeldOut, HeldOutLossIsThatOfNewSamples) {
  const test::MulticlassProblem all = test::simplex_problem(200, 3, {0.3, 1.0, 3.0}, 11);
  std::vector<Matrix> train, test;
  for (const Matrix& kernel : all.kernels) {
    Matrix inside(100, 100), outside(100, 100);
    for (Index i = 0; i < 100; ++i) {
      for (Index j = 0; j < 100; ++j) {
        inside(i, j) = kernel(i, j);
        outside(i, j) = kernel(100 + i, j);
      }
    }
    train.push_back(std::move(inside));
    test.push_back(std::move(outside));
  }
  Targets seen = all.targets;
  Targets unseen = all.targets;
  seen.codes.assign(all.targets.codes.begin(), all.targets.codes.begin() + 100);
  unseen.codes.assign(all.targets.codes.begin() + 100, all.targets.codes.end());
  const auto bank = make_dense_bank(train, all.names, true);
  const FitResult fit = methods::fit_auto(*bank, seen, {}, {});
  const auto fresh = make_dense_bank(test, all.names, false);
  const Evaluation evaluation = evaluate(predict(fit.model, *fresh, {}, {}), unseen);
  double loss = std::nan("");
  for (const auto& [name, value] : evaluation.values) {
    if (name == "log loss") loss = value;
  }
  EXPECT_LT(loss, std::log(3.0));
  // The mean log loss of 100 samples has a standard error of about 0.07 here, and the difference of two such
  // means √2 of that; four times which is 0.4.
  EXPECT_NEAR(loss, fit.report.objective, 0.4);
}

}  // namespace
}  // namespace kloom
