// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "data_support.h"
#include "kloom/dataset.h"
#include "kloom/error.h"

namespace kloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_support::expect_error;

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

Dataset make(const std::vector<std::string>& names, const std::vector<Vector>& columns) {
  Dataset data;
  data.source = "t.csv";
  data.samples = static_cast<Index>(columns.empty() ? 0 : columns[0].size());
  data.features = Matrix(data.samples, static_cast<Index>(columns.size()));
  for (std::size_t j = 0; j < columns.size(); ++j) {
    data.feature_info.push_back({names[j], ""});
    std::ranges::copy(columns[j], data.features.column(static_cast<Index>(j)).begin());
  }
  for (Index i = 0; i < data.samples; ++i) {
    data.lines.push_back(i + 2);
  }
  return data;
}

PreprocessingOptions options(Impute impute = Impute::refuse, bool standardise = true, bool onehot = false) {
  PreprocessingOptions result;
  result.impute = impute;
  result.standardise = standardise;
  result.onehot = onehot;
  result.indicate = false;
  result.decide = false;
  return result;
}

// In long double, by the definition.
void naive_moments(const Vector& values, double& mean, double& deviation) {
  long double sum = 0.0L;
  for (const double v : values) {
    sum += v;
  }
  const auto n = static_cast<long double>(values.size());
  long double squares = 0.0L;
  for (const double v : values) {
    squares += (v - sum / n) * (v - sum / n);
  }
  mean = static_cast<double>(sum / n);
  deviation = static_cast<double>(std::sqrt(squares / (n - 1.0L)));
}

TEST(Preprocessing, StandardisesBySampleDeviation) {
  const Dataset data = make({"a"}, {{1, 2, 3, 4}});
  const Preprocessing fitted = Preprocessing::fit(data, options());
  EXPECT_DOUBLE_EQ(fitted.columns()[0].centre, 2.5);
  EXPECT_DOUBLE_EQ(fitted.columns()[0].scale, std::sqrt(5.0 / 3.0));
  const Dataset out = fitted.apply(data);
  EXPECT_DOUBLE_EQ(out.features(0, 0), -1.5 / std::sqrt(5.0 / 3.0));
}

// Offsets a million times the spread, tiny and huge units: agreement with long double. Subtracting a mean that
// is itself rounded to eps * offset leaves an error of that size in each deviation, hence the tolerance.
TEST(Preprocessing, MomentsAreStable) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  const double eps = std::numeric_limits<double>::epsilon();
  for (const double offset : {0.0, 1.0, 1e6, -1e9}) {
    for (const double unit : {1.0, 1e-160, 1e140}) {
      Vector values;
      for (int i = 0; i < 1000; ++i) {
        values.push_back((offset + normal(random)) * unit);
      }
      double mean = 0.0;
      double deviation = 0.0;
      naive_moments(values, mean, deviation);
      const Preprocessing fitted = Preprocessing::fit(make({"a"}, {values}), options());
      EXPECT_NEAR(fitted.columns()[0].centre, mean, 4 * eps * (std::abs(offset) + 1) * unit);
      EXPECT_NEAR(fitted.columns()[0].scale / deviation, 1.0,
                  100 * eps * (std::abs(offset) + 1) * 1e-3 + 100 * eps);
    }
  }
}

TEST(Preprocessing, ConstantFeaturesBecomeZero) {
  // 0.1 summed ten times is not 1: a mean by sums would call this column variable.
  const Dataset train = make({"a", "b"}, {Vector(10, 0.1), {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}});
  const Preprocessing fitted = Preprocessing::fit(train, options());
  EXPECT_TRUE(fitted.constant(0));
  EXPECT_FALSE(fitted.constant(1));
  const Dataset out = fitted.apply(make({"a", "b"}, {{0.1, 7.0}, {1, 2}}));
  EXPECT_THAT(out.features.column(0), ElementsAre(0, 0));
  const Preprocessing one = Preprocessing::fit(make({"a"}, {{5}}), options());
  EXPECT_TRUE(one.constant(0));
}

