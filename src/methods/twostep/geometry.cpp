// SPDX-License-Identifier: BSD-3-Clause
//
// The problem of γ is a support vector machine in disguise. The minimum over α ≥ 0, yᵀα = 0 of ½ αᵀYQYα − 1ᵀα has equal
// sums s over positives and negatives; for a given s its best α is s γ*, with the value ½ s² q − 2s where q = γ*ᵀYQYγ*, so
// s = 2/q and γ* = α/s. The problem of the ball is one of a single class: the minimum of ½ αᵀQα − ½ dᵀα.
#include "methods/twostep/geometry.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "algebra/blas.h"
#include "kloom/machine.h"

namespace kloom::methods {
namespace {

solvers::SvmOptions options_of(double violation, std::size_t n) {
  solvers::SvmOptions options;
  options.tolerance = violation;
  options.iterations = std::max<Index>(1'000'000, 2000 * static_cast<Index>(n));
  return options;
}

double quadratic_form(solvers::KernelRows& rows, const Vector& alpha) {
  double sum = 0.0;
  for (Index i = 0; i < rows.size(); ++i) {
    if (alpha[at(i)] != 0.0) sum += alpha[at(i)] * algebra::dot({rows.row(i), alpha.size()}, alpha);
  }
  return sum;
}

}  // namespace

Vector ridges(const Vector& weights, double lambda) {
  Vector result;
  for (const double weight : weights) result.push_back(weight > 0.0 ? lambda / weight : lambda);
  return result;
}

RidgedSum::RidgedSum(const KernelBank& bank, Vector share, Vector ridge, const Context& context)
    : bank_(bank), share_(std::move(share)), ridge_(std::move(ridge)) {
  const auto n = static_cast<std::size_t>(bank.rows());
  // A budget that the user gave includes the bank.
  const std::size_t taken = context.memory_budget != 0 ? bank.bytes() : 0;
  const std::size_t budget = memory_budget(context);
  const std::size_t left = budget - std::min(budget, taken);
  if (2 * n * n * sizeof(double) <= left) {
    whole_ = bank.combine(share_);
    for (Index i = 0; i < bank.rows(); ++i) whole_(i, i) += ridge_[at(i)];
    rows_ = std::make_unique<solvers::MatrixRows>(whole_.view());
    return;
  }
  Vector diagonal = ridge_;
  algebra::gemv(algebra::Op::none, 1.0, bank.diagonal().view(), share_, 1.0, diagonal);
  const auto compute = [this](Index i, double* out) {
    bank_.combine_rows(share_, {&i, 1}, {out, bank_.cols(), 1, bank_.cols()});
    out[i] += ridge_[at(i)];
  };
  rows_ =
      std::make_unique<solvers::CachedRows>(std::move(diagonal), compute, std::max<std::size_t>(1, left / 2));
}

NearestPoints nearest_points(RidgedSum& sum, std::span<const double> y, const Vector& weights, double ridge,
                             double violation, const NearestPoints& start) {
  double positive = 0.0;
  double negative = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) (y[i] > 0.0 ? positive : negative) += weights[i];
  // q ≥ ridge Σ γ_i²/weight_i ≥ ridge (1/positive + 1/negative), so no α_i ≤ s = 2/q comes near this bound.
  const double bound = 4.0 / (ridge * (1.0 / positive + 1.0 / negative));
  solvers::SvmProblem problem{{y.begin(), y.end()}, Vector(y.size(), -1.0), {}, {}};
  for (const double weight : weights) problem.box.push_back(weight > 0.0 ? bound : 0.0);
  Vector from = start.gamma;
  if (!from.empty()) algebra::scale(2.0 / start.square, from);

  NearestPoints result;
  result.gamma = solve_svm(problem, sum.rows(), options_of(violation, y.size()), from).alpha;
  double s = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) s += y[i] > 0.0 ? result.gamma[i] : 0.0;
  algebra::scale(1.0 / s, result.gamma);
  result.square = 2.0 / s;
  return result;
}

SmallestBall smallest_ball(RidgedSum& sum, const Vector& squares, const Vector& weights, double violation,
                           const SmallestBall& start) {
  solvers::SvmProblem problem{Vector(squares.size(), 1.0), {}, {}, {}};
  for (std::size_t i = 0; i < squares.size(); ++i) {
    problem.linear.push_back(-0.5 * squares[i]);
    problem.box.push_back(weights[i] > 0.0 ? 1.0 : 0.0);
  }
  SmallestBall result = start;
  if (result.alpha.empty()) {
    result.alpha = weights;
    algebra::scale(1.0 / std::accumulate(weights.begin(), weights.end(), 0.0), result.alpha);
  }
  const auto value = [&] {
    return algebra::dot(result.alpha, squares) - quadratic_form(sum.rows(), result.alpha);
  };
  // Violations are in units of half the square of the radius, which is at least this.
  const double scale = value();
  result.alpha =
      solve_svm(problem, sum.rows(), options_of(violation * scale, squares.size()), result.alpha).alpha;
  result.square = value();
  return result;
}

}  // namespace kloom::methods
