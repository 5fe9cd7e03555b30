// SPDX-License-Identifier: BSD-3-Clause
#include "data/number.h"

#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "data/names.h"

namespace kloom::data {
namespace {

void expect_number(const std::string& text, double value) {
  const CellValue cell = read_cell(text);
  EXPECT_EQ(cell.kind, CellKind::number) << text;
  EXPECT_EQ(cell.value, value) << text;
}

TEST(Number, ReadsNumbers) {
  expect_number("1", 1.0);
  expect_number(" +2.50\t", 2.5);
  expect_number("-3e2", -300.0);
  expect_number(".5", 0.5);
  expect_number("5.", 5.0);
  expect_number("1E+3", 1000.0);
  expect_number("0", 0.0);
  expect_number("1.7976931348623157e308", std::numeric_limits<double>::max());
  expect_number("4.9e-324", std::numeric_limits<double>::denorm_min());
}

TEST(Number, TooSmallIsZeroAndTooLargeIsInfinite) {
  expect_number("1e-999", 0.0);
  expect_number("-1e-999", 0.0);
  expect_number("0." + std::string(400, '0') + "1", 0.0);
  expect_number("1e-99999999999999999999", 0.0);
  expect_number("0e999", 0.0);
  for (const std::string text : {"1e999", "-1e999", "1e+999", "inf", "-inf", "+Inf", "INFINITY", "-infinity",
                                 "1e99999999999999999999"}) {
    EXPECT_EQ(read_cell(text).kind, CellKind::infinite) << text;
  }
  EXPECT_EQ(read_cell("1" + std::string(400, '0')).kind, CellKind::infinite);
  EXPECT_EQ(read_cell("1" + std::string(400, '0') + "e-50").kind, CellKind::infinite);
  EXPECT_EQ(read_cell("-1e999").value, -std::numeric_limits<double>::infinity());
}

TEST(Number, MissingWords) {
  for (const std::string text : {"", "  ", "NA", "na", "NaN", "nan", "?", ".", "null", "NULL", "N/A"}) {
    EXPECT_EQ(read_cell(text).kind, CellKind::missing) << text;
    EXPECT_TRUE(std::isnan(read_cell(text).value)) << text;
    EXPECT_TRUE(is_missing(text)) << text;
  }
  EXPECT_FALSE(is_missing("none of these"));
}

TEST(Number, EverythingElseIsText) {
  for (const std::string text : {"x", "1x", "1,5", "1 2", "--1", "+-1", "++1", "+", "---", "e5", "1e", "0x10",
                                 "nan(1)", "-nan", "in", "infx", "1_000", "1e5.5"}) {
    EXPECT_EQ(read_cell(text).kind, CellKind::text) << text;
  }
}

TEST(Number, WrittenFormsReadBack) {
  EXPECT_EQ(label_text(1.0), "1");
  EXPECT_EQ(label_text(-0.0), "0");
  EXPECT_EQ(label_text(-15.0), "-15");
  EXPECT_EQ(label_text(100000.0), "100000");
  EXPECT_EQ(label_text(123456789012.0), "123456789012");
  EXPECT_EQ(label_text(0.1), "0.1");
  EXPECT_EQ(label_text(1e300), "1e+300");
  std::mt19937_64 random(3);
  std::normal_distribution<double> exponent(0.0, 80.0);
  for (int i = 0; i < 2000; ++i) {
    const double value = std::exp(exponent(random)) * (i % 2 == 0 ? 1.0 : -1.0);
    expect_number(label_text(value), value);
  }
}

TEST(Names, Globs) {
  EXPECT_TRUE(glob_match("L1.*", "L1.20"));
  EXPECT_FALSE(glob_match("L1.*", "L14.2"));
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("a?c", "abc"));
  EXPECT_FALSE(glob_match("a?c", "ac"));
  EXPECT_TRUE(glob_match("*ab*ab", "aabxabab"));
  EXPECT_FALSE(glob_match("*ab*ab", "aabxaba"));
  EXPECT_TRUE(glob_match("", ""));
  EXPECT_FALSE(glob_match("", "a"));
  // A pattern that takes exponential time by plain recursion.
  EXPECT_FALSE(glob_match("*a*a*a*a*a*a*a*a*a*a*b", std::string(200, 'a')));
}

TEST(Names, ListsAndSuggestions) {
  EXPECT_EQ(list_some({"a", "b"}), "a, b");
  EXPECT_EQ(list_some({"a", "b", "c"}, 2), "a, b, … (3 in all)");
  EXPECT_EQ(suggestion("lable", {"x", "label"}), " Did you mean 'label'?");
  EXPECT_EQ(suggestion("AGE", {"x", "age"}), " Did you mean 'age'?");
  EXPECT_EQ(suggestion("weight", {"x", "age"}), "");
}

}  // namespace
}  // namespace kloom::data
