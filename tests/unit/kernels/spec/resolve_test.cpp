// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "kernels/banks/computed_bank.h"
#include "kloom/error.h"
#include "kloom/kernels.h"

namespace kloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Dataset table(Index n = 30) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  Dataset data;
  data.samples = n;
  data.features = Matrix(n, 4);
  for (double& v : data.features.values()) v = normal(random);
  data.feature_info = {{"age", ""}, {"mean radius", ""}, {"flat", ""}, {"grade", ""}};
  for (double& v : data.features.column(2)) v = 0.0;
  return data;
}

Dataset with_views() {
  Dataset data = table();
  data.feature_info = {{"g1", "rna"}, {"g2", "rna"}, {"g1", "met"}, {"site", "met"}};
  data.views = {{"rna", {0, 1}}, {"met", {2, 3}}};
  return data;
}

Matrix random_kernel(Index n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Matrix x(n, 3);
  for (double& v : x.values()) v = normal(random);
  Matrix k(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      for (Index f = 0; f < 3; ++f) k(i, j) += x(i, f) * x(j, f);
  return k;
}

std::vector<KernelTerm> resolve(const std::string& spec, Dataset& data, const ResolveOptions& options = {}) {
  return resolve_kernels(parse_kernel_spec(spec), data, options, {});
}

std::vector<std::string> names(const std::string& spec, Dataset data, const ResolveOptions& options = {}) {
  std::vector<std::string> result;
  for (const auto& term : resolve(spec, data, options)) result.push_back(term.name);
  return result;
}

ResolveOptions skip_flat() {
  ResolveOptions options;
  options.constant = {false, false, true, false};
  return options;
}

std::string refusal(const std::string& spec, Dataset data, const ResolveOptions& options = {}) {
  try {
    (void)resolve(spec, data, options);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ResolveKernels, NamesKernelsFamilyByFamilyScopeByScope) {
  ResolveOptions options;
  options.constant = {false, false, true, false};
  EXPECT_THAT(
      names("rbf(width=0.5,2) on all, each; poly(degree=3) on age + grade", table(), options),
      ElementsAre("rbf(width=0.5) on all", "rbf(width=2) on all", "rbf(width=0.5) on age",
                  "rbf(width=2) on age", "rbf(width=0.5) on \"mean radius\"", "rbf(width=2) on \"mean radius\"",
                  "rbf(width=0.5) on grade", "rbf(width=2) on grade", "poly(degree=3) on age + grade"));
  EXPECT_THAT(names("linear(normalise=centre); linear; linear on all", table()),
              ElementsAre("linear(normalise=centre) on all", "linear on all"));
}

TEST(ResolveKernels, TermsHoldInputsAndParameters) {
  Dataset data = table();
  const auto terms = resolve("rbf(width=2) on age; rbf(gamma=3) on grade + age; poly(degree=4)", data);
  EXPECT_EQ(terms[0].parameter, 0.125);
  EXPECT_THAT(terms[0].features, ElementsAre(0));
  EXPECT_EQ(terms[0].group, "age");
  EXPECT_EQ(terms[1].parameter, 3.0);
  EXPECT_THAT(terms[1].features, ElementsAre(3, 0));
  EXPECT_EQ(terms[2].parameter, 4.0);
  EXPECT_THAT(terms[2].features, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(terms[2].group, "all");
  EXPECT_EQ(terms[0].normalisation, Normalisation::unit_diagonal);
}

TEST(ResolveKernels, ViewsAndColumnsOfSeveralViews) {
  EXPECT_THAT(names("linear", with_views()), ElementsAre("linear on view rna", "linear on view met"));
  EXPECT_THAT(names("linear on views, all, view met", with_views()),
              ElementsAre("linear on view rna", "linear on view met", "linear on all"));
  EXPECT_THAT(names("linear on each", with_views()),
              ElementsAre("linear on rna.g1", "linear on g2", "linear on met.g1", "linear on site"));
  Dataset data = with_views();
  EXPECT_THAT(resolve("linear on met.g1", data)[0].features, ElementsAre(2));
  EXPECT_THAT(refusal("linear on g1", with_views()),
              HasSubstr("in several views; write one of rna.g1, met.g1"));
  EXPECT_THAT(refusal("linear on rna", with_views()), HasSubstr("is a view, not a column; write 'view rna'"));
  EXPECT_THAT(refusal("linear on view dna", with_views()), HasSubstr("no view 'dna'; the views are rna, met"));
  EXPECT_THAT(refusal("linear on views", table()), HasSubstr("no views were declared"));
}

TEST(ResolveKernels, OneHotColumnsAnswerToTheNameOfTheirColumn) {
  Dataset data = table();
  data.feature_info[1].name = "colour=red";
  data.feature_info[3].name = "colour=blue";
  EXPECT_THAT(resolve("linear on colour", data)[0].features, ElementsAre(1, 3));
  EXPECT_THAT(resolve("linear on \"colour=red\"", data)[0].features, ElementsAre(1));
}

TEST(ResolveKernels, SaysWhatIsMissing) {
  EXPECT_THAT(refusal("linear on weight", table()),
              HasSubstr("no column 'weight'; the columns are age, mean radius, flat, grade"));
  EXPECT_THAT(refusal("spectrum(k=3)", table()), HasSubstr("needs a text column"));
  EXPECT_THAT(refusal("precomputed", table()),
              HasSubstr("needs a kernel file, but the data have none (--kernel-file)"));
  EXPECT_THAT(refusal("expdist", table()), HasSubstr("needs a distance file"));
  EXPECT_THAT(refusal("chi2(gamma=1) on age", table()), HasSubstr("--no-standardise"));
  EXPECT_THAT(refusal("rbf(auto) on flat", table()), HasSubstr("all distances between training samples are 0"));
  ResolveOptions options;
  options.constant = {true, true, true, true};
  EXPECT_THAT(refusal("linear on each", table(), options), HasSubstr("finds no feature that varies"));
  EXPECT_THAT(refusal("linear on flat", table(), options), HasSubstr("gives no kernel"));
  EXPECT_THAT(refusal("linear(normalise=unit-trace) on flat", table()), HasSubstr("has trace 0"));
  EXPECT_THAT(refusal("rbf(width=1, normalise=unit-variance) on flat", table()), HasSubstr("is constant"));
  Dataset missing = table();
  missing.features(4, 0) = std::nan("");
  missing.source = "data.csv";
  missing.lines = std::vector<Index>(30, 6);
  EXPECT_THAT(refusal("rbf(auto)", missing), HasSubstr("'age' of sample 5 (data.csv, line 6) is nan"));
  Dataset texts = table();
  texts.texts = {{{"a", ""}, std::vector<std::string>(30, "x")},
                 {{"b", ""}, std::vector<std::string>(30, "x")}};
  EXPECT_THAT(refusal("spectrum(k=1)", texts), HasSubstr("several text columns (a, b)"));
  EXPECT_THAT(refusal("linear on b", texts), HasSubstr("holds text"));
  EXPECT_THAT(names("spectrum(k=1) on b; spectrum(k=1) on each", texts),
              ElementsAre("spectrum(k=1) on b", "spectrum(k=1) on a"));
}

TEST(ResolveKernels, AutomaticWidthsAreQuantilesOfTheDistances) {
  Dataset data = table(60);
  std::vector<double> distances;
  for (Index i = 0; i < 60; ++i)
    for (Index j = 0; j < i; ++j) {
      double sum = 0.0;
      for (Index f = 0; f < 4; ++f) sum += std::pow(data.features(i, f) - data.features(j, f), 2);
      distances.push_back(std::sqrt(sum));
    }
  std::sort(distances.begin(), distances.end());
  const auto terms = resolve("rbf(auto)", data);
  ASSERT_EQ(terms.size(), 5U);
  const std::vector<double> levels = {0.1, 0.3, 0.5, 0.7, 0.9};
  for (std::size_t k = 0; k < 5; ++k) {
    const double width = std::sqrt(0.5 / terms[k].parameter);
    const double expected =
        distances[static_cast<std::size_t>(levels[k] * static_cast<double>(distances.size()))];
    EXPECT_NEAR(width, expected, 1e-5 * expected);  // six digits
  }
  EXPECT_EQ(resolve("rbf(auto, count=7)", data).size(), 7U);
  // Laplacian: the inverse of the quantile of its own distance.
  std::vector<double> sums;
  for (Index i = 0; i < 60; ++i)
    for (Index j = 0; j < i; ++j) sums.push_back(std::abs(data.features(i, 0) - data.features(j, 0)));
  std::sort(sums.begin(), sums.end());
  EXPECT_NEAR(1.0 / resolve("laplacian(auto, count=1) on age", data)[0].parameter, sums[sums.size() / 2], 1e-5);
}

TEST(ResolveKernels, AutomaticWidthsOfManySamplesComeFromASampleOfThem) {
  Dataset data = table(3000);
  const auto one = resolve("rbf(auto) on each", data, skip_flat());
  const auto two = resolve("rbf(auto) on each", data, skip_flat());
  EXPECT_EQ(one, two);
  // Differences of two standard normals have standard deviation √2; their absolute median is 0.6745·√2 = 0.954.
  // The median over half a million dependent pairs of 1000 samples scatters by about 2 %.
  EXPECT_NEAR(std::sqrt(0.5 / one[2].parameter), 0.954, 0.08);
}

TEST(ResolveKernels, ExponentialOfDistances) {
  Dataset data = table(6);
  Matrix d(6, 6);
  double sum = 0.0;
  for (Index i = 0; i < 6; ++i)
    for (Index j = 0; j < i; ++j) sum += d(i, j) = d(j, i) = static_cast<double>(i + j);
  data.distances.push_back({"colour", d});
  const auto terms = resolve("expdist(gamma=0.5,2)", data);
  EXPECT_EQ(terms[1].name, "expdist(gamma=2) on colour");
  EXPECT_NEAR(terms[0].distance_scale, sum / 15.0, 1e-15 * sum);
  auto train = std::make_shared<Dataset>(data);
  const kernels::ComputedBank bank(terms, train, train, true);
  Vector panel(72);
  bank.panels({0, 2}, {0, 6}, panel.data());
  for (Index i = 0; i < 6; ++i)
    for (Index j = 0; j < 6; ++j)
      EXPECT_NEAR(panel[static_cast<std::size_t>(36 + i * 6 + j)], std::exp(-2.0 * d(i, j) / (sum / 15.0)),
                  1e-14);
  d(1, 1) = 1.0;
  data.distances[0].values = d;
  EXPECT_THAT(refusal("expdist", data), HasSubstr("between sample 2 and itself"));
  data.distances[0].values = Matrix(6, 6);
  EXPECT_THAT(refusal("expdist", data), HasSubstr("has mean 0"));
}

TEST(ResolveKernels, GivenKernelsAreCheckedAndKeptAsTheyAre) {
  Dataset data = table(8);
  data.kernels = {{"a", random_kernel(8, 1)}, {"b", random_kernel(8, 2)}};
  const auto terms = resolve("precomputed", data);
  ASSERT_EQ(terms.size(), 2U);
  EXPECT_EQ(terms[0].name, "precomputed on a");
  EXPECT_EQ(terms[0].normalisation, Normalisation::none);
  EXPECT_EQ(names("precomputed on b", data), std::vector<std::string>{"precomputed on b"});
  EXPECT_THAT(refusal("precomputed on c", data), HasSubstr("no kernel file 'c'; the choices are a, b"));

  ResolveOptions trace;
  trace.normalisation = Normalisation::unit_trace;
  const auto scaled = resolve("precomputed on a", data, trace);
  double sum = 0.0;
  for (Index i = 0; i < 8; ++i) sum += data.kernels[0].values(i, i);
  EXPECT_NEAR(scaled[0].scale, 1.0 / sum, 1e-15);

  Dataset bad = data;
  Matrix changed = random_kernel(8, 2);
  changed(2, 5) += 0.5;
  bad.kernels[1].values = changed;
  EXPECT_THAT(refusal("precomputed", bad), HasSubstr("kernel 'b' is not symmetric: row 6, column 3 is"));
  changed = random_kernel(8, 2);
  changed(4, 4) -= 30.0;
  bad.kernels[1].values = changed;
  EXPECT_THAT(refusal("precomputed", bad), HasSubstr("--clip-spectrum"));
  ResolveOptions clip;
  clip.clip_spectrum = true;
  EXPECT_EQ(resolve("precomputed", bad, clip).size(), 2U);
  EXPECT_NE(bad.kernels[1].values(4, 4), random_kernel(8, 2)(4, 4) - 30.0);
}

TEST(ResolveKernels, UnitDiagonalOfAGivenKernelNeedsAConstantDiagonal) {
  Dataset data = table(8);
  data.kernels = {{"a", random_kernel(8, 1)}};
  EXPECT_THAT(refusal("precomputed(normalise=unit-diagonal)", data), HasSubstr("not in a given matrix"));
  Matrix k(8, 8, 2.0);
  for (Index i = 0; i < 8; ++i) k(i, i) = 4.0;
  data.kernels[0].values = k;
  const auto terms = resolve("precomputed(normalise=unit-diagonal)", data);
  auto train = std::make_shared<Dataset>(data);
  const kernels::ComputedBank bank(terms, train, train, true);
  Vector row(8);
  bank.panels({0, 1}, {3, 4}, row.data());
  EXPECT_EQ(row[3], 1.0);
  EXPECT_EQ(row[0], 0.5);
}

TEST(ResolveKernels, RefusesTooManyKernels) {
  Dataset data = table();
  data.features = Matrix(30, 60);
  data.feature_info.clear();
  for (Index f = 0; f < 60; ++f) data.feature_info.push_back({fmt::format("f{}", f), ""});
  EXPECT_THAT(refusal("rbf(width=1..2000) on each", data), HasSubstr("more than 100000 kernels on these data"));
}

TEST(DefaultKernelSpec, SuitsWhatTheDataHave) {
  // Thirty samples are too few for kernels on single columns, sixty are enough.
  EXPECT_EQ(
      to_string(default_kernel_spec(table())),
      "rbf(auto=0.125,0.25,0.5,1,2) on all; rbf(auto=0.5,1, scale=ranks) on all; laplacian(auto=0.5,1) on all; "
      "poly(degree=2,3) on all; linear on all; laplacian(auto=1, scale=ranks) on all");
  EXPECT_THAT(to_string(default_kernel_spec(table(60))), HasSubstr("; rbf(auto=0.25,1) on each"));
  EXPECT_THAT(to_string(default_kernel_spec(with_views())), HasSubstr("linear on view rna, view met"));
  Dataset given;
  given.samples = 4;
  given.kernels = {{"a", Matrix(4, 4)}};
  EXPECT_EQ(to_string(default_kernel_spec(given)), "precomputed");
  given.distances = std::move(given.kernels);
  given.kernels.clear();
  EXPECT_EQ(to_string(default_kernel_spec(given)), "expdist(gamma=0.25,0.5,1,2,4)");
  given.distances.clear();
  EXPECT_THROW((void)default_kernel_spec(given), InvalidArgument);
  given.texts = {{{"s", ""}, {"a", "b", "c", "d"}}};
  EXPECT_THAT(to_string(default_kernel_spec(given)), HasSubstr("overlap on all"));
  given.texts[0].values = {"acgtacgtacgtacgt", "acgtacgtacgtaaaa", "ttttacgtacgtacgt", "acgtacgggcgtacgt"};
  EXPECT_EQ(to_string(default_kernel_spec(given)),
            "spectrum(k=3,4,5) on s; spectrum(k=2,3,4, scale=tfidf) on s");
}

}  // namespace
}  // namespace kloom
