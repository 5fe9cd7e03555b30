// SPDX-License-Identifier: BSD-3-Clause
//
// Non-negative kernel weights (not in the paper): half-normal priors on e and q(b,e) = Π_c q(b_c) Π_m q(e_m), every q(e_m)
// a normal cut off at 0. Σ(b,e) is then diagonal, and no P × P matrix is inverted: with d = 1/(υ + ε diag Σ(e)),
//
//   Σ(g) = (diag(1/d) + εμ(e)μ(e)ᵀ)⁻¹ = diag(d) − κwwᵀ,   w = d ∘ μ(e),   κ = ε/(1 + ε wᵀμ(e))
#include <cmath>
#include <numbers>
#include <vector>

#include "algebra/blas.h"
#include "base/normal.h"
#include "methods/bemkl/covariances.h"
#include "solvers/truncated_normal.h"

namespace kloom::methods {
namespace {

class NonNegativeCovariances final : public Covariances {
 public:
  NonNegativeCovariances(Index biases, Index kernels)
      : Covariances(biases, kernels, biases),
        outputs_(at(biases), {Vector(at(kernels), 1.0), Vector(at(kernels))}) {}

  Next with_outputs(const Vector& mean, const Vector& upsilon, const Vector& epsilon) const override {
    auto next = std::make_shared<NonNegativeCovariances>(*this);
    for (std::size_t c = 0; c < outputs_.size(); ++c) {
      auto& [d, w, kappa] = next->outputs_[c];
      double trace = 0.0;
      double log_det = 0.0;
      double scale = 1.0;
      for (std::size_t m = 0; m < d.size(); ++m) {
        const double e = mean[at(biases()) + m];
        d[m] = 1.0 / (upsilon[c] + epsilon[c] * weight_variances_[at(biases()) + m]);
        w[m] = d[m] * e;
        trace += d[m];
        log_det += std::log(d[m]);
        scale += epsilon[c] * w[m] * e;
      }
      kappa = epsilon[c] / scale;
      next->output_traces_[c] = trace - kappa * algebra::dot(w, w);
      next->output_log_dets_[c] = log_det - std::log(scale);
      if (!std::isfinite(next->output_log_dets_[c])) return nullptr;
    }
    return next;
  }

  // One variable after the other, each at its optimum given the others. To cut off the marginals of the joint
  // normal instead would not raise the bound.
  Next with_weights(const WeightSystem& system, Vector& right) const override {
    auto next = std::make_shared<NonNegativeCovariances>(*this);
    const Matrix moments = second_moments(system);
    Vector mean = system.mean;
    next->weight_location_.clear();
    next->weight_precision_.clear();
    next->weight_entropy_ = next->spread_ = 0.0;
    for (std::size_t k = 0; k < mean.size(); ++k) {
      const auto column = moments.column(static_cast<Index>(k));
      const double precision = column[k] + system.precision[k];
      const double location =
          mean[k] + (right[k] - algebra::dot(column, mean) - system.precision[k] * mean[k]) / precision;
      double& variance = next->weight_variances_[k];
      mean[k] = location;
      variance = 1.0 / precision;
      next->weight_entropy_ += 0.5 * (1.0 + std::log(2.0 * std::numbers::pi) - std::log(precision));
      if (k >= at(biases())) {
        const double z = location * std::sqrt(precision);  // in units of the deviation
        mean[k] = solvers::truncated_excess(z) / std::sqrt(precision);
        variance *= solvers::truncated_variance(z);
        next->weight_location_.push_back(location);
        next->weight_precision_.push_back(precision);
        next->weight_entropy_ += std::numbers::ln2 + log_normal_cdf(z) - 0.5 * z * solvers::normal_hazard(z);
      } else {
        next->bias_rows_(static_cast<Index>(k), static_cast<Index>(k)) = variance;
      }
      next->spread_ += variance * column[k];
    }
    right = mean;
    return next;
  }

  Matrix weights() const override { return diagonal_matrix(weight_variances_); }
  Matrix outputs(Index c) const override {
    Matrix result = diagonal_matrix(outputs_[at(c)].d);
    algebra::rank_one(-outputs_[at(c)].kappa, outputs_[at(c)].w, result.view());
    return result;
  }
  void times_outputs(Index c, ConstMatrixView rows, MatrixView out) const override {
    const auto& [d, w, kappa] = outputs_[at(c)];
    Vector along(at(rows.rows));
    algebra::gemv(algebra::Op::none, kappa, rows, w, 0.0, along);
    for (Index m = 0; m < rows.cols; ++m) {
      for (Index i = 0; i < rows.rows; ++i) out(i, m) = d[at(m)] * rows(i, m) - along[at(i)] * w[at(m)];
    }
  }

 private:
  struct Output {
    Vector d, w;
    double kappa = 0.0;
  };
  std::vector<Output> outputs_;
};

}  // namespace

std::shared_ptr<const Covariances> make_non_negative_covariances(Index biases, Index kernels) {
  return std::make_shared<NonNegativeCovariances>(biases, kernels);
}

}  // namespace kloom::methods
