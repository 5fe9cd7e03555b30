// SPDX-License-Identifier: BSD-3-Clause
#include "methods/mkr/gradient.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "algebra/blas.h"

namespace kloom::methods {
namespace {

using algebra::Op;

// Σ_ij K_m(i, j) B(i, j) of every kernel; B is symmetric.
Vector products_with(const KernelBank& bank, const Matrix& b) {
  constexpr Index kEntries = Index{1} << 20;
  Vector sums(at(bank.kernels()));
  const Index n = bank.cols();
  const Index step = std::clamp<Index>(kEntries / (n * bank.kernels()), 1, n);
  for (Index begin = 0; begin < n; begin += step) {
    const Range rows{begin, std::min(begin + step, n)};
    const Index entries = (rows.end - rows.begin) * n;
    Matrix panel(entries, bank.kernels());
    bank.panels({0, bank.kernels()}, rows, panel.values().data());
    const std::span<const double> part(b.values().data() + begin * n, at(entries));
    for (Index m = 0; m < bank.kernels(); ++m) sums[at(m)] += algebra::dot(panel.column(m), part);
  }
  return sums;
}

// Ĝ⁻¹, or nothing where Ĝ is not positive definite.
Matrix inverse_of(const KernelBank& bank, const Vector& v, const Vector& roots) {
  Matrix g = bank.combine(v);
  Matrix inverse(g.rows(), g.cols());
  for (Index j = 0; j < g.cols(); ++j) {
    for (Index i = 0; i < g.rows(); ++i) g(i, j) *= roots[at(i)] * roots[at(j)];
    g(j, j) += 1.0;
    inverse(j, j) = 1.0;
  }
  if (algebra::cholesky(g.view()) != 0) return {};
  algebra::cholesky_solve(g.view(), inverse.view());
  return inverse;
}

// B between the roots of the weights, so that it meets K_m in place of K̂_m.
Matrix slope_matrix(const Matrix& inverse, const Vector& dual, const Vector& errors, const Vector& roots) {
  const Index n = inverse.rows();
  Matrix scaled = inverse;  // Ĝ⁻¹ diag(√(2e²/h))
  Vector pull;
  for (Index j = 0; j < n; ++j) {
    const double h = inverse(j, j);
    pull.push_back(2.0 * errors[at(j)] / h);
    algebra::scale(std::abs(errors[at(j)]) * std::sqrt(2.0 / h), scaled.column(j));
  }
  Vector a(at(n));
  algebra::gemv(Op::none, 1.0, inverse.view(), pull, 0.0, a);
  Matrix b(n, n);
  algebra::syrk(Op::none, 1.0, scaled.view(), 0.0, b.view());
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i)
      b(i, j) =
          roots[at(i)] * roots[at(j)] * (b(i, j) - 0.5 * (a[at(i)] * dual[at(j)] + dual[at(i)] * a[at(j)]));
  }
  return b;
}

Vector roots_of(const Vector& weights) {
  Vector roots;
  for (const double weight : weights) roots.push_back(std::sqrt(weight));
  return roots;
}

// log v less a step along the slope whose longest part is `length`.
Vector stepped(const Vector& v, const Vector& slope, double length) {
  double largest = 0.0;
  for (const double one : slope) largest = std::max(largest, std::abs(one));
  Vector next = v;
  for (std::size_t m = 0; m < v.size() && largest > 0.0; ++m) next[m] *= std::exp(-length * slope[m] / largest);
  return next;
}

}  // namespace

LeaveOneOut leave_one_out(const KernelBank& bank, const RidgeTask& task, Index target, const Vector& v) {
  const Vector roots = roots_of(task.weights);
  const Matrix inverse = inverse_of(bank, v, roots);
  LeaveOneOut result;
  if (inverse.empty()) {
    result.loss = std::numeric_limits<double>::infinity();
    return result;
  }
  Vector scaled(roots.size());
  for (std::size_t i = 0; i < roots.size(); ++i) scaled[i] = roots[i] * task.y(static_cast<Index>(i), target);
  result.dual.resize(roots.size());
  algebra::gemv(Op::none, 1.0, inverse.view(), scaled, 0.0, result.dual);
  Vector errors;
  for (Index i = 0; i < inverse.rows(); ++i) {
    errors.push_back(result.dual[at(i)] / inverse(i, i));
    result.loss += errors.back() * errors.back();
  }
  const double total = std::accumulate(task.weights.begin(), task.weights.end(), 0.0);
  result.loss /= total;
  result.slope = products_with(bank, slope_matrix(inverse, result.dual, errors, roots));
  for (std::size_t m = 0; m < v.size(); ++m) result.slope[m] *= v[m] / total;
  return result;
}

void descend(const KernelBank& bank, const RidgeTask& task, Index target, Index steps, RidgeChoice& choice) {
  constexpr double kLeast = 1e-4;    // a weight of 0 would stay there
  constexpr double kLength = 0.5;    // of the first step, in log v
  constexpr double kSettled = 1e-4;  // steps as short as this change nothing that counts
  Vector v;
  for (Index m = 0; m < bank.kernels(); ++m)
    v.push_back(std::max(choice.theta(target, m), kLeast) / choice.strengths[at(target)]);
  LeaveOneOut best = leave_one_out(bank, task, target, v);
  double length = kLength;
  for (Index step = 0; step < steps && length > kSettled && std::isfinite(best.loss); ++step) {
    Vector next = stepped(v, best.slope, length);
    LeaveOneOut found = leave_one_out(bank, task, target, next);
    const bool better = found.loss < best.loss;
    length *= better ? 1.3 : 0.4;
    if (!better) continue;
    v = std::move(next);
    best = std::move(found);
  }
  if (!(best.loss < choice.losses[at(target)])) return;
  const double sum = std::accumulate(v.begin(), v.end(), 0.0);
  choice.losses[at(target)] = best.loss;
  choice.strengths[at(target)] = 1.0 / sum;
  for (Index m = 0; m < bank.kernels(); ++m) choice.theta(target, m) = v[at(m)] / sum;
  for (Index i = 0; i < bank.rows(); ++i)
    choice.coefficients(i, target) = sum * std::sqrt(task.weights[at(i)]) * best.dual[at(i)];
}

}  // namespace kloom::methods