TEST(Preprocessing, WithoutStandardisationValuesStayAndConstantsAreMarked) {
  const Dataset train = make({"a", "b"}, {{3, 3}, {1, 2}});
  const Preprocessing fitted = Preprocessing::fit(train, options(Impute::refuse, false));
  EXPECT_TRUE(fitted.constant(0));
  EXPECT_EQ(fitted.apply(train).features, train.features);
}

TEST(Preprocessing, MissingValuesAreRefusedByPlace) {
  const Dataset data = make({"a", "b"}, {{1, 2, 3}, {1, nan_value, nan_value}});
  expect_error<InvalidArgument>([&] { static_cast<void>(Preprocessing::fit(data, options())); },
                                {"t.csv", "line 3", "'b'", "first of 2", "--impute mean"});
  const Preprocessing fitted = Preprocessing::fit(make({"a", "b"}, {{1, 2}, {1, 2}}), options());
  expect_error<InvalidArgument>([&] { static_cast<void>(fitted.apply(data)); }, {"line 3", "'b'"});
}

TEST(Preprocessing, ImputesMeanAndMedian) {
  const Dataset data = make({"a"}, {{1, nan_value, 2, 9}});
  const Preprocessing mean = Preprocessing::fit(data, options(Impute::mean, false));
  EXPECT_DOUBLE_EQ(mean.columns()[0].fill, 4.0);
  EXPECT_THAT(mean.apply(data).features.values(), ElementsAre(1, 4, 2, 9));
  const Preprocessing median = Preprocessing::fit(data, options(Impute::median, false));
  EXPECT_DOUBLE_EQ(median.columns()[0].fill, 2.0);
  EXPECT_DOUBLE_EQ(Preprocessing::fit(make({"a"}, {{1, 4, 2, 9}}), options(Impute::median)).columns()[0].fill,
                   3.0);
  // Standardised as the filled-in column: 1, 4, 2, 9.
  const Preprocessing scaled = Preprocessing::fit(data, options(Impute::mean));
  EXPECT_DOUBLE_EQ(scaled.columns()[0].scale, std::sqrt(38.0 / 3.0));
  // A test sample's missing value becomes the training mean, so 0.
  EXPECT_DOUBLE_EQ(scaled.apply(make({"a"}, {{nan_value}})).features(0, 0), 0.0);
  const Dataset none = make({"a"}, {{nan_value, nan_value}});
  expect_error<InvalidArgument>([&] { static_cast<void>(Preprocessing::fit(none, options(Impute::mean))); },
                                {"'a'", "no values at all", "--ignore"});
}

TEST(Preprocessing, InfiniteValuesAreRefused) {
  const double inf = std::numeric_limits<double>::infinity();
  expect_error<InvalidArgument>(
      [&] {
        static_cast<void>(Preprocessing::fit(make({"a"}, {{1, inf}}), options(Impute::mean)));
      },
      {"line 3", "'a'", "infinite"});
}

Dataset colours(const std::vector<std::string>& values) {
  Dataset data = make({"size"}, {Vector(values.size(), 1.0)});
  data.features(0, 0) = 2.0;
  data.texts.push_back({{"colour", ""}, values});
  return data;
}

TEST(Preprocessing, TextIsRefusedWithoutOneHot) {
  expect_error<InvalidArgument>(
      [] {
        static_cast<void>(Preprocessing::fit(colours({"1", "red"}), options()));
      },
      {"t.csv", "line 3", "'colour'", "'red'", "--categorical onehot"});
  expect_error<InvalidArgument>(
      [] {
        static_cast<void>(Preprocessing::fit(colours({"1,5", "2"}), options()));
      },
      {"'1,5'", "decimals with a point"});
}

