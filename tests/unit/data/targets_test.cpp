// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "data_support.h"
#include "kloom/error.h"

namespace kloom {
namespace {

using ::testing::ElementsAre;
using testing_support::expect_error;
using Kind = TargetsRequest::Kind;
using Labels = std::vector<std::string>;

TargetsRequest request(Kind kind = Kind::automatic, std::string positive = "", bool unlabelled = false) {
  TargetsRequest result;
  result.kind = kind;
  result.positive = std::move(positive);
  result.allow_unlabelled = unlabelled;
  result.source = "t.csv";
  result.lines = {2, 3, 5, 7, 11, 13};
  return result;
}

void expect_refused(const Labels& labels, const TargetsRequest& how,
                    std::initializer_list<std::string_view> words) {
  expect_error<InvalidArgument>([&] { static_cast<void>(make_targets(labels, how)); }, words);
}

// 0, 1, …, distinct - 1 over and over.
Labels cycle(std::size_t samples, std::size_t distinct, const std::string& tail = "") {
  Labels labels;
  for (std::size_t i = 0; i < samples; ++i) {
    labels.push_back(std::to_string(i % distinct) + tail);
  }
  return labels;
}

TEST(Targets, TwoNamesAreBinaryAndTheLastIsPositive) {
  const Targets targets = make_targets({"no", "yes", "no"}, request());
  EXPECT_EQ(targets.task, Task::binary);
  EXPECT_THAT(targets.classes, ElementsAre("no", "yes"));
  EXPECT_THAT(targets.codes, ElementsAre(0, 1, 0));
  EXPECT_THAT(targets.signs(), ElementsAre(-1, 1, -1));
  EXPECT_EQ(targets.samples(), 3);
  EXPECT_TRUE(targets.weights.empty());
}

TEST(Targets, NumbersAreSortedAsNumbersAndKeepTheirFirstSpelling) {
  const Targets targets = make_targets({"10", "9", "-1", "+9.0", "1e1"}, request());
  EXPECT_EQ(targets.task, Task::multiclass);
  EXPECT_THAT(targets.classes, ElementsAre("-1", "9", "10"));
  EXPECT_THAT(targets.codes, ElementsAre(2, 1, 0, 1, 2));
  EXPECT_THAT(make_targets({"1.0", "-1.0", "1", "-1"}, request()).classes, ElementsAre("-1.0", "1.0"));
  EXPECT_THAT(make_targets({"0", "-0.0", "1"}, request()).classes, ElementsAre("0", "1"));
}

TEST(Targets, MixedNumbersAndNames) {
  const Targets targets = make_targets({"b", "2", "10", "a"}, request());
  EXPECT_THAT(targets.classes, ElementsAre("2", "10", "a", "b"));
  EXPECT_THAT(targets.codes, ElementsAre(3, 0, 1, 2));
}

TEST(Targets, PositiveClass) {
  const Targets swapped = make_targets({"no", "yes", "no"}, request(Kind::automatic, "no"));
  EXPECT_THAT(swapped.classes, ElementsAre("yes", "no"));
  EXPECT_THAT(swapped.codes, ElementsAre(1, 0, 1));
  EXPECT_THAT(swapped.signs(), ElementsAre(1, -1, 1));
  EXPECT_THAT(make_targets({"no", "yes"}, request(Kind::automatic, "yes")).codes, ElementsAre(0, 1));
  EXPECT_THAT(make_targets({"-1", "1"}, request(Kind::automatic, "-1.0")).classes, ElementsAre("1", "-1"));
  expect_refused({"no", "yes"}, request(Kind::automatic, "yse"), {"'yse'", "no, yes", "Did you mean 'yes'"});
  expect_refused({"a", "b", "c"}, request(Kind::automatic, "a"), {"'a'", "two classes", "3"});
}

TEST(Targets, Unlabelled) {
  const Targets targets = make_targets({"a", "", "b"}, request(Kind::automatic, "", true));
  EXPECT_THAT(targets.codes, ElementsAre(0, Targets::unlabelled, 1));
  EXPECT_THAT(targets.signs(), ElementsAre(-1, 0, 1));
  expect_refused({"a", "b", ""}, request(), {"t.csv line 5", "missing"});
  expect_refused({"", ""}, request(Kind::automatic, "", true), {"no sample has a label"});
  const Targets numbers = make_targets({"1.5", "", "2"}, request(Kind::regression, "", true));
  EXPECT_TRUE(std::isnan(numbers.values(1, 0)));
}

TEST(Targets, AutomaticRegression) {
  const auto task = [](const Labels& labels) { return make_targets(labels, request()).task; };
  EXPECT_EQ(task({"0.5", "1.5", "0.5"}), Task::binary);
  EXPECT_EQ(task({"0.5", "1.5", "2"}), Task::regression);
  EXPECT_EQ(task(cycle(60, 20)), Task::multiclass);
  EXPECT_EQ(task(cycle(60, 21)), Task::regression);
  EXPECT_EQ(task(cycle(311, 27)), Task::multiclass);
  EXPECT_EQ(task(cycle(500, 100)), Task::multiclass);
  EXPECT_EQ(task(cycle(500, 101)), Task::regression);
  EXPECT_EQ(task(cycle(50, 25, "x")), Task::multiclass);
}

// Every value as often as its count says.
Labels counted(const std::vector<int>& counts) {
  Labels labels;
  for (std::size_t value = 0; value < counts.size(); ++value) {
    for (int k = 0; k < counts[value]; ++k) labels.push_back(std::to_string(value));
  }
  return labels;
}

TEST(Targets, GradesAreNumbersAndCodesAreClasses) {
  const auto task = [](const std::vector<int>& counts) {
    return make_targets(counted(counts), request()).task;
  };
  EXPECT_EQ(task({2, 0, 1, 4, 7, 12, 19, 25, 28, 24, 20, 13, 8, 3, 1}), Task::regression);
  // Sizes of the 27 folds in the protein data that BEMKL was tried on: codes without an order.
  EXPECT_EQ(task({0,  19, 16, 32, 15, 18, 15, 74, 21, 29, 13, 16, 32, 12,
                  13, 16, 77, 23, 24, 40, 22, 17, 22, 18, 15, 15, 40, 40}),
            Task::multiclass);
  EXPECT_EQ(task({60, 50, 41, 35, 30, 24, 20, 16, 13, 9, 7, 5, 3}), Task::multiclass) << "sorted by size";
  EXPECT_EQ(task({1, 3, 7, 20, 9, 4, 1}), Task::multiclass) << "too few to tell";
}

TEST(Targets, MeasuredIntegersAreNumbers) {
  const auto task = [](std::vector<int> counts, std::size_t first) {
    counts.insert(counts.begin(), first, 0);
    return make_targets(counted(counts), request()).task;
  };
  const std::vector<int> with_gaps = {3, 1, 0, 9, 2, 14, 1, 0, 6, 1, 11, 2, 0, 1};
  const std::vector<int> without = {3, 1, 5, 9, 2, 14, 1, 5, 6, 1, 11, 2, 5, 1};
  EXPECT_EQ(task(with_gaps, 0), Task::regression);
  EXPECT_EQ(task(without, 12), Task::regression) << "does not count from 0 or 1";
  EXPECT_EQ(task(without, 1), Task::multiclass);
  EXPECT_EQ(task({5, 6, 0, 4, 5, 6, 0, 5, 4, 5, 6, 0, 5, 5}, 0), Task::multiclass) << "about as many of each";
  // Codes of 13 diagnoses, 35 samples of each on average: the smallest classes were never seen.
  EXPECT_EQ(task({245, 44, 15, 15, 13, 25, 3, 2, 9, 50, 0, 0, 0, 4, 5, 22}, 1), Task::multiclass);
  EXPECT_EQ(task({1, 0, 2, 1, 0, 1, 1, 0, 2, 1}, 30), Task::regression) << "less than three of each";
}

TEST(Targets, KindsThatAreAskedFor) {
  EXPECT_EQ(make_targets({"0.5", "1.5", "2"}, request(Kind::classes)).task, Task::multiclass);
  const Targets numbers = make_targets({"1", "2", "1"}, request(Kind::regression));
  EXPECT_EQ(numbers.task, Task::regression);
  EXPECT_THAT(numbers.values.values(), ElementsAre(1, 2, 1));
  EXPECT_EQ(numbers.samples(), 3);
  expect_refused({"1", "two"}, request(Kind::regression), {"line 3", "'two'", "number"});
  expect_refused({"1", "inf"}, request(Kind::regression), {"line 3", "'inf'"});
}

TEST(Targets, OneClassAndNothing) {
  expect_refused({"1", "1.0"}, request(), {"t.csv", "'1'", "two classes"});
  expect_refused({}, request(), {"no sample"});
}

// 2^53 + 1 is the first integer that a double cannot hold.
TEST(Targets, IntegersThatDoublesCannotHoldStayApart) {
  const Targets targets = make_targets({"9007199254740993", "9007199254740992", "+9007199254740993",
                                        "9007199254740994", "9007199254740992.0", "1"},
                                       {});
  EXPECT_EQ(targets.classes,
            (std::vector<std::string>{"1", "9007199254740992", "9007199254740993", "9007199254740994"}));
  EXPECT_EQ(targets.codes, (std::vector<int>{2, 1, 2, 3, 1, 0}));
}

TEST(Targets, WhatMethodsCannotScaleIsRefused) {
  TargetsRequest own;
  own.kind = Kind::regression;
  own.source = "t.csv";
  own.lines = {4, 5, 6};
  EXPECT_EQ(make_targets({"1e150", "-1e150", "0"}, own).values(0, 0), 1e150);
  EXPECT_EQ(make_targets({"1e-150", "-1e-150", "0"}, own).values(0, 0), 1e-150);
  EXPECT_EQ(make_targets({"1e-300", "1e-300", "1e-300"}, own).values(0, 0), 1e-300)
      << "all the same is no spread";
  expect_error<InvalidArgument>(
      [&] {
        (void)make_targets({"1", "2", "-1.1e150"}, own);
      },
      {"t.csv line 6", "unit"});
  expect_error<InvalidArgument>([&] { (void)make_targets({"1e-200", "2e-200", "0"}, own); }, {"t.csv", "unit"});
  own.kind = Kind::automatic;
  expect_error<InvalidArgument>(
      [&] {
        (void)make_targets({"a", "-inf", "b"}, own);
      },
      {"t.csv line 5", "'-inf'", "--task classes"});
  own.kind = Kind::classes;
  EXPECT_EQ(make_targets({"a", "-inf", "b"}, own).classes.size(), 3u);
}

TEST(Targets, NamesOfTasks) {
  EXPECT_EQ(to_string(Task::binary), "binary");
  EXPECT_EQ(to_string(Task::multi_regression), "multi-regression");
  EXPECT_THROW(static_cast<void>(make_targets({"a", "b", "c"}, request()).signs()), InternalError);
}

}  // namespace
}  // namespace kloom
