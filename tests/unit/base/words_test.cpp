// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/words.h"

#include <gtest/gtest.h>

#include <string>

#include "kloom/error.h"

namespace kloom {
namespace {

TEST(Words, NearestNameAllowsAThirdOfTheLetters) {
  const std::vector<std::string> known = {"train", "predict", "cv", "info"};
  EXPECT_EQ(nearest_name("trian", known), "train");  // a swap counts once
  EXPECT_EQ(nearest_name("predct", known), "predict");
  EXPECT_EQ(nearest_name("INFO", known), "info");
  EXPECT_EQ(nearest_name("vc", known), "cv");
  EXPECT_EQ(nearest_name("weight", known), "");
  EXPECT_EQ(nearest_name("x", {"a", "b"}), "") << "every letter is near to every other one";
  EXPECT_EQ(nearest_name("x", {}), "");
}

TEST(Words, SuggestionsFitIntoSentences) {
  EXPECT_EQ(did_you_mean("trian", {"train"}), " (did you mean 'train'?)");
  EXPECT_EQ(did_you_mean("weight", {"train"}), "");
}

TEST(Words, StemsOfPaths) {
  EXPECT_EQ(stem_of("a.b/rna.csv.gz"), "rna");
  EXPECT_EQ(stem_of("RNA.CSV.GZ"), "RNA");
  EXPECT_EQ(stem_of("rna"), "rna");
  EXPECT_EQ(stem_of("x/.hidden"), ".hidden");
  EXPECT_EQ(stem_of(""), "");
}

TEST(Words, NumbersReadBack) {
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(100.0), "100");
  EXPECT_EQ(number_text(1e-7), "1e-07");
}

TEST(Words, WhatIsPrintedCommandsNoTerminal) {
  EXPECT_EQ(printable("größe\tand\nlines"), "größe\tand\nlines");
  EXPECT_EQ(printable("\x1b[2J\x07 \x7f\r"), "\\x1b[2J\\x07 \\x7f\\x0d");
  EXPECT_EQ(printable("\xc2\x9b 1m"), "\\x9b 1m") << "the same command in one character of UTF-8";
  EXPECT_EQ(printable("\xe2\x80\xae txt.exe"), "\\u202e txt.exe") << "turns the direction of writing";
  EXPECT_EQ(printable("\xe4rger \xc3"), "\\xe4rger \\xc3") << "Latin-1, and a character that is cut off";
  EXPECT_EQ(printable("\xed\xa0\x80\xf5"), "\\xed\\xa0\\x80\\xf5") << "no characters";
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
}

TEST(Words, LongLinesLoseTheirMiddle) {
  const std::string cell(1000, 'x');
  const std::string text = printable("line 7 holds '" + cell + "', which is wrong.\nshort", 90);
  EXPECT_TRUE(text.starts_with("line 7 holds 'xxx")) << text;
  EXPECT_TRUE(text.ends_with("xxx', which is wrong.\nshort")) << text;
  EXPECT_NE(text.find("… (942 bytes left out) …"), std::string::npos) << text;
  EXPECT_EQ(printable(std::string(90, 'x'), 90), std::string(90, 'x'));
  std::string umlauts;
  for (int i = 0; i < 100; ++i) umlauts += "ü";
  EXPECT_EQ(printable(umlauts, 31).find('\\'), std::string::npos) << "no character is cut in two";
  EXPECT_STREQ(InvalidArgument("a\x1b" + std::string(100000, 'x')).what(),
               printable("a\x1b" + std::string(100000, 'x')).c_str());
}

TEST(Words, WidthsAreInCharacters) {
  EXPECT_EQ(width_of("größe"), 5u);
  EXPECT_EQ(padded("größe", 7), "größe  ");
  EXPECT_EQ(padded("größe", 3), "größe");
}

TEST(Words, LinesBreakBetweenWords) {
  EXPECT_EQ(wrap("one two three", 9, 2), "one two\n  three");
  EXPECT_EQ(wrap("one\ntwo", 80, 3), "one\n   two");
  EXPECT_EQ(wrap("longerthanaline x", 5, 0), "longerthanaline\nx");
  EXPECT_EQ(wrap("", 5, 2), "");
}

}  // namespace
}  // namespace kloom
