// SPDX-License-Identifier: BSD-3-Clause
//
// Kernels that look at columns in other ways than standardised, and which of them are chosen for which data.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>

#include "kernels/spec/preprocessing_file.h"
#include "kloom/error.h"
#include "kloom/recipe.h"
#include "support/problems.h"

namespace kloom {
namespace {

using test::kernel_of;
using ::testing::HasSubstr;
using ::testing::Not;

Dataset numbers(Index n, Index d, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Dataset data;
  data.samples = n;
  data.features = Matrix(n, d);
  for (double& v : data.features.values()) v = normal(random);
  for (Index j = 0; j < d; ++j) data.feature_info.push_back({fmt::format("x{}", j), ""});
  return data;
}

Dataset words_of_length(Index n, Index d, double zeros, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform;
  Dataset data = numbers(n, d, seed);
  for (double& v : data.features.values())
    v = uniform(random) < zeros ? 0.0 : std::floor(1.0 + 4.0 * uniform(random));
  return data;
}

std::vector<std::string> drawn(Index n, const std::vector<std::string>& from, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<std::string> values;
  for (Index i = 0; i < n; ++i) values.push_back(from[random() % from.size()]);
  return values;
}

std::string advised(const Dataset& data) {
  return to_string(default_kernel_spec(data));
}

Index count(const Dataset& data) {
  return std::ssize(Recipe::fit(data, {}, {}, {}).terms);
}

TEST(Overlap, IsTheShareOfColumnsThatAgree) {
  Dataset train = numbers(30, 2, 1);
  train.texts = {{{"a", ""}, drawn(30, {"u", "v", "w"}, 2)},
                 {{"b", ""}, drawn(30, {"s", "t", ""}, 3)},
                 {{"c", ""}, drawn(30, {"k", "l"}, 4)}};
  const Recipe recipe =
      Recipe::fit(train, parse_kernel_spec("overlap; overlap on each; overlap on a + x0"), {}, {});
  ASSERT_EQ(recipe.terms.size(), 5U);
  EXPECT_EQ(recipe.terms[1].name, "overlap on a");
  Dataset test = numbers(5, 2, 9);
  test.texts = {{{"a", ""}, {"u", "v", "new", "w", "u"}},
                {{"b", ""}, {"s", "", "t", "s", "t"}},
                {{"c", ""}, {"k", "l", "other", "k", "k"}}};
  test.features(0, 0) = train.features(7, 0);
  const auto bank = recipe.bank_for(test);
  const Matrix all = kernel_of(*bank, 0);
  const Matrix first = kernel_of(*bank, 1);
  const Matrix mixed = kernel_of(*bank, 4);
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 30; ++j) {
      double agree = 0.0;
      for (std::size_t t = 0; t < 3; ++t)
        agree += test.texts[t].values[i] == train.texts[t].values[j] ? 1.0 : 0.0;
      const auto row = static_cast<Index>(i);
      const auto col = static_cast<Index>(j);
      EXPECT_DOUBLE_EQ(all(row, col), agree / 3.0);
      const double a = test.texts[0].values[i] == train.texts[0].values[j] ? 1.0 : 0.0;
      EXPECT_EQ(first(row, col), a);
      EXPECT_EQ(mixed(row, col), (a + (test.features(row, 0) == train.features(col, 0) ? 1.0 : 0.0)) / 2.0);
    }
  }
  const auto square = recipe.training_bank();
  for (Index i = 0; i < 30; ++i) EXPECT_EQ(kernel_of(*square, 0)(i, i), 1.0);
}

using Bag = std::map<std::string, double>;

// Split at blanks: the texts below have nothing else.
std::vector<Bag> bags(const std::vector<std::string>& texts) {
  std::vector<Bag> result;
  for (const std::string& text : texts) {
    Bag bag;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      for (char& c : word) c = static_cast<char>(std::tolower(c));
      bag[word] += 1.0;
    }
    result.push_back(bag);
  }
  return result;
}

