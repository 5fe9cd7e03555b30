// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/simplex_model.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>

#include "algebra/blas.h"

namespace kloom::solvers {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd random_matrix(Index rows, Index cols, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  MatrixXd m(rows, cols);
  for (Index k = 0; k < m.size(); ++k) m.data()[k] = normal(random);
  return m;
}

Matrix ours(const MatrixXd& m) {
  Matrix result(m.rows(), m.cols());
  std::copy_n(m.data(), m.size(), result.data());
  return result;
}

// The definition: N (Nᵀ A N)⁻¹ Nᵀ, N a basis of the vectors with Eᵀx = 0.
TEST(SimplexModel, ProjectedInverseIsThatOnTheSubspace) {
  for (const Index equations : {1, 2}) {
    const MatrixXd root = random_matrix(9, 12, 3);
    const MatrixXd a = root * root.transpose();
    const MatrixXd u = random_matrix(9, 4, 4);
    MatrixXd e = MatrixXd::Zero(9, equations);
    for (Index i = 0; i < 9; ++i) e(i, i % equations) = 1.0;
    const MatrixXd basis = Eigen::FullPivLU<MatrixXd>(e.transpose()).kernel();
    const MatrixXd inverse = basis * (basis.transpose() * a * basis).inverse() * basis.transpose();
    Matrix factor = ours(a);
    ASSERT_EQ(algebra::cholesky(factor.view()), 0);
    MatrixXd right(9, 4 + equations);
    right << u, e;
    const Matrix form = projected_inverse_form(factor, ours(right), equations);
    const MatrixXd expected = u.transpose() * inverse * u;
    // A's condition is far below 1e4, and numbers are of size one: 1e4 times a few hundred roundings.
    for (Index m = 0; m < 4; ++m)
      for (Index l = 0; l < 4; ++l) ASSERT_NEAR(form(l, m), expected(l, m), 1e-10);
  }
}

// Optimal: the model's slope is the same where x > 0, and nowhere smaller.
TEST(SimplexModel, MinimumHasEqualSlopesWhereItIsNotZero) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const MatrixXd root = random_matrix(7, 10, seed);
    const MatrixXd h = root * root.transpose();
    const VectorXd slope = 8.0 * random_matrix(7, 1, seed + 100);
    const VectorXd centre = VectorXd::Constant(7, 1.0 / 7.0);
    const Vector x = simplex_model_minimum(ours(h), {slope.data(), slope.data() + 7},
                                           {centre.data(), centre.data() + 7}, 1e-10);
    const VectorXd found = Eigen::Map<const VectorXd>(x.data(), 7);
    EXPECT_NEAR(found.sum(), 1.0, 1e-14);
    EXPECT_GE(found.minCoeff(), 0.0);
    const VectorXd at_end = slope + h * (found - centre);
    for (Index m = 0; m < 7; ++m) {
      EXPECT_GE(at_end(m), at_end.minCoeff());
      if (x[static_cast<std::size_t>(m)] > 0.0) {
        EXPECT_NEAR(at_end(m), at_end.minCoeff(), 2e-10);
      }
    }
  }
}

}  // namespace
}  // namespace kloom::solvers