TEST(Preprocessing, OneHot) {
  const Preprocessing fitted =
      Preprocessing::fit(colours({"red", "blue", "red"}), options(Impute::refuse, false, true));
  ASSERT_EQ(fitted.columns().size(), 3U);
  EXPECT_EQ(fitted.columns()[1].feature.name, "colour=blue");
  EXPECT_EQ(fitted.columns()[2].category, "red");
  EXPECT_TRUE(fitted.columns()[2].onehot);
  const Dataset out = fitted.apply(colours({"green", "blue", "red"}));
  EXPECT_THAT(out.features.column(1), ElementsAre(0, 1, 0));
  EXPECT_THAT(out.features.column(2), ElementsAre(0, 0, 1));
  ASSERT_EQ(out.notes.size(), 1U);
  EXPECT_THAT(out.notes[0], HasSubstr("green"));
  // Standardised like any other column.
  const Preprocessing scaled =
      Preprocessing::fit(colours({"red", "blue", "red"}), options(Impute::refuse, true, true));
  EXPECT_DOUBLE_EQ(scaled.columns()[2].centre, 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(scaled.columns()[2].scale, std::sqrt(1.0 / 3.0));
}

TEST(Preprocessing, OneHotMissingTexts) {
  const Dataset data = colours({"red", "", "blue", "?"});
  expect_error<InvalidArgument>(
      [&] { static_cast<void>(Preprocessing::fit(data, options(Impute::refuse, true, true))); },
      {"line 3", "'colour'", "first of 2"});
  const Preprocessing fitted = Preprocessing::fit(data, options(Impute::mean, false, true));
  EXPECT_THAT(fitted.apply(data).features.column(1), ElementsAre(0, 0.5, 1, 0.5));
}

TEST(Preprocessing, ACategoryColumnThatHoldsOnlyNumbersInNewData) {
  const Preprocessing fitted = Preprocessing::fit(colours({"10", "red"}), options(Impute::refuse, false, true));
  const Dataset out = fitted.apply(make({"colour", "size"}, {{10, 10}, {1, 2}}));
  EXPECT_THAT(out.features.column(1), ElementsAre(1, 1));
}

TEST(Preprocessing, KeepsTextForStringKernels) {
  PreprocessingOptions keep = options();
  keep.keep_text = {"colour"};
  Dataset train = colours({"red", "blue"});
  train.views = {{"seq", {}, {0}}, {"size", {0}, {}}};
  const Preprocessing fitted = Preprocessing::fit(train, keep);
  EXPECT_EQ(fitted.text_columns(), (std::vector<Feature>{{"colour", ""}}));
  EXPECT_THAT(fitted.views()[0].texts, ElementsAre(0));
  const Dataset out = fitted.apply(colours({"x", "y"}));
  ASSERT_EQ(out.texts.size(), 1U);
  EXPECT_THAT(out.texts[0].values, ElementsAre("x", "y"));
  keep.keep_text = {"size"};
  expect_error<InvalidArgument>([&] { static_cast<void>(Preprocessing::fit(train, keep)); },
                                {"'size'", "colour"});
}

TEST(Preprocessing, ViewsFollowOneHotColumns) {
  Dataset train = colours({"red", "blue"});
  train.views = {{"both", {0}, {0}}};
  const Preprocessing fitted = Preprocessing::fit(train, options(Impute::refuse, true, true));
  EXPECT_THAT(fitted.views()[0].features, ElementsAre(0, 1, 2));
  EXPECT_THAT(fitted.apply(train).views[0].features, ElementsAre(0, 1, 2));
}

TEST(Preprocessing, MatchesColumnsByNameInAnyOrder) {
  const Preprocessing fitted =
      Preprocessing::fit(make({"a", "b"}, {{0, 2}, {0, 20}}), options(Impute::refuse, false));
  const Dataset out = fitted.apply(make({"x", "b", "a"}, {{9}, {5}, {6}}));
  EXPECT_THAT(out.features.values(), ElementsAre(6, 5));
  EXPECT_EQ(out.feature_info, (std::vector<Feature>{{"a", ""}, {"b", ""}}));
  expect_error<InvalidArgument>(
      [&] {
        static_cast<void>(fitted.apply(make({"A", "b"}, {{9}, {5}})));
      },
      {"one column", "a", "Did you mean 'A'"});
  Dataset sparse = make({"a"}, {{9}});
  sparse.absent_is_zero = true;
  EXPECT_THAT(fitted.apply(sparse).features.values(), ElementsAre(9, 0));
}

TEST(Preprocessing, ViewsTellEqualNamesApart) {
  Dataset train = make({"1", "1"}, {{0, 1}, {0, 10}});
  train.feature_info[0].view = "u";
  train.feature_info[1].view = "v";
  const Preprocessing fitted = Preprocessing::fit(train, options(Impute::refuse, false));
  Dataset other = make({"1", "1"}, {{5}, {6}});
  other.feature_info[0].view = "v";
  other.feature_info[1].view = "u";
  EXPECT_THAT(fitted.apply(other).features.values(), ElementsAre(6, 5));
}

TEST(Preprocessing, TextWhereTrainingHadNumbers) {
  const Preprocessing fitted = Preprocessing::fit(make({"colour"}, {{1, 2}}), options());
  expect_error<InvalidArgument>(
      [&] {
        static_cast<void>(fitted.apply(colours({"3", "red"})));
      },
      {"line 3", "'colour'", "'red'", "numbers"});
}

TEST(Preprocessing, FromPartsChecksAndRestores) {
  Dataset train = colours({"red", "blue"});
  train.views = {{"both", {0}, {0}}};
  const Preprocessing fitted = Preprocessing::fit(train, options(Impute::mean, true, true));
  const Preprocessing again =
      Preprocessing::from_parts(fitted.options(), fitted.columns(), fitted.text_columns(), fitted.views());
  EXPECT_EQ(again.apply(train).features, fitted.apply(train).features);
  EXPECT_THROW(static_cast<void>(Preprocessing::from_parts({}, fitted.columns(), {}, {{"v", {3}, {}}})),
               InvalidArgument);
  auto columns = fitted.columns();
  columns[0].scale = nan_value;
  EXPECT_THROW(static_cast<void>(Preprocessing::from_parts({}, columns, {}, {})), InvalidArgument);
}

std::vector<std::string> repeated(const std::vector<std::string>& some, std::size_t times) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < times * some.size(); ++i) all.push_back(some[i % some.size()]);
  return all;
}

