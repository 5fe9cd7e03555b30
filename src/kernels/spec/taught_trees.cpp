// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/spec/taught_trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/spec/boosting.h"
#include "kernels/spec/teachers.h"
#include "kloom/error.h"

namespace kloom::kernels {
namespace {

constexpr Index kMostTeachers = 10000;
constexpr double kTeachingShare = 0.5;
constexpr Index kEnoughLabels = 600;
constexpr Index kMostSources = 60;

// Numbers get mean 0 and mean square 1.
Vector standardised(Vector numbers) {
  const auto n = static_cast<double>(numbers.size());
  double mean = 0.0;
  for (const double y : numbers) mean += y / n;
  double square = 0.0;
  for (double& y : numbers) {
    y -= mean;
    square += y * y / n;
  }
  const double scale = square > 0.0 ? 1.0 / std::sqrt(square) : 1.0;
  for (double& y : numbers) y *= scale;
  return numbers;
}

}  // namespace

std::vector<Index> tree_samples(const Targets& targets) {
  return teachers(targets, kTeachingShare, kMostTeachers);
}

bool trees_pay(const Targets& targets, Index columns) {
  const bool task =
      targets.task == Task::binary || targets.task == Task::multiclass || targets.task == Task::regression;
  return task && columns >= 2 && columns <= kMostSources &&
         std::ssize(labelled_samples(targets)) >= kEnoughLabels;
}

std::vector<Index> leaves_worth_trying(const Targets& targets) {
  constexpr Index kTeachersOfALeaf = 50;
  const Index most = std::ssize(tree_samples(targets)) / kTeachersOfALeaf;
  if (most < 32) return {8};
  return {8, most < 128 ? 32 : 128};
}

std::vector<DecisionTree> grow_trees(const Dataset& train, const KernelTerm& term, const Targets* targets) {
  if (targets == nullptr || (targets->codes.empty() && targets->values.cols() != 1))
    throw InvalidArgument(fmt::format(
        "trees grow on classes or on one number per sample, and there {}; leave kernels of trees out",
        targets == nullptr ? "are no targets here" : "are several targets here"));
  const std::vector<Index> chosen = tree_samples(*targets);
  if (chosen.size() < 2) throw InvalidArgument("kernels of trees need four samples with a label");
  BoostingProblem problem;
  problem.features = Matrix(std::ssize(chosen), std::ssize(term.features));
  for (Index f = 0; f < problem.features.cols(); ++f) {
    const auto column = train.features.column(term.features[at(f)]);
    for (std::size_t i = 0; i < chosen.size(); ++i)
      problem.features(static_cast<Index>(i), f) = column[at(chosen[i])];
  }
  problem.classes = targets->codes.empty() ? 0 : std::ssize(targets->classes);
  for (const Index i : chosen) {
    if (problem.classes > 0) problem.labels.push_back(targets->codes[at(i)]);
    if (problem.classes == 0) problem.numbers.push_back(targets->values(i, 0));
  }
  if (problem.classes == 0) problem.numbers = standardised(std::move(problem.numbers));
  BoostingSettings settings;
  settings.leaves = static_cast<Index>(term.parameter);
  return boosted_trees(problem, settings);
}

}  // namespace kloom::kernels
