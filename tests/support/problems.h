// SPDX-License-Identifier: BSD-3-Clause
//
// Small made-up problems, the same on every platform.
#pragma once

#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kloom/bank.h"
#include "kloom/dataset.h"
#include "kloom/matrix.h"
#include "kloom/targets.h"

namespace kloom::test {

// Standard normal numbers by Box–Muller from the standard's fully specified engine.
class Normal {
 public:
  explicit Normal(unsigned seed) : engine_(seed) {}
  double operator()() {
    const double u = uniform();
    const double v = uniform();
    return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * v);
  }
  double uniform() { return (static_cast<double>(engine_()) + 1.0) / 4294967297.0; }

 private:
  std::mt19937 engine_;
};

inline Matrix normal_matrix(Index rows, Index cols, unsigned seed) {
  Normal normal(seed);
  Matrix result(rows, cols);
  for (double& value : result.values()) value = normal();
  return result;
}

// Samples with features called f0, f1, …
inline Dataset dataset_of(const Matrix& x) {
  Dataset data;
  data.samples = x.rows();
  data.features = x;
  for (Index d = 0; d < x.cols(); ++d) data.feature_info.push_back({"f" + std::to_string(d), ""});
  return data;
}

inline Matrix dot_kernel(const Matrix& x, const Matrix& z) {
  Matrix k(x.rows(), z.rows());
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < z.rows(); ++j) {
      for (Index d = 0; d < x.cols(); ++d) k(i, j) += x(i, d) * z(j, d);
    }
  }
  return k;
}

inline Matrix rbf_kernel(const Matrix& x, const Matrix& z, double width) {
  Matrix k(x.rows(), z.rows());
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < z.rows(); ++j) {
      double d = 0.0;
      for (Index c = 0; c < x.cols(); ++c) d += (x(i, c) - z(j, c)) * (x(i, c) - z(j, c));
      k(i, j) = std::exp(-d / (2.0 * width * width));
    }
  }
  return k;
}

inline Matrix cosine_kernel(const Matrix& x, const Matrix& z) {
  const auto dot = [](const Matrix& a, Index i, const Matrix& b, Index j) {
    double sum = 0.0;
    for (Index c = 0; c < a.cols(); ++c) sum += a(i, c) * b(j, c);
    return sum;
  };
  Matrix k(x.rows(), z.rows());
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < z.rows(); ++j)
      k(i, j) = dot(x, i, z, j) / std::sqrt(dot(x, i, x, i) * dot(z, j, z, j));
  }
  return k;
}

// Two classes that no single kernel separates well: the sign of a smooth function plus noise.
struct BinaryProblem {
  Matrix x;
  std::vector<Matrix> kernels;
  std::vector<std::string> names;
  Targets targets;
};

inline BinaryProblem binary_problem(Index n, Index features, const std::vector<double>& widths, unsigned seed) {
  BinaryProblem problem;
  problem.x = normal_matrix(n, features, seed);
  for (double width : widths) {
    problem.kernels.push_back(rbf_kernel(problem.x, problem.x, width));
    problem.names.push_back("rbf " + std::to_string(width));
  }
  problem.kernels.push_back(cosine_kernel(problem.x, problem.x));
  problem.names.emplace_back("cosine");
  Normal noise(seed + 1000);
  problem.targets.task = Task::binary;
  problem.targets.classes = {"no", "yes"};
  for (Index i = 0; i < n; ++i) {
    const double value = std::sin(2.0 * problem.x(i, 0)) + problem.x(i, features - 1) + 0.3 * noise();
    problem.targets.codes.push_back(value > 0.0 ? 1 : 0);
  }
  // Both classes always occur.
  problem.targets.codes[0] = 0;
  problem.targets.codes[1] = 1;
  return problem;
}

// To the last bit: the lower triangles become those above.
inline void make_symmetric(std::vector<Matrix>& kernels) {
  for (Matrix& k : kernels) {
    for (Index i = 0; i < k.rows(); ++i) {
      for (Index j = 0; j < i; ++j) k(i, j) = k(j, i);
    }
  }
}

inline std::unique_ptr<KernelBank> bank_of(BinaryProblem problem) {
  make_symmetric(problem.kernels);
  return make_dense_bank(problem.kernels, problem.names, true);
}

// Kernel p of a bank, entry by entry.
inline Matrix kernel_of(const KernelBank& bank, Index p) {
  Vector panel(static_cast<std::size_t>(bank.rows() * bank.cols()));
  bank.panels({p, p + 1}, {0, bank.rows()}, panel.data());
  Matrix k(bank.rows(), bank.cols());
  for (Index i = 0; i < bank.rows(); ++i)
    for (Index j = 0; j < bank.cols(); ++j) k(i, j) = panel[static_cast<std::size_t>(i * bank.cols() + j)];
  return k;
}

// Largest absolute difference over the largest absolute reference.
template <typename A, typename B>
double relative_difference(const A& value, const B& reference) {
  double difference = 0.0;
  double size = 0.0;
  auto r = std::begin(reference);
  for (double v : value) {
    difference = std::max(difference, std::abs(v - *r));
    size = std::max(size, std::abs(static_cast<double>(*r)));
    ++r;
  }
  return size > 0.0 ? difference / size : difference;
}

}  // namespace kloom::test
