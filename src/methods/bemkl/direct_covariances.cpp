// SPDX-License-Identifier: BSD-3-Clause
//
// Both covariances as they stand: inverses of matrices as large as the number of kernels.
#include <memory>
#include <utility>
#include <vector>

#include "algebra/blas.h"
#include "methods/bemkl/covariances.h"

namespace kloom::methods {
namespace {

Vector diagonal_of(const Matrix& matrix) {
  Vector diagonal;
  for (Index k = 0; k < matrix.rows(); ++k) diagonal.push_back(matrix(k, k));
  return diagonal;
}

class DirectCovariances final : public Covariances {
 public:
  DirectCovariances(Index biases, Index kernels, Index outputs)
      : Covariances(biases, kernels, outputs),
        weights_(std::make_shared<const Matrix>(diagonal_matrix(weight_variances_))),
        outputs_(at(outputs), std::make_shared<const Matrix>(diagonal_matrix(Vector(at(kernels), 1.0)))) {}

  Next with_outputs(const Vector& mean, const Vector& upsilon, const Vector& epsilon) const override {
    auto next = std::make_shared<DirectCovariances>(*this);
    const auto size = std::ssize(mean);
    for (std::size_t c = 0; c < outputs_.size(); ++c) {
      Matrix made(size - biases(), size - biases());
      for (Index m = biases(); m < size; ++m) {
        for (Index l = biases(); l < size; ++l)
          made(l - biases(), m - biases()) = epsilon[c] * ((*weights_)(l, m) + mean[at(l)] * mean[at(m)]);
        made(m - biases(), m - biases()) += upsilon[c];
      }
      if (!algebra::invert_positive(made.view(), next->output_log_dets_[c])) return nullptr;
      next->output_traces_[c] = 0.0;
      for (Index m = 0; m < made.rows(); ++m) next->output_traces_[c] += made(m, m);
      next->outputs_[c] = std::make_shared<const Matrix>(std::move(made));
    }
    return next;
  }

  Next with_weights(const WeightSystem& system, Vector& right) const override {
    Matrix made = second_moments(system);
    for (Index k = 0; k < made.rows(); ++k) made(k, k) += system.precision[at(k)];
    double log_det = 0.0;
    if (!algebra::invert_positive(made.view(), log_det)) return nullptr;
    const Vector asked = right;
    algebra::gemv(algebra::Op::none, 1.0, made.view(), asked, 0.0, right);
    const double spread = spread_of(system, diagonal_of(made));
    return with_given_weights({std::move(made), log_det, spread});
  }

  Next with_given_weights(GivenWeights given) const override {
    auto next = std::make_shared<DirectCovariances>(*this);
    for (Index k = 0; k < given.covariance.rows(); ++k) {
      for (Index c = 0; c < biases(); ++c) next->bias_rows_(c, k) = given.covariance(c, k);
    }
    next->describe_weights(diagonal_of(given.covariance), given.log_det, given.spread);
    next->weights_ = std::make_shared<const Matrix>(std::move(given.covariance));
    return next;
  }

  Matrix weights() const override { return *weights_; }
  Matrix outputs(Index c) const override { return *of_output(outputs_, c); }
  void times_outputs(Index c, ConstMatrixView rows, MatrixView out) const override {
    algebra::gemm(algebra::Op::none, algebra::Op::none, 1.0, rows, of_output(outputs_, c)->view(), 0.0, out);
  }

 private:
  std::shared_ptr<const Matrix> weights_;
  std::vector<std::shared_ptr<const Matrix>> outputs_;
};

}  // namespace

std::shared_ptr<const Covariances> make_direct_covariances(Index biases, Index kernels, Index outputs) {
  return std::make_shared<DirectCovariances>(biases, kernels, outputs);
}

}  // namespace kloom::methods