const ColumnDecision& about(const std::vector<ColumnDecision>& decisions, const std::string& name) {
  const auto found = std::ranges::find_if(decisions, [&](const auto& d) { return d.feature.name == name; });
  if (found == decisions.end()) throw std::runtime_error("no decision about " + name);
  return *found;
}

TEST(Preprocessing, DecidesAboutEveryColumn) {
  Vector numbers;
  Vector counter;
  std::vector<std::string> names;
  std::vector<std::string> days;
  for (int i = 0; i < 60; ++i) {
    numbers.push_back((i * i) % 7);  // few distinct integers stay a number
    counter.push_back(100 + i);
    names.push_back("N" + std::to_string(i * 37));
    days.push_back("2024-0" + std::to_string(1 + i % 9) + "-" + std::to_string(10 + i % 20));
  }
  Dataset train =
      make({"a", "counter", "flat", "gone"}, {numbers, counter, Vector(60, 4.0), Vector(60, nan_value)});
  train.texts = {
      {{"colour", ""}, repeated({"red", "blue", "green"}, 20)}, {{"who", ""}, names}, {{"day", ""}, days}};
  std::vector<ColumnDecision> decisions;
  const Preprocessing fitted = Preprocessing::fit(train, {}, &decisions);
  ASSERT_EQ(decisions.size(), 7U);
  EXPECT_EQ(about(decisions, "a").kind, ColumnKind::number);
  EXPECT_EQ(about(decisions, "counter").kind, ColumnKind::identifier);
  EXPECT_FALSE(about(decisions, "counter").used);
  EXPECT_THAT(about(decisions, "counter").reason, HasSubstr("counts the rows"));
  EXPECT_EQ(about(decisions, "flat").kind, ColumnKind::constant);
  EXPECT_EQ(about(decisions, "gone").kind, ColumnKind::empty);
  EXPECT_EQ(about(decisions, "colour").kind, ColumnKind::category);
  EXPECT_EQ(about(decisions, "who").kind, ColumnKind::name);
  EXPECT_EQ(about(decisions, "day").kind, ColumnKind::date);
  std::vector<std::string> left;
  for (const auto& column : fitted.columns()) left.push_back(column.feature.name);
  EXPECT_THAT(left, ElementsAre("a", "flat", "colour=blue", "colour=green", "colour=red"));
  // Kept on request.
  PreprocessingOptions keep;
  keep.keep = {"counter", "day"};
  const Preprocessing kept = Preprocessing::fit(train, keep, &decisions);
  EXPECT_EQ(about(decisions, "counter").kind, ColumnKind::number);
  EXPECT_TRUE(about(decisions, "day").used);
  // New data need only what is used.
  const Dataset out = fitted.apply([&] {
    Dataset some = make({"a", "flat"}, {{1, 2}, {4, 4}});
    some.texts = {{{"colour", ""}, {"red", "pink"}}};
    return some;
  }());
  EXPECT_EQ(out.features.cols(), 5);
  const double third = 1.0 / 3.0;
  EXPECT_NEAR(out.features(0, 4), 1.0 - third, 1e-15);  // red, centred, not divided
  EXPECT_NEAR(out.features(1, 4), -third, 1e-15);       // pink: all zero before centring
}

