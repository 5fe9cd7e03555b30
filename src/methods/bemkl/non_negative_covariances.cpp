// SPDX-License-Identifier: BSD-3-Clause
//
// Non-negative kernel weights (not in the paper): half-normal priors on e and q(e) = Π_m q(e_m), every q(e_m) a
// normal cut off at 0. Σ(e) is then diag(v), and no P × P matrix is inverted:
//
//   Σ(g_c) = (υI + ε diag(v) + ε μμᵀ)⁻¹ = diag(d) − κ wwᵀ,   d = 1/(υ + εv),  w = d∘μ,  κ = ε/(1 + ε wᵀμ)
#include <cmath>
#include <numbers>
#include <vector>

#include "algebra/blas.h"
#include "base/normal.h"
#include "methods/bemkl/covariances.h"
#include "solvers/truncated_normal.h"

namespace kloom::methods {
namespace {

struct DiagonalMinusRankOne {
  Vector d, w;
  double kappa = 0.0;
};

class NonNegativeCovariances final : public Covariances {
 public:
  NonNegativeCovariances(Index kernels, Index outputs)
      : Covariances(kernels, at(outputs)),
        outputs_(at(outputs), DiagonalMinusRankOne{Vector(at(kernels), 1.0), Vector(at(kernels), 0.0)}) {}

  Next with_outputs(std::span<const double> mean, const Vector& upsilon, const Vector& epsilon) const override {
    auto next = std::make_shared<NonNegativeCovariances>(*this);
    for (std::size_t c = 0; c < upsilon.size(); ++c) {
      auto& [d, w, kappa] = next->outputs_[c];
      double log_det = 0.0;
      for (std::size_t m = 0; m < mean.size(); ++m) {
        d[m] = 1.0 / (upsilon[c] + epsilon[c] * weight_variances_[m]);
        w[m] = d[m] * mean[m];
        log_det += std::log(d[m]);
      }
      const double scale = 1.0 + epsilon[c] * algebra::dot(w, mean);
      kappa = epsilon[c] / scale;
      next->output_log_det_[c] = log_det - std::log(scale);
      if (!std::isfinite(next->output_log_det_[c])) return nullptr;
      next->output_trace_[c] = -kappa * algebra::dot(w, w);
      for (const double value : d) next->output_trace_[c] += value;
    }
    return next;
  }

  // One weight after the other, each at its optimum given the others. To cut off the marginals of the joint
  // normal instead would not raise the bound.
  Next with_weights(const WeightSystem& system, Matrix& asked) const override {
    auto next = std::make_shared<NonNegativeCovariances>(*this);
    const Matrix precision = precision_of_weights(system);
    Vector e(system.mean.begin(), system.mean.end());
    next->weight_location_.resize(e.size());
    next->weight_precision_.resize(e.size());
    next->weight_entropy_ = 0.0;
    for (std::size_t m = 0; m < e.size(); ++m) {
      const auto k = static_cast<Index>(m);
      const double own = precision(k, k);
      const double location = e[m] + (asked(0, k) - algebra::dot(precision.column(k), e)) / own;
      const double z = location * std::sqrt(own);  // in units of the deviation
      e[m] = solvers::truncated_excess(z) / std::sqrt(own);
      next->weight_variances_[m] = solvers::truncated_variance(z) / own;
      next->weight_location_[m] = location;
      next->weight_precision_[m] = own;
      next->weight_entropy_ += std::numbers::ln2 +
                               0.5 * (1.0 + std::log(2.0 * std::numbers::pi) - std::log(own)) +
                               log_normal_cdf(z) - 0.5 * z * solvers::normal_hazard(z);
      asked(0, k) = e[m];
    }
    return next;
  }

  Matrix weights() const override {
    Matrix result(std::ssize(weight_variances_), std::ssize(weight_variances_));
    for (Index m = 0; m < result.rows(); ++m) result(m, m) = weight_variances_[at(m)];
    return result;
  }
  Matrix outputs(Index c) const override {
    const auto& [d, w, kappa] = outputs_[at(c)];
    Matrix result(std::ssize(d), std::ssize(d));
    for (Index m = 0; m < result.rows(); ++m) result(m, m) = d[at(m)];
    algebra::rank_one(-kappa, w, result.view());
    return result;
  }
  void times_outputs(Index c, ConstMatrixView rows, MatrixView out) const override {
    const auto& [d, w, kappa] = outputs_[at(c)];
    Vector along(at(rows.rows));
    algebra::gemv(algebra::Op::none, kappa, rows, w, 0.0, along);
    for (Index m = 0; m < rows.cols; ++m) {
      for (Index i = 0; i < rows.rows; ++i) out(i, m) = d[at(m)] * rows(i, m) - w[at(m)] * along[at(i)];
    }
  }
  double trace_of_product(Index c, ConstMatrixView g, double samples) const override {
    const auto& [d, w, kappa] = outputs_[at(c)];
    double trace = 0.0;
    for (Index m = 0; m < g.cols; ++m) {
      const double variance = d[at(m)] - kappa * w[at(m)] * w[at(m)];
      trace += weight_variances_[at(m)] * (algebra::dot(g.column(m), g.column(m)) + samples * variance);
    }
    return trace;
  }

 private:
  std::vector<DiagonalMinusRankOne> outputs_;
};

}  // namespace

std::shared_ptr<const Covariances> make_non_negative_covariances(Index kernels, Index outputs) {
  return std::make_shared<NonNegativeCovariances>(kernels, outputs);
}

}  // namespace kloom::methods
