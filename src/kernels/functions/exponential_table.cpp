// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/functions/exponential_table.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "algebra/blas.h"
#include "base/clones.h"

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

double ExponentialTable::width(Index segment) const {
  return from_top_bits(first_ + segment + 1) - from_top_bits(first_ + segment);
}

const Matrix& ExponentialTable::nodes() const {
  std::call_once(nodes_->made, [this] {
    const auto kernels = static_cast<Index>(gammas_.size());
    Matrix values(segments_ + 1, kernels);
#pragma omp parallel for schedule(static)
    for (Index f = 0; f < kernels; ++f) {
      const auto column = values.column(f);
      for (Index s = 0; s <= segments_; ++s)
        column[static_cast<std::size_t>(s)] =
            exponential(-gammas_[static_cast<std::size_t>(f)] * from_top_bits(first_ + s));
    }
    nodes_->values = std::move(values);
  });
  return nodes_->values;
}

Vector ExponentialTable::combined(std::span<const double> w) const {
  const auto kernels = static_cast<Index>(gammas_.size());
  // Values Σ w e and slopes −Σ w γ e at all nodes in one product.
  Matrix weights(kernels, 2);
  for (Index f = 0; f < kernels; ++f) {
    weights(f, 0) = w[static_cast<std::size_t>(f)];
    weights(f, 1) = -weights(f, 0) * gammas_[static_cast<std::size_t>(f)];
  }
  Matrix sums(segments_ + 1, 2);
  algebra::gemm(algebra::Op::none, algebra::Op::none, 1.0, nodes().view(), weights.view(), 0.0, sums.view());
  Vector coefficients(static_cast<std::size_t>(4 * segments_));
  for (Index s = 0; s < segments_; ++s) {
    double* c = coefficients.data() + 4 * s;
    const double rise = sums(s + 1, 0) - sums(s, 0);
    const double left_slope = width(s) * sums(s, 1);
    const double right_slope = width(s) * sums(s + 1, 1);
    c[0] = sums(s, 0);
    c[1] = left_slope;
    c[2] = 3.0 * rise - 2.0 * left_slope - right_slope;
    c[3] = -2.0 * rise + left_slope + right_slope;
  }
  return coefficients;
}

double ExponentialTable::evaluate(const Vector& coefficients, double t) const {
  const Place at = place(t);
  const double* c = coefficients.data() + 4 * at.segment;
  return c[0] + at.u * (c[1] + at.u * (c[2] + at.u * c[3]));
}

namespace {

struct Evaluation {
  const double* coefficients;
  std::int64_t first;
  double low;   // left end of the first segment
  double high;  // just below the right end of the last
};

// t is moved into the table's range, so that no lane has to ask where it is.
[[gnu::always_inline]] inline double evaluate_at(const Evaluation& e, double t) {
  const double inside = std::min(std::max(t, e.low), e.high);
  const auto bits = std::bit_cast<std::int64_t>(inside);
  const double* c = e.coefficients + 4 * ((bits >> kShift) - e.first);
  const double u = static_cast<double>(bits & kFractionMask) * 0x1p-46;
  return c[0] + u * (c[1] + u * (c[2] + u * c[3]));
}

KLOOM_CLONES void add_evaluations(const Evaluation& e, const double* t, Index n, double* out) {
  const Evaluation copy = e;
#pragma omp simd
  for (Index i = 0; i < n; ++i) out[i] += evaluate_at(copy, t[i]);
}

KLOOM_CLONES double sum_evaluations(const Evaluation& e, const double* t, const int* chosen, const double* c,
                                    Index n) {
  const Evaluation copy = e;
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (Index a = 0; a < n; ++a) sum += c[a] * evaluate_at(copy, t[chosen[a]]);
  return sum;
}

Evaluation evaluation(const Vector& coefficients, std::int64_t first, Index segments) {
  return {coefficients.data(), first, from_top_bits(first),
          std::nextafter(from_top_bits(first + segments), 0.0)};
}

}  // namespace

void ExponentialTable::add_values(const Vector& coefficients, const double* t, Index n, double* out) const {
  add_evaluations(evaluation(coefficients, first_, segments_), t, n, out);
}

double ExponentialTable::weighted_sum(const Vector& coefficients, const double* t, std::span<const int> chosen,
                                      const double* c) const {
  return sum_evaluations(evaluation(coefficients, first_, segments_), t, chosen.data(), c,
                         static_cast<Index>(chosen.size()));
}

void ExponentialTable::moment_weights(Index segment, Index kernel, double* out) const {
  const Matrix& values = nodes();
  const double step = -gammas_[static_cast<std::size_t>(kernel)] * width(segment);
  const double left = values(segment, kernel);
  const double right = values(segment + 1, kernel);
  const double rise = right - left;
  out[0] = left;
  out[1] = step * left;
  out[2] = 3.0 * rise - step * (2.0 * left + right);
  out[3] = -2.0 * rise + step * (left + right);
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

// The moments of all segments as weights of the values and of the slopes at the nodes.
Vector ExponentialTable::sums(const double* moments) const {
  Matrix weights(segments_ + 1, 2);
  for (Index s = 0; s < segments_; ++s) {
    const double* m = moments + 4 * s;
    weights(s, 0) += m[0] - 3.0 * m[2] + 2.0 * m[3];
    weights(s + 1, 0) += 3.0 * m[2] - 2.0 * m[3];
    weights(s, 1) += width(s) * (m[1] - 2.0 * m[2] + m[3]);
    weights(s + 1, 1) += width(s) * (m[3] - m[2]);
  }
  const auto kernels = static_cast<Index>(gammas_.size());
  Matrix products(kernels, 2);
  algebra::gemm(algebra::Op::transpose, algebra::Op::none, 1.0, nodes().view(), weights.view(), 0.0,
                products.view());
  Vector result(gammas_.size());
  for (Index f = 0; f < kernels; ++f)
    result[static_cast<std::size_t>(f)] =
        products(f, 0) - gammas_[static_cast<std::size_t>(f)] * products(f, 1);
  return result;
}

}  // namespace kloom::kernels
