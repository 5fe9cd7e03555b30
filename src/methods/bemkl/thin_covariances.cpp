// SPDX-License-Identifier: BSD-3-Clause
//
// Classification with many times more kernels than samples. Both covariances are then diagonal but for few
// directions,
//
//   Σ(e) = diag(d) + UᵀU − VᵀV     V has rows for the samples, U a handful
//   Σ(g) = diag(s) + ZᵀZ − WᵀW     Z has as many rows as V, W one more than U
//
// and the matrix inversion lemma makes each from the other in PN² operations instead of P³:
//
//   Σ(g) = (υI + Σ(e) + μμᵀ)⁻¹
//   Σ(e) = (diag ω + AᵀA + n Σ(g))⁻¹     n: samples times outputs
//
// In the second step the rows of Z join those of A, so that their number would grow with every update. But they
// weigh 1/N of the others, and those from earlier updates nearly lie in the span of the last ones: Z is replaced
// by the fewest rows that change Σ(e) by no more than `kNegligible` of itself.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "algebra/blas.h"
#include "methods/bemkl/covariances.h"

namespace kloom::methods {
namespace {

using algebra::Op;

constexpr double kNegligible = 3e-8;
constexpr double kRounding = 1e-15;

// diag(d) + AᵀA − BᵀB, A and B with few rows: Σ(g) with A = Z, B = W, and Σ(e) with A = U, B = V.
struct ThinMatrix {
  Vector diagonal;
  Matrix added, taken;  // rows × P
  double log_det = 0.0;
};

void scale_columns(const Vector& factors, Matrix& rows) {
  for (Index p = 0; p < rows.cols(); ++p) algebra::scale(factors[at(p)], rows.column(p));
}

// out += sign · X BᵀB.
void add_product(double sign, ConstMatrixView x, const Matrix& b, MatrixView out) {
  if (b.rows() == 0) return;
  Matrix inner(x.rows, b.rows());
  algebra::gemm(Op::none, Op::transpose, 1.0, x, b.view(), 0.0, inner.view());
  algebra::gemm(Op::none, Op::none, sign, inner.view(), b.view(), 1.0, out);
}

// out = X · matrix.
void multiply(ConstMatrixView x, const ThinMatrix& matrix, MatrixView out) {
  for (Index p = 0; p < x.cols; ++p) {
    for (Index i = 0; i < x.rows; ++i) out(i, p) = x(i, p) * matrix.diagonal[at(p)];
  }
  add_product(1.0, x, matrix.added, out);
  add_product(-1.0, x, matrix.taken, out);
}

Matrix whole(const ThinMatrix& matrix) {
  const auto p = std::ssize(matrix.diagonal);
  Matrix result(p, p);
  if (matrix.added.rows() > 0) algebra::syrk_lower(Op::transpose, 1.0, matrix.added.view(), 0.0, result.view());
  if (matrix.taken.rows() > 0)
    algebra::syrk_lower(Op::transpose, -1.0, matrix.taken.view(), 1.0, result.view());
  for (Index m = 0; m < p; ++m) result(m, m) += matrix.diagonal[at(m)];
  algebra::symmetrise_from_lower(result.view());
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

// X ← L⁻¹X where LLᵀ = I + sign · X Yᵀ, and its log determinant. False if that is not positive definite.
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

// (diag(1/d) + sign · XᵀX)⁻¹ = diag(d) − sign · YᵀY: X ← Y, and log det of the result is added to `log_det`.
bool invert_diagonal_plus(double sign, const Vector& d, Matrix& x, double& log_det) {
  Vector root(d.size());
  for (std::size_t m = 0; m < d.size(); ++m) {
    root[m] = std::sqrt(d[m]);
    log_det += std::log(d[m]);
  }
  if (x.rows() == 0) return true;
  double of_rows = 0.0;
  scale_columns(root, x);
  if (!whiten(sign, x.view(), x, of_rows)) return false;
  scale_columns(root, x);
  log_det -= of_rows;
  return true;
}

// (S⁻¹ + sign · XᵀX)⁻¹ = S − sign · YᵀY for a thin S without such rows yet: returns Y.
std::optional<Matrix> correction(double sign, const Matrix& x, ThinMatrix& s) {
  Matrix y(x.rows(), x.cols());
  multiply(x.view(), s, y.view());
  double of_rows = 0.0;
  if (!whiten(sign, x.view(), y, of_rows)) return std::nullopt;
  s.log_det -= of_rows;
  return y;
}

// RᵀR by the fewest rows that lose no more than `loss` of its trace: the eigenvectors of RRᵀ mix the rows, and
// those with the smallest eigenvalues are left out.
Matrix compressed(const Matrix& rows, double loss) {
  Matrix inner(rows.rows(), rows.rows());
  algebra::syrk(Op::none, 1.0, rows.view(), 0.0, inner.view());
  const algebra::Eigen eigen = algebra::symmetric_eigen(inner.view(), true);  // ascending
  Index dropped = 0;
  for (double lost = eigen.values.front(); lost <= loss && dropped + 1 < rows.rows();)
    lost += std::max(0.0, eigen.values[at(++dropped)]);
  Matrix kept(rows.rows() - dropped, rows.cols());
  algebra::gemm(Op::transpose, Op::none, 1.0, eigen.vectors.columns({dropped, rows.rows()}), rows.view(), 0.0,
                kept.view());
  return kept;
}

// Σ(g): first (diag(υ + d) − VᵀV)⁻¹ = diag(s) + ZᵀZ, then the rows μ and U, which are added to its inverse.
std::optional<ThinMatrix> outputs_from(const ThinMatrix& e, std::span<const double> mean, double upsilon) {
  ThinMatrix g;
  for (const double d : e.diagonal) g.diagonal.push_back(1.0 / (upsilon + d));
  g.added = e.taken;
  if (!invert_diagonal_plus(-1.0, g.diagonal, g.added, g.log_det)) return std::nullopt;
  Matrix own(1, std::ssize(mean));
  std::ranges::copy(mean, own.data());
  std::optional<Matrix> taken = correction(1.0, stacked(own, e.added), g);
  if (!taken) return std::nullopt;
  g.taken = std::move(*taken);
  return g;
}

// Σ(e): first (diag(ω + ns) + AᵀA + nZᵀZ)⁻¹ = diag(d) − VᵀV, then the rows √n W, which are taken from its
// inverse.
std::optional<ThinMatrix> weights_from(const ThinMatrix& g, const Vector& omega, const Matrix& a, double n) {
  ThinMatrix e;
  for (std::size_t m = 0; m < omega.size(); ++m) e.diagonal.push_back(1.0 / (omega[m] + n * g.diagonal[m]));
  e.taken = a;
  if (g.added.rows() > 0) {
    Matrix z = compressed(g.added, kNegligible * *std::ranges::min_element(g.diagonal));
    algebra::scale(std::sqrt(n), z.values());
    e.taken = stacked(a, z);
  }
  if (!invert_diagonal_plus(1.0, e.diagonal, e.taken, e.log_det)) return std::nullopt;
  Matrix taken = g.taken;
  algebra::scale(std::sqrt(n), taken.values());
  const std::optional<Matrix> added = correction(-1.0, taken, e);
  if (!added) return std::nullopt;
  e.added = compressed(*added, kRounding * algebra::dot(added->values(), added->values()));
  return e;
}

class ThinCovariances final : public Covariances {
 public:
  ThinCovariances(Index kernels, double sigma_g)
      : Covariances(kernels, 1), upsilon_(1.0 / (sigma_g * sigma_g)) {
    ThinMatrix identity{Vector(at(kernels), 1.0), Matrix(0, kernels), Matrix(0, kernels)};
    weights_ = outputs_ = std::make_shared<const ThinMatrix>(std::move(identity));
  }

  Next with_outputs(std::span<const double> mean, const Vector&, const Vector&) const override {
    std::optional<ThinMatrix> made = outputs_from(*weights_, mean, upsilon_);
    if (!made || !std::isfinite(made->log_det)) return nullptr;
    auto next = std::make_shared<ThinCovariances>(*this);
    next->output_log_det_[0] = made->log_det;
    next->output_trace_[0] = std::accumulate(made->diagonal.begin(), made->diagonal.end(), 0.0) +
                             algebra::dot(made->added.values(), made->added.values()) -
                             algebra::dot(made->taken.values(), made->taken.values());
    next->outputs_ = std::make_shared<const ThinMatrix>(std::move(*made));
    return next;
  }

  Next with_weights(const WeightSystem& system, Matrix& asked) const override {
    const double n = system.samples * static_cast<double>(system.epsilon.size());
    std::optional<ThinMatrix> made = weights_from(*outputs_, system.omega, system.rows, n);
    if (!made || !std::isfinite(made->log_det)) return nullptr;
    auto next = std::make_shared<ThinCovariances>(*this);
    next->set_weight_entropy(made->log_det);
    for (Index m = 0; m < asked.cols(); ++m)
      next->weight_variances_[at(m)] = made->diagonal[at(m)] +
                                       algebra::dot(made->added.column(m), made->added.column(m)) -
                                       algebra::dot(made->taken.column(m), made->taken.column(m));
    const Matrix right = asked;
    multiply(right.view(), *made, asked.view());
    next->weights_ = std::make_shared<const ThinMatrix>(std::move(*made));
    return next;
  }

  Matrix weights() const override { return whole(*weights_); }
  Matrix outputs(Index) const override { return whole(*outputs_); }
  void times_outputs(Index, ConstMatrixView rows, MatrixView out) const override {
    multiply(rows, *outputs_, out);
  }

 private:
  double upsilon_ = 1.0;
  std::shared_ptr<const ThinMatrix> weights_, outputs_;
};

}  // namespace

std::shared_ptr<const Covariances> make_thin_covariances(Index kernels, double sigma_g) {
  return std::make_shared<ThinCovariances>(kernels, sigma_g);
}

}  // namespace kloom::methods
