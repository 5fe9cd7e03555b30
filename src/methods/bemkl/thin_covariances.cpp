// SPDX-License-Identifier: BSD-3-Clause
//
// Classification with many times more kernels than samples. Both covariances are then diagonal but for few directions,
//
//   Σ(b,e)   = diag(d) + UᵀU − VᵀV     V has rows for the samples, U a handful
//   Σ(g)     = diag(s) + ZᵀZ − WᵀW     Z has as many rows as V, W one more than U
//
// and the matrix inversion lemma makes each from the other in PN² operations instead of P³. In the update of Σ(b,e) the
// rows of Z join those of H, so that their number would grow with every update. But they weigh 1/N of the others, and those
// from earlier updates nearly lie in the span of the last ones: Z is replaced by the fewest rows that change Σ(b,e) by no
// more than `kNegligible` of itself.
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

// diag(d) + AᵀA − BᵀB, A and B with few rows: Σ(b,e) with A = U, B = V, and Σ(g) with A = Z, B = W.
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

// Rows over (b,e) from rows over e, and the other way.
Matrix with_biases(const Matrix& rows, Index biases) {
  Matrix result(rows.rows(), biases + rows.cols());
  std::ranges::copy(rows.values(), result.column(biases).begin());
  return result;
}
Matrix without_biases(const Matrix& rows, Index biases) {
  return {rows.rows(), rows.cols() - biases, Vector(rows.column(biases).data(), rows.data() + rows.size())};
}

class ThinCovariances final : public Covariances {
 public:
  ThinCovariances(Index biases, Index kernels)
      : Covariances(biases, kernels, 1),
        weights_(std::make_shared<const ThinMatrix>(thin_diagonal(weight_variances_))),
        outputs_(std::make_shared<const ThinMatrix>(thin_diagonal(Vector(at(kernels), 1.0)))) {}

  // Classification: E[ε] = 1, and all outputs have the same E[υ]. First (diag(υ + d) − VᵀV)⁻¹ = diag(s) + ZᵀZ, then the
  // rows U and μ(e), which are added to its inverse.
  Next with_outputs(const Vector& mean, const Vector& upsilon, const Vector&) const override {
    Vector s;
    for (std::size_t k = at(biases()); k < mean.size(); ++k)
      s.push_back(1.0 / (upsilon.front() + weights_->diagonal[k]));
    ThinMatrix made = thin_diagonal(std::move(s));
    const Matrix added = stacked({1, std::ssize(mean), mean}, weights_->added);
    if (!add_to_inverse(-1.0, without_biases(weights_->taken, biases()), made) ||
        !add_to_inverse(1.0, without_biases(added, biases()), made))
      return nullptr;
    auto next = std::make_shared<ThinCovariances>(*this);
    next->output_log_dets_ = {made.log_det};
    next->output_traces_ = {0.0};
    for (const double variance : diagonal_of(made)) next->output_traces_.front() += variance;
    next->outputs_ = std::make_shared<const ThinMatrix>(std::move(made));
    return next;
  }

  // First (diag(E[γ,ω] + ns) + HᵀH + nZᵀZ)⁻¹ = diag(d) − VᵀV, then the rows √n W, which are taken from its inverse.
  Next with_weights(const WeightSystem& system, Vector& right) const override {
    const double n = system.samples * static_cast<double>(biases());
    Vector d = system.precision;
    for (std::size_t m = 0; m < outputs_->diagonal.size(); ++m)
      d[at(biases()) + m] += n * outputs_->diagonal[m];
    for (double& value : d) value = 1.0 / value;
    ThinMatrix made = thin_diagonal(std::move(d));
    Matrix z = compressed(outputs_->added, kNegligible * std::ranges::min(outputs_->diagonal));
    Matrix w = outputs_->taken;
    algebra::scale(std::sqrt(n), z.values());
    algebra::scale(std::sqrt(n), w.values());
    if (!add_to_inverse(1.0, stacked(rows_of(system), with_biases(z, biases())), made) ||
        !add_to_inverse(-1.0, with_biases(w, biases()), made))
      return nullptr;
    made.added = compressed(made.added, kRounding * algebra::dot(made.added.values(), made.added.values()));
    auto next = std::make_shared<ThinCovariances>(*this);
    Vector variances = diagonal_of(made);
    const double spread = spread_of(system, variances);
    next->describe_weights(std::move(variances), made.log_det, spread);
    Matrix units(biases(), std::ssize(right));
    for (Index c = 0; c < biases(); ++c) units(c, c) = 1.0;
    multiply(units.view(), made, next->bias_rows_.view());
    const Vector asked = right;
    multiply({asked.data(), 1, std::ssize(asked), 1}, made, {right.data(), 1, std::ssize(right), 1});
    next->weights_ = std::make_shared<const ThinMatrix>(std::move(made));
    return next;
  }

  Matrix weights() const override { return whole(*weights_); }
  Matrix outputs(Index) const override { return whole(*outputs_); }
  void times_outputs(Index, ConstMatrixView rows, MatrixView out) const override {
    multiply(rows, *outputs_, out);
  }

 private:
  // H_c of all outputs, one above the other.
  static Matrix rows_of(const WeightSystem& system) {
    const auto n = std::ssize(system.ones);
    const auto outputs = std::ssize(system.g);
    Matrix rows(n * outputs, std::ssize(system.mean));
    for (Index c = 0; c < outputs; ++c) {
      std::ranges::copy(system.ones, rows.column(c).begin() + c * n);
      for (Index m = 0; m < system.g[at(c)].cols; ++m)
        std::ranges::copy(system.g[at(c)].column(m), rows.column(outputs + m).begin() + c * n);
    }
    return rows;
  }

  std::shared_ptr<const ThinMatrix> weights_, outputs_;
};

}  // namespace

std::shared_ptr<const Covariances> make_thin_covariances(Index biases, Index kernels) {
  return std::make_shared<ThinCovariances>(biases, kernels);
}

}  // namespace kloom::methods
