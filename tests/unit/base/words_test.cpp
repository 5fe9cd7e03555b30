// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/words.h"

#include <gtest/gtest.h>

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
