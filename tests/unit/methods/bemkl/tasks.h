// SPDX-License-Identifier: BSD-3-Clause
//
// What the tests of BEMKL share: every task of the family on small problems.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "kernels/banks/gated_bank.h"
#include "methods/bemkl/bemkl.h"
#include "support/problems.h"

namespace kloom::test {

using kloom::BemklLikelihood;
using kloom::BemklPrior;
using kloom::GammaPrior;
using methods::BemklFactors;
using methods::BemklOptions;
using methods::BemklProblem;
using methods::BemklStart;

inline Eigen::MatrixXd eigen(const Matrix& m) {
  return Eigen::Map<const Eigen::MatrixXd>(m.data(), m.rows(), m.cols());
}
inline Eigen::VectorXd eigen(const Vector& v) {
  return Eigen::Map<const Eigen::VectorXd>(v.data(), static_cast<Eigen::Index>(v.size()));
}

// A problem of any task: kernels, and targets as the factors take them.
struct FamilyTask {
  const char* name;
  std::vector<Matrix> kernels;
  BemklProblem problem;
  bool non_negative = false;
  Matrix presence = {};  // samples × kernels; empty: every sample has every kernel
};

inline BemklStart random_start(const FamilyTask& task, unsigned seed) {
  Normal normal(seed);
  const Matrix& y = task.problem.targets;
  const auto p = static_cast<Index>(task.kernels.size());
  BemklStart start{Matrix(y.rows(), y.cols()), Matrix(y.rows() * p, y.cols()), Matrix(y.rows(), y.cols())};
  for (double& a : start.a.values()) a = normal();
  for (Index c = 0; c < y.cols(); ++c) {
    for (Index k = 0; k < y.rows() * p; ++k)
      start.intermediate(k, c) = (std::abs(normal()) + 1) * y(k % y.rows(), c);
    for (Index i = 0; i < y.rows(); ++i) start.f(i, c) = (std::abs(normal()) + 1) * y(i, c);
  }
  return start;
}

// Every task of the family on the same kernels.
inline std::vector<FamilyTask> all_tasks(Index n, unsigned seed,
                                         const std::vector<double>& widths = {0.5, 1.0, 3.0}) {
  const BinaryProblem made = binary_problem(n, 3, widths, seed);
  const Vector signs = made.targets.signs();
  Matrix one(n, 1);
  std::ranges::copy(signs, one.values().begin());
  Matrix three(n, 3, -1.0);
  for (Index i = 0; i < n; ++i) three(i, signs[static_cast<std::size_t>(i)] > 0 ? 0 : 1 + i % 2) = 1.0;
  Matrix missing = one;
  Matrix missing_three = three;
  for (Index i = 0; i < n; i += 3) {
    missing(i, 0) = 0.0;
    for (Index c = 0; c < 3; ++c) missing_three(i, c) = 0.0;
  }
  Matrix labels = three;
  for (Index i = 0; i < n; i += 4) labels(i, 2) = 1.0;  // more than one label, or none
  Matrix numbers = normal_matrix(n, 1, seed + 100);
  Matrix two_numbers = normal_matrix(n, 2, seed + 101);
  using L = BemklLikelihood;
  return {{"binary", made.kernels, {L::probit, one, {}}},
          {"binary, non-negative", made.kernels, {L::probit, one, {}}, true},
          {"binary, some without label", made.kernels, {L::probit, missing, {}}},
          {"multiclass", made.kernels, {L::probit, three, {}}},
          {"multiclass, non-negative", made.kernels, {L::probit, three, {}}, true},
          {"multiclass, some without label", made.kernels, {L::probit, missing_three, {}}},
          {"multinomial", made.kernels, {L::multinomial, three, {}}},
          {"multinomial, some without label", made.kernels, {L::multinomial, missing_three, {}}},
          {"multilabel", made.kernels, {L::probit, labels, {}}},
          {"regression", made.kernels, {L::gaussian, numbers, {}}},
          {"regression, non-negative", made.kernels, {L::gaussian, numbers, {}}, true},
          {"two numbers", made.kernels, {L::gaussian, two_numbers, {}}}};
}

inline std::unique_ptr<KernelBank> bank_of(const std::vector<Matrix>& kernels) {
  return make_dense_bank(kernels, std::vector<std::string>(kernels.size(), "kernel"), true);
}

// 0 for every third pair or so of a sample and a kernel; every sample has one kernel at least.
inline Matrix some_presence(Index samples, Index kernels) {
  Matrix presence(samples, kernels, 1.0);
  for (Index i = 0; i < samples; ++i) {
    for (Index m = 0; m < kernels; ++m)
      presence(i, m) = i % kernels != m && (i * 5 + m * 3) % 8 < 3 ? 0.0 : 1.0;
  }
  return presence;
}

inline std::unique_ptr<KernelBank> bank_without(std::unique_ptr<KernelBank> bank, const Matrix& presence) {
  if (presence.empty()) return bank;
  return std::make_unique<kernels::GatedBank>(std::move(bank), Presence{presence, presence});
}

inline std::vector<double> many_widths(int count) {
  std::vector<double> widths;
  for (int k = 0; k < count; ++k) widths.push_back(std::exp2(-3.0 + 8.0 * k / count));
  return widths;
}

inline FitResult fit(const BinaryProblem& problem, const BemklOptions& options = {}) {
  const auto bank = make_dense_bank(problem.kernels, problem.names, true);
  return methods::fit_bemkl(*bank, problem.targets, options, {});
}

// Targets for fits through the registry's interface.
inline Targets targets_of(Task task, Index n, unsigned seed, bool some_unlabelled = false) {
  Targets targets;
  targets.task = task;
  Normal normal(seed);
  if (task == Task::binary || task == Task::multiclass) {
    const int classes = task == Task::binary ? 2 : 3;
    for (int c = 0; c < classes; ++c) targets.classes.emplace_back(1, static_cast<char>('a' + c));
    for (Index i = 0; i < n; ++i)
      targets.codes.push_back(some_unlabelled && i % 3 == 0 ? Targets::unlabelled
                                                            : static_cast<int>(i * 7 % classes));
    return targets;
  }
  targets.values = normal_matrix(n, task == Task::regression ? 1 : 2, seed);
  if (task == Task::multilabel) {
    targets.classes = {"red", "green"};
    for (double& value : targets.values.values()) value = value > 0 ? 1.0 : 0.0;
  }
  return targets;
}

}  // namespace kloom::test
