// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/spec/taught_trees.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "kernels/functions/decision_trees.h"
#include "kernels/spec/relevance.h"
#include "kernels/spec/teachers.h"
#include "kloom/error.h"
#include "kloom/kernels.h"
#include "kloom/recipe.h"
#include "kloom/train.h"
#include "support/files.h"

namespace kloom::kernels {
namespace {

struct Table {
  Dataset data;
  Targets targets;
};

// Steps along two of eight columns: nothing that a smooth kernel sees quickly.
Table steps(Index n, bool shuffled) {
  std::mt19937 engine(9);
  std::normal_distribution<double> normal;
  Table table;
  table.data.samples = n;
  table.data.features = Matrix(n, 8);
  for (Index f = 0; f < 8; ++f) table.data.feature_info.push_back({"x" + std::to_string(f), ""});
  for (double& value : table.data.features.values()) value = normal(engine);
  table.targets.classes = {"a", "b"};
  for (Index i = 0; i < n; ++i) {
    const bool first = table.data.features(i, 0) > 0.3;
    const bool second = table.data.features(i, 1) > -0.2;
    table.targets.codes.push_back(first != second ? 1 : 0);
  }
  if (shuffled) std::shuffle(table.targets.codes.begin(), table.targets.codes.end(), engine);
  return table;
}

TEST(TaughtTrees, KernelIsTheShareOfSharedLeaves) {
  const Table table = steps(120, false);
  const Recipe recipe =
      Recipe::fit(table.data, parse_kernel_spec("trees(leaves=4,8) on all"), {}, {}, &table.targets);
  ASSERT_EQ(recipe.terms.size(), 2U);
  EXPECT_EQ(recipe.terms[0].name, "trees(leaves=4) on all");
  const KernelTerm& term = recipe.terms[1];
  ASSERT_FALSE(term.trees.empty());
  EXPECT_NE(recipe.terms[0].trees, term.trees);
  const Matrix reached = leaves_reached(term.trees, recipe.basis.features.view(), term.features);
  const auto bank = recipe.training_bank();
  Matrix kernel(120, 120);
  bank->panels({1, 2}, {0, 120}, kernel.data());
  for (Index i = 0; i < 120; ++i) {
    for (Index j = 0; j < 120; ++j) {
      double together = 0.0;
      for (Index t = 0; t < reached.rows(); ++t) together += reached(t, i) == reached(t, j) ? 1.0 : 0.0;
      EXPECT_EQ(kernel(i, j), together / static_cast<double>(reached.rows()));
    }
  }
  // New samples that are training samples.
  const auto same = recipe.bank_for(table.data);
  Matrix again(120, 120);
  same->panels({1, 2}, {0, 120}, again.data());
  EXPECT_TRUE(std::ranges::equal(again.values(), kernel.values()));
}

TEST(TaughtTrees, TeachersAreHalfAndHoldThoseOfRelevance) {
  const Targets targets = steps(3000, false).targets;
  const std::vector<Index> teachers = tree_samples(targets);
  EXPECT_EQ(teachers.size(), 1500U);
  EXPECT_TRUE(std::ranges::includes(teachers, relevance_samples(targets)));
  const std::string trees = "trees(leaves=8) on all";
  const std::string relevance = "rbf(width=1, scale=relevance) on all";
  EXPECT_EQ(teachers_of({"linear on all", trees, relevance}, targets), teachers);
  EXPECT_EQ(teachers_of({relevance}, targets), relevance_samples(targets));
  EXPECT_TRUE(teachers_of({"linear on all"}, targets).empty());
}

TEST(TaughtTrees, KernelsWithoutAFoldNeverSawIt) {
  Table table = steps(120, false);
  table.targets.codes.clear();
  table.targets.classes.clear();
  table.targets.task = Task::regression;
  table.targets.values = Matrix(120, 1);
  for (Index i = 0; i < 120; ++i) table.targets.values(i, 0) = std::sin(static_cast<double>(i));
  const KernelSpec spec = parse_kernel_spec("trees(leaves=4, folds=3) on all; linear on all");
  const std::vector<KernelTerm> before = Recipe::fit(table.data, spec, {}, {}, &table.targets).terms;
  ASSERT_EQ(before.size(), 5U);
  EXPECT_EQ(before[0].name, "trees(leaves=4, folds=3) on all");
  EXPECT_EQ(before[2].name, "trees(leaves=4, folds=3, without=2) on all");
  const std::vector<Index> folds = tree_folds(table.targets, 3);
  for (const Index fold : {0, 1, 2}) {
    EXPECT_EQ(std::ranges::count(folds, fold), 40);
    Table changed = table;
    for (Index i = 0; i < 120; ++i) {
      if (folds[at(i)] == fold) changed.targets.values(i, 0) = std::cos(static_cast<double>(7 * i));
    }
    const std::vector<KernelTerm> after = Recipe::fit(changed.data, spec, {}, {}, &changed.targets).terms;
    EXPECT_NE(after[0].trees, before[0].trees);
    for (Index other = 0; other < 3; ++other) {
      const std::size_t p = at(other) + 1;
      EXPECT_EQ(after[p].trees == before[p].trees, other == fold);
    }
  }
}

TEST(TaughtTrees, KernelsOfAllSamplesComeWithThoseOfTheFolds) {
  const Targets targets = steps(120, false).targets;
  const std::vector<std::string> names = {
      "linear on all", "trees(leaves=4, folds=2) on all", "trees(leaves=4, folds=2, without=1) on all",
      "trees(leaves=4, folds=2, without=2) on all", "trees(leaves=9) on x1"};
  const std::vector<CrossTaught> found = cross_taught(names);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].whole, 1);
  EXPECT_EQ(found[0].folds, 2);
  EXPECT_EQ(found[0].without, std::vector<Index>({2, 3}));
  EXPECT_TRUE(cross_taught({names[1]}).empty());  // nobody judges it
  EXPECT_TRUE(cross_taught({"trees(leaves=4, folds=many) on all", names[2], names[3]}).empty());
  EXPECT_EQ(teachers_of(names, targets), tree_samples(targets));
  EXPECT_TRUE(teachers_of({names.begin(), names.end() - 1}, targets).empty());
}

