// SPDX-License-Identifier: BSD-3-Clause
#include "data/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <random>
#include <string>
#include <vector>

#include "data_support.h"
#include "kloom/error.h"

namespace kloom::data {
namespace {

using ::testing::ElementsAre;
using testing_support::expect_error;
using Rows = std::vector<std::vector<std::string>>;

TextTable parse(std::string_view text, char delimiter = ',', bool header = true) {
  return parse_csv(std::string(text), {delimiter, header, "t.csv"});
}

Rows rows_of(const TextTable& table) {
  Rows rows;
  for (Index i = 0; i < table.rows(); ++i) {
    rows.emplace_back();
    for (Index j = 0; j < table.columns; ++j) {
      rows.back().emplace_back(table.cell(i, j));
    }
  }
  return rows;
}

void expect_refused(std::string_view text, std::initializer_list<std::string_view> words,
                    char delimiter = ',') {
  expect_error<InvalidArgument>([&] { static_cast<void>(parse(text, delimiter)); }, words);
}

TEST(Csv, ReadsHeaderAndRows) {
  const TextTable table = parse("a,b\n1,x\n2,y\n");
  EXPECT_THAT(table.names, ElementsAre("a", "b"));
  EXPECT_EQ(rows_of(table), (Rows{{"1", "x"}, {"2", "y"}}));
  EXPECT_THAT(table.lines, ElementsAre(2, 3));
  EXPECT_EQ(table.find("b"), 1);
  EXPECT_EQ(table.find("c"), -1);
}

TEST(Csv, SkipsByteOrderMarkAndTakesEveryLineEnd) {
  const TextTable table = parse(
      "\xEF\xBB\xBF"
      "a,b\r\n1,2\r3,4\n5,6");
  EXPECT_THAT(table.names, ElementsAre("a", "b"));
  EXPECT_EQ(rows_of(table), (Rows{{"1", "2"}, {"3", "4"}, {"5", "6"}}));
  EXPECT_THAT(table.lines, ElementsAre(2, 3, 4));
}

TEST(Csv, QuotedCellsKeepDelimitersQuotesBlanksAndBreaks) {
  const TextTable table = parse("\"a,1\",b\n\"x \"\"y\"\"\",\"one\r\ntwo\"\n\" z \" ,  w  \n");
  EXPECT_THAT(table.names, ElementsAre("a,1", "b"));
  EXPECT_EQ(rows_of(table), (Rows{{"x \"y\"", "one\ntwo"}, {" z ", "w"}}));
  // The quoted line break counts as a line.
  EXPECT_THAT(table.lines, ElementsAre(2, 4));
}

TEST(Csv, QuoteInsideAPlainCellIsACharacter) {
  EXPECT_EQ(rows_of(parse("a,b\n5\" pipe,1\n")), (Rows{{"5\" pipe", "1"}}));
}

TEST(Csv, BlankLinesAreSkippedButQuotedEmptyCellsAreNot) {
  const TextTable table = parse("\n\na\n\n1\n   \n\"\"\n");
  EXPECT_EQ(rows_of(table), (Rows{{"1"}, {""}}));
  EXPECT_THAT(table.lines, ElementsAre(5, 7));
}

TEST(Csv, EmptyCells) {
  EXPECT_EQ(rows_of(parse("a,b,c\n,,\n1,,")), (Rows{{"", "", ""}, {"1", "", ""}}));
  EXPECT_EQ(rows_of(parse("a\tb\n \t\n", '\t')), (Rows{{"", ""}}));
}

TEST(Csv, WithoutHeaderTheFirstLineIsData) {
  const TextTable table = parse("1,2\n3,4\n", ',', false);
  EXPECT_EQ(rows_of(table), (Rows{{"1", "2"}, {"3", "4"}}));
  EXPECT_THAT(table.lines, ElementsAre(1, 2));
}

TEST(Csv, FirstColumnMayBeUnnamed) {
  EXPECT_THAT(parse(",a\ns1,1\n").names, ElementsAre("", "a"));
}

TEST(Csv, RefusesMalformedTextWithItsPlace) {
  expect_refused("", {"t.csv", "empty"});
  expect_refused("\xEF\xBB\xBF\n\n", {"empty"});
  expect_refused("a,b\n", {"no samples"});
  expect_refused("a,b\n1,2\n1,2,3\n", {"line 3", "3 cells", "has 2"});
  expect_refused("a,b\n\"x\ny\",1\n7\n", {"line 4", "1 cells", "has 2"});
  expect_refused("a,b,a\n1,2,3\n", {"line 1", "columns 1 and 3", "'a'"});
  expect_refused("a,,c\n1,2,3\n", {"line 1", "column 2 has no name", "line 2 holds '2'"});
  expect_refused("a,b\n1,2\n3,\"4\n5,6\n", {"line 3", "never closed"});
  expect_refused("a,b\n1,\"2\"3\n", {"line 2", "'3'", "closing quote"});
  expect_refused("1.5,2.5\n3,4\n", {"line 1", "names of the columns"});
  expect_refused("1,1\n3,4\n", {"columns 1 and 2", "lack a line of column names"});
  expect_refused(std::string_view("a,b\n1,\0\n", 8), {"line 2", "NUL"});
}

TEST(Csv, GuessesTheDelimiterFromTheFirstLine) {
  EXPECT_EQ(guess_delimiter("a,b;c\n", ','), ',');
  EXPECT_EQ(guess_delimiter("a;b\n1,2;3\n", ','), ';');
  EXPECT_EQ(guess_delimiter("a\n1;2\n", ','), ',');
  EXPECT_EQ(guess_delimiter("a\tb c\n", ','), '\t');
  EXPECT_EQ(guess_delimiter("a|b\n", ','), '|');
  EXPECT_EQ(guess_delimiter("a b\n", ','), ',');
  EXPECT_EQ(guess_delimiter("a,b\n", '\t'), ',');
  EXPECT_EQ(guess_delimiter("\"a,b\";c\n", ','), ';');
  EXPECT_EQ(guess_delimiter("a\tb,c\n", '\0'), '\t');
  EXPECT_EQ(guess_delimiter("1 2\n", '\0'), ' ');
  EXPECT_EQ(guess_delimiter("", '\0'), ',');
}

TEST(Csv, ALastColumnWithoutNameAndCellsIsNone) {
  const TextTable table = parse_csv("a,b,\n1,2,\n3,4,\n", {',', true, "t.csv"});
  EXPECT_EQ(table.columns, 3);
  EXPECT_EQ(table.cell(1, 1), "4");
  EXPECT_EQ(table.names.back(), "");
}

std::string in_quotes(const std::string& cell) {
  std::string result = "\"";
  for (const char c : cell) {
    result += c == '"' ? "\"\"" : std::string(1, c);
  }
  return result + "\"";
}

// Tables of nasty cells, written by the rules of RFC 4180, come back as they were.
TEST(Csv, RandomTablesComeBack) {
  std::mt19937 random(7);
  const std::string letters = "ab\",;\t\n 1";
  for (int round = 0; round < 300; ++round) {
    const auto columns = 1 + random() % 4;
    const auto count = 1 + random() % 5;
    Rows rows;
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      rows.emplace_back();
      for (std::size_t j = 0; j < columns; ++j) {
        std::string cell;
        for (auto n = random() % 6; n > 0; --n) {
          cell += letters[random() % letters.size()];
        }
        text += (j > 0 ? "," : "") + in_quotes(cell);
        rows.back().push_back(cell);
      }
      text += random() % 2 == 0 ? "\n" : "\r\n";
    }
    EXPECT_EQ(rows_of(parse(text, ',', false)), rows) << text;
  }
}

// Text, where rows begin (8 bytes), their lines (8) and where cells end (4 each); the text has a byte more.
TEST(Csv, RefusesTablesBeyondTheLimit) {
  std::string text = "a,b\n";
  for (int i = 0; i < 1000; ++i) text += "1,2\n";
  const std::size_t needed = text.capacity() + 1001 * 16 + 1001 * 2 * 4;
  EXPECT_EQ(parse_csv(text, {',', true, "t.csv", needed + 100}).rows(), 1000);
  expect_error<ResourceError>([&] { static_cast<void>(parse_csv(text, {',', true, "t.csv", needed / 2})); },
                              {"t.csv", "1001 rows of 2 columns", "--memory"});
  std::ranges::replace(text, '\n', '\r');
  expect_error<ResourceError>([&] { static_cast<void>(parse_csv(text, {',', true, "t.csv", needed / 2})); },
                              {"1001 rows"});
  const std::string wide(100000, ',');
  expect_error<ResourceError>([&] { static_cast<void>(parse_csv(wide + "\n1\n", {',', true, "t.csv", 1000000})); },
                              {"1 row of 100001 columns"});
  // Cells beyond the columns are counted but not kept.
  expect_error<InvalidArgument>([&] { static_cast<void>(parse_csv("a,b\n1" + wide + "\n", {',', true, "t.csv", 300000})); },
                                {"100001 cells"});
}

}  // namespace
}  // namespace kloom::data
