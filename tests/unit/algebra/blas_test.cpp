// SPDX-License-Identifier: BSD-3-Clause
//
// Every routine of the seam against loops.
#include "algebra/blas.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/problems.h"

namespace kloom::algebra {
namespace {

using test::normal_matrix;

Matrix product(const Matrix& a, bool ta, const Matrix& b, bool tb) {
  const Index m = ta ? a.cols() : a.rows();
  const Index k = ta ? a.rows() : a.cols();
  const Index n = tb ? b.rows() : b.cols();
  Matrix c(m, n);
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < n; ++j) {
      for (Index l = 0; l < k; ++l) c(i, j) += (ta ? a(l, i) : a(i, l)) * (tb ? b(j, l) : b(l, j));
    }
  }
  return c;
}

// A sum of k products of numbers of size 1 rounds by about k·eps; entries here are below 10.
double tolerance(Index k) {
  return 100.0 * static_cast<double>(k) * std::numeric_limits<double>::epsilon();
}

void expect_near(const Matrix& a, const Matrix& b, double bound) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.cols(), b.cols());
  for (Index k = 0; k < a.size(); ++k) ASSERT_NEAR(a.data()[k], b.data()[k], bound) << "entry " << k;
}

Matrix positive_definite(Index n, unsigned seed) {
  const Matrix x = normal_matrix(n, n + 5, seed);
  Matrix a = product(x, false, x, true);
  for (Index i = 0; i < n; ++i) a(i, i) += 1.0;
  return a;
}

TEST(Blas, GemmWithEveryTransposition) {
  for (bool ta : {false, true}) {
    for (bool tb : {false, true}) {
      const Matrix a = normal_matrix(ta ? 7 : 5, ta ? 5 : 7, 1);
      const Matrix b = normal_matrix(tb ? 4 : 7, tb ? 7 : 4, 2);
      Matrix c(5, 4, 1.0);
      gemm(ta ? Op::transpose : Op::none, tb ? Op::transpose : Op::none, 2.0, a.view(), b.view(), 3.0,
           c.view());
      Matrix expected = product(a, ta, b, tb);
      for (double& value : expected.values()) value = 2.0 * value + 3.0;
      expect_near(c, expected, tolerance(7));
    }
  }
}

TEST(Blas, GemvOfEmptyMatrixScalesOnly) {
  Vector y = {1.0, 2.0};
  gemv(Op::none, 1.0, {nullptr, 2, 0, 2}, {}, 0.5, y);
  EXPECT_EQ(y, (Vector{0.5, 1.0}));
}

TEST(Blas, SyrkFillsBothTriangles) {
  const Matrix a = normal_matrix(130, 9, 3);
  Matrix c(130, 130);
  syrk(Op::none, 1.0, a.view(), 0.0, c.view());
  expect_near(c, product(a, false, a, true), tolerance(9));
  Matrix d(9, 9);
  syrk(Op::transpose, 1.0, a.view(), 0.0, d.view());
  expect_near(d, product(a, true, a, false), tolerance(130));
}

TEST(Blas, CholeskySolvesAndInverts) {
  for (Index n : {1, 2, 63, 64, 65, 200}) {
    SCOPED_TRACE(n);
    const Matrix a = positive_definite(n, static_cast<unsigned>(n));
    Matrix l = a;
    ASSERT_EQ(cholesky(l.view()), 0);
    Matrix x(n, 1, 1.0);
    cholesky_solve(l.view(), x.view());
    // A x = 1 again; the condition number here is below 1e4.
    const Matrix ones = product(a, false, x, false);
    expect_near(ones, Matrix(n, 1, 1.0), 1e4 * tolerance(n));
    Matrix lower = a;
    ASSERT_EQ(cholesky_inverse_factor(lower.view()), 0);
    Matrix again(n, 1, 1.0);
    solve_from_inverse_factor(lower.view(), again.view());
    expect_near(again, x, 1e4 * tolerance(n));
    EXPECT_NEAR(cholesky_log_det(lower.view()), -cholesky_log_det(l.view()), 1e2 * tolerance(n));
    Matrix inverse = lower;
    inverse_from_factor(inverse.view());
    Matrix identity(n, n);
    for (Index i = 0; i < n; ++i) identity(i, i) = 1.0;
    expect_near(product(a, false, inverse, false), identity, 1e4 * tolerance(n));
    const Vector diagonal = inverse_diagonal(lower.view());
    double log_det = 0.0;
    for (Index i = 0; i < n; ++i) {
      EXPECT_NEAR(diagonal[static_cast<std::size_t>(i)], inverse(i, i), tolerance(n));
      log_det += 2.0 * std::log(l(i, i));
    }
    EXPECT_NEAR(cholesky_log_det(l.view()), log_det, tolerance(n));
  }
}

TEST(Blas, CholeskyNamesTheMinorThatIsNotPositive) {
  Matrix a = positive_definite(5, 8);
  a(2, 2) = -1.0;
  EXPECT_EQ(cholesky(a.view()), 3);
  // In the second half of the recursion as well.
  Matrix large = positive_definite(150, 8);
  large(140, 140) = -1.0;
  EXPECT_EQ(cholesky_inverse_factor(large.view()), 141);
}

TEST(Blas, EigenvaluesAndVectors) {
  const Matrix a = positive_definite(20, 9);
  const Eigen e = symmetric_eigen(a.view(), true);
  for (Index k = 0; k < 20; ++k) {
    if (k > 0) {
      EXPECT_LE(e.values[static_cast<std::size_t>(k - 1)], e.values[static_cast<std::size_t>(k)]);
    }
    for (Index i = 0; i < 20; ++i) {
      double sum = 0.0;
      for (Index j = 0; j < 20; ++j) sum += a(i, j) * e.vectors(j, k);
      EXPECT_NEAR(sum, e.values[static_cast<std::size_t>(k)] * e.vectors(i, k), 100 * tolerance(20));
    }
  }
}

TEST(Blas, VectorsAndRankOne) {
  Vector x = {1.0, 2.0, 3.0};
  Vector y = {1.0, 0.0, -1.0};
  EXPECT_EQ(dot(x, y), -2.0);
  axpy(2.0, x, y);
  EXPECT_EQ(y, (Vector{3.0, 4.0, 5.0}));
  scale(0.0, y);
  EXPECT_EQ(y, (Vector{0.0, 0.0, 0.0}));
  Matrix a(3, 3);
  rank_one(2.0, x, a.view());
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 3; ++j)
      EXPECT_EQ(a(i, j), 2.0 * x[static_cast<std::size_t>(i)] * x[static_cast<std::size_t>(j)]);
  }
}

}  // namespace
}  // namespace kloom::algebra
