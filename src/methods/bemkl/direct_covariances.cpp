// SPDX-License-Identifier: BSD-3-Clause
//
// Both covariances as P × P matrices. With C = Σ(e)⁻¹, the precision of the weights, and s = 1/E[υ], r = E[ε]/E[υ] of an
// output, the core of Σ(g) is
//
//   (E[υ]I + E[ε]C⁻¹)⁻¹ = s(I − rT),   T = (C + rI)⁻¹
//
// So Σ(g) needs the inverse T, while of Σ(e) itself a Cholesky factor of C gives all that is asked for. Outputs with the
// same s and r, as in classification, have the same Σ(g).
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "algebra/blas.h"
#include "methods/bemkl/covariances.h"

namespace kloom::methods {
namespace {

using algebra::Op;

std::shared_ptr<const Matrix> shared(Matrix matrix) {
  return std::make_shared<const Matrix>(std::move(matrix));
}

class DirectCovariances final : public Covariances {
 public:
  DirectCovariances(Index kernels, std::size_t outputs)
      : Covariances(kernels, outputs),
        precision_(shared(diagonal_matrix(weight_variances_))),
        factor_(precision_),
        cores_(outputs, {1.0, 0.0, precision_}) {}

  Next with_weights(const WeightSystem& system, Matrix& asked) const override {
    auto next = std::make_shared<DirectCovariances>(*this);
    Matrix factor = precision_of_weights(system);
    next->precision_ = shared(factor);
    if (algebra::cholesky_inverse_factor(factor.view()) != 0) return nullptr;
    next->log_det_e_ = algebra::cholesky_log_det(factor.view());
    if (!std::isfinite(next->log_det_e_)) return nullptr;
    next->set_weight_entropy(next->log_det_e_);
    next->weight_variances_ = algebra::inverse_diagonal(factor.view());
    Matrix half(asked.rows(), asked.cols());  // asked · Σ(e), Σ(e) = L⁻ᵀL⁻¹
    algebra::gemm(Op::none, Op::transpose, 1.0, asked.view(), factor.view(), 0.0, half.view());
    algebra::gemm(Op::none, Op::none, 1.0, half.view(), factor.view(), 0.0, asked.view());
    next->factor_ = shared(std::move(factor));
    return next;
  }

  Matrix weights() const override {
    Matrix result = *factor_;
    algebra::inverse_from_factor(result.view());
    return result;
  }

 private:
  std::shared_ptr<Covariances> copy() const override { return std::make_shared<DirectCovariances>(*this); }

  // det(I − rT) = det(T C).
  bool make_core(std::size_t c, double upsilon, double epsilon, Output& of) override {
    auto& [s, r, t] = cores_[c];
    s = 1.0 / upsilon;
    r = epsilon / upsilon;
    Matrix inverse = *precision_;
    for (Index m = 0; m < inverse.rows(); ++m) inverse(m, m) += r;
    if (!algebra::invert_positive(inverse.view(), of.log_det)) return false;
    of.log_det += static_cast<double>(inverse.rows()) * std::log(s) - log_det_e_;
    of.trace = 0.0;
    for (Index m = 0; m < inverse.rows(); ++m) of.trace += s * (1.0 - r * inverse(m, m));
    t = shared(std::move(inverse));
    return true;
  }

  Matrix core(Index c) const override {
    const auto& [s, r, t] = of_output(cores_, c);
    Matrix result = *t;
    algebra::scale(-s * r, result.values());
    for (Index m = 0; m < result.rows(); ++m) result(m, m) += s;
    return result;
  }

  void times_core(Index c, ConstMatrixView rows, MatrixView out) const override {
    const auto& [s, r, t] = of_output(cores_, c);
    for (Index m = 0; m < rows.cols; ++m) std::ranges::copy(rows.column(m), out.column(m).begin());
    algebra::gemm(Op::none, Op::none, -s * r, rows, t->view(), s, out);
  }

  std::shared_ptr<const Matrix> precision_;  // C
  std::shared_ptr<const Matrix> factor_;     // L⁻¹ of C = LLᵀ
  double log_det_e_ = 0.0;
  struct Core {
    double s, r;
    std::shared_ptr<const Matrix> t;
  };
  std::vector<Core> cores_;
};

}  // namespace

std::shared_ptr<const Covariances> make_direct_covariances(Index kernels, std::size_t outputs) {
  return std::make_shared<DirectCovariances>(kernels, outputs);
}

}  // namespace kloom::methods
