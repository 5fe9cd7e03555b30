// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>
#include <vector>

#include "algebra/blas.h"
#include "algebra/threads.h"
#include "base/progress.h"
#include "data/folds.h"
#include "methods/twostep/geometry.h"
#include "methods/twostep/rules.h"

namespace kloom::methods {
namespace {

// Of the machines, in units of the labels: which side a sample is on needs no more.
constexpr double kSvmTolerance = 1e-4;

// The fold of every sample that takes part, both classes in their share; −1 for the others.
std::vector<Index> folds_of(const RuleTask& task, const PwmkSettings& settings) {
  std::vector<Index> samples;
  std::vector<int> codes;
  for (Index i = 0; i < task.labels.rows(); ++i) {
    if (task.weights[at(i)] == 0.0) continue;
    samples.push_back(i);
    codes.push_back(task.labels(i, 0) > 0.0 ? 1 : 0);
  }
  const std::vector<Index> chosen = data::stratified_folds(codes, settings.folds, settings.seed);
  std::vector<Index> folds(at(task.labels.rows()), -1);
  for (std::size_t k = 0; k < samples.size(); ++k) folds[at(samples[k])] = chosen[k];
  return folds;
}

// Scores of all samples by the machine that has not seen the samples of one fold.
Vector scores_without(RidgedSum& kernel, const RuleTask& task, const PwmkSettings& settings,
                      const std::vector<Index>& folds, Index fold) {
  const auto y = task.labels.column(0);
  solvers::SvmProblem problem{{y.begin(), y.end()}, Vector(y.size(), -1.0), {}, {}};
  for (std::size_t i = 0; i < y.size(); ++i)
    problem.box.push_back(folds[i] == fold ? 0.0 : settings.price * task.weights[i]);
  solvers::SvmOptions options;
  options.tolerance = kSvmTolerance;
  const solvers::SvmSolution machine = solve_svm(problem, kernel.rows(), options);
  Vector scores(y.size(), machine.bias);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double coefficient = y[i] * machine.alpha[i];
    if (coefficient != 0.0)
      algebra::axpy(coefficient, {kernel.rows().row(static_cast<Index>(i)), y.size()}, scores);
  }
  return scores;
}

double accuracy_of(const KernelBank& bank, Index m, const RuleTask& task, const PwmkSettings& settings,
                   const std::vector<Index>& folds, const Context& context) {
  Vector only(at(bank.kernels()));
  only[at(m)] = 1.0;
  RidgedSum kernel(bank, std::move(only), Vector(at(bank.rows())), context);
  double right = 0.0;
  double total = 0.0;
  for (Index fold = 0; fold < settings.folds; ++fold) {
    const Vector scores = scores_without(kernel, task, settings, folds, fold);
    for (Index i = 0; i < bank.rows(); ++i) {
      const bool has = bank.presence().complete() || bank.presence().rows(i, m) > 0.0;
      if (folds[at(i)] != fold || !has) continue;
      total += task.weights[at(i)];
      if (scores[at(i)] * task.labels(i, 0) > 0.0) right += task.weights[at(i)];
    }
  }
  return total > 0.0 ? right / total : 0.0;
}

}  // namespace

RuleWeights pwmk_weights(const KernelBank& bank, const RuleTask& task, const PwmkSettings& settings,
                         const Context& context) {
  RuleWeights result;
  result.accuracies.resize(at(bank.kernels()));
  if (has_both_sides(task)) {
    const auto n = static_cast<double>(bank.rows());
    const algebra::ThreadScope threads(context, n * n);
    const std::vector<Index> folds = folds_of(task, settings);
    ProgressMeter meter(context, "accuracy of every kernel");
    for (Index m = 0; m < bank.kernels(); ++m) {
      result.accuracies[at(m)] = accuracy_of(bank, m, task, settings, folds, context);
      if (meter.step(m + 1, bank.kernels(), result.accuracies[at(m)])) break;  // the others get no weight
    }
  }
  Vector above = result.accuracies;
  for (double& value : above) value -= settings.threshold;
  result.theta = weights_of(std::move(above));
  return result;
}

}  // namespace kloom::methods
