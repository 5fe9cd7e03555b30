// SPDX-License-Identifier: BSD-3-Clause
//
// Finite features against the kernels that they stand for.
#include "kloom/features.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kloom/error.h"
#include "support/problems.h"

namespace kloom {
namespace {

KernelTerm term(KernelFunction function, double gamma, std::vector<Index> features) {
  KernelTerm t;
  t.name = "k";
  t.function = function;
  t.parameter = gamma;
  t.features = std::move(features);
  t.scale = 0.5;
  return t;
}

double kernel(const KernelTerm& t, const Matrix& x, Index i, Index j) {
  double sum = 0.0;
  for (const Index d : t.features) {
    const double difference = x(i, d) - x(j, d);
    sum += t.function == KernelFunction::rbf ? difference * difference : std::abs(difference);
  }
  return t.scale * std::exp(-t.parameter * sum);
}

double product(const Matrix& features, Index count, Index p, Index i, Index j) {
  double sum = 0.0;
  for (Index r = p * count; r < (p + 1) * count; ++r) sum += features(r, i) * features(r, j);
  return sum;
}

// Each product is a mean of R bounded terms (at most 2s): its deviation is below √2·s/√R, and the mean of
// |error| over many pairs stays well below that.
TEST(FeatureMap, FourierFeaturesComeNearTheKernels) {
  const Matrix x = test::normal_matrix(60, 4, 3);
  const std::vector<KernelTerm> terms = {term(KernelFunction::rbf, 0.1, {0, 1, 2, 3}),
                                         term(KernelFunction::rbf, 2.0, {0, 1, 2, 3}),
                                         term(KernelFunction::rbf, 0.5, {2})};
  for (Index count : {100, 1600}) {
    const FeatureMap map = fit_feature_map(FeatureMap::Kind::rff, terms, x, count, 5);
    const Matrix features = features_of(map, terms, x, {0, 60});
    double mean = 0.0;
    double largest = 0.0;
    for (std::size_t p = 0; p < terms.size(); ++p) {
      for (Index i = 0; i < 60; ++i) {
        for (Index j = 0; j < 60; ++j) {
          const double error =
              std::abs(product(features, count, static_cast<Index>(p), i, j) - kernel(terms[p], x, i, j));
          mean += error / (3.0 * 3600.0);
          largest = std::max(largest, error);
        }
      }
    }
    EXPECT_LE(mean, 0.5 * std::sqrt(2.0 / static_cast<double>(count)));
    EXPECT_GT(mean, 0.0);
    const FeatureError told = feature_error(map, terms, x);
    EXPECT_NEAR(told.mean, mean, 1e-12);
    EXPECT_NEAR(told.largest, largest, 1e-12);
  }
}

TEST(FeatureMap, NystroemIsExactBetweenLandmarks) {
  const Matrix x = test::normal_matrix(25, 3, 4);
  const std::vector<KernelTerm> terms = {term(KernelFunction::rbf, 0.3, {0, 1, 2}),
                                         term(KernelFunction::laplacian, 0.7, {0, 2})};
  const FeatureMap map = fit_feature_map(FeatureMap::Kind::nystroem, terms, x, 25, 1);
  const Matrix features = features_of(map, terms, x, {5, 20});
  for (std::size_t p = 0; p < terms.size(); ++p) {
    for (Index i = 5; i < 20; ++i) {
      for (Index j = 5; j < 20; ++j)
        EXPECT_NEAR(product(features, 25, static_cast<Index>(p), i - 5, j - 5), kernel(terms[p], x, i, j),
                    1e-8);
    }
  }
}

TEST(FeatureMap, SaysWhatItCannotDo) {
  const Matrix x = test::normal_matrix(10, 2, 4);
  EXPECT_THROW(
      (void)fit_feature_map(FeatureMap::Kind::rff, {term(KernelFunction::laplacian, 1.0, {0})}, x, 4, 1),
      InvalidArgument);
  EXPECT_THROW(
      (void)fit_feature_map(FeatureMap::Kind::nystroem, {term(KernelFunction::linear, 1.0, {0})}, x, 4, 1),
      InvalidArgument);
  EXPECT_THROW(
      (void)fit_feature_map(FeatureMap::Kind::nystroem, {term(KernelFunction::rbf, 1.0, {0})}, x, 11, 1),
      InvalidArgument);
}

}  // namespace
}  // namespace kloom
