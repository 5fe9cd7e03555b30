// SPDX-License-Identifier: BSD-3-Clause
#include "methods/mkr/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "algebra/blas.h"
#include "base/progress.h"
#include "kernels/banks/summed_factor.h"
#include "kloom/error.h"
#include "models/scores.h"
#include "solvers/draws.h"

namespace kloom::methods {
namespace {

using algebra::Op;

// Numbers of one kernel: FNV-1a of its name, mixed with the seed.
std::uint64_t seed_of(const std::string& name, std::uint64_t seed) {
  std::uint64_t hash = 0xcbf29ce484222325U ^ (seed * 0x9e3779b97f4a7c15U);
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  return hash;
}

// Of K̂: all of its vectors, or W where it is thin.
struct Decomposition {
  Vector values;
  Matrix vectors;
  Matrix squares;  // of the entries of `vectors`
  bool thin = false;
};

class Search {
 public:
  Search(const KernelBank& bank, const RidgeTask& task, const Vector& grid)
      : bank_(bank), task_(task), grid_(grid) {
    for (const double weight : task.weights) {
      roots_.push_back(std::sqrt(weight));
      total_ += weight;
    }
    const Index targets = task.y.cols();
    choice_.theta = Matrix(targets, bank.kernels());
    choice_.strengths.resize(at(targets));
    choice_.losses.assign(at(targets), std::numeric_limits<double>::infinity());
    choice_.coefficients = Matrix(bank.rows(), targets);
  }

  void try_point(const Vector& theta);
  [[nodiscard]] RidgeChoice take() { return std::move(choice_); }

 private:
  void set_scales(const Vector& theta);
  [[nodiscard]] Decomposition decomposed(const Vector& theta) const;
  void try_strength(const Vector& theta, const Decomposition& kernel, double strength);
  void keep_better(const Vector& theta, double strength, const Matrix& dual, const Vector& inverse);

  // Solutions of so many numbers are held at a time.
  static constexpr Index kBlock = Index{1} << 22;
  // An eigenvalue of Ĝ as small as this beside the largest is rounding, or below 0.
  static constexpr double kSingular = 1e-13;

