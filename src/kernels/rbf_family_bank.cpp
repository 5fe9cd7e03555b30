// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/rbf_family_bank.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "algebra/blas.h"
#include "kernels/functions.h"
#include "kloom/error.h"

namespace kloom::kernels {
namespace {

constexpr int kSegmentBits = 6;  // 64 segments an octave
constexpr int kShift = 52 - kSegmentBits;
constexpr std::int64_t kFractionMask = (std::int64_t{1} << kShift) - 1;
constexpr double kFlat = 1e-11;  // γt below which exp(−γt) is taken for its value at the table's left end
constexpr double kDead = 45.0;   // γt beyond which exp(−γt) < 3e-20 is taken for 0
constexpr double kUnderflow = -600.0;  // exp below makes subnormals, ten times slower

std::int64_t top_bits(double t) {
  return std::bit_cast<std::int64_t>(t) >> kShift;
}
double from_top_bits(std::int64_t top) {
  return std::bit_cast<double>(top << kShift);
}

double exponential(double x) {
  return x < kUnderflow ? 0.0 : std::exp(x);
}

}  // namespace

ExponentialTable::ExponentialTable(std::vector<double> gammas) : gammas_(std::move(gammas)) {
  double low = std::numeric_limits<double>::infinity();
  double high = 0.0;
  for (double gamma : gammas_) {
    if (gamma <= 0.0) continue;
    low = std::min(low, gamma);
    high = std::max(high, gamma);
  }
  if (high == 0.0) low = high = 1.0;
  first_ = top_bits(kFlat / high);
  segments_ = static_cast<Index>(top_bits(kDead / low) - first_) + 1;
}

ExponentialTable::Place ExponentialTable::place(double t) const {
  const auto bits = std::bit_cast<std::int64_t>(t);
  const auto segment = static_cast<Index>((bits >> kShift) - first_);
  if (segment < 0) return {0, 0.0};
  if (segment >= segments_) return {segments_ - 1, 1.0};
  return {segment, static_cast<double>(bits & kFractionMask) * 0x1p-46};
}

ExponentialTable::Ends ExponentialTable::ends(Index segment, double gamma) const {
  const double left = from_top_bits(first_ + segment);
  const double right = from_top_bits(first_ + segment + 1);
  const double width = right - left;
  const double f_left = exponential(-gamma * left);
  const double f_right = exponential(-gamma * right);
  return {f_left, f_right, -gamma * width * f_left, -gamma * width * f_right};
}

Vector ExponentialTable::combined(std::span<const double> w) const {
  Vector coefficients(static_cast<std::size_t>(4 * segments_));
#pragma omp parallel for schedule(static)
  for (Index s = 0; s < segments_; ++s) {
    Ends sum{0.0, 0.0, 0.0, 0.0};
    for (std::size_t f = 0; f < gammas_.size(); ++f) {
      if (w[f] == 0.0) continue;
      const Ends e = ends(s, gammas_[f]);
      sum.left += w[f] * e.left;
      sum.right += w[f] * e.right;
      sum.left_slope += w[f] * e.left_slope;
      sum.right_slope += w[f] * e.right_slope;
    }
    double* c = coefficients.data() + 4 * s;
    const double rise = sum.right - sum.left;
    c[0] = sum.left;
    c[1] = sum.left_slope;
    c[2] = 3.0 * rise - 2.0 * sum.left_slope - sum.right_slope;
    c[3] = -2.0 * rise + sum.left_slope + sum.right_slope;
  }
  return coefficients;
}

double ExponentialTable::evaluate(const Vector& coefficients, double t) const {
  const Place at = place(t);
  const double* c = coefficients.data() + 4 * at.segment;
  return c[0] + at.u * (c[1] + at.u * (c[2] + at.u * c[3]));
}

void ExponentialTable::add_pair(double t, double weight, double* moments) const {
  const Place at = place(t);
  double* m = moments + 4 * at.segment;
  const double wu = weight * at.u;
  const double wuu = wu * at.u;
  m[0] += weight;
  m[1] += wu;
  m[2] += wuu;
  m[3] += wuu * at.u;
}

Vector ExponentialTable::sums(const double* moments) const {
  Vector result(gammas_.size());
#pragma omp parallel for schedule(static)
  for (std::size_t f = 0; f < gammas_.size(); ++f) {
    double sum = 0.0;
    for (Index s = 0; s < segments_; ++s) {
      const double* m = moments + 4 * s;
      if (m[0] == 0.0 && m[1] == 0.0 && m[2] == 0.0 && m[3] == 0.0) continue;
      const Ends e = ends(s, gammas_[f]);
      const double rise = e.right - e.left;
      sum += m[0] * e.left + m[1] * e.left_slope + m[2] * (3.0 * rise - 2.0 * e.left_slope - e.right_slope) +
             m[3] * (-2.0 * rise + e.left_slope + e.right_slope);
    }
    result[f] = sum;
  }
  return result;
}

RbfFamilyBank::RbfFamilyBank(std::shared_ptr<const Matrix> t, std::vector<double> gammas,
                             std::vector<double> scales, std::vector<std::string> names, bool symmetric)
    : KernelBank(t->cols(), t->rows(), symmetric, std::move(names)),
      t_(std::move(t)),
      gammas_(std::move(gammas)),
      scales_(std::move(scales)),
      table_(gammas_) {
  if (gammas_.size() != scales_.size() || static_cast<Index>(gammas_.size()) != kernels()) {
    throw InternalError("an RBF family needs one gamma, scale and name per kernel");
  }
}

std::size_t RbfFamilyBank::bytes() const {
  return static_cast<std::size_t>(t_->size()) * sizeof(double);
}

Vector RbfFamilyBank::scaled(std::span<const double> w) const {
  Vector result(w.begin(), w.end());
  for (std::size_t f = 0; f < result.size(); ++f) result[f] *= scales_[f];
  return result;
}

void RbfFamilyBank::panels(Range kernels, Range rows, double* out) const {
  const Index size = rows.size() * cols();
  const double* t = t_->data() + rows.begin * cols();
#pragma omp parallel for schedule(static)
  for (Index f = kernels.begin; f < kernels.end; ++f) {
    double* panel = out + (f - kernels.begin) * size;
    exp_negative(gammas_[static_cast<std::size_t>(f)], t, panel, size);
    algebra::scale(scales_[static_cast<std::size_t>(f)], {panel, static_cast<std::size_t>(size)});
  }
}

void RbfFamilyBank::combine_rows(std::span<const double> w, std::span<const Index> rows, MatrixView out) const {
  const Vector coefficients = table_.combined(scaled(w));
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const auto t = t_->column(rows[k]);
    const auto column = out.column(static_cast<Index>(k));
    for (std::size_t j = 0; j < t.size(); ++j) column[j] = table_.evaluate(coefficients, t[j]);
  }
}

