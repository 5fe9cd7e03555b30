// SPDX-License-Identifier: BSD-3-Clause
#include "methods/mcmkl/newton.h"

#include <algorithm>
#include <cmath>

#include "algebra/blas.h"
#include "solvers/svm.h"

namespace kloom::methods {
namespace {

using algebra::Op;

// With more directions the Hessian costs more than the steps that it saves.
constexpr Index kMostDirections = 1500;

struct Direction {
  Index sample = 0;
  Index up = 0;
  Index down = 0;
};

std::vector<Direction> free_directions(const McmklTask& task, const Matrix& alpha) {
  std::vector<Direction> directions;
  for (Index i = 0; i < alpha.rows(); ++i) {
    const Index y = task.labels[at(i)];
    // The variable of the sample's own class is free below its bound; else another free one takes its place.
    const double largest = solvers::largest_coefficient(task.loss, task.box[at(i)]);
    Index reference = alpha(i, y) > 0.0 && alpha(i, y) < largest ? y : -1;
    for (Index u = 0; u < task.classes; ++u) {
      if (u == y || !(alpha(i, u) < 0.0)) continue;
      if (reference < 0) {
        reference = u;
      } else {
        directions.push_back({i, u, reference});
      }
    }
  }
  return directions;
}

// Cholesky of the joint kernel along the directions, and the scales that made its diagonal 1 before: the
// logistic loss adds curvatures of very different sizes. Empty if that is not positive.
struct Factor {
  Matrix lower;
  Vector scales;
};

Factor factor_of(const NewtonPoint& point, const std::vector<Direction>& directions) {
  const McmklTask& task = point.task;
  const Matrix& l = task.class_kernels.front();
  const auto f = static_cast<Index>(directions.size());
  Factor factor{Matrix(f, f), Vector(at(f))};
  for (Index c = 0; c < f; ++c) {
    const Direction& b = directions[at(c)];
    const double* row = point.combined.row(b.sample);
    for (Index r = c; r < f; ++r) {
      const Direction& a = directions[at(r)];
      const double weight = l(a.up, b.up) - l(a.up, b.down) - l(a.down, b.up) + l(a.down, b.down);
      double& entry = factor.lower(r, c);
      entry = weight * row[a.sample];
      const Index y = task.labels[at(a.sample)];
      if (a.sample == b.sample && a.down == y) {
        entry += solvers::worth_curvature(task.loss, task.box[at(a.sample)], point.alpha(a.sample, y));
      }
    }
    factor.scales[at(c)] = 1.0 / std::sqrt(std::max(factor.lower(c, c), 1e-300));
  }
  for (Index c = 0; c < f; ++c) {
    for (Index r = c; r < f; ++r) factor.lower(r, c) *= factor.scales[at(r)] * factor.scales[at(c)];
    factor.lower(c, c) += 1e-10;
  }
  if (algebra::cholesky(factor.lower.view()) != 0) return {};
  return factor;
}

// L⁻¹ [V E]: outputs of every kernel along the directions, then the class sums that must not change.
Matrix sides_of(const NewtonPoint& point, const Factor& factor, const std::vector<Direction>& directions) {
  const McmklTask& task = point.task;
  const SupportOutputs& outputs = point.outputs;
  const auto kernels = static_cast<Index>(point.beta.size());
  const auto n = static_cast<Index>(outputs.samples.size());
  const Matrix& l = task.class_kernels.front();
  const auto f = static_cast<Index>(directions.size());
  const Index sums = task.bias ? task.classes - 1 : 0;
  std::vector<Index> place(at(point.alpha.rows()));
  for (Index k = 0; k < n; ++k) place[at(outputs.samples[at(k)])] = k;
  Matrix sides(f, kernels + sums);
  Matrix scores(n, task.classes);
  for (Index p = 0; p < kernels; ++p) {
    const ConstMatrixView k_alpha{outputs.values.data() + p * n, n, task.classes, outputs.values.rows()};
    algebra::gemm(Op::none, Op::none, 1.0, k_alpha, l.view(), 0.0, scores.view());
    for (Index r = 0; r < f; ++r) {
      const Direction& a = directions[at(r)];
      sides(r, p) = scores(place[at(a.sample)], a.up) - scores(place[at(a.sample)], a.down);
    }
  }
  for (Index r = 0; r < f; ++r) {
    const Direction& a = directions[at(r)];
    if (a.up < sums) sides(r, kernels + a.up) = 1.0;
    if (a.down < sums) sides(r, kernels + a.down) = -1.0;
  }
  for (Index c = 0; c < sides.cols(); ++c) {
    for (Index r = 0; r < f; ++r) sides(r, c) *= factor.scales[at(r)];
  }
  algebra::lower_solve(factor.lower.view(), sides.view());
  return sides;
}

// VᵀBV from L⁻¹[V E]: the products of the columns of L⁻¹V after projection onto the complement of L⁻¹E.
Matrix hessian_of(const Matrix& sides, Index kernels) {
  const Index sums = sides.cols() - kernels;
  Matrix hessian(kernels, kernels);
  algebra::syrk(Op::transpose, 1.0, sides.columns({0, kernels}), 0.0, hessian.view());
  if (sums == 0) return hessian;
  Matrix among(sums, sums);
  algebra::syrk(Op::transpose, 1.0, sides.columns({kernels, kernels + sums}), 0.0, among.view());
  double trace = 0.0;
  for (Index u = 0; u < sums; ++u) trace += among(u, u);
  // A class without a free direction has a row of 0.
  for (Index u = 0; u < sums; ++u) among(u, u) += 1e-13 * trace + 1e-300;
  if (algebra::cholesky(among.view()) != 0) return {};
  Matrix across(sums, kernels);
  algebra::gemm(Op::transpose, Op::none, 1.0, sides.columns({kernels, kernels + sums}),
                sides.columns({0, kernels}), 0.0, across.view());
  algebra::lower_solve(among.view(), across.view());
  algebra::syrk(Op::transpose, -1.0, across.view(), 1.0, hessian.view());
  return hessian;
}

}  // namespace

Vector newton_point(const NewtonPoint& point) {
  const std::vector<Direction> directions = free_directions(point.task, point.alpha);
  if (directions.empty() || static_cast<Index>(directions.size()) > kMostDirections) return {};
  const Factor factor = factor_of(point, directions);
  if (factor.lower.empty()) return {};
  const auto p = static_cast<Index>(point.beta.size());
  Matrix hessian = hessian_of(sides_of(point, factor, directions), p);
  if (hessian.empty()) return {};
  const Matrix& q = point.q;
  double size = 0.0;
  for (Index k = 0; k < p; ++k) size = std::max(size, hessian(k, k));
  const double largest = *std::ranges::max_element(q.values());
  for (Index k = 0; k < p; ++k) hessian(k, k) += 1e-9 * size + 1e-6 * largest;
  // ½ xᵀHx − (½q + Hβ)ᵀx over the simplex: an SVM-like problem with one equality and bounds.
  solvers::SvmProblem model{Vector(at(p), 1.0), Vector(at(p)), Vector(at(p), 1.0), {}};
  Vector curved(at(p));  // Hβ
  algebra::gemv(Op::none, 1.0, hessian.view(), point.beta, 0.0, curved);
  for (std::size_t k = 0; k < curved.size(); ++k) model.linear[k] = -0.5 * q.values()[k] - curved[k];
  solvers::SvmOptions options;
  options.tolerance = 1e-12 * std::max(largest, 1e-300);
  options.iterations = 1000 * p + 10000;
  options.shrinking = false;
  solvers::MatrixRows rows(hessian.view());
  return solve_svm(model, rows, options, point.beta).alpha;
}

}  // namespace kloom::methods
