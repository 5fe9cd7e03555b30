// SPDX-License-Identifier: BSD-3-Clause
#include "methods/bemkl/thin.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "algebra/blas.h"

namespace kloom::methods {
namespace {

using algebra::Op;

constexpr double kNegligible = 3e-8;
constexpr Index kKernelsPerSample = 4;

void scale_columns(const Vector& factors, Matrix& rows) {
  for (Index p = 0; p < rows.cols(); ++p) algebra::scale(factors[static_cast<std::size_t>(p)], rows.column(p));
}

// out += sign · X BᵀB.
void add_product(double sign, ConstMatrixView x, const Matrix& b, MatrixView out) {
  if (b.rows() == 0) return;
  Matrix inner(x.rows, b.rows());
  algebra::gemm(Op::none, Op::transpose, 1.0, x, b.view(), 0.0, inner.view());
  algebra::gemm(Op::none, Op::none, sign, inner.view(), b.view(), 1.0, out);
}

// out += sign · diag(BᵀB).
void add_squares(double sign, const Matrix& b, Vector& out) {
  for (Index p = 0; p < b.cols(); ++p)
    out[static_cast<std::size_t>(p)] += sign * algebra::dot(b.column(p), b.column(p));
}

Matrix diagonal_product(ConstMatrixView x, const Vector& diagonal) {
  Matrix result(x.rows, x.cols);
  for (Index p = 0; p < x.cols; ++p) {
    std::ranges::copy(x.column(p), result.column(p).begin());
    algebra::scale(diagonal[static_cast<std::size_t>(p)], result.column(p));
  }
  return result;
}

// Rows of `first`, then those of `second`.
Matrix stacked(const Matrix& first, const Matrix& second) {
  Matrix result(first.rows() + second.rows(), first.cols());
  for (Index p = 0; p < first.cols(); ++p) {
    std::ranges::copy(first.column(p), result.column(p).begin());
    std::ranges::copy(second.column(p), result.column(p).begin() + first.rows());
  }
  return result;
}

// L of I + sign · (X Yᵀ), and X ← L⁻¹X. False if that is not positive definite.
bool whiten(double sign, ConstMatrixView y, Matrix& x, double& log_det) {
  Matrix inner(x.rows(), x.rows());
  if (y.data == x.data()) {
    algebra::syrk_lower(Op::none, sign, y, 0.0, inner.view());
  } else {
    algebra::gemm(Op::none, Op::transpose, sign, x.view(), y, 0.0, inner.view());
  }
  for (Index k = 0; k < inner.rows(); ++k) inner(k, k) += 1.0;
  // L⁻¹ first: products are faster than solving for many columns.
  if (algebra::cholesky_inverse_factor(inner.view()) != 0) return false;
  log_det = -algebra::cholesky_log_det(inner.view());
  algebra::lower_multiply(inner.view(), x.view());
  return std::isfinite(log_det);
}

// UᵀU by the fewest rows that give it to rounding.
void compress(Matrix& u) {
  constexpr double kRounding = 1e-15;
  Matrix inner(u.rows(), u.rows());
  algebra::syrk(Op::none, 1.0, u.view(), 0.0, inner.view());
  const algebra::Eigen eigen = algebra::symmetric_eigen(inner.view(), true);
  Index dropped = 0;
  while (dropped + 1 < u.rows() &&
         eigen.values[static_cast<std::size_t>(dropped)] <= kRounding * eigen.values.back())
    ++dropped;
  Matrix kept(u.rows() - dropped, u.cols());
  algebra::gemm(Op::transpose, Op::none, 1.0, eigen.vectors.columns({dropped, u.rows()}), u.view(), 0.0,
                kept.view());
  u = std::move(kept);
}

ConstMatrixView rows_of(const Matrix& m, Index begin, Index end) {
  return {m.data() + begin, end - begin, m.cols(), m.rows()};
}

// I + YYᵀ = UUᵀ, U upper triangular: what it mixes stays among the first rows.
std::optional<Matrix> upper_factor(const Matrix& y) {
  const Index n = y.rows();
  Matrix square(n, n);
  algebra::syrk(Op::none, 1.0, y.view(), 0.0, square.view());
  Matrix turned(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) turned(i, j) = square(n - 1 - i, n - 1 - j) + (i == j ? 1.0 : 0.0);
  }
  if (algebra::cholesky(turned.view()) != 0) return std::nullopt;
  Matrix upper(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i <= j; ++i) upper(i, j) = turned(n - 1 - i, n - 1 - j);
  }
  return upper;
}

// ZᵀZ by the first rows of Z alone, the others in their span: Z₂ ≈ YᵀZ₁ and ZᵀZ ≈ Z₁ᵀ(I + YYᵀ)Z₁. None if that
// loses too much: what is left of Z₂ᵀZ₂, against diag(s).
std::optional<Matrix> in_span_of_first(const ThinCovariance& g, Index first) {
  const Index others = g.added.rows() - first;
  const ConstMatrixView z1 = rows_of(g.added, 0, first);
  Matrix inner(first, first);
  algebra::syrk_lower(Op::none, 1.0, z1, 0.0, inner.view());
  double trace = 0.0;
  for (Index k = 0; k < first; ++k) trace += inner(k, k);
  for (Index k = 0; k < first; ++k) inner(k, k) += 1e-14 * trace;
  if (algebra::cholesky(inner.view()) != 0) return std::nullopt;
  Matrix y(first, others);
  algebra::gemm(Op::none, Op::transpose, 1.0, z1, rows_of(g.added, first, g.added.rows()), 0.0, y.view());
  Matrix inside = y;
  algebra::lower_solve(inner.view(), inside.view());
  double lost = -algebra::dot(inside.values(), inside.values());
  for (Index p = 0; p < g.added.cols(); ++p) {
    const auto below = g.added.column(p).subspan(static_cast<std::size_t>(first));
    lost += algebra::dot(below, below);
  }
  if (lost > kNegligible * *std::ranges::min_element(g.diagonal)) return std::nullopt;
  algebra::cholesky_solve(inner.view(), y.view());
  const std::optional<Matrix> mixing = upper_factor(y);
  if (!mixing) return std::nullopt;
  Matrix result(first, g.added.cols());
  algebra::gemm(Op::transpose, Op::none, 1.0, mixing->view(), z1, 0.0, result.view());
  return result;
}

