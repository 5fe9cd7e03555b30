// SPDX-License-Identifier: BSD-3-Clause
#include "methods/bemkl/core.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "algebra/blas.h"
#include "algebra/single_precision.h"

namespace kloom::methods {
namespace {

using algebra::Op;

constexpr double kLeftAway = 1e-8;  // of a variance, before the rest is estimated
constexpr double kSmall = 0.05;     // sT, for single precision: 6e-8 of it is 3e-9 of the whole
constexpr Index kFewest = 64;       // kernels, below which none of this pays

double sum_of(const Vector& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// Diagonals of T², T³ and T⁴; the last two by the ratios of `before` where those still hold: ratios move about
// as much as the level does, and what they stand for, beside T itself, is the square of s times the level.
algebra::DiagonalPowers powers_of(const Matrix& t, double s, const PowerRatios& before, PowerRatios& ratios) {
  constexpr int kOldest = 10;
  constexpr double kNegligible = 1e-7;
  const auto p = static_cast<std::size_t>(t.rows());
  Vector level(p);
  bool hold = before.level.size() == p && before.age < kOldest;
  for (std::size_t m = 0; m < p; ++m) {
    const auto column = t.column(static_cast<Index>(m));
    level[m] = algebra::dot(column, column) / column[m];
    hold = hold && s * s * level[m] * std::abs(level[m] - before.level[m]) <= kNegligible;
  }
  algebra::DiagonalPowers powers;
  if (hold) {
    ratios = before;
    ++ratios.age;
    for (std::size_t m = 0; m < p; ++m) {
      const double first = t(static_cast<Index>(m), static_cast<Index>(m));
      powers.second.push_back(first * level[m]);
      powers.third.push_back(ratios.third[m] * first * level[m] * level[m]);
      powers.fourth.push_back(ratios.fourth[m] * first * level[m] * level[m] * level[m]);
    }
    return powers;
  }
  powers = algebra::diagonal_powers(t.view());
  ratios = {level, Vector(p), Vector(p), 0};
  for (std::size_t m = 0; m < p; ++m) {
    ratios.third[m] = powers.third[m] / (powers.second[m] * level[m]);
    ratios.fourth[m] = powers.fourth[m] / (powers.second[m] * level[m] * level[m]);
  }
  return powers;
}

// Diagonal and determinant of Σ(e) = T(I − sT)⁻¹ from powers of T. False if what is left away counts.
bool expand(double s, const PowerRatios& before, CoreWeights& core) {
  const Matrix& t = *core.t;
  const algebra::DiagonalPowers powers = powers_of(t, s, before, core.ratios);
  const double second = sum_of(powers.second);
  const double third = sum_of(powers.third);
  const double fourth = sum_of(powers.fourth);
  core.share = s * std::pow(fourth, 0.25);  // the fourth root of a sum of fourth powers
  Vector variances(static_cast<std::size_t>(t.rows()));
  double first = 0.0;
  for (Index m = 0; m < t.rows(); ++m) {
    const auto k = static_cast<std::size_t>(m);
    const double last = s * s * s * powers.fourth[k];
    const double next =
        last * (s * powers.fourth[k] / powers.third[k]);  // about what follows, share·last at most
    variances[k] = t(m, m) + s * (powers.second[k] + s * powers.third[k]) + last + next;
    if (!(core.share * last <= kLeftAway * t(m, m))) return false;
    first += t(m, m);
  }
  const double fifth = fourth * (fourth / third);
  core.log_det = core.log_det_t +
                 s * (first + s * (second / 2.0 + s * (third / 3.0 + s * (fourth / 4.0 + s * fifth / 5.0))));
  core.variances = std::move(variances);
  return true;
}

// x ← Σ(e) x = (T + sT² + …) x.
void solve_by_series(const Matrix& t, double s, Matrix& x) {
  constexpr int kTerms = 60;
  Matrix term(x.rows(), x.cols());
  algebra::gemm(Op::none, Op::none, 1.0, t.view(), x.view(), 0.0, term.view());
  x = term;
  for (int k = 0; k < kTerms; ++k) {
    Matrix next(x.rows(), x.cols());
    algebra::gemm(Op::none, Op::none, s, t.view(), term.view(), 0.0, next.view());
    algebra::axpy(1.0, next.values(), x.values());
    term = std::move(next);
    if (algebra::dot(term.values(), term.values()) <= 1e-32 * algebra::dot(x.values(), x.values())) return;
  }
}

// The same from Ĉ itself.
bool invert(Matrix precision, CoreWeights& core, Matrix& asked) {
  if (algebra::cholesky_inverse_factor(precision.view()) != 0) return false;
  core.log_det = algebra::cholesky_log_det(precision.view());
  if (!std::isfinite(core.log_det)) return false;
  algebra::solve_from_inverse_factor(precision.view(), asked.view());
  core.variances = algebra::inverse_diagonal(precision.view());
  return true;
}

void add_to_diagonal(double value, Matrix& matrix) {
  for (Index m = 0; m < matrix.rows(); ++m) matrix(m, m) += value;
}

}  // namespace

std::optional<CoreWeights> CoreWeights::of(Matrix precision, double s, const CoreWeights* before,
                                           Matrix& asked) {
  // Where powers held the last time they will again, and Ĉ need not be kept.
  const bool hopeful = before != nullptr && !before->ratios.level.empty();
  CoreWeights core;
  Matrix kept = hopeful ? Matrix() : precision;
  add_to_diagonal(s, precision);
  if (!algebra::invert_positive(precision.view(), core.log_det_t)) return std::nullopt;
  core.t = std::make_shared<const Matrix>(std::move(precision));
  if (core.t->rows() >= kFewest && expand(s, before != nullptr ? before->ratios : PowerRatios(), core)) {
    solve_by_series(*core.t, s, asked);
    return core;
  }
  core.ratios = {};
  if (hopeful) {
    double ignored = 0.0;
    kept = *core.t;
    if (!algebra::invert_positive(kept.view(), ignored)) return std::nullopt;
    add_to_diagonal(-s, kept);
  }
  if (!invert(std::move(kept), core, asked)) return std::nullopt;
  return core;
}

CoreWeights CoreWeights::identity(Index kernels, double s) {
  CoreWeights core;
  Matrix t(kernels, kernels);
  for (Index m = 0; m < kernels; ++m) t(m, m) = 1.0 / (1.0 + s);
  core.t = std::make_shared<const Matrix>(std::move(t));
  core.log_det_t = -static_cast<double>(kernels) * std::log1p(s);
  core.variances.assign(static_cast<std::size_t>(kernels), 1.0);
  return core;
}

CoreOutputs CoreOutputs::of(const CoreWeights& weights, std::span<const double> mean, double s) {
  CoreOutputs core;
  core.t = weights.t;
  core.s = s;
  core.small = weights.share <= kSmall;
  core.w.assign(mean.begin(), mean.end());
  algebra::gemv(Op::none, -s * s, core.t->view(), mean, s, core.w);
  const double scale = 1.0 + algebra::dot(core.w, mean);
  core.kappa = 1.0 / scale;
  core.log_det =
      weights.log_det_t - weights.log_det + static_cast<double>(mean.size()) * std::log(s) - std::log(scale);
  return core;
}

double CoreOutputs::trace() const {
  double sum = -kappa * algebra::dot(w, w);
  for (Index m = 0; m < t->rows(); ++m) sum += s - s * s * (*t)(m, m);
  return sum;
}

void CoreOutputs::times(ConstMatrixView rows, MatrixView out) const {
  Vector along(static_cast<std::size_t>(rows.rows));
  algebra::gemv(Op::none, kappa, rows, w, 0.0, along);
  for (Index m = 0; m < rows.cols; ++m) {
    const double* from = rows.column(m).data();
    double* to = out.column(m).data();
    const double weight = w[static_cast<std::size_t>(m)];
    for (Index i = 0; i < rows.rows; ++i) to[i] = s * from[i] - weight * along[static_cast<std::size_t>(i)];
  }
  if (small) {
    algebra::add_product_in_single(-s * s, rows, t->view(), out);
  } else {
    algebra::gemm(Op::none, Op::none, -s * s, rows, t->view(), 1.0, out);
  }
}

Matrix CoreOutputs::scaled_lower(double n) const {
  Matrix result(t->rows(), t->rows());
  for (Index m = 0; m < t->rows(); ++m) {
    const double* from = t->column(m).data();
    double* to = result.column(m).data();
    const double weight = n * kappa * w[static_cast<std::size_t>(m)];
    for (Index k = m; k < t->rows(); ++k)
      to[k] = -n * s * s * from[k] - weight * w[static_cast<std::size_t>(k)];
    to[m] += n * s;
  }
  return result;
}

Matrix CoreOutputs::dense() const {
  Matrix result = scaled_lower(1.0);
  algebra::symmetrise_from_lower(result.view());
  return result;
}

}  // namespace kloom::methods
