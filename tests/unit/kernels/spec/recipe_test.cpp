// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kloom/error.h"
#include "support/problems.h"

namespace kloom {
namespace {

using test::kernel_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Dataset raw(Index n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(5.0, 3.0);
  Dataset data;
  data.samples = n;
  data.features = Matrix(n, 3);
  for (double& v : data.features.values()) v = normal(random);
  for (double& v : data.features.column(1)) v = 7.0;
  data.feature_info = {{"a", ""}, {"flat", ""}, {"b", ""}};
  return data;
}

TEST(RecipeTest, StandardisesWithTrainingConstantsAndSkipsConstantFeatures) {
  const Dataset train = raw(20, 1);
  Dataset test = raw(6, 2);
  const Recipe recipe = Recipe::fit(train, parse_kernel_spec("rbf(width=1) on each"), {}, {});
  ASSERT_EQ(recipe.terms.size(), 2U);
  EXPECT_EQ(recipe.terms[1].name, "rbf(width=1) on b");
  const auto square = recipe.training_bank();
  const auto cross = recipe.bank_for(test);
  EXPECT_TRUE(square->symmetric());
  EXPECT_EQ(square->rows(), 20);
  EXPECT_EQ(cross->rows(), 6);
  EXPECT_EQ(cross->cols(), 20);
  EXPECT_FALSE(cross->symmetric());
  double mean = 0.0;
  for (const double v : train.features.column(2)) mean += v / 20.0;
  double variance = 0.0;
  for (const double v : train.features.column(2)) variance += (v - mean) * (v - mean) / 19.0;
  const Matrix k = kernel_of(*cross, 1);
  for (Index i = 0; i < 6; ++i)
    for (Index j = 0; j < 20; ++j) {
      const double d = test.features(i, 2) - train.features(j, 2);
      EXPECT_NEAR(k(i, j), std::exp(-0.5 * d * d / variance), 1e-13);
    }
}

TEST(RecipeTest, TrainingSamplesAsNewSamplesGiveTheTrainingKernels) {
  const Dataset train = raw(15, 3);
  for (const auto normalisation : {Normalisation::none, Normalisation::unit_diagonal, Normalisation::unit_trace,
                                   Normalisation::unit_variance, Normalisation::centre}) {
    RecipeOptions options;
    options.normalisation = normalisation;
    const Recipe recipe =
        Recipe::fit(train, parse_kernel_spec("rbf(auto); poly(degree=2); cosine"), options, {});
    const auto square = recipe.training_bank();
    const auto cross = recipe.bank_for(train);
    for (Index p = 0; p < square->kernels(); ++p) {
      const Matrix a = kernel_of(*square, p);
      const Matrix b = kernel_of(*cross, p);
      for (Index i = 0; i < 15; ++i)
        for (Index j = 0; j < 15; ++j) EXPECT_NEAR(a(i, j), b(i, j), 1e-13 * std::max(1.0, std::abs(a(i, j))));
    }
  }
}

TEST(RecipeTest, KeepsTheTextColumnsOfStringKernels) {
  Dataset train = raw(4, 1);
  train.texts = {{{"sequence", ""}, {"AACC", "ACGT", "GGCC", "AAAA"}}};
  const Recipe recipe = Recipe::fit(train, parse_kernel_spec("spectrum(k=2, normalise=none)"), {}, {});
  Dataset test = raw(1, 2);
  test.texts = {{{"sequence", ""}, {"AAAC"}}};
  const Matrix k = kernel_of(*recipe.bank_for(test), 0);
  EXPECT_EQ(k(0, 0), 3.0);  // AA twice against once, AC once
  EXPECT_EQ(k(0, 1), 1.0);
  EXPECT_EQ(k(0, 2), 0.0);
  EXPECT_EQ(k(0, 3), 6.0);
  RecipeOptions strict;
  strict.preprocessing.decide = false;
  try {
    (void)Recipe::fit(train, parse_kernel_spec("linear"), strict, {});
    FAIL() << "a text column that nobody uses was accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("sequence"));
  }
  RecipeOptions onehot = strict;
  onehot.preprocessing.onehot = true;
  EXPECT_EQ(Recipe::fit(train, parse_kernel_spec("linear"), onehot, {}).basis.features.cols(), 7);
}

TEST(RecipeTest, GivenMatricesOfNewSamplesAreMatchedByNameOrPosition) {
  Dataset train;
  train.samples = 3;
  Matrix unit(3, 3);
  for (Index i = 0; i < 3; ++i) unit(i, i) = 1.0;
  train.kernels = {{"x", unit}, {"y", unit}};
  const Recipe recipe = Recipe::fit(train, parse_kernel_spec("precomputed"), {}, {});
  EXPECT_THAT(recipe.training_bank()->names(), ElementsAre("precomputed on x", "precomputed on y"));
  Dataset test;
  test.samples = 1;
  test.kernels = {{"y", Matrix(1, 3, 2.0)}, {"x", Matrix(1, 3, 1.0)}};
  EXPECT_EQ(kernel_of(*recipe.bank_for(test), 0)(0, 2), 1.0);
  test.kernels[0].name = "new-1";
  test.kernels[1].name = "new-2";
  EXPECT_EQ(kernel_of(*recipe.bank_for(test), 0)(0, 2), 2.0);
  test.kernels.pop_back();
  EXPECT_THROW((void)recipe.bank_for(test), InvalidArgument);
  test.kernels = {{"x", Matrix(1, 2)}, {"y", Matrix(1, 2)}};
  EXPECT_THROW((void)recipe.bank_for(test), InvalidArgument);
}

TEST(RecipeTest, KernelsThatWereGivenToALearnerHaveARecipeForNewSamples) {
  const Recipe recipe = Recipe::for_kernels({"x", "y"}, 3);
  Dataset test;
  test.samples = 1;
  test.kernels = {{"y", Matrix(1, 3, 2.0)}, {"x", Matrix(1, 3, 1.0)}};
  const auto bank = recipe.bank_for(test);
  EXPECT_THAT(bank->names(), ElementsAre("x", "y"));
  EXPECT_EQ(kernel_of(*bank, 0)(0, 2), 1.0);  // as it is: no normalisation
  EXPECT_EQ(kernel_of(*bank, 1)(0, 2), 2.0);
  test.kernels = {{"x", Matrix(1, 2)}, {"y", Matrix(1, 2)}};
  EXPECT_THROW((void)recipe.bank_for(test), InvalidArgument);
}

}  // namespace
}  // namespace kloom
