// SPDX-License-Identifier: BSD-3-Clause
//
// Non-negative kernel weights (not in the paper): half-normal priors on e and q(e) = Π_m q(e_m), every q(e_m) a
// normal cut off at 0. Σ(e) is then diag(v), and no P × P matrix is inverted:
//
//   core of Σ(g_c) = diag(d),   d = 1/(υ + εv)
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
  NonNegativeCovariances(Index kernels, Index outputs)
      : Covariances(kernels, at(outputs)), cores_(at(outputs), Vector(at(kernels), 1.0)) {}

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
      const double precision_kk = precision(k, k);
      const double location = e[m] + (asked(0, k) - algebra::dot(precision.column(k), e)) / precision_kk;
      const double z = location * std::sqrt(precision_kk);  // in units of the deviation
      e[m] = solvers::truncated_excess(z) / std::sqrt(precision_kk);
      next->weight_variances_[m] = solvers::truncated_variance(z) / precision_kk;
      next->weight_location_[m] = location;
      next->weight_precision_[m] = precision_kk;
      next->weight_entropy_ += std::numbers::ln2 +
                               0.5 * (1.0 + std::log(2.0 * std::numbers::pi) - std::log(precision_kk)) +
                               log_normal_cdf(z) - 0.5 * z * solvers::normal_hazard(z);
      asked(0, k) = e[m];
    }
    return next;
  }

  Matrix weights() const override { return diagonal_matrix(weight_variances_); }

  double trace_of_product(Index c, ConstMatrixView g, double samples) const override {
    double trace = 0.0;
    for (Index m = 0; m < g.cols; ++m) {
      const double w = output(c).w[at(m)];
      const double variance = cores_[at(c)][at(m)] - output(c).kappa * w * w;
      trace += weight_variances_[at(m)] * (algebra::dot(g.column(m), g.column(m)) + samples * variance);
    }
    return trace;
  }

 private:
  std::shared_ptr<Covariances> copy() const override { return std::make_shared<NonNegativeCovariances>(*this); }

  bool make_core(std::size_t c, double upsilon, double epsilon, Output& of) override {
    of.trace = of.log_det = 0.0;
    for (std::size_t m = 0; m < weight_variances_.size(); ++m) {
      const double d = cores_[c][m] = 1.0 / (upsilon + epsilon * weight_variances_[m]);
      of.trace += d;
      of.log_det += std::log(d);
    }
    return true;
  }

  Matrix core(Index c) const override { return diagonal_matrix(cores_[at(c)]); }

  void times_core(Index c, ConstMatrixView rows, MatrixView out) const override {
    for (Index m = 0; m < rows.cols; ++m) {
      for (Index i = 0; i < rows.rows; ++i) out(i, m) = cores_[at(c)][at(m)] * rows(i, m);
    }
  }

  std::vector<Vector> cores_;  // d
};

}  // namespace

std::shared_ptr<const Covariances> make_non_negative_covariances(Index kernels, Index outputs) {
  return std::make_shared<NonNegativeCovariances>(kernels, outputs);
}

}  // namespace kloom::methods
