// SPDX-License-Identifier: BSD-3-Clause
//
// Inverses near a known one against Eigen's.
#include "solvers/nearby_inverse.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "support/problems.h"

namespace kloom::solvers {
namespace {

constexpr Index kSize = 60;

// Eigenvalues from about 1 to about 100.
Eigen::MatrixXd precision_matrix() {
  const Matrix draws = test::normal_matrix(kSize, kSize, 3);
  const Eigen::Map<const Eigen::MatrixXd> b(draws.data(), kSize, kSize);
  return b * b.transpose() / 2.0 + Eigen::MatrixXd::Identity(kSize, kSize);
}

NearbyInverse anchor_of(const Eigen::MatrixXd& precision) {
  const Eigen::MatrixXd inverse = precision.inverse();
  Matrix copy(kSize, kSize);
  for (Index j = 0; j < kSize; ++j) {
    for (Index i = 0; i < kSize; ++i) copy(i, j) = 0.5 * (inverse(i, j) + inverse(j, i));
  }
  return {std::move(copy), -std::log(precision.determinant())};
}

// A few large numbers and many small ones of both signs.
Vector change(double size) {
  const Matrix draws = test::normal_matrix(kSize, 1, 5);
  Vector delta(draws.values().begin(), draws.values().end());
  for (std::size_t i = 0; i < delta.size(); ++i) delta[i] *= i % 6 == 0 ? size : 1e-3 * size;
  return delta;
}

struct Exact {
  Eigen::VectorXd diagonal, solution;
  double log_det = 0.0;
};
Exact exact(const Eigen::MatrixXd& precision, const Vector& delta, const Vector& right) {
  const Eigen::Map<const Eigen::VectorXd> d(delta.data(), kSize);
  const Eigen::Map<const Eigen::VectorXd> r(right.data(), kSize);
  const Eigen::MatrixXd moved = precision + Eigen::MatrixXd(d.asDiagonal());
  return {moved.inverse().diagonal(), moved.llt().solve(r), -std::log(moved.determinant())};
}

TEST(NearbyInverse, LeavesAwayNoMoreThanItSays) {
  const Eigen::MatrixXd precision = precision_matrix();
  const NearbyInverse anchor = anchor_of(precision);
  const Eigen::MatrixXd inverse = precision.inverse();
  const Vector right(static_cast<std::size_t>(kSize), 1.0);
  int by_two = 0;
  int by_four = 0;
  int none = 0;
  for (const double tolerance : {1e-5, 3e-8}) {
    for (double size = 1e-7; size < 10.0; size *= 3.0) {
      SCOPED_TRACE(testing::Message() << "size " << size << ", tolerance " << tolerance);
      const Vector delta = change(size);
      const auto answer = anchor.at(delta, right, tolerance, 1.0);
      if (!answer) {
        ++none;
        continue;
      }
      const Exact expected = exact(precision, delta, right);
      double two_terms = 0.0;  // what they would leave away
      for (Index i = 0; i < kSize; ++i) {
        const auto k = static_cast<std::size_t>(i);
        double first = 0.0;
        for (Index j = 0; j < kSize; ++j)
          first += inverse(i, j) * inverse(i, j) * delta[static_cast<std::size_t>(j)];
        two_terms = std::max(two_terms, std::abs(inverse(i, i) - first - expected.diagonal(i)) / inverse(i, i));
        EXPECT_NEAR(answer->diagonal[k], expected.diagonal(i), (tolerance + 1e-12) * inverse(i, i));
        EXPECT_NEAR(answer->solution[k], expected.solution(i), 1e-11 * expected.solution.norm());
      }
      EXPECT_NEAR(answer->log_det, expected.log_det, kSize * tolerance + 1e-11);
      (two_terms > tolerance ? by_four : by_two) += 1;
    }
  }
  EXPECT_GT(by_two, 4);
  EXPECT_GT(by_four, 2);
  EXPECT_GT(none, 2);
}

TEST(NearbyInverse, GivesUpWhereANewInverseIsCheaper) {
  const NearbyInverse anchor = anchor_of(precision_matrix());
  const Vector right(static_cast<std::size_t>(kSize), 1.0);
  const Vector delta = change(1e-2);
  EXPECT_TRUE(anchor.at(delta, right, 3e-8, 1.0).has_value());
  EXPECT_FALSE(anchor.at(delta, right, 3e-8, 1e-9).has_value());
  EXPECT_TRUE(anchor.at(Vector(delta.size()), right, 3e-8, 1.0).has_value());
  EXPECT_FALSE(anchor.at(Vector(delta.size(), std::nan("")), right, 3e-8, 1.0).has_value());
}

}  // namespace
}  // namespace kloom::solvers