  const KernelBank& bank_;
  const RidgeTask& task_;
  const Vector& grid_;
  Vector roots_;   // of the weights
  Vector scales_;  // of the rows of the kernel at the point
  double total_ = 0.0;
  Index begin_ = 0;  // the first target of the block
  Matrix scaled_;    // ŷ of the block
  Matrix rotated_;   // Vᵀŷ, or Wᵀŷ
  RidgeChoice choice_;
};

void Search::set_scales(const Vector& theta) {
  scales_ = roots_;
  if (task_.sizes.empty()) return;
  const Vector present = models::present_scales(bank_.presence().rows, theta, task_.sizes);
  for (std::size_t i = 0; i < present.size(); ++i) scales_[i] *= present[i];
}

Decomposition Search::decomposed(const Vector& theta) const {
  Decomposition result;
  const Matrix factor = kernels::summed_factor(bank_, theta, bank_.rows() / 2);
  result.thin = !factor.empty();
  Matrix matrix = result.thin ? factor : bank_.combine(theta);
  for (Index j = 0; j < matrix.cols(); ++j) {
    for (Index i = 0; i < matrix.rows(); ++i)
      matrix(i, j) *= scales_[at(i)] * (result.thin ? 1.0 : scales_[at(j)]);
  }
  if (result.thin) {
    Matrix products(matrix.cols(), matrix.cols());
    algebra::syrk(Op::transpose, 1.0, matrix.view(), 0.0, products.view());
    algebra::Eigen eigen = algebra::symmetric_eigen(products.view(), true);
    result.vectors = Matrix(matrix.rows(), matrix.cols());
    algebra::gemm(Op::none, Op::none, 1.0, matrix.view(), eigen.vectors.view(), 0.0, result.vectors.view());
    for (const double value : eigen.values) result.values.push_back(std::max(0.0, value));
  } else {
    algebra::Eigen eigen = algebra::symmetric_eigen(matrix.view(), true);
    result.vectors = std::move(eigen.vectors);
    result.values = std::move(eigen.values);
  }
  result.squares = result.vectors;
  for (double& value : result.squares.values()) value *= value;
  return result;
}

void Search::try_point(const Vector& theta) {
  set_scales(theta);
  const Decomposition kernel = decomposed(theta);
  const Index step = std::clamp<Index>(kBlock / bank_.rows(), 1, task_.y.cols());
  for (begin_ = 0; begin_ < task_.y.cols(); begin_ += step) {
    scaled_ = Matrix(bank_.rows(), std::min(step, task_.y.cols() - begin_));
    for (Index t = 0; t < scaled_.cols(); ++t) {
      for (Index i = 0; i < scaled_.rows(); ++i) scaled_(i, t) = roots_[at(i)] * task_.y(i, begin_ + t);
    }
    rotated_ = Matrix(kernel.vectors.cols(), scaled_.cols());
    algebra::gemm(Op::transpose, Op::none, 1.0, kernel.vectors.view(), scaled_.view(), 0.0, rotated_.view());
    for (const double strength : grid_) try_strength(theta, kernel, strength);
  }
}

void Search::try_strength(const Vector& theta, const Decomposition& kernel, double strength) {
  const double least = kernel.thin ? 0.0 : kernel.values.front();  // a thin kernel has vectors of value 0
  if (least + strength <= kSingular * (kernel.values.back() + strength)) return;
  Vector shrink;
  for (const double value : kernel.values) shrink.push_back(1.0 / (value + strength));
  Matrix shrunk = rotated_;
  for (Index t = 0; t < shrunk.cols(); ++t) {
    for (Index i = 0; i < shrunk.rows(); ++i) shrunk(i, t) *= shrink[at(i)];
  }
  // Ĝ⁻¹ŷ, and the diagonal of Ĝ⁻¹. What is thin is taken from the unit matrix.
  const double factor = kernel.thin ? -1.0 / strength : 1.0;
  const double kept = kernel.thin ? 1.0 / strength : 0.0;
  Vector inverse(at(bank_.rows()), kept);
  algebra::gemv(Op::none, factor, kernel.squares.view(), shrink, 1.0, inverse);
  Matrix dual = scaled_;
  algebra::scale(kept, dual.values());
  algebra::gemm(Op::none, Op::none, factor, kernel.vectors.view(), shrunk.view(), 1.0, dual.view());
  keep_better(theta, strength, dual, inverse);
}

void Search::keep_better(const Vector& theta, double strength, const Matrix& dual, const Vector& inverse) {
  for (Index t = 0; t < dual.cols(); ++t) {
    double loss = 0.0;
    for (Index i = 0; i < dual.rows(); ++i) {
      const double error = dual(i, t) / inverse[at(i)];
      loss += error * error;
    }
    loss /= total_;
    const Index target = begin_ + t;
    if (!(loss < choice_.losses[at(target)])) continue;
    choice_.losses[at(target)] = loss;
    choice_.strengths[at(target)] = strength;
    for (Index m = 0; m < bank_.kernels(); ++m) choice_.theta(target, m) = theta[at(m)];
    for (Index i = 0; i < dual.rows(); ++i) choice_.coefficients(i, target) = scales_[at(i)] * dual(i, t);
  }
}

}  // namespace

Vector kernel_sizes(const KernelBank& bank) {
  if (bank.presence().complete()) return {};
  const Matrix& presence = bank.presence().rows;
  const Matrix diagonal = bank.diagonal();
  Vector sizes;
  for (Index m = 0; m < bank.kernels(); ++m) {
    const double count = std::accumulate(presence.column(m).begin(), presence.column(m).end(), 0.0);
    sizes.push_back(count > 0.0 ? algebra::dot(diagonal.column(m), presence.column(m)) / count : 0.0);
  }
  return sizes;
}

Matrix simplex_points(const std::vector<std::string>& names, Index draws, std::uint64_t seed) {
  const auto kernels = std::ssize(names);
  // A single kernel has one point.
  Matrix points(kernels == 1 ? 1 : draws, kernels);
  for (Index m = 0; m < kernels; ++m) {
    solvers::Draws numbers(seed_of(names[at(m)], seed));
    points(0, m) = 1.0;
    for (Index d = 1; d < points.rows(); ++d) points(d, m) = numbers.gamma(d % 2 == 1 ? 1.0 : 0.1, 1.0);
  }
  for (Index d = 0; d < points.rows(); ++d) {
    double sum = 0.0;
    for (Index m = 0; m < kernels; ++m) sum += points(d, m);
    for (Index m = 0; m < kernels; ++m)
      points(d, m) = sum > 0.0 ? points(d, m) / sum : 1.0 / static_cast<double>(kernels);
  }
  return points;
}

RidgeChoice search_points(const KernelBank& bank, const RidgeTask& task, const Matrix& points,
                          const Vector& grid, const Context& context) {
  Search search(bank, task, grid);
  ProgressMeter meter(context, "kernel weights");
  for (Index d = 0; d < points.rows(); ++d) {
    Vector theta;
    for (Index m = 0; m < points.cols(); ++m) theta.push_back(points(d, m));
    search.try_point(theta);
    if (meter.step(d + 1, points.rows(), 0.0)) break;  // the best so far
  }
  RidgeChoice choice = search.take();
  if (!std::ranges::all_of(choice.losses, [](double loss) { return std::isfinite(loss); }))
    throw InvalidArgument(
        "ridge regression has no solution with these kernels: they are not positive semidefinite; try larger "
        "strengths (--alpha-grid), or kernels that are");
  return choice;
}

}  // namespace kloom::methods