TEST(Words, IsTheCosineOfTfIdf) {
  const std::vector<std::string> train_texts = {"the cat sat", "The dog sat sat", "a bird",
                                                "cat and dog and bird"};
  const std::vector<std::string> test_texts = {"the bird sat", "unknown words", "CAT cat", ""};
  Dataset train = numbers(4, 1, 1);
  train.texts = {{{"t", ""}, train_texts}};
  Dataset test = numbers(4, 1, 2);
  test.texts = {{{"t", ""}, test_texts}};
  const Recipe recipe = Recipe::fit(train, parse_kernel_spec("words on t"), {}, {});
  const Matrix k = kernel_of(*recipe.bank_for(test), 0);
  const auto trained = bags(train_texts);
  const auto tested = bags(test_texts);
  const auto idf = [&](const std::string& word) {
    const auto in = std::ranges::count_if(trained, [&](const Bag& bag) { return bag.contains(word); });
    return std::log(5.0 / (1.0 + static_cast<double>(in))) + 1.0;
  };
  const auto dot = [&](const Bag& a, const Bag& b) {
    double sum = 0.0;
    for (const auto& [word, n] : a)
      if (b.contains(word)) sum += n * b.at(word) * idf(word) * idf(word);
    return sum;
  };
  for (Index i = 0; i < 4; ++i) {
    for (Index j = 0; j < 4; ++j) {
      const Bag& a = tested[static_cast<std::size_t>(i)];
      const Bag& b = trained[static_cast<std::size_t>(j)];
      const double norm = std::sqrt(dot(a, a) * dot(b, b));
      EXPECT_NEAR(k(i, j), norm > 0.0 ? dot(a, b) / norm : 0.0, 1e-14) << i << " " << j;
    }
  }
}

TEST(Scales, RawAndRanksReachTheKernel) {
  const Dataset train = words_of_length(25, 3, 0.3, 5);
  const Recipe recipe = Recipe::fit(
      train,
      parse_kernel_spec(
          "linear(scale=raw, normalise=none) on x1; intersection(scale=raw, normalise=none); linear"),
      {}, {});
  EXPECT_EQ(recipe.terms[0].name, "linear(scale=raw, normalise=none) on x1");
  const auto bank = recipe.training_bank();
  const Matrix raw = kernel_of(*bank, 0);
  const Matrix least = kernel_of(*bank, 1);
  for (Index i = 0; i < 25; ++i) {
    for (Index j = 0; j < 25; ++j) {
      EXPECT_EQ(raw(i, j), train.features(i, 1) * train.features(j, 1));
      double sum = 0.0;
      for (Index f = 0; f < 3; ++f) sum += std::min(train.features(i, f), train.features(j, f));
      EXPECT_DOUBLE_EQ(least(i, j), sum);
    }
  }
  // A monotone change of a column changes nothing for kernels of ranks.
  const KernelSpec ranks = parse_kernel_spec("rbf(width=1, scale=ranks)");
  Dataset bent = train;
  for (double& v : bent.features.column(0)) v = std::exp(3.0 * v);
  const Matrix a = kernel_of(*Recipe::fit(train, ranks, {}, {}).training_bank(), 0);
  const Matrix b = kernel_of(*Recipe::fit(bent, ranks, {}, {}).training_bank(), 0);
  EXPECT_EQ(a, b);
}

TEST(Scales, ColumnsThatNoKernelSeesAreDropped) {
  const Dataset train = words_of_length(25, 3, 0.3, 5);
  const Recipe recipe = Recipe::fit(train, parse_kernel_spec("linear(scale=raw) on x1"), {}, {});
  EXPECT_EQ(recipe.basis.features.cols(), 1);
  Dataset less = train;
  less.feature_info = {{"x1", ""}};
  less.features = Matrix(25, 1, 2.0);
  EXPECT_EQ(recipe.bank_for(less)->rows(), 25);
  // Without such scales everything stays, as in files of the past.
  EXPECT_EQ(Recipe::fit(train, parse_kernel_spec("linear on x1"), {}, {}).basis.features.cols(), 3);
}

TEST(AutomaticWidths, MultiplesOfTheMedianAndZeroDistances) {
  Dataset data = numbers(40, 1, 3);
  for (Index i = 0; i < 40; ++i) data.features(i, 0) = i < 3 ? 1.0 : 0.0;  // most pairs agree
  RecipeOptions raw;
  raw.preprocessing.standardise = false;
  const Recipe recipe = Recipe::fit(data, parse_kernel_spec("rbf(auto=0.5,1,2)"), raw, {});
  ASSERT_EQ(recipe.terms.size(), 3U);
  EXPECT_EQ(recipe.terms[0].name, "rbf(width=0.5) on all");
  EXPECT_EQ(recipe.terms[2].name, "rbf(width=2) on all");
  const KernelSpec spec = parse_kernel_spec("rbf(auto=0.5,1,2, scale=ranks) on x0");
  EXPECT_EQ(to_string(spec), "rbf(auto=0.5,1,2, scale=ranks) on x0");
  EXPECT_EQ(parse_kernel_spec(to_string(spec)), spec);
  EXPECT_THROW((void)parse_kernel_spec("linear(scale=log)"), InvalidArgument);
  EXPECT_THROW((void)parse_kernel_spec("overlap(scale=raw)"), InvalidArgument);
}