// The rows of the last A if they will do, else with them those of the one before, and so on.
Matrix few_rows(const ThinCovariance& g) {
  for (Index first = g.first; 0 < first && first < g.added.rows(); first += g.first) {
    if (auto rows = in_span_of_first(g, first)) return std::move(*rows);
  }
  return g.added;
}

}  // namespace

ThinCovariance ThinCovariance::identity(Index kernels) {
  return {Vector(static_cast<std::size_t>(kernels), 1.0), Matrix(0, kernels), Matrix(0, kernels), 0, 0.0};
}

Vector ThinCovariance::variances() const {
  Vector result = diagonal;
  add_squares(1.0, added, result);
  add_squares(-1.0, taken, result);
  return result;
}

double ThinCovariance::trace() const {
  return std::accumulate(diagonal.begin(), diagonal.end(), 0.0) + algebra::dot(added.values(), added.values()) -
         algebra::dot(taken.values(), taken.values());
}

Matrix ThinCovariance::times(ConstMatrixView rows) const {
  Matrix result = diagonal_product(rows, diagonal);
  add_product(1.0, rows, added, result.view());
  add_product(-1.0, rows, taken, result.view());
  return result;
}

Matrix ThinCovariance::dense() const {
  const auto p = static_cast<Index>(diagonal.size());
  Matrix result(p, p);
  if (added.rows() > 0) algebra::syrk_lower(Op::transpose, 1.0, added.view(), 0.0, result.view());
  if (taken.rows() > 0) algebra::syrk_lower(Op::transpose, -1.0, taken.view(), 1.0, result.view());
  for (Index m = 0; m < p; ++m) result(m, m) += diagonal[static_cast<std::size_t>(m)];
  algebra::symmetrise_from_lower(result.view());
  return result;
}

// First Q = (diag(υ + d) − VᵀV)⁻¹ = diag(s) + ZᵀZ, then the rows of U and μ, which are added to its inverse.
std::optional<ThinCovariance> thin_outputs(const ThinCovariance& weights, std::span<const double> mean,
                                           double upsilon) {
  const auto p = static_cast<Index>(weights.diagonal.size());
  ThinCovariance g;
  g.first = weights.first;
  Vector root;
  for (const double d : weights.diagonal) {
    g.diagonal.push_back(1.0 / (upsilon + d));
    root.push_back(std::sqrt(g.diagonal.back()));
    g.log_det += std::log(g.diagonal.back());
  }
  g.added = weights.taken;
  double log_det = 0.0;
  if (g.added.rows() > 0) {
    scale_columns(root, g.added);
    if (!whiten(-1.0, g.added.view(), g.added, log_det)) return std::nullopt;
    scale_columns(root, g.added);
    g.log_det -= log_det;
  }
  Matrix own(1, p);
  std::ranges::copy(mean, own.data());
  const Matrix added = stacked(own, weights.added);
  g.taken = diagonal_product(added.view(), g.diagonal);
  add_product(1.0, added.view(), g.added, g.taken.view());
  if (!whiten(1.0, added.view(), g.taken, log_det)) return std::nullopt;
  g.log_det -= log_det;
  return g;
}

// First (diag(ω + ns) + AᵀA + nZᵀZ)⁻¹ = diag(d) − VᵀV, then the rows of W, which are taken from its inverse.
std::optional<ThinCovariance> thin_weights(const ThinCovariance& outputs, const Vector& omega, const Matrix& a,
                                           double n) {
  ThinCovariance e;
  e.first = a.rows();
  Vector root;
  for (std::size_t m = 0; m < omega.size(); ++m) {
    e.diagonal.push_back(1.0 / (omega[m] + n * outputs.diagonal[m]));
    root.push_back(std::sqrt(e.diagonal.back()));
    e.log_det += std::log(e.diagonal.back());
  }
  Matrix of_outputs = few_rows(outputs);
  algebra::scale(std::sqrt(n), of_outputs.values());
  e.taken = stacked(a, of_outputs);
  scale_columns(root, e.taken);
  double log_det = 0.0;
  if (!whiten(1.0, e.taken.view(), e.taken, log_det)) return std::nullopt;
  scale_columns(root, e.taken);
  e.log_det -= log_det;
  Matrix taken = outputs.taken;
  algebra::scale(std::sqrt(n), taken.values());
  e.added = diagonal_product(taken.view(), e.diagonal);
  add_product(-1.0, taken.view(), e.taken, e.added.view());
  if (!whiten(-1.0, taken.view(), e.added, log_det)) return std::nullopt;
  e.log_det -= log_det;
  compress(e.added);
  return e;
}

bool thin_pays(Index samples, Index outputs, Index kernels) {
  return kernels >= kKernelsPerSample * samples * outputs;
}

}  // namespace kloom::methods
