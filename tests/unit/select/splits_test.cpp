// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/splits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "kloom/error.h"

namespace kloom {
namespace {

Targets classes(std::vector<int> codes) {
  Targets targets;
  targets.task = Task::multiclass;
  targets.classes = {"a", "b", "c"};
  targets.codes = std::move(codes);
  return targets;
}

// 60 of class a, 30 of b, 10 of c, mixed.
Targets uneven() {
  std::vector<int> codes;
  for (int i = 0; i < 100; ++i) codes.push_back(i % 10 == 0 ? 2 : (i % 10 < 4 ? 1 : 0));
  return classes(codes);
}

void expect_partition(const Split& split, Index samples) {
  std::set<Index> all(split.train.begin(), split.train.end());
  for (const Index i : split.test) EXPECT_TRUE(all.insert(i).second) << i << " is on both sides";
  EXPECT_EQ(std::ssize(all), samples);
  EXPECT_TRUE(std::ranges::is_sorted(split.train) && std::ranges::is_sorted(split.test));
}

std::map<int, Index> counts(const Targets& targets, const std::vector<Index>& rows) {
  std::map<int, Index> result;
  for (const Index i : rows) ++result[targets.codes[static_cast<std::size_t>(i)]];
  return result;
}

TEST(Splits, FoldsAreStratifiedPartitionsAndRepeatsDiffer) {
  const Targets targets = uneven();
  SplitRequest request;
  request.repeats = 3;
  const auto splits = make_splits(targets, request, 7);
  ASSERT_EQ(splits.size(), 15u);
  for (Index repeat = 0; repeat < 3; ++repeat) {
    std::set<Index> tested;
    for (Index fold = 0; fold < 5; ++fold) {
      const Split& split = splits[static_cast<std::size_t>(5 * repeat + fold)];
      EXPECT_EQ(split.repeat, repeat);
      EXPECT_EQ(split.fold, fold);
      expect_partition(split, 100);
      tested.insert(split.test.begin(), split.test.end());
      EXPECT_EQ(counts(targets, split.test), (std::map<int, Index>{{0, 12}, {1, 6}, {2, 2}}));
    }
    EXPECT_EQ(tested.size(), 100u) << "every sample is tested once in a repeat";
  }
  EXPECT_NE(splits[0].test, splits[5].test);
  EXPECT_EQ(make_splits(targets, request, 7), splits);
  EXPECT_NE(make_splits(targets, request, 8), splits);
}

TEST(Splits, HoldoutHasTheShareOfEveryClass) {
  const Targets targets = uneven();
  SplitRequest request;
  request.kind = SplitRequest::Kind::holdout;
  request.test_share = 0.3;
  request.repeats = 4;
  const auto splits = make_splits(targets, request, 1);
  ASSERT_EQ(splits.size(), 4u);
  for (const Split& split : splits) {
    expect_partition(split, 100);
    EXPECT_EQ(counts(targets, split.test), (std::map<int, Index>{{0, 18}, {1, 9}, {2, 3}}));
  }
}

TEST(Splits, GroupsStayTogether) {
  const Targets targets = uneven();
  SplitRequest request;
  for (int i = 0; i < 100; ++i) request.groups.push_back("patient" + std::to_string(i / 4));
  for (const auto kind : {SplitRequest::Kind::folds, SplitRequest::Kind::holdout}) {
    request.kind = kind;
    for (const Split& split : make_splits(targets, request, 3)) {
      expect_partition(split, 100);
      std::set<std::string> learned;
      for (const Index i : split.train) learned.insert(request.groups[static_cast<std::size_t>(i)]);
      for (const Index i : split.test)
        EXPECT_FALSE(learned.contains(request.groups[static_cast<std::size_t>(i)]));
      // 25 groups of 4: the share that was asked for is met to within one group.
      const double wanted = kind == SplitRequest::Kind::folds ? 20.0 : 30.0;
      EXPECT_NEAR(static_cast<double>(split.test.size()), wanted, 4.0);
    }
  }
}

TEST(Splits, UnlabelledSamplesAreLearnedFromAndNeverTested) {
  Targets targets = uneven();
  for (std::size_t i = 0; i < 100; i += 3) targets.codes[i] = Targets::unlabelled;
  for (const auto kind : {SplitRequest::Kind::folds, SplitRequest::Kind::holdout}) {
    SplitRequest request;
    request.kind = kind;
    for (const Split& split : make_splits(targets, request, 3)) {
      expect_partition(split, 100);
      EXPECT_FALSE(counts(targets, split.test).contains(Targets::unlabelled));
    }
  }
}

TEST(Splits, GivenPartsAreTestedOnceAndTrainNever) {
  SplitRequest request;
  request.kind = SplitRequest::Kind::given;
  request.given = {"1", "2", "train", "1", "", "2"};
  const auto splits = make_splits(classes({0, 1, 0, 1, 0, 1}), request, 1);
  ASSERT_EQ(splits.size(), 2u);
  EXPECT_EQ(splits[0].test, (std::vector<Index>{0, 3}));
  EXPECT_EQ(splits[0].train, (std::vector<Index>{1, 2, 4, 5}));
  EXPECT_EQ(splits[1].test, (std::vector<Index>{1, 5}));
}

TEST(Splits, RegressionIsDividedEvenly) {
  Targets targets;
  targets.task = Task::regression;
  targets.values = Matrix(23, 1, 1.5);
  SplitRequest request;
  for (const Split& split : make_splits(targets, request, 1)) {
    expect_partition(split, 23);
    EXPECT_TRUE(split.test.size() == 4 || split.test.size() == 5);
  }
}

TEST(Splits, ListsThatWouldNotFitAreRefusedAtOnce) {
  const Targets targets = classes({0, 1, 0, 1});
  SplitRequest request;
  request.folds = 2;
  request.repeats = 1000000000000;
  Context context;
  EXPECT_THROW((void)make_splits(targets, request, context), ResourceError);
  request.repeats = 100;
  context.memory_budget = 10000;
  EXPECT_THROW((void)make_splits(targets, request, context), ResourceError);
  context.memory_budget = 100000;
  EXPECT_EQ(make_splits(targets, request, context).size(), 200u);
}

TEST(Splits, RefusesWhatCannotBe) {
  const Targets targets = classes({0, 1, 0, 1});
  SplitRequest request;
  request.folds = 5;
  EXPECT_THROW((void)make_splits(targets, request, 1), InvalidArgument) << "more folds than samples";
  request.folds = 1;
  EXPECT_THROW((void)make_splits(targets, request, 1), InvalidArgument);
  request = {};
  request.folds = 2;
  request.repeats = 0;
  EXPECT_THROW((void)make_splits(targets, request, 1), InvalidArgument);
  request.repeats = 1;
  request.groups = {"a", "a", "a", "a"};
  EXPECT_THROW((void)make_splits(targets, request, 1), InvalidArgument) << "one group cannot be divided";
  request.groups = {"a"};
  EXPECT_THROW((void)make_splits(targets, request, 1), InvalidArgument);
  request = {};
  request.kind = SplitRequest::Kind::holdout;
  for (const double share : {0.0, 1.0, -1.0, std::nan(""), 0.01}) {
    request.test_share = share;
    EXPECT_THROW((void)make_splits(targets, request, 1), InvalidArgument) << share;
  }
  request = {};
  request.kind = SplitRequest::Kind::given;
  request.given = {"train", "", "train", "train"};
  EXPECT_THROW((void)make_splits(targets, request, 1), InvalidArgument);
  request.given = {"x", "x", "x", "x"};
  EXPECT_THROW((void)make_splits(targets, request, 1), InvalidArgument) << "nothing left to learn from";
}

}  // namespace
}  // namespace kloom
