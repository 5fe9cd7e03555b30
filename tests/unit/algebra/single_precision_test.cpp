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

}  // namespace
}  // namespace kloom::algebra
