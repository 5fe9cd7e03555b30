// SPDX-License-Identifier: BSD-3-Clause
//
// Regression: E[υ] and E[ε] are updated between Σ(e) and Σ(g), so that each matrix is inverted for itself.
#include <cmath>
#include <vector>

#include "algebra/blas.h"
#include "methods/bemkl/covariances.h"

namespace kloom::methods {
namespace {

using algebra::Op;

Matrix identity(Index n) {
  Matrix result(n, n);
  for (Index i = 0; i < n; ++i) result(i, i) = 1.0;
  return result;
}

class RegressionCovariances final : public Covariances {
 public:
  RegressionCovariances(Index kernels, Index outputs)
      : Covariances(kernels, at(outputs)),
        weights_(std::make_shared<const Matrix>(identity(kernels))),
        outputs_(at(outputs), weights_) {}

  // First Q = (E[υ]I + E[ε]Σ(e))⁻¹, then the rank-one term E[ε]μμᵀ by the formula of Sherman and Morrison.
  Next with_outputs(std::span<const double> mean, const Vector& upsilon, const Vector& epsilon) const override {
    auto next = std::make_shared<RegressionCovariances>(*this);
    for (std::size_t c = 0; c < upsilon.size(); ++c) {
      Matrix q = *weights_;
      algebra::scale(epsilon[c], q.values());
      for (Index m = 0; m < q.rows(); ++m) q(m, m) += upsilon[c];
      double log_det = 0.0;
      if (!algebra::invert_positive(q.view(), log_det)) return nullptr;
      Vector along(mean.size());
      algebra::gemv(Op::none, 1.0, q.view(), mean, 0.0, along);
      const double scale = 1.0 + epsilon[c] * algebra::dot(along, mean);
      algebra::rank_one(-epsilon[c] / scale, along, q.view());
      next->output_log_det_[c] = log_det - std::log(scale);
      if (!std::isfinite(next->output_log_det_[c])) return nullptr;
      next->output_trace_[c] = 0.0;
      for (Index m = 0; m < q.rows(); ++m) next->output_trace_[c] += q(m, m);
      next->outputs_[c] = std::make_shared<const Matrix>(std::move(q));
    }
    return next;
  }

  Next with_weights(const WeightSystem& system, Matrix& asked) const override {
    auto next = std::make_shared<RegressionCovariances>(*this);
    Matrix covariance = precision_of_weights(system);
    double log_det = 0.0;
    if (!algebra::invert_positive(covariance.view(), log_det)) return nullptr;
    next->set_weight_entropy(log_det);
    for (Index m = 0; m < covariance.rows(); ++m) next->weight_variances_[at(m)] = covariance(m, m);
    const Matrix right = asked;
    algebra::gemm(Op::none, Op::none, 1.0, right.view(), covariance.view(), 0.0, asked.view());
    next->weights_ = std::make_shared<const Matrix>(std::move(covariance));
    return next;
  }

  Matrix weights() const override { return *weights_; }
  Matrix outputs(Index c) const override { return *outputs_[at(c)]; }
  void times_outputs(Index c, ConstMatrixView rows, MatrixView out) const override {
    algebra::gemm(Op::none, Op::none, 1.0, rows, outputs_[at(c)]->view(), 0.0, out);
  }

 private:
  std::shared_ptr<const Matrix> weights_;
  std::vector<std::shared_ptr<const Matrix>> outputs_;
};

}  // namespace

std::shared_ptr<const Covariances> make_regression_covariances(Index kernels, Index outputs) {
  return std::make_shared<RegressionCovariances>(kernels, outputs);
}

}  // namespace kloom::methods
