// SPDX-License-Identifier: BSD-3-Clause
//
// Matrices that should be their own mirror images, and those that rounding made differ.
#include "data/symmetry.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/problems.h"

namespace kloom::data {
namespace {

Matrix symmetric_matrix(Index n) {
  const Matrix x = test::normal_matrix(n, 5, 31);
  Matrix result(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i <= j; ++i) {
      for (Index k = 0; k < 5; ++k) result(i, j) += x(i, k) * x(j, k);
      result(j, i) = result(i, j);
    }
  }
  return result;
}

TEST(Symmetry, OneEntryIsFoundWhereverItIs) {
  // Sizes around those of blocks, and every place in the smaller ones.
  for (const Index n : {1, 2, 31, 32, 33, 70}) {
    const Matrix whole = symmetric_matrix(n);
    EXPECT_TRUE(asymmetry(whole.view()).exact()) << n;
    const Index step = n > 40 ? 7 : 1;
    for (Index j = 0; j < n; j += step) {
      for (Index i = j + 1; i < n; ++i) {
        Matrix changed = whole;
        changed(j, i) += 100.0;
        const Asymmetry found = asymmetry(changed.view());
        ASSERT_EQ(found.row, i) << n;
        ASSERT_EQ(found.column, j) << n;
        ASSERT_EQ(found.difference, std::abs(changed(i, j) - changed(j, i)));
        ASSERT_EQ(found.largest, std::abs(changed(j, i)));
        ASSERT_FALSE(found.rounding());
      }
    }
  }
}

TEST(Symmetry, RoundingIsAPartOfTheLargestEntry) {
  Matrix values(2, 2, 1.0);
  values(1, 1) = -1e6;
  values(0, 1) += 0.009;
  EXPECT_TRUE(asymmetry(values.view()).rounding());
  EXPECT_FALSE(asymmetry(values.view()).exact());
  values(0, 1) += 0.002;
  EXPECT_FALSE(asymmetry(values.view()).rounding());
}

TEST(Symmetry, MirrorImagesBecomeTheirMean) {
  const Matrix one = test::normal_matrix(70, 70, 3);
  Matrix mean = one;
  average_mirror_images(mean.view());
  EXPECT_TRUE(asymmetry(mean.view()).exact());
  for (Index j = 0; j < 70; ++j) {
    // Halves are exact, so the mean is rounded once, however it is written.
    for (Index i = 0; i < 70; ++i) ASSERT_EQ(mean(i, j), (one(i, j) + one(j, i)) / 2.0);
  }
}

}  // namespace
}  // namespace kloom::data
