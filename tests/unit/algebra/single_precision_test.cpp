// SPDX-License-Identifier: BSD-3-Clause
//
// Products in single precision against loops in double. A sum of k products of rounded numbers is off by at
// most (k + 3)·2⁻²⁴ of the same sum of absolute values.
#include "algebra/single_precision.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "support/problems.h"

namespace kloom::algebra {
namespace {

using test::normal_matrix;

constexpr double kRounding = 1.0 / (1 << 24);

Matrix symmetric(Index n, unsigned seed) {
  const Matrix half = normal_matrix(n, n, seed);
  Matrix result(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) result(i, j) = 0.5 * (half(i, j) + half(j, i));
  }
  return result;
}

Matrix times(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows(), b.cols());
  for (Index j = 0; j < b.cols(); ++j) {
    for (Index l = 0; l < a.cols(); ++l) {
      for (Index i = 0; i < a.rows(); ++i) c(i, j) += a(i, l) * b(l, j);
    }
  }
  return c;
}

Matrix absolute(Matrix a) {
  for (double& value : a.values()) value = std::abs(value);
  return a;
}

TEST(SinglePrecision, AddsAProduct) {
  const Matrix a = normal_matrix(23, 41, 1);
  const Matrix b = normal_matrix(41, 17, 2);
  const Matrix before = normal_matrix(23, 17, 3);
  Matrix c = before;
  add_product_in_single(-0.3, a.view(), b.view(), c.view());
  const Matrix product = times(a, b);
  const Matrix size = times(absolute(a), absolute(b));
  double largest = 0.0;
  for (Index k = 0; k < c.size(); ++k) {
    const double error = std::abs(c.data()[k] - (before.data()[k] - 0.3 * product.data()[k]));
    ASSERT_LE(error, 0.3 * 44.0 * kRounding * size.data()[k] + 1e-14) << "entry " << k;
    largest = std::max(largest, error);
  }
  EXPECT_GT(largest, 1e-10) << "this was double precision";
  Matrix none(0, 5);
  add_product_in_single(1.0, Matrix(0, 4).view(), Matrix(4, 5).view(), none.view());
}

TEST(SinglePrecision, DiagonalsOfPowers) {
  const Index n = 37;
  const Matrix a = symmetric(n, 4);
  const DiagonalPowers powers = diagonal_powers(a.view());
  const Matrix second = times(a, a);
  const Matrix third = times(second, a);
  const Matrix fourth = times(second, second);
  const Matrix size2 = times(absolute(a), absolute(a));
  const Matrix size3 = times(size2, absolute(a));
  const Matrix size4 = times(size2, size2);
  const double once = static_cast<double>(n + 3) * kRounding;
  for (Index m = 0; m < n; ++m) {
    const auto k = static_cast<std::size_t>(m);
    EXPECT_NEAR(powers.second[k], second(m, m), 1e-12 * size2(m, m));
    EXPECT_NEAR(powers.third[k], third(m, m), once * size3(m, m));
    EXPECT_NEAR(powers.fourth[k], fourth(m, m), 2.1 * once * size4(m, m));
  }
}

Matrix scaled_columns(Matrix a, const Vector& by) {
  for (Index j = 0; j < a.cols(); ++j) {
    for (double& value : a.column(j)) value *= by[static_cast<std::size_t>(j)];
  }
  return a;
}

TEST(SinglePrecision, SumsOfASandwich) {
  const Index n = 29;
  const Matrix a = symmetric(n, 6);
  const Matrix draws = normal_matrix(n, 1, 7);
  const Vector delta(draws.values().begin(), draws.values().end());
  std::vector<Index> kept;
  Vector first(delta.size());
  Vector twice(delta.size());
  for (Index j = 0; j < n; ++j) {
    if (j % 3 != 0) kept.push_back(j);
    first[static_cast<std::size_t>(j)] = j % 3 != 0 ? delta[static_cast<std::size_t>(j)] : 0.0;
    twice[static_cast<std::size_t>(j)] =
        2.0 * delta[static_cast<std::size_t>(j)] - first[static_cast<std::size_t>(j)];
  }
  const SandwichSums sums = sandwich_sums(a.view(), delta, kept);
  const Matrix m = times(scaled_columns(a, first), a);
  const Matrix size = times(absolute(scaled_columns(a, first)), absolute(a));
  for (Index i = 0; i < n; ++i) {
    double second = 0.0, third = 0.0, third_size = 0.0, size2 = 0.0, size3 = 0.0;
    for (Index j = 0; j < n; ++j) {
      const auto k = static_cast<std::size_t>(j);
      second += twice[k] * a(i, j) * m(i, j);
      size2 += std::abs(twice[k] * a(i, j)) * size(i, j);
      third += delta[k] * m(i, j) * m(i, j);
      third_size += std::abs(delta[k]) * m(i, j) * m(i, j);
      size3 += std::abs(delta[k]) * size(i, j) * size(i, j);
    }
    const auto k = static_cast<std::size_t>(i);
    const double once = static_cast<double>(n + 5) * kRounding;
    EXPECT_NEAR(sums.second[k], second, once * size2);
    EXPECT_NEAR(sums.third[k], third, 2.1 * once * size3);
    EXPECT_NEAR(sums.third_size[k], third_size, 2.1 * once * size3);
  }
}

}  // namespace
}  // namespace kloom::algebra
