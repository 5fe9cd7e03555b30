// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
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
    for (const double unit : {1.0, 1e-160, 1e150}) {
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

}  // namespace
}  // namespace kloom
