// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/lbfgs.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "support/problems.h"

namespace kloom::solvers {
namespace {

Eigen::MatrixXd hessian() {
  const Matrix x = test::normal_matrix(9, 4, 3);
  const Eigen::MatrixXd e = Eigen::Map<const Eigen::MatrixXd>(x.data(), 9, 4);
  return e.transpose() * e + Eigen::MatrixXd::Identity(4, 4);
}

Vector vector_of(const Eigen::VectorXd& v) {
  return {v.begin(), v.end()};
}

// Of a quadratic function, steps along directions that are conjugate to each other determine the Hessian: four of
// them, and the recursion gives Newton's step.
TEST(InverseHessian, ConjugateStepsGiveNewtonsStep) {
  const Eigen::MatrixXd a = hessian();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(a);
  InverseHessian inverse(Vector{2.0, 1.0, 0.5, 3.0});
  for (Index k = 0; k < 4; ++k) {
    const Eigen::VectorXd step = eigen.eigenvectors().col(k);
    inverse.learn(vector_of(step), vector_of(a * step));
  }
  const Eigen::VectorXd gradient = Eigen::Vector4d(1.0, -2.0, 0.3, 0.7);
  const Vector found = inverse.direction(vector_of(gradient));
  const Eigen::VectorXd newton = -a.ldlt().solve(gradient);
  for (Index k = 0; k < 4; ++k) EXPECT_NEAR(found[at(k)], newton(k), 1e-12);
}

TEST(InverseHessian, LeavesOutStepsAlongWhichTheGradientFalls) {
  InverseHessian inverse(Vector{2.0, 4.0});
  inverse.learn({1.0, 0.0}, {-3.0, 0.0});
  const Vector found = inverse.direction({1.0, 1.0});
  EXPECT_EQ(found, (Vector{-0.5, -0.25}));
}

}  // namespace
}  // namespace kloom::solvers