TEST(Advice, SuitsTheKindOfNumbers) {
  EXPECT_THAT(advised(numbers(100, 5, 1)), HasSubstr("scale=ranks"));
  EXPECT_THAT(advised(numbers(100, 5, 1)), HasSubstr("on each"));
  EXPECT_THAT(advised(numbers(100, 40, 1)), Not(HasSubstr("on each")));
  const std::string counts = advised(words_of_length(100, 60, 0.8, 2));
  EXPECT_THAT(counts, HasSubstr("cosine(scale=tfidf)"));
  EXPECT_THAT(counts, Not(HasSubstr("poly")));
  Dataset histograms = words_of_length(60, 8, 0.1, 3);
  for (Index i = 0; i < 60; ++i) {
    double sum = 0.0;
    for (Index f = 0; f < 8; ++f) sum += histograms.features(i, f);
    for (Index f = 0; f < 8; ++f) histograms.features(i, f) /= sum;
  }
  EXPECT_THAT(advised(histograms), HasSubstr("chi2"));
  EXPECT_THAT(advised(numbers(60, 8, 3)), Not(HasSubstr("chi2")));
}

TEST(Advice, StaysWithinBounds) {
  EXPECT_LT(count(numbers(60, 30, 1)), 61);
  EXPECT_LT(count(numbers(60, 3000, 1)), 20);
  EXPECT_LT(count(words_of_length(60, 3000, 0.9, 1)), 20);
  EXPECT_LT(count(numbers(2100, 20, 1)), 30);
  Dataset mixed = numbers(80, 10, 1);
  for (int t = 0; t < 12; ++t)
    mixed.texts.push_back(
        {{fmt::format("t{}", t), ""}, drawn(80, {"u", "v", "w", ""}, static_cast<unsigned>(t))});
  EXPECT_LT(count(mixed), 61);
  Dataset views = numbers(60, 100, 1);
  for (Index v = 0; v < 50; ++v) views.views.push_back({fmt::format("v{}", v), {2 * v, 2 * v + 1}});
  EXPECT_LT(count(views), 110);
}

TEST(Advice, NothingThatVariesIsRefusedByName) {
  Dataset flat = numbers(20, 1, 1);
  for (double& v : flat.features.values()) v = 3.0;
  try {
    (void)Recipe::fit(flat, {}, {}, {});
    FAIL() << "a constant column was accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("'x0'"));
  }
}

TEST(Decisions, FilesOfPlainColumnsSayNothingAboutThem) {
  Dataset plain = numbers(20, 3, 1);
  for (double& v : plain.features.column(1)) v = 1.0;
  const Recipe recipe = Recipe::fit(plain, parse_kernel_spec("linear"), {}, {});
  EXPECT_TRUE(kernels::save_decisions(recipe).empty());
  EXPECT_EQ(kernels::load_decisions(nullptr, recipe.preprocessing, "m"), recipe.decisions);
}

TEST(Decisions, ComeBackFromFiles) {
  Dataset train = numbers(40, 4, 1);
  train.features(3, 1) = std::nan("");
  for (Index i = 0; i < 40; ++i) train.features(i, 2) = static_cast<double>(i);
  train.texts = {{{"c", ""}, drawn(40, {"u", "v"}, 2)}};
  for (const char* spec : {"linear", "linear(scale=ranks) on x0; overlap"}) {
    const Recipe recipe = Recipe::fit(train, parse_kernel_spec(spec), {}, {});
    ASSERT_EQ(recipe.decisions.size(), 5U);
    const nlohmann::json saved =
        nlohmann::json::parse(kernels::save_decisions(recipe).dump());  // as a file would
    EXPECT_FALSE(saved.empty());
    EXPECT_EQ(kernels::load_decisions(&saved, recipe.preprocessing, "m"), recipe.decisions) << spec;
  }
}

}  // namespace
}  // namespace kloom
