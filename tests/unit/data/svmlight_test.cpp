// SPDX-License-Identifier: BSD-3-Clause
#include "data/svmlight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "data_support.h"
#include "kloom/dataset.h"
#include "kloom/error.h"

namespace kloom::data {
namespace {

using ::testing::ElementsAre;
using testing_support::expect_error;

TEST(Svmlight, ReadsLabelsPairsAndComments) {
  const SvmlightData data = parse_svmlight("+1 1:0.5 3:-2e-3 # note 9:9\n\n# alone\n-1 2:1\r\n0\n", "t.svm");
  EXPECT_THAT(data.labels, ElementsAre("+1", "-1", "0"));
  EXPECT_THAT(data.lines, ElementsAre(1, 4, 5));
  const Matrix matrix = svmlight_matrix(data, {});
  ASSERT_EQ(matrix.rows(), 3);
  ASSERT_EQ(matrix.cols(), 3);
  EXPECT_THAT(matrix.values(), ElementsAre(0.5, 0, 0, 0, 1, 0, -2e-3, 0, 0));
}

TEST(Svmlight, ZeroBasedIndicesKeepTheirNumbers) {
  const SvmlightData data = parse_svmlight("a 0:7 2:8\nb 1:9\n", "t.svm");
  EXPECT_EQ(data.first, 0);
  EXPECT_EQ(data.last, 2);
  EXPECT_THAT(svmlight_matrix(data, {}).values(), ElementsAre(7, 0, 0, 9, 8, 0));
}

TEST(Svmlight, QueryIdsSeveralLabelsAndNoLabel) {
  const SvmlightData data = parse_svmlight("1,4 qid:3 1:2\n1:5 2:6\n", "t.svm");
  EXPECT_TRUE(data.query_ids);
  EXPECT_TRUE(data.several_labels);
  EXPECT_THAT(data.labels, ElementsAre("1,4", ""));
  EXPECT_THAT(svmlight_matrix(data, {}).values(), ElementsAre(2, 5, 0, 6));
}

TEST(Svmlight, MissingValuesAreNotZero) {
  const Matrix matrix = svmlight_matrix(parse_svmlight("1 1:nan 2:1\n", "t.svm"), {});
  EXPECT_TRUE(std::isnan(matrix(0, 0)));
}

TEST(Svmlight, NoFeaturesAtAll) {
  const SvmlightData data = parse_svmlight("1\n2\n", "t.svm");
  EXPECT_EQ(data.features(), 0);
  EXPECT_EQ(svmlight_matrix(data, {}).rows(), 2);
}

TEST(Svmlight, RefusesMalformedLines) {
  const auto refused = [](std::string_view text, std::initializer_list<std::string_view> words) {
    expect_error<InvalidArgument>([&] { static_cast<void>(parse_svmlight(text, "t.svm")); }, words);
  };
  refused("", {"t.svm", "no samples"});
  refused("# only this\n\n", {"no samples"});
  refused("1 2:1\n1 3:1 2:1\n", {"line 2", "index 2", "after 3", "increase"});
  refused("1 3:1 3:2\n", {"line 1", "index 3", "twice"});
  refused("1 x\n", {"line 1", "'x'", "index:value"});
  refused("1 x:1\n", {"'x:1'"});
  refused("1 -1:1\n", {"'-1:1'"});
  refused("1 1.5:1\n", {"'1.5:1'"});
  refused("1 1:one\n", {"'1:one'", "not a number"});
  refused("1 1:inf\n", {"'1:inf'", "infinite"});
  refused("1 1:1e999\n", {"infinite"});
  refused("1 99999999999999999999:1\n", {"99999999999999999999"});
  refused("1 :1\n", {"':1'"});
  refused(std::string_view("1 1:1\n1 1:\0\n", 12), {"line 2", "NUL"});
}

TEST(Svmlight, RefusesAMatrixBeyondTheBudget) {
  const SvmlightData data = parse_svmlight("1 1000000000000:1\n", "t.svm");
  expect_error<ResourceError>([&] { static_cast<void>(svmlight_matrix(data, {})); },
                              {"t.svm", "1000000000000 columns"});
  Context context;
  // What was read, its copies in the data set, the names of the columns, and the numbers.
  const SvmlightData ten = parse_svmlight("1 10:1\n", "t.svm");
  const std::size_t needed = 2 * ten.bytes() + 10 * sizeof(Feature) + 80;
  context.memory_budget = needed - 1;
  expect_error<ResourceError>([&] { static_cast<void>(svmlight_matrix(ten, context)); }, {"10 columns"});
  context.memory_budget = needed;
  EXPECT_EQ(svmlight_matrix(ten, context).size(), 10);
}

TEST(Svmlight, RefusesTextBeyondTheBudget) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "1 1:1\n";
  EXPECT_EQ(parse_svmlight(text, "t.svm", 100000).samples(), 1000);
  expect_error<ResourceError>([&] { static_cast<void>(parse_svmlight(text, "t.svm", 60000)); }, {"t.svm", "--memory"});
}

}  // namespace
}  // namespace kloom::data
