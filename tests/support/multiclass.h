// SPDX-License-Identifier: BSD-3-Clause
//
// Small multiclass problems, the same on every platform.
#pragma once

#include <string>
#include <vector>

#include "support/problems.h"

namespace kloom::test {

struct MulticlassProblem {
  Matrix x;
  std::vector<Matrix> kernels;
  std::vector<std::string> names;
  Targets targets;
};

// Centres on the vertices of a simplex (unit vectors), Gaussian noise, one Gaussian kernel per
// width; classes in turn.
inline MulticlassProblem simplex_problem(Index n, Index classes, const std::vector<double>& widths,
                                         unsigned seed, double noise = 0.5) {
  MulticlassProblem problem;
  problem.x = normal_matrix(n, classes, seed);
  problem.targets.task = classes > 2 ? Task::multiclass : Task::binary;
  for (Index c = 0; c < classes; ++c) problem.targets.classes.push_back("class " + std::to_string(c));
  for (Index i = 0; i < n; ++i) {
    for (Index d = 0; d < classes; ++d) {
      problem.x(i, d) = noise * problem.x(i, d) + (i % classes == d ? 1.0 : 0.0);
    }
    problem.targets.codes.push_back(static_cast<int>(i % classes));
  }
  for (double width : widths) {
    problem.kernels.push_back(rbf_kernel(problem.x, problem.x, width));
    problem.names.push_back("rbf " + std::to_string(width));
  }
  return problem;
}

inline std::unique_ptr<KernelBank> bank_of(const MulticlassProblem& problem) {
  return make_dense_bank(problem.kernels, problem.names, true);
}

// The samples of a problem of two classes in three, by the first feature.
inline Targets three_classes(const BinaryProblem& problem) {
  Targets three = problem.targets;
  three.task = Task::multiclass;
  three.classes = {"a", "b", "c"};
  for (std::size_t i = 0; i < three.codes.size(); ++i) {
    const double value = problem.x(static_cast<Index>(i), 0);
    three.codes[i] = value < -0.5 ? 0 : value < 0.5 ? 1 : 2;
  }
  return three;
}

inline Matrix identity(Index n) {
  Matrix result(n, n);
  for (Index i = 0; i < n; ++i) result(i, i) = 1.0;
  return result;
}

}  // namespace kloom::test