TEST(Preprocessing, FewRowsAreNoReasonToDropText) {
  std::vector<ColumnDecision> decisions;
  const Preprocessing fitted = Preprocessing::fit(colours({"red", "blue", "green"}), {}, &decisions);
  EXPECT_EQ(about(decisions, "colour").kind, ColumnKind::category);
  EXPECT_EQ(fitted.columns().size(), 4U);
}

TEST(Preprocessing, MissingValuesAreFilledAndMarkedOnce) {
  // a and b are missing together: one mark serves both. c is missing elsewhere.
  const Dataset train =
      make({"a", "b", "c"}, {{1, nan_value, 3, 8}, {2, nan_value, 5, 6}, {nan_value, 1, 2, 3}});
  PreprocessingOptions raw;
  raw.standardise = false;
  std::vector<ColumnDecision> decisions;
  const Preprocessing fitted = Preprocessing::fit(train, raw, &decisions);
  ASSERT_EQ(fitted.columns().size(), 5U);
  const Dataset out = fitted.apply(train);
  EXPECT_THAT(out.features.column(0), ElementsAre(1, 3, 3, 8));
  EXPECT_EQ(fitted.columns()[1].feature.name, "a is missing");
  EXPECT_THAT(out.features.column(1), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(out.features.column(4), ElementsAre(1, 0, 0, 0));
  EXPECT_EQ(about(decisions, "b").missing, 1);
  // A gap where training had none is filled, and said.
  const auto notes = fitted.surprises(make({"a", "b", "c"}, {{1}, {nan_value}, {3}}));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_THAT(notes[0], HasSubstr("'b' (1)"));
}

TEST(Preprocessing, MissingCategoriesAreACategoryOfTheirOwn) {
  const Dataset train = colours({"red", "?", "blue", ".", "red"});
  PreprocessingOptions raw;
  raw.standardise = false;
  const Dataset out = Preprocessing::fit(train, raw).apply(train);
  ASSERT_EQ(out.features.cols(), 4);
  EXPECT_THAT(out.features.column(1), ElementsAre(0, 0, 1, 0, 0));
  EXPECT_THAT(out.features.column(2), ElementsAre(1, 0, 0, 0, 1));
  EXPECT_THAT(out.features.column(3), ElementsAre(0, 1, 0, 1, 0));
}

TEST(Preprocessing, UnseenCategoriesAreNamed) {
  const Preprocessing fitted = Preprocessing::fit(colours({"red", "blue"}), {});
  const auto notes = fitted.surprises(colours({"green", "red"}));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_THAT(notes[0], HasSubstr("'colour'"));
  EXPECT_THAT(notes[0], HasSubstr("green"));
}

TEST(Preprocessing, ManyCategoriesKeepTheFrequentOnes) {
  std::vector<std::string> values;
  for (int i = 0; i < 200; ++i) values.push_back("c" + std::to_string(i % 100 < 60 ? i % 100 : i));
  const Preprocessing fitted = Preprocessing::fit(colours(values), {});
  // Sixty categories occur twice, the others once: fifty of the sixty are coded.
  EXPECT_EQ(fitted.columns().size(), 51U);
}

TEST(Preprocessing, NumbersWrittenAsText) {
  Dataset train = make({"a"}, {{1, 2, 3, 4}});
  train.texts = {{{"b", ""}, {"1,5", "2", "-0,25", "3"}}};
  PreprocessingOptions raw;
  raw.standardise = false;
  const Preprocessing fitted = Preprocessing::fit(train, raw);
  EXPECT_THAT(fitted.apply(train).features.column(1), ElementsAre(1.5, 2, -0.25, 3));
}

TEST(Preprocessing, NothingLeftIsRefusedWithTheReasons) {
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) names.push_back("N" + std::to_string(i * 37));
  Dataset train = make({}, {});
  train.samples = 40;
  train.texts = {{{"who", ""}, names}};
  expect_error<InvalidArgument>([&] { static_cast<void>(Preprocessing::fit(train, {})); },
                                {"no column is left", "'who'", "--keep"});
}

