// SPDX-License-Identifier: BSD-3-Clause
#include "models/bemkl_predictive.h"

#include <cmath>

#include "algebra/blas.h"
#include "base/normal.h"

namespace kloom::models {

using algebra::Op;

namespace {

// k_eᵀ Σ_a k_e for every row.
void add_sample_weight_variance(const Model& model, const KernelBank& bank, Vector& variance) {
  const Matrix combined = bank.combine(model.weights.values.values());  // N × rows
  Matrix spread(combined.rows(), combined.cols());
  algebra::gemm(Op::none, Op::none, 1.0, model.bemkl->a_covariance.view(), combined.view(), 0.0, spread.view());
  for (Index i = 0; i < combined.cols(); ++i) {
    variance[static_cast<std::size_t>(i)] += algebra::dot(combined.column(i), spread.column(i));
  }
}

}  // namespace

Vector bemkl_variance(const Model& model, const KernelBank& bank, const Matrix& outputs) {
  const BemklPosterior& posterior = *model.bemkl;
  const Index p = outputs.cols();
  Matrix extended(outputs.rows(), p + 1, 1.0);  // [1 ḡ]
  for (Index m = 0; m < p; ++m) std::ranges::copy(outputs.column(m), extended.column(m + 1).begin());
  Matrix spread(outputs.rows(), p + 1);
  algebra::gemm(Op::none, Op::none, 1.0, extended.view(), posterior.be_covariance.view(), 0.0, spread.view());
  Vector variance(static_cast<std::size_t>(outputs.rows()), 1.0);
  for (Index m = 0; m <= p; ++m) {
    for (Index i = 0; i < outputs.rows(); ++i)
      variance[static_cast<std::size_t>(i)] += extended(i, m) * spread(i, m);
  }
  if (posterior.literal) return variance;

  double second_moment = 0.0;  // ‖μ_e‖² + tr Σ_e
  for (Index m = 0; m < p; ++m) {
    second_moment +=
        model.weights.values(0, m) * model.weights.values(0, m) + posterior.be_covariance(m + 1, m + 1);
  }
  for (double& v : variance) v += posterior.sigma_g * posterior.sigma_g * second_moment;
  if (!posterior.a_covariance.empty()) add_sample_weight_variance(model, bank, variance);
  return variance;
}

double bemkl_probability(double mean, double variance, const BemklPosterior& posterior) {
  const double scale = posterior.literal ? variance : std::sqrt(variance);
  const double positive = log_normal_cdf((mean - posterior.margin) / scale);
  const double negative = log_normal_cdf((-mean - posterior.margin) / scale);
  return 1.0 / (1.0 + std::exp(negative - positive));
}

}  // namespace kloom::models
