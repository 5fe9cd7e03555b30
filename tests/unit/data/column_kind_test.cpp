// SPDX-License-Identifier: BSD-3-Clause
#include "data/column_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "data/column_fit.h"
#include "data/words.h"

namespace kloom::data {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using Texts = std::vector<std::string>;

template <typename Make>
Texts made(int n, Make make) {
  Texts texts;
  for (int i = 0; i < n; ++i) texts.push_back(make(i));
  return texts;
}

ColumnKind kind(const Texts& texts, const std::string& name = "x") {
  return text_kind(name, texts).kind;
}

TEST(TextKind, Categories) {
  EXPECT_EQ(kind(made(100, [](int i) { return i % 3 == 0 ? "yes" : "no"; })), ColumnKind::category);
  // Ranges are no dates.
  EXPECT_EQ(kind(made(100, [](int i) { return std::to_string(i % 30) + "-" + std::to_string(i % 30 + 9); })),
            ColumnKind::category);
  EXPECT_EQ(kind({"a", "b", "c", "d"}), ColumnKind::category);
}

TEST(TextKind, NumbersAsPeopleWriteThem) {
  const auto format = [](const Texts& texts) { return text_kind("x", texts).format; };
  const auto number = [](const std::string& text, const NumberFormat& f) { return number_in(text, f).value(); };
  // A comma before three digits is a mark of thousands if no value says otherwise, ...
  const NumberFormat english = format({"1,234", "987", "12,345,678.5", "-1,000", "0.5"});
  EXPECT_EQ(english.thousands, ',');
  EXPECT_EQ(number("12,345,678.5", english), 12345678.5);
  EXPECT_EQ(number("-1,000", english), -1000.0);
  EXPECT_EQ(number("0.5", english), 0.5);
  // ... and a decimal comma if one does.
  for (const Texts& decimal : {Texts{"1,234", "0,125"}, Texts{"1,234", "12,5"}, Texts{"1,234", "1234,5"}}) {
    EXPECT_EQ(format(decimal).thousands, 0);
    EXPECT_EQ(number("1,234", format(decimal)), 1.234);
  }
  const NumberFormat german = format({"1.234,5", "987", "12,25", "1.000"});
  EXPECT_EQ(german.thousands, '.');
  EXPECT_EQ(number("1.234,5", german), 1234.5);
  EXPECT_EQ(number("12,25", german), 12.25);
  EXPECT_EQ(number("1.000", german), 1000.0);
  const NumberFormat weight = format({"12 kg", "", "7.5 kg", "?", "-3 kg"});
  EXPECT_EQ(weight.unit, "kg");
  EXPECT_EQ(number("7.5 kg", weight), 7.5);
  EXPECT_EQ(number("8", weight), 8.0);
  const NumberFormat money = format({"$1,234", "$99", "$12,000.50"});
  EXPECT_EQ(money.unit, "$");
  EXPECT_EQ(number("$12,000.50", money), 12000.5);
  EXPECT_EQ(format({"45%", "3%"}).unit, "%");
  // Dashes among numbers are gaps.
  const TextKind dashes = text_kind("x", {"1,234", "-", "5,678", "-"});
  EXPECT_EQ(dashes.kind, ColumnKind::number);
  EXPECT_EQ(dashes.missing, 2);
  // Units that differ are words, and codes have no unit.
  EXPECT_EQ(kind({"1 kg", "2 g", "3 kg"}), ColumnKind::category);
  EXPECT_EQ(kind({"A1", "A2", "A3"}), ColumnKind::category);
}

TEST(TextKind, Sentences) {
  const Texts words = {"the", "cat", "sat", "on", "a", "mat", "dog", "ran", "far", "away"};
  std::mt19937_64 random(1);
  const Texts texts = made(80, [&](int) {
    std::string text;
    for (int w = 0; w < 6; ++w) text += words[random() % words.size()] + " ";
    return text;
  });
  EXPECT_EQ(kind(texts), ColumnKind::sentences);
}

TEST(TextKind, Sequences) {
  std::mt19937_64 random(2);
  const auto letters = [&](const std::string& alphabet, int length) {
    std::string text;
    for (int i = 0; i < length; ++i) text += alphabet[random() % alphabet.size()];
    return text;
  };
  EXPECT_EQ(kind(made(50, [&](int) { return letters("acgt", 57); })), ColumnKind::sequence);
  EXPECT_EQ(kind(made(50, [&](int) { return letters("CNO()=c1", 25); })), ColumnKind::sequence);
  // Hashes are not.
  EXPECT_EQ(kind(made(50, [&](int) { return letters("0123456789abcdef", 32); })), ColumnKind::name);
}

TEST(TextKind, DatesIdsAndNames) {
  EXPECT_EQ(
      kind(made(60,
                [](int i) { return "2023-11-" + std::to_string(10 + i % 20) + "T0" + std::to_string(i % 7); })),
      ColumnKind::date);
  EXPECT_EQ(
      kind(made(60, [](int i) { return std::to_string(i % 28 + 1) + " March " + std::to_string(1950 + i); })),
      ColumnKind::date);
  EXPECT_EQ(kind(made(60, [](int i) { return std::to_string(i + 100) + ".1.1.1"; })), ColumnKind::name);
  EXPECT_EQ(kind(made(60, [](int i) { return "P" + std::to_string(i); }), "patient_id"),
            ColumnKind::identifier);
  EXPECT_EQ(kind(made(60, [](int i) { return "P" + std::to_string(i); })), ColumnKind::name);
}

TEST(TextKind, MostlyNumbers) {
  const TextKind found =
      text_kind("x", made(60, [](int i) { return i == 7 ? "broken" : std::to_string(i * 0.5); }));
  EXPECT_EQ(found.kind, ColumnKind::number);
  EXPECT_EQ(found.missing, 1);
  // Few values stay categories: 2, 3, 4, 5more.
  EXPECT_EQ(kind(made(60, [](int i) { return i % 4 == 3 ? "5more" : std::to_string(i % 4 + 2); })),
            ColumnKind::category);
}

TEST(IdReason, CountsAndNames) {
  Vector counter;
  Vector holes;
  Vector squares;
  Vector shuffled;
  for (int i = 0; i < 40; ++i) {
    counter.push_back(i);
    const int hole = i + i / 4;  // what a fold leaves of a counter
    holes.push_back(hole);
    squares.push_back(i * i);
    shuffled.push_back((i * 17) % 40);
  }
  EXPECT_THAT(id_reason("x", counter), Not(IsEmpty()));
  EXPECT_THAT(id_reason("x", holes), Not(IsEmpty()));
  EXPECT_THAT(id_reason("x", squares), IsEmpty());
  EXPECT_THAT(id_reason("x", shuffled), IsEmpty());  // a rank is a number
  for (const char* name : {"id", "patient_id", "PassengerId", "Unnamed: 0"})
    EXPECT_THAT(id_reason(name, shuffled), Not(IsEmpty())) << name;
  for (const char* name : {"acid", "solid", "width"}) EXPECT_THAT(id_reason(name, shuffled), IsEmpty()) << name;
  Vector few;
  for (int i = 0; i < 40; ++i) few.push_back(i % 5);
  EXPECT_THAT(id_reason("id", few), IsEmpty());
}

TEST(Words, RunsOfLettersAndDigitsInLowerCase) {
  EXPECT_THAT(words_of("Don't STOP, 2nd-best: naïve!"),
              ElementsAre("don", "t", "stop", "2nd", "best", "naïve"));
  EXPECT_THAT(words_of(" ,. "), IsEmpty());
}

}  // namespace
}  // namespace kloom::data
