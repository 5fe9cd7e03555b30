// SPDX-License-Identifier: BSD-3-Clause
//
// Classification. With C = Σ(e)⁻¹, the precision of the weights, s = σ_g² = 1/υ and ε = 1:
//
//   Σ(g) = (I/s + C⁻¹ + μμᵀ)⁻¹ = sI − s²T − κwwᵀ     T = (C + sI)⁻¹,  w = (sI − s²T)μ,  κ = 1/(1 + wᵀμ)
//
// So Σ(g) needs the inverse T, while of Σ(e) itself a Cholesky factor of C gives all that is asked for. Every
// sample adds Σ(g) to C, so that sT is about 1/N: beside sI, products with s²T may be in single precision.
#include <cmath>
#include <utility>

#include "algebra/blas.h"
#include "algebra/single_precision.h"
#include "methods/bemkl/covariances.h"

namespace kloom::methods {
namespace {

using algebra::Op;

// Products with sT are in single precision if its norm is at most this: they are then off by about 1e-8 of the
// whole in the worst case. The norm is bounded by that of Frobenius, which is larger by up to √P.
constexpr double kSmall = 0.2;
constexpr Index kFewest = 64;  // rows, and kernels: with fewer there is nothing to gain

class DirectCovariances final : public Covariances {
 public:
  DirectCovariances(Index kernels, double sigma_g)
      : Covariances(kernels, 1), s_(sigma_g * sigma_g), w_(at(kernels)) {
    Matrix t(kernels, kernels);
    Matrix factor(kernels, kernels);
    for (Index m = 0; m < kernels; ++m) {  // Σ(e) = I
      t(m, m) = 1.0 / (1.0 + s_);
      factor(m, m) = 1.0;
    }
    t_ = t_of_outputs_ = std::make_shared<const Matrix>(std::move(t));
    factor_ = std::make_shared<const Matrix>(std::move(factor));
    log_det_t_ = -static_cast<double>(kernels) * std::log1p(s_);
  }

  // det(sI − s²T) = det(s T C).
  Next with_outputs(std::span<const double> mean, const Vector&, const Vector&) const override {
    auto next = std::make_shared<DirectCovariances>(*this);
    next->t_of_outputs_ = t_;
    next->w_.assign(mean.begin(), mean.end());
    algebra::gemv(Op::none, -s_ * s_, t_->view(), mean, s_, next->w_);
    const double scale = 1.0 + algebra::dot(next->w_, mean);
    next->kappa_ = 1.0 / scale;
    next->t_is_small_ =
        t_->rows() >= kFewest && s_ * std::sqrt(algebra::dot(t_->values(), t_->values())) <= kSmall;
    next->output_log_det_[0] =
        static_cast<double>(mean.size()) * std::log(s_) + log_det_t_ - log_det_e_ - std::log(scale);
    next->output_trace_[0] = -next->kappa_ * algebra::dot(next->w_, next->w_);
    for (Index m = 0; m < t_->rows(); ++m) next->output_trace_[0] += s_ - s_ * s_ * (*t_)(m, m);
    return std::isfinite(next->output_log_det_[0]) ? next : nullptr;
  }

  Next with_weights(const WeightSystem& system, Matrix& asked) const override {
    auto next = std::make_shared<DirectCovariances>(*this);
    Matrix precision = lower_of_outputs(system.samples * static_cast<double>(system.epsilon.size()));
    algebra::syrk_lower(Op::transpose, 1.0, system.rows.view(), 1.0, precision.view());
    for (Index m = 0; m < precision.rows(); ++m) precision(m, m) += system.omega[at(m)];
    Matrix t = precision;
    for (Index m = 0; m < t.rows(); ++m) t(m, m) += s_;
    if (!algebra::invert_positive(t.view(), next->log_det_t_)) return nullptr;
    next->t_ = std::make_shared<const Matrix>(std::move(t));
    if (algebra::cholesky_inverse_factor(precision.view()) != 0) return nullptr;
    next->log_det_e_ = algebra::cholesky_log_det(precision.view());
    if (!std::isfinite(next->log_det_e_)) return nullptr;
    next->set_weight_entropy(next->log_det_e_);
    next->weight_variances_ = algebra::inverse_diagonal(precision.view());
    Matrix half(asked.rows(), asked.cols());  // asked · Σ(e), Σ(e) = L⁻ᵀL⁻¹
    algebra::gemm(Op::none, Op::transpose, 1.0, asked.view(), precision.view(), 0.0, half.view());
    algebra::gemm(Op::none, Op::none, 1.0, half.view(), precision.view(), 0.0, asked.view());
    next->factor_ = std::make_shared<const Matrix>(std::move(precision));
    return next;
  }

  Matrix weights() const override {
    Matrix result = *factor_;
    algebra::inverse_from_factor(result.view());
    return result;
  }

  Matrix outputs(Index) const override {
    Matrix result = lower_of_outputs(1.0);
    algebra::symmetrise_from_lower(result.view());
    return result;
  }

  void times_outputs(Index, ConstMatrixView rows, MatrixView out) const override {
    Vector along(at(rows.rows));
    algebra::gemv(Op::none, kappa_, rows, w_, 0.0, along);
    for (Index m = 0; m < rows.cols; ++m) {
      const double* from = rows.column(m).data();
      double* to = out.column(m).data();
      for (Index i = 0; i < rows.rows; ++i) to[i] = s_ * from[i] - w_[at(m)] * along[at(i)];
    }
    if (t_is_small_ && rows.rows >= kFewest) {
      algebra::add_product_in_single(-s_ * s_, rows, t_of_outputs_->view(), out);
    } else {
      algebra::gemm(Op::none, Op::none, -s_ * s_, rows, t_of_outputs_->view(), 1.0, out);
    }
  }

 private:
  // n Σ(g), lower triangle.
  [[nodiscard]] Matrix lower_of_outputs(double n) const {
    Matrix result(t_of_outputs_->rows(), t_of_outputs_->rows());
    for (Index m = 0; m < t_of_outputs_->rows(); ++m) {
      const double* from = t_of_outputs_->column(m).data();
      double* to = result.column(m).data();
      for (Index k = m; k < t_of_outputs_->rows(); ++k)
        to[k] = -n * (s_ * s_ * from[k] + kappa_ * w_[at(m)] * w_[at(k)]);
      to[m] += n * s_;
    }
    return result;
  }

  double s_ = 1.0;
  std::shared_ptr<const Matrix> t_;             // T of the Σ(e) that is there now
  std::shared_ptr<const Matrix> t_of_outputs_;  // T of the Σ(e) that Σ(g) was made from
  std::shared_ptr<const Matrix> factor_;        // L⁻¹ of C = LLᵀ
  double log_det_t_ = 0.0, log_det_e_ = 0.0;
  bool t_is_small_ = false;  // of the outputs, as are w and κ
  Vector w_;
  double kappa_ = 0.0;
};

}  // namespace

std::shared_ptr<const Covariances> make_direct_covariances(Index kernels, double sigma_g) {
  return std::make_shared<DirectCovariances>(kernels, sigma_g);
}

}  // namespace kloom::methods
