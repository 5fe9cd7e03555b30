// SPDX-License-Identifier: BSD-3-Clause
//
// Classification with many times more kernels than samples. Both covariances are then diagonal but for few directions,
//
//   Σ(e)           = diag(d) + UᵀU − VᵀV     V has rows for the samples, U a handful
//   core of Σ(g)   = diag(s) + ZᵀZ − WᵀW     Z has as many rows as V, W as many as U
//
// and the matrix inversion lemma makes each from the other in PN² operations instead of P³. In the update of Σ(e) the rows
// of Z join those of A, so that their number would grow with every update. But they weigh 1/N of the others, and those from
// earlier updates nearly lie in the span of the last ones: Z is replaced by the fewest rows that change Σ(e) by no more than
// `kNegligible` of itself.
#include <algorithm>
#include <cmath>
#include <utility>

#include "algebra/blas.h"
#include "methods/bemkl/covariances.h"

namespace kloom::methods {
namespace {

using algebra::Op;

constexpr double kNegligible = 3e-8;
constexpr double kRounding = 1e-15;

// diag(d) + AᵀA − BᵀB, A and B with few rows: the core of Σ(g) with A = Z, B = W, and Σ(e) with A = U, B = V.
struct ThinMatrix {
  Vector diagonal;
  Matrix added, taken;  // rows × P
  double log_det = 0.0;
};

// out = X · matrix.
void multiply(ConstMatrixView x, const ThinMatrix& matrix, MatrixView out) {
  for (Index p = 0; p < x.cols; ++p) {
    for (Index i = 0; i < x.rows; ++i) out(i, p) = x(i, p) * matrix.diagonal[at(p)];
  }
  for (const Matrix* rows : {&matrix.added, &matrix.taken}) {
    if (rows->rows() == 0) continue;
    Matrix inner(x.rows, rows->rows());
    algebra::gemm(Op::none, Op::transpose, 1.0, x, rows->view(), 0.0, inner.view());
    algebra::gemm(Op::none, Op::none, rows == &matrix.added ? 1.0 : -1.0, inner.view(), rows->view(), 1.0, out);
  }
}

Matrix whole(const ThinMatrix& matrix) {
  Matrix result = diagonal_matrix(matrix.diagonal);
  for (const Matrix* rows : {&matrix.added, &matrix.taken}) {
    if (rows->rows() == 0) continue;
    algebra::syrk(Op::transpose, rows == &matrix.added ? 1.0 : -1.0, rows->view(), 1.0, result.view());
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

// (S⁻¹ + sign · XᵀX)⁻¹ = S − sign · YᵀY for an S without such rows yet, Y = L⁻¹XS with LLᵀ = I + sign · XSXᵀ. False if
// that is not positive definite.
bool add_to_inverse(double sign, const Matrix& x, ThinMatrix& s) {
  if (x.rows() == 0) return true;
  Matrix y(x.rows(), x.cols());
  multiply(x.view(), s, y.view());
  Matrix inner(x.rows(), x.rows());
  algebra::gemm(Op::none, Op::transpose, sign, x.view(), y.view(), 0.0, inner.view());
  for (Index k = 0; k < inner.rows(); ++k) inner(k, k) += 1.0;
  // L⁻¹ first: products are faster than solving for many columns.
  if (algebra::cholesky_inverse_factor(inner.view()) != 0) return false;
  s.log_det += algebra::cholesky_log_det(inner.view());
  algebra::lower_multiply(inner.view(), y.view());
  (sign > 0.0 ? s.taken : s.added) = std::move(y);
  return std::isfinite(s.log_det);
}

// RᵀR by the fewest rows that lose no more than `loss` of its trace: the eigenvectors of RRᵀ mix the rows, and
// those with the smallest eigenvalues are left out.
Matrix compressed(const Matrix& rows, double loss) {
  if (rows.rows() == 0) return rows;
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

ThinMatrix thin_diagonal(Vector diagonal) {
  const Index kernels = std::ssize(diagonal);
  ThinMatrix result{std::move(diagonal), Matrix(0, kernels), Matrix(0, kernels)};
  for (const double value : result.diagonal) result.log_det += std::log(value);
  return result;
}

// The diagonal of the whole.
Vector diagonal_of(const ThinMatrix& matrix) {
  Vector diagonal = matrix.diagonal;
  for (Index m = 0; m < std::ssize(diagonal); ++m)
    diagonal[at(m)] += algebra::dot(matrix.added.column(m), matrix.added.column(m)) -
                       algebra::dot(matrix.taken.column(m), matrix.taken.column(m));
  return diagonal;
}

class ThinCovariances final : public Covariances {
 public:
  explicit ThinCovariances(Index kernels)
      : Covariances(kernels, 1),
        weights_(std::make_shared<const ThinMatrix>(thin_diagonal(weight_variances_))),
        core_(weights_) {}

  // With Σ(g) = core − κwwᵀ: first (diag(ω + ns) + AᵀA + nZᵀZ)⁻¹ = diag(d) − VᵀV, then the rows √n W and √(nκ) w, which
  // are taken from its inverse.
  Next with_weights(const WeightSystem& system, Matrix& asked) const override {
    const double n = system.samples * static_cast<double>(system.epsilon.size());
    Vector d;
    for (std::size_t m = 0; m < system.omega.size(); ++m)
      d.push_back(1.0 / (system.omega[m] + n * core_->diagonal[m]));
    ThinMatrix made = thin_diagonal(std::move(d));
    Matrix z = compressed(core_->added, kNegligible * *std::ranges::min_element(core_->diagonal));
    algebra::scale(std::sqrt(n), z.values());
    Matrix w(1, asked.cols());
    algebra::axpy(std::sqrt(output(0).kappa), output(0).w, w.values());
    Matrix taken = stacked(w, core_->taken);
    algebra::scale(std::sqrt(n), taken.values());
    if (!add_to_inverse(1.0, stacked(system.rows, z), made) || !add_to_inverse(-1.0, taken, made))
      return nullptr;
    made.added = compressed(made.added, kRounding * algebra::dot(made.added.values(), made.added.values()));
    auto next = std::make_shared<ThinCovariances>(*this);
    next->set_weight_entropy(made.log_det);
    next->weight_variances_ = diagonal_of(made);
    const Matrix right = asked;
    multiply(right.view(), made, asked.view());
    next->weights_ = std::make_shared<const ThinMatrix>(std::move(made));
    return next;
  }

  Matrix weights() const override { return whole(*weights_); }

 private:
  std::shared_ptr<Covariances> copy() const override { return std::make_shared<ThinCovariances>(*this); }

  // Classification: E[ε] = 1, and all outputs have the same E[υ]. First (diag(υ + d) − VᵀV)⁻¹ = diag(s) + ZᵀZ, then the
  // rows U, which are added to its inverse.
  bool make_core(std::size_t, double upsilon, double, Output& of) override {
    Vector s;
    for (const double d : weights_->diagonal) s.push_back(1.0 / (upsilon + d));
    ThinMatrix made = thin_diagonal(std::move(s));
    if (!add_to_inverse(-1.0, weights_->taken, made) || !add_to_inverse(1.0, weights_->added, made))
      return false;
    of.log_det = made.log_det;
    of.trace = 0.0;
    for (const double variance : diagonal_of(made)) of.trace += variance;
    core_ = std::make_shared<const ThinMatrix>(std::move(made));
    return true;
  }

  Matrix core(Index) const override { return whole(*core_); }
  void times_core(Index, ConstMatrixView rows, MatrixView out) const override { multiply(rows, *core_, out); }

  std::shared_ptr<const ThinMatrix> weights_, core_;
};

}  // namespace

std::shared_ptr<const Covariances> make_thin_covariances(Index kernels) {
  return std::make_shared<ThinCovariances>(kernels);
}

}  // namespace kloom::methods