void RbfFamilyBank::add_combination(std::span<const double> w, MatrixView out) const {
  const Vector coefficients = table_.combined(scaled(w));
#pragma omp parallel for schedule(static)
  for (Index i = 0; i < rows(); ++i) {
    const double* t = t_->data() + i * cols();
    double* sum = out.column(i).data();
    for (Index j = 0; j < cols(); ++j) sum[j] += table_.evaluate(coefficients, t[j]);
  }
}

Matrix RbfFamilyBank::quadratic_forms(ConstMatrixView c) const {
  if (!symmetric())
    throw InternalError("quadratic_forms needs a bank whose rows and columns are the same samples");
  Matrix result(kernels(), c.cols);
  for (Index k = 0; k < c.cols; ++k) {
    const auto v = c.column(k);
    Vector moments(static_cast<std::size_t>(4 * table_.segments()));
    for (Index i = 0; i < rows(); ++i) {
      const double vi = v[static_cast<std::size_t>(i)];
      if (vi == 0.0) continue;
      const auto t = t_->column(i);
      table_.add_pair(t[static_cast<std::size_t>(i)], vi * vi, moments.data());
      for (Index j = i + 1; j < cols(); ++j) {
        const double weight = 2.0 * vi * v[static_cast<std::size_t>(j)];
        if (weight != 0.0) table_.add_pair(t[static_cast<std::size_t>(j)], weight, moments.data());
      }
    }
    const Vector sums = table_.sums(moments.data());
    for (Index f = 0; f < kernels(); ++f)
      result(f, k) = scales_[static_cast<std::size_t>(f)] * sums[static_cast<std::size_t>(f)];
  }
  return result;
}

}  // namespace kloom::kernels