TEST(TaughtTrees, AreRefusedWithoutTargets) {
  const Table table = steps(60, false);
  const KernelSpec spec = parse_kernel_spec("trees(leaves=4) on all");
  EXPECT_THROW((void)Recipe::fit(table.data, spec, {}, {}), InvalidArgument);
  Targets several = table.targets;
  several.codes.clear();
  several.values = Matrix(60, 2);
  several.task = Task::multilabel;
  EXPECT_THROW((void)Recipe::fit(table.data, spec, {}, {}, &several), InvalidArgument);
  EXPECT_THROW((void)parse_kernel_spec("trees on all"), InvalidArgument);
  EXPECT_THROW((void)parse_kernel_spec("trees(leaves=4, scale=raw) on all"), InvalidArgument);
}

TEST(TaughtTrees, AreAdvisedForMethodsThatSpareTeachers) {
  const Table table = steps(800, false);
  EXPECT_THAT(to_string(default_kernel_spec(table.data, &table.targets, true)),
              ::testing::HasSubstr("trees(leaves=8, folds=5) on all"));
  EXPECT_THAT(to_string(default_kernel_spec(table.data, &table.targets)),
              ::testing::Not(::testing::HasSubstr("trees")));
  const Table many = steps(20001, false);
  EXPECT_THAT(to_string(default_kernel_spec(many.data, &many.targets, true)),
              ::testing::HasSubstr("trees(leaves=8,128) on all"));
  Table few = steps(400, false);
  EXPECT_THAT(to_string(default_kernel_spec(few.data, &few.targets, true)),
              ::testing::Not(::testing::HasSubstr("trees")));
  // A number says more than a class.
  few.targets.task = Task::regression;
  few.targets.codes.clear();
  few.targets.classes.clear();
  few.targets.values = Matrix(400, 1);
  for (Index i = 0; i < 400; ++i) few.targets.values(i, 0) = few.data.features(i, 0);
  EXPECT_THAT(to_string(default_kernel_spec(few.data, &few.targets, true)),
              ::testing::HasSubstr("trees(leaves=8, folds=10) on all"));
}

