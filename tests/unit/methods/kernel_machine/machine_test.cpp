// SPDX-License-Identifier: BSD-3-Clause
//
// Closed forms against fits that really leave a sample out, and the evidence against its definition.
#include "methods/kernel_machine/machine.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "methods/kernel_machine/evidence.h"
#include "support/problems.h"

namespace kloom::methods {
namespace {

std::vector<Index> everyone(Index n) {
  std::vector<Index> all(at(n));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

MachineTask numbers_task(const test::BinaryProblem& problem) {
  MachineTask task;
  for (Index i = 0; i < problem.x.rows(); ++i)
    task.numbers.push_back(std::sin(problem.x(i, 0)) + 0.3 * problem.x(i, 1));
  for (Index i = 0; i < problem.x.rows(); ++i) task.folds.push_back(i % 5);
  return task;
}

Eigen::MatrixXd eigen(const Matrix& m) {
  return Eigen::Map<const Eigen::MatrixXd>(m.data(), m.rows(), m.cols());
}

TEST(KernelFeatures, GiveTheKernelBack) {
  const auto problem = test::binary_problem(40, 3, {0.7, 2.0}, 5);
  const auto bank = make_dense_bank(problem.kernels, problem.names, true);
  const Vector weights = {0.5, 2.0, 0.25};
  const KernelFeatures features = kernel_features(*bank, weights, everyone(40), 1000);
  Eigen::MatrixXd kernel = Eigen::MatrixXd::Zero(40, 40);
  for (std::size_t p = 0; p < 3; ++p) kernel += weights[p] * eigen(problem.kernels[p]);
  const Eigen::MatrixXd phi = eigen(features.phi);
  // Directions below 1e-9 of the largest eigenvalue are left out.
  EXPECT_LT((phi * phi.transpose() * features.scale - kernel).norm(), 1e-7 * kernel.norm());
  EXPECT_LT((kernel * eigen(features.back) - phi).norm(), 1e-6 * phi.norm());
}

TEST(RidgeMachine, LeaveOneOutIsWhatAFitWithoutTheSampleSays) {
  const auto problem = test::binary_problem(30, 3, {1.0}, 6);
  const auto bank = make_dense_bank(problem.kernels, problem.names, true);
  const KernelFeatures features = kernel_features(*bank, Vector{1.0, 0.0}, everyone(30), 1000);
  const MachineTask task = numbers_task(problem);
  const Machine machine = ridge_machine(features.phi, task);
  const Eigen::MatrixXd phi = eigen(features.phi);
  Eigen::MatrixXd z(phi.rows(), phi.cols() + 1);
  z << Eigen::VectorXd::Constant(phi.rows(), 30.0), phi;  // the constant of the machine
  for (Index left = 0; left < 30; left += 7) {
    Eigen::MatrixXd rest = z;
    Eigen::VectorXd y = Eigen::Map<const Eigen::VectorXd>(task.numbers.data(), 30);
    rest.row(left).setZero();
    y(left) = 0.0;
    const Eigen::MatrixXd normal =
        rest.transpose() * rest + machine.ridge * Eigen::MatrixXd::Identity(z.cols(), z.cols());
    const Eigen::VectorXd w = normal.ldlt().solve(rest.transpose() * y);
    EXPECT_NEAR(machine.held_out(left, 0), z.row(left).dot(w), 1e-7);
  }
}

// Squared errors of fits that really leave each sample out.
Vector errors_left_out(const Eigen::MatrixXd& z, const Vector& numbers, double ridge) {
  Vector errors;
  for (Index left = 0; left < z.rows(); ++left) {
    Eigen::MatrixXd rest = z;
    Eigen::VectorXd y = Eigen::Map<const Eigen::VectorXd>(numbers.data(), z.rows());
    rest.row(left).setZero();
    y(left) = 0.0;
    const Eigen::MatrixXd normal =
        rest.transpose() * rest + ridge * Eigen::MatrixXd::Identity(z.cols(), z.cols());
    const double away = z.row(left).dot(normal.ldlt().solve(rest.transpose() * y)) - numbers[at(left)];
    errors.push_back(away * away);
  }
  return errors;
}

TEST(RidgeMachine, TakesTheStrongestStrengthThatIsAsGoodAsTheBest) {
  const auto problem = test::binary_problem(30, 3, {1.0}, 6);
  const auto bank = make_dense_bank(problem.kernels, problem.names, true);
  const KernelFeatures features = kernel_features(*bank, Vector{1.0, 0.0}, everyone(30), 1000);
  MachineTask task = numbers_task(problem);
  test::Normal noise(3);
  for (double& y : task.numbers) y += 1.5 * noise();
  const Eigen::MatrixXd phi = eigen(features.phi);
  Eigen::MatrixXd z(phi.rows(), phi.cols() + 1);
  z << Eigen::VectorXd::Constant(phi.rows(), 30.0), phi;  // the constant of the machine
  std::vector<Vector> errors;
  Vector sums;
  for (int step = 0; step < 13; ++step) {
    errors.push_back(errors_left_out(z, task.numbers, 1e-4 * std::pow(10.0, 0.5 * step)));
    sums.push_back(std::accumulate(errors.back().begin(), errors.back().end(), 0.0));
  }
  const auto best = static_cast<std::size_t>(std::ranges::min_element(sums) - sums.begin());
  std::size_t expected = best;
  for (std::size_t step = best; step < 13; ++step) {
    const double mean = (sums[step] - sums[best]) / 30.0;
    double variance = 0.0;  // of the mean
    for (std::size_t i = 0; i < 30; ++i)
      variance += std::pow(errors[step][i] - errors[best][i] - mean, 2) / (30.0 * 30.0);
    if (mean <= std::sqrt(variance)) expected = step;
  }
  ASSERT_GT(expected, best) << "the example tells nothing";
  const Machine machine = ridge_machine(features.phi, task);
  EXPECT_NEAR(machine.ridge, 1e-4 * std::pow(10.0, 0.5 * static_cast<double>(expected)), 1e-9 * machine.ridge);
  EXPECT_NEAR(machine.loss, sums[expected] / 30.0, 1e-7);
}

// Every fold has a kernel of its own here, as if kernels had learned from all samples but those of the fold.
TEST(RidgeMachine, FoldsAreJudgedByTheKernelsThatTheyDidNotTeach) {
  const auto problem = test::binary_problem(30, 3, {0.5, 1.0, 2.0}, 6);
  const auto bank = make_dense_bank(problem.kernels, problem.names, true);
  MachineTask task = numbers_task(problem);
  for (std::size_t i = 0; i < 30; ++i) task.folds[i] = static_cast<Index>(i % 2);
  const KernelFeatures whole = kernel_features(*bank, Vector{1.0, 0.0, 0.0, 0.0}, everyone(30), 1000);
  const std::vector<KernelFeatures> without = {
      kernel_features(*bank, Vector{0.0, 1.0, 0.0, 0.0}, everyone(30), 1000),
      kernel_features(*bank, Vector{0.0, 0.0, 1.0, 0.0}, everyone(30), 1000)};
  const Machine machine =
      ridge_machine_by_folds(whole, task, [&](Index fold) -> const Matrix& { return without[at(fold)].phi; });
  const auto solution_of = [&](const Matrix& features, Index fold) {
    const Eigen::MatrixXd phi = eigen(features);
    Eigen::MatrixXd z(phi.rows(), phi.cols() + 1);
    z << Eigen::VectorXd::Constant(phi.rows(), 30.0), phi;  // the constant of the machine
    Eigen::MatrixXd seen = z;
    for (Index i = 0; i < 30; ++i) {
      if (task.folds[at(i)] == fold) seen.row(i).setZero();
    }
    const Eigen::VectorXd y = Eigen::Map<const Eigen::VectorXd>(task.numbers.data(), 30);
    const Eigen::MatrixXd normal =
        seen.transpose() * seen + machine.ridge * Eigen::MatrixXd::Identity(z.cols(), z.cols());
    return Eigen::VectorXd(z * normal.ldlt().solve(seen.transpose() * y));
  };
  double loss = 0.0;
  for (const Index fold : {0, 1}) {
    const Eigen::VectorXd said = solution_of(without[at(fold)].phi, fold);
    for (Index i = fold; i < 30; i += 2) {
      EXPECT_NEAR(machine.held_out(i, 0), said(i), 1e-7);
      loss += (said(i) - task.numbers[at(i)]) * (said(i) - task.numbers[at(i)]) / 30.0;
    }
  }
  EXPECT_NEAR(machine.loss, loss, 1e-7);
  const Eigen::VectorXd all = solution_of(whole.phi, -1);
  for (Index i = 0; i < 30; ++i) {
    double score = machine.bias[0];
    for (Index k = 0; k < whole.phi.cols(); ++k) score += whole.phi(i, k) * machine.w(k, 0);
    EXPECT_NEAR(score, all(i), 1e-7);
  }
}

class ClassMachine : public ::testing::TestWithParam<MachineKind> {};

TEST_P(ClassMachine, HeldOutScoresDoNotKnowTheirLabels) {
  const auto problem = test::binary_problem(60, 3, {1.0}, 7);
  const auto bank = make_dense_bank(problem.kernels, problem.names, true);
  const KernelFeatures features = kernel_features(*bank, Vector{1.0, 0.0}, everyone(60), 1000);
  MachineTask task;
  task.classes = 2;
  task.labels = problem.targets.codes;
  for (Index i = 0; i < 60; ++i) task.folds.push_back(i % 5);
  const Machine before = class_machine(GetParam(), features, task);
  // Turning the labels of one fold must not move that fold's scores at the same strength.
  MachineTask turned = task;
  for (std::size_t i = 0; i < 60; i += 5) turned.labels[i] = 1 - turned.labels[i];
  const Machine after = class_machine(GetParam(), features, turned);
  if (before.ridge == after.ridge) {
    for (Index i = 0; i < 60; i += 5) EXPECT_NEAR(before.held_out(i, 0), after.held_out(i, 0), 1e-2);
  }
  EXPECT_LT(before.loss, std::log(2.0));
}
INSTANTIATE_TEST_SUITE_P(Kinds, ClassMachine, ::testing::Values(MachineKind::logistic, MachineKind::margin));

TEST(Evidence, NeverFallsAndAgreesWithItsDefinition) {
  const auto problem = test::binary_problem(50, 3, {0.3, 1.0, 3.0}, 8);
  const auto bank = make_dense_bank(problem.kernels, problem.names, true);
  const MachineTask task = numbers_task(problem);
  EvidenceRequest request;
  request.samples = everyone(50);
  request.kernels = {0, 1, 2, 3};
  request.iterations = 400;
  request.tolerance = 0.0;
  const EvidenceSolution found = maximise_evidence(*bank, codes_of(task), request);
  ASSERT_TRUE(found.sound);
  for (std::size_t t = 1; t < found.trace.size(); ++t)
    EXPECT_GE(found.trace[t], found.trace[t - 1] - 1e-9 * std::abs(found.trace[t]));
  Eigen::MatrixXd c = Eigen::MatrixXd::Constant(50, 50, found.constant);
  for (std::size_t p = 0; p < 4; ++p) c += found.weights[p] * eigen(problem.kernels[p]);
  c.diagonal().array() += found.noise;
  const Eigen::VectorXd y = Eigen::Map<const Eigen::VectorXd>(task.numbers.data(), 50);
  const Eigen::LLT<Eigen::MatrixXd> llt(c);
  const double log_det = 2.0 * llt.matrixL().toDenseMatrix().diagonal().array().log().sum();
  const double value = -0.5 * y.dot(llt.solve(y)) - 0.5 * log_det - 25.0 * std::log(2.0 * std::numbers::pi);
  // The solution is one update after the value that was kept, and weights below a thousandth are cut off.
  EXPECT_NEAR(found.evidence, value, 1e-2 * std::abs(value));
  EXPECT_GE(found.trace.back(), found.trace.front());
}

TEST(Screening, PrefersTheWidthThatPredicts) {
  const auto problem = test::binary_problem(120, 2, {0.01, 1.0}, 9);
  MachineTask task;
  task.classes = 2;
  task.labels = problem.targets.codes;
  EXPECT_LT(screening_loss(problem.kernels[1], task), screening_loss(problem.kernels[0], task));
  EXPECT_LT(screening_loss(problem.kernels[1], task), std::log(2.0));
}

}  // namespace
}  // namespace kloom::methods