// Normal scores from the definition: the normal quantile of the mean rank over n + 1, the quantile by bisection of
// the error function.
double naive_score(const Vector& values, double value) {
  double below = 0.0;
  double equal = 0.0;
  for (const double v : values) {
    below += v < value ? 1.0 : 0.0;
    equal += v == value ? 1.0 : 0.0;
  }
  const double share = (below + 0.5 * (equal + 1.0)) / (static_cast<double>(values.size()) + 1.0);
  double low = -10.0;
  double high = 10.0;
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    (0.5 * std::erfc(-middle / std::sqrt(2.0)) < share ? low : high) = middle;
  }
  return low;
}

TEST(Preprocessing, RanksAreNormalScores) {
  const Vector values = {3, 100, 7, 7, -2, 5000, 0.5};
  const Dataset train = make({"a"}, {values});
  Preprocessing fitted = Preprocessing::fit(train, {});
  const auto places = fitted.add_transformed(train, Transform::ranks, {0});
  ASSERT_THAT(places, ElementsAre(1));
  const Dataset out = fitted.apply(train);
  for (Index i = 0; i < 7; ++i)  // bisection ends at the resolution of erfc, a few eps
    EXPECT_NEAR(out.features(i, 1), naive_score(values, values[static_cast<std::size_t>(i)]), 1e-14);
  const Dataset fresh = fitted.apply(make({"a"}, {{-1e9, 1e9, 5.0}}));
  EXPECT_EQ(fresh.features(0, 1), out.features(4, 1));
  EXPECT_EQ(fresh.features(1, 1), out.features(5, 1));
  EXPECT_NEAR(fresh.features(2, 1), 0.5 * (out.features(0, 1) + out.features(2, 1)), 1e-15);
}

TEST(Preprocessing, TfIdfAndRaw) {
  const Dataset train = make({"a", "b"}, {{0, 2, 0, 1}, {1, 1, 1, 3}});
  Preprocessing fitted = Preprocessing::fit(train, {});
  EXPECT_THAT(fitted.add_transformed(train, Transform::tfidf, {0, 1}), ElementsAre(2, 3));
  EXPECT_THAT(fitted.add_transformed(train, Transform::raw, {1}), ElementsAre(4));
  const Dataset out = fitted.apply(train);
  EXPECT_DOUBLE_EQ(out.features(1, 2), 2.0 * (std::log(5.0 / 3.0) + 1.0));
  EXPECT_DOUBLE_EQ(out.features(3, 3), 3.0);  // in every sample: ln(5/5) + 1
  EXPECT_THAT(out.features.column(4), ElementsAre(1, 1, 1, 3));
}

TEST(Preprocessing, CodesTellCategoriesApart) {
  const Dataset train = colours({"red", "blue", "", "red"});
  Preprocessing fitted = Preprocessing::fit(train, {});
  // Both one-hot columns come from the same text column and share its codes.
  EXPECT_THAT(fitted.add_transformed(train, Transform::codes, {1, 2}), ElementsAre(4, 4));
  EXPECT_THAT(fitted.apply(colours({"green", "blue", "?", "red"})).features.column(4),
              ElementsAre(-1, 1, 0, 2));
}

}  // namespace
}  // namespace kloom
