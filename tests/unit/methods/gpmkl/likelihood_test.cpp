// SPDX-License-Identifier: BSD-3-Clause
//
// Evidence and slopes against the formulas as they are printed, with explicit inverses, and against finite differences.
#include "methods/gpmkl/likelihood.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "support/problems.h"

namespace kloom::methods {
namespace {

constexpr Index kSamples = 30;
// The modes stop at 1e-12 of their objective, of size 20; differences of 2e-4 then know the slope to 1e-7, and their own
// error is of the order of the square of the step.
constexpr double kStep = 1e-5;
constexpr double kSlopeTolerance = 1e-6;

Eigen::MatrixXd eigen(const Matrix& m) {
  return Eigen::Map<const Eigen::MatrixXd>(m.data(), m.rows(), m.cols());
}

Matrix combined(const test::BinaryProblem& problem, const Vector& weights) {
  Matrix kernel(problem.x.rows(), problem.x.rows(), weights.back());
  for (std::size_t p = 0; p < problem.kernels.size(); ++p) {
    for (Index k = 0; k < kernel.size(); ++k)
      kernel.values()[at(k)] += weights[p] * problem.kernels[p].values()[at(k)];
  }
  return kernel;
}

// The samples `which` of a task, each as often as it is named.
GpTask task_of(const test::BinaryProblem& problem, bool classes, Vector weights) {
  GpTask task{classes, Matrix(problem.x.rows(), 1), std::move(weights)};
  for (Index i = 0; i < problem.x.rows(); ++i)
    task.targets(i, 0) = classes ? (problem.targets.codes[at(i)] == 1 ? 1.0 : -1.0)
                                 : std::sin(problem.x(i, 0)) + 0.3 * problem.x(i, 1);
  return task;
}

Vector uneven_weights(Index n) {
  Vector u;
  for (Index i = 0; i < n; ++i) u.push_back(0.5 + 0.25 * static_cast<double>(i % 7));
  return u;
}

// [RasmussenWilliams2006] eq. 3.32 by eqs. 3.13 and 3.18, with K⁻¹ and determinants as printed.
double printed_laplace(const Eigen::MatrixXd& k, const GpTask& task) {
  const Index n = k.rows();
  const Eigen::MatrixXd inverse = k.inverse();
  Eigen::VectorXd f = Eigen::VectorXd::Zero(n);
  Eigen::VectorXd w(n);
  for (int t = 0; t < 60; ++t) {
    Eigen::VectorXd gradient(n);
    for (Index i = 0; i < n; ++i) {
      const double pi = 1.0 / (1.0 + std::exp(-f(i)));
      w(i) = task.weights[at(i)] * pi * (1.0 - pi);
      gradient(i) = task.weights[at(i)] * ((task.targets(i, 0) + 1.0) / 2.0 - pi);
    }
    const Eigen::MatrixXd hessian = inverse + Eigen::MatrixXd(w.asDiagonal());
    f = hessian.ldlt().solve(w.cwiseProduct(f) + gradient);
  }
  double value = -0.5 * f.dot(inverse * f);
  for (Index i = 0; i < n; ++i) {
    value -= task.weights[at(i)] * std::log1p(std::exp(-task.targets(i, 0) * f(i)));
    const double pi = 1.0 / (1.0 + std::exp(-f(i)));
    w(i) = task.weights[at(i)] * pi * (1.0 - pi);
  }
  const Eigen::MatrixXd b = Eigen::MatrixXd::Identity(n, n) + k * w.asDiagonal();
  return value - 0.5 * std::log(b.determinant());
}

double printed_gaussian(const Eigen::MatrixXd& k, const GpTask& task, double noise) {
  const Index n = k.rows();
  Eigen::MatrixXd c = k;
  double extra = 0.0;
  for (Index i = 0; i < n; ++i) {
    const double u = task.weights[at(i)];
    c(i, i) += noise / u;
    extra += 0.5 * (1.0 - u) * std::log(2.0 * std::numbers::pi * noise) - 0.5 * std::log(u);
  }
  const Eigen::VectorXd y = eigen(task.targets);
  return -0.5 * y.dot(c.inverse() * y) - 0.5 * std::log(c.determinant()) -
         0.5 * static_cast<double>(n) * std::log(2.0 * std::numbers::pi) + extra;
}

// Slopes by three kernel weights and the constant against central differences of the value.
void expect_slopes(bool classes, const Vector& sample_weights) {
  const auto problem = test::binary_problem(kSamples, 3, {0.5, 2.0}, 21);
  const GpTask task = task_of(problem, classes, sample_weights);
  const Vector weights = {0.7, 1.9, 0.4, 0.3};
  const double noise = 0.2;
  const auto value = [&](const Vector& w) {
    Matrix a(kSamples, 1);
    const Matrix kernel = combined(problem, w);
    return classes ? laplace_evidence(kernel, task, a) : gaussian_evidence(kernel, task, noise);
  };
  const GpEvidence found = value(weights);
  ASSERT_TRUE(found.sound);
  for (std::size_t p = 0; p < weights.size(); ++p) {
    Vector up = weights;
    Vector down = weights;
    up[p] += kStep;
    down[p] -= kStep;
    double slope = 0.0;
    for (Index k = 0; k < found.slope.size(); ++k)
      slope += found.slope.values()[at(k)] * (p < 3 ? problem.kernels[p].values()[at(k)] : 1.0);
    const double difference = (value(up).value - value(down).value) / (2.0 * kStep);
    EXPECT_NEAR(slope, difference, kSlopeTolerance * std::max(1.0, std::abs(difference))) << p;
  }
}

TEST(LaplaceEvidence, IsThePrintedFormula) {
  const auto problem = test::binary_problem(kSamples, 3, {0.5, 2.0}, 21);
  for (const Vector& u : {Vector(kSamples, 1.0), uneven_weights(kSamples)}) {
    const GpTask task = task_of(problem, true, u);
    // A narrow kernel keeps K well conditioned, so the explicit inverse has ten good digits.
    const Matrix kernel = combined(problem, {3.0, 1.0, 0.4, 0.3});
    Matrix a(kSamples, 1);
    const GpEvidence found = laplace_evidence(kernel, task, a);
    ASSERT_TRUE(found.sound);
    EXPECT_NEAR(found.value, printed_laplace(eigen(kernel), task), 1e-8 * std::abs(found.value));
  }
}

TEST(LaplaceEvidence, SlopesAreThoseOfItsValue) {
  expect_slopes(true, Vector(kSamples, 1.0));
  expect_slopes(true, uneven_weights(kSamples));
}

TEST(GaussianEvidence, IsThePrintedFormula) {
  const auto problem = test::binary_problem(kSamples, 3, {0.5, 2.0}, 22);
  for (const Vector& u : {Vector(kSamples, 1.0), uneven_weights(kSamples)}) {
    const GpTask task = task_of(problem, false, u);
    const Matrix kernel = combined(problem, {0.7, 1.9, 0.4, 0.3});
    const GpEvidence found = gaussian_evidence(kernel, task, 0.2);
    EXPECT_NEAR(found.value, printed_gaussian(eigen(kernel), task, 0.2), 1e-9 * std::abs(found.value));
    const double h = 1e-5;
    const double difference = (printed_gaussian(eigen(kernel), task, 0.2 * std::exp(h)) -
                               printed_gaussian(eigen(kernel), task, 0.2 * std::exp(-h))) /
                              (2.0 * h);
    EXPECT_NEAR(found.noise_slope, difference, 1e-6 * std::max(1.0, std::abs(difference)));
  }
}

TEST(GaussianEvidence, SlopesAreThoseOfItsValue) {
  expect_slopes(false, Vector(kSamples, 1.0));
  expect_slopes(false, uneven_weights(kSamples));
}

// A sample of weight 2 is two copies of it: the same evidence and the same slope.
TEST(GpEvidence, WeightTwoIsTwoCopies) {
  const auto problem = test::binary_problem(kSamples, 3, {0.5, 2.0}, 23);
  const Matrix kernel = combined(problem, {0.7, 1.9, 0.4, 0.3});
  std::vector<Index> places;
  Vector weights(kSamples, 1.0);
  for (Index i = 0; i < kSamples; ++i) {
    places.push_back(i);
    if (i % 3 == 0) places.push_back(i);
    if (i % 3 == 0) weights[at(i)] = 2.0;
  }
  const auto n = std::ssize(places);
  Matrix large(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) large(i, j) = kernel(places[at(i)], places[at(j)]);
  }
  for (const bool classes : {true, false}) {
    const GpTask task = task_of(problem, classes, weights);
    GpTask copies{classes, Matrix(n, 1), Vector(at(n), 1.0)};
    for (Index i = 0; i < n; ++i) copies.targets(i, 0) = task.targets(places[at(i)], 0);
    Matrix a(kSamples, 1);
    Matrix b(n, 1);
    const GpEvidence one = classes ? laplace_evidence(kernel, task, a) : gaussian_evidence(kernel, task, 0.2);
    const GpEvidence two = classes ? laplace_evidence(large, copies, b) : gaussian_evidence(large, copies, 0.2);
    EXPECT_NEAR(one.value, two.value, 1e-9 * std::abs(one.value));
    EXPECT_NEAR(one.noise_slope, two.noise_slope, 1e-8 * std::max(1.0, std::abs(one.noise_slope)));
    double slope_one = 0.0;
    double slope_two = 0.0;
    for (Index k = 0; k < kernel.size(); ++k) slope_one += one.slope.values()[at(k)] * kernel.values()[at(k)];
    for (Index k = 0; k < large.size(); ++k) slope_two += two.slope.values()[at(k)] * large.values()[at(k)];
    EXPECT_NEAR(slope_one, slope_two, 1e-8 * std::max(1.0, std::abs(slope_one)));
  }
}

// Scores of a thousand: sigmoids are 0 or 1 to the last digit, and nothing overflows.
TEST(LaplaceMode, IsFoundForLargeCovariances) {
  const auto problem = test::binary_problem(kSamples, 3, {0.5, 2.0}, 24);
  const Matrix kernel = combined(problem, {1e6, 1e6, 1e6, 1e6});
  const GpTask task = task_of(problem, true, Vector(kSamples, 1.0));
  const LaplaceMode mode = laplace_mode(kernel, task, 0, Vector(kSamples, 0.0));
  ASSERT_TRUE(mode.sound);
  for (Index i = 0; i < kSamples; ++i) {
    const double gradient = task.targets(i, 0) / (1.0 + std::exp(task.targets(i, 0) * mode.f[at(i)]));
    EXPECT_NEAR(mode.a[at(i)], gradient, 1e-6);
  }
}

}  // namespace
}  // namespace kloom::methods