TEST(TaughtTrees, ModelsComeBackToTheBit) {
  const Table table = steps(120, false);
  TrainRequest request;
  request.method = "uniform";
  request.options = {{"C", "1"}};
  request.kernels = parse_kernel_spec("trees(leaves=4) on all; linear on all; trees(leaves=6) on x0 + x1");
  const Model model = train(table.data, table.targets, request, {}).model;
  const testing::TemporaryFolder folder;
  save_model(model, folder.file("m.kloom"));
  const Model loaded = load_model(folder.file("m.kloom"));
  EXPECT_EQ(loaded.recipe->terms, model.recipe->terms);
  const Table unseen = steps(40, false);
  EXPECT_TRUE(std::ranges::equal(predict(loaded, unseen.data, {}, {}).scores.values(),
                                 predict(model, unseen.data, {}, {}).scores.values()));
}

// 100 samples for each of 32 leaves are 3,200, and 128 leaves need 12,800.
TEST(TaughtTrees, MoreLeavesWhereThereAreTeachersForThem) {
  using Leaves = std::vector<Index>;
  EXPECT_EQ(leaves_worth_trying(steps(3199, false).targets), Leaves({8}));
  EXPECT_EQ(leaves_worth_trying(steps(3200, false).targets), Leaves({8, 32}));
  EXPECT_EQ(leaves_worth_trying(steps(12799, false).targets), Leaves({8, 32}));
  EXPECT_EQ(leaves_worth_trying(steps(12800, false).targets), Leaves({8, 128}));
}

TEST(TaughtTrees, AutoUsesThemWhereTheyHelpAndIsNotFooled) {
  TrainRequest request;
  request.method = "auto";
  request.kernels = parse_kernel_spec("trees(leaves=8) on all; rbf(auto=0.5,1) on all");
  TrainRequest plain = request;
  plain.kernels = parse_kernel_spec("rbf(auto=0.5,1) on all");
  const Table real = steps(400, false);
  const double with = train(real.data, real.targets, request, {}).report.objective;
  const double without = train(real.data, real.targets, plain, {}).report.objective;
  EXPECT_LT(with, 0.8 * without);
  // Shuffled labels: the trees fit noise, but the samples that judge them took no part. The deviation of one sample's log
  // loss is below 1/2 for probabilities near 1/2; 200 samples judge.
  const Table noise = steps(400, true);
  const double loss = train(noise.data, noise.targets, request, {}).report.objective;
  EXPECT_GT(loss, std::log(2.0) - 3.0 * 0.5 / std::sqrt(200.0));
}

TEST(TaughtTrees, AutoUsesThoseOfFoldsWhereTheyHelpAndIsNotFooled) {
  TrainRequest request;
  request.method = "auto";
  request.kernels = parse_kernel_spec("trees(leaves=8, folds=5) on all; rbf(auto=0.5,1) on all");
  TrainRequest plain = request;
  plain.kernels = parse_kernel_spec("rbf(auto=0.5,1) on all");
  const Table real = steps(400, false);
  const FitResult with = train(real.data, real.targets, request, {});
  EXPECT_LT(with.report.objective, 0.8 * train(real.data, real.targets, plain, {}).report.objective);
  // No machine looks at the kernels that only judged.
  EXPECT_GT(with.model.weights.values(0, 0), 0.0);
  for (Index p = 1; p <= 5; ++p) EXPECT_EQ(with.model.weights.values(0, p), 0.0);
  // As above, and all 400 samples judge.
  const Table noise = steps(400, true);
  const double loss = train(noise.data, noise.targets, request, {}).report.objective;
  EXPECT_GT(loss, std::log(2.0) - 3.0 * 0.5 / std::sqrt(400.0));
}

TEST(TaughtTrees, AutoNeedsNoOtherKernels) {
  TrainRequest request;
  request.method = "auto";
  request.kernels = parse_kernel_spec("trees(leaves=4,8, folds=3) on all");
  const Table table = steps(300, false);
  EXPECT_LT(train(table.data, table.targets, request, {}).report.objective, 0.5 * std::log(2.0));
}

TEST(TaughtTrees, RefuseFewerSamplesThanFolds) {
  const Table table = steps(8, false);
  const KernelSpec spec = parse_kernel_spec("trees(leaves=4, folds=9) on all");
  EXPECT_THROW((void)Recipe::fit(table.data, spec, {}, {}, &table.targets), InvalidArgument);
}

}  // namespace
}  // namespace kloom::kernels
