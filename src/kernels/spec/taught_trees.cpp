// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/spec/taught_trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "data/folds.h"
#include "kernels/spec/boosting.h"
#include "kernels/spec/teachers.h"
#include "kloom/error.h"

namespace kloom::kernels {
namespace {

constexpr Index kMostTeachers = 10000;
constexpr double kTeachingShare = 0.5;
constexpr Index kEnoughNumbers = 60;  // labelled samples
constexpr Index kEnoughClasses = 600;
constexpr Index kHalfIsEnough = 20000;
constexpr Index kFewSamples = 500;
constexpr Index kMostSources = 60;
constexpr Index kFolds = 5;
constexpr double kOperationsOfFolds = 1.5e9;  // for all kernels of as many leaves
constexpr Index kFoldsOfFew = 10;
constexpr std::uint64_t kSeed = 7;  // of the folds: trees are grown before anybody says a seed

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

std::vector<Index> tree_folds(const Targets& targets, Index folds) {
  const std::vector<Index> among = labelled_samples(targets);
  std::vector<int> codes(among.size());  // all 0: numbers
  if (!targets.codes.empty())
    std::ranges::transform(among, codes.begin(), [&](Index i) { return targets.codes[at(i)]; });
  const std::vector<Index> of_labelled = data::stratified_folds(codes, folds, kSeed);
  std::vector<Index> all(at(targets.samples()), -1);
  for (std::size_t k = 0; k < among.size(); ++k) all[at(among[k])] = of_labelled[k];
  return all;
}

std::vector<Index> tree_samples(const Targets& targets) {
  return teachers(targets, kTeachingShare, kMostTeachers);
}

bool trees_pay(const Targets& targets, Index columns) {
  const bool numbers = targets.task == Task::regression;
  const bool classes = targets.task == Task::binary || targets.task == Task::multiclass;
  return (numbers || classes) && columns >= 2 && columns <= kMostSources &&
         std::ssize(labelled_samples(targets)) >= (numbers ? kEnoughNumbers : kEnoughClasses);
}

Index folds_worth_growing(const Targets& targets) {
  const auto labelled = std::ssize(labelled_samples(targets));
  if (labelled > kHalfIsEnough) return 0;
  return labelled <= kFewSamples ? kFoldsOfFew : kFolds;
}

std::vector<Index> leaves_worth_trying(const Targets& targets) {
  constexpr Index kSamplesOfALeaf = 100;
  const Index most = std::ssize(labelled_samples(targets)) / kSamplesOfALeaf;
  if (most < 32) return {8};
  return {8, most < 128 ? 32 : 128};
}

TreeTeachers::TreeTeachers(const Targets* targets, Index folds) : targets_(targets), folds_(folds) {
  if (targets == nullptr || (targets->codes.empty() && targets->values.cols() != 1))
    throw InvalidArgument(fmt::format(
        "trees grow on classes or on one number per sample, and there {}; leave kernels of trees out",
        targets == nullptr ? "are no targets here" : "are several targets here"));
  const auto labelled = std::ssize(labelled_samples(*targets));
  const Index least = std::max<Index>(4, folds);
  if (labelled < least)
    throw InvalidArgument(
        fmt::format("kernels of trees need {} samples with a label here, and there are {}; leave {} out", least,
                    labelled, folds > 0 ? "folds=" : "these kernels"));
  if (folds > 0) kernels_ += labelled < kOneFoldJudges ? folds : 1;
}

std::vector<Index> TreeTeachers::samples(Index kernel) const {
  if (folds_ == 0) return tree_samples(*targets_);
  const std::vector<Index> fold = tree_folds(*targets_, folds_);
  std::vector<Index> chosen;
  for (Index i = 0; i < std::ssize(fold); ++i) {
    if (fold[at(i)] >= 0 && fold[at(i)] != kernel - 1) chosen.push_back(i);
  }
  return chosen;
}

std::string TreeTeachers::label(Index kernel) const {
  if (folds_ == 0) return {};
  return fmt::format(", folds={}", folds_) + (kernel > 0 ? fmt::format(", without={}", kernel) : "");
}

std::vector<DecisionTree> grow_trees(const Dataset& train, const KernelTerm& term, const TreeTeachers& teachers,
                                     Index kernel) {
  const std::vector<Index> chosen = teachers.samples(kernel);
  const Targets& targets = teachers.targets();
  BoostingProblem problem;
  problem.features = Matrix(std::ssize(chosen), std::ssize(term.features));
  for (Index f = 0; f < problem.features.cols(); ++f) {
    const auto column = train.features.column(term.features[at(f)]);
    for (std::size_t i = 0; i < chosen.size(); ++i)
      problem.features(static_cast<Index>(i), f) = column[at(chosen[i])];
  }
  problem.classes = targets.codes.empty() ? 0 : std::ssize(targets.classes);
  for (const Index i : chosen) {
    if (problem.classes > 0) problem.labels.push_back(targets.codes[at(i)]);
    if (problem.classes == 0) problem.numbers.push_back(targets.values(i, 0));
  }
  if (problem.classes == 0) problem.numbers = standardised(std::move(problem.numbers));
  BoostingSettings settings;
  settings.leaves = static_cast<Index>(term.parameter);
  if (teachers.folds() > 0) {
    settings.operations = kOperationsOfFolds / static_cast<double>(teachers.kernels());
    settings.least = std::clamp<Index>(std::ssize(chosen) / 40, 3, settings.least);
  }
  return boosted_trees(problem, settings);
}

}  // namespace kloom::kernels
