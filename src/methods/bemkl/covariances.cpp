// SPDX-License-Identifier: BSD-3-Clause
#include "methods/bemkl/covariances.h"

#include <cmath>
#include <numbers>

#include "algebra/blas.h"

namespace kloom::methods {

using algebra::Op;

std::shared_ptr<const Covariances> make_covariances(const CovarianceShape& shape) {
  if (shape.non_negative) return make_non_negative_covariances(shape.kernels, shape.outputs);
  if (shape.regression) return make_regression_covariances(shape.kernels, shape.outputs);
  if (thin_pays(shape.samples, shape.outputs, shape.kernels))
    return make_thin_covariances(shape.kernels, shape.sigma_g);
  return make_direct_covariances(shape.kernels, shape.sigma_g);
}

bool thin_pays(Index samples, Index outputs, Index kernels) {
  return kernels >= 4 * samples * outputs;
}

Covariances::Covariances(Index kernels, std::size_t outputs)
    : weight_variances_(at(kernels), 1.0),
      output_trace_(outputs, static_cast<double>(kernels)),
      output_log_det_(outputs, 0.0) {}

void Covariances::set_weight_entropy(double log_det) {
  const auto p = static_cast<double>(weight_variances_.size());
  weight_entropy_ = 0.5 * (p * (1.0 + std::log(2.0 * std::numbers::pi)) + log_det);
}

double Covariances::trace_of_product(Index c, ConstMatrixView g, double samples) const {
  const Matrix e = weights();
  Matrix product(g.rows, g.cols);
  algebra::gemm(Op::none, Op::none, 1.0, g, e.view(), 0.0, product.view());
  double trace = samples * algebra::dot(outputs(c).values(), e.values());
  for (Index m = 0; m < g.cols; ++m) trace += algebra::dot(product.column(m), g.column(m));
  return trace;
}

Matrix Covariances::precision_of_weights(const WeightSystem& system) const {
  Matrix precision(system.rows.cols(), system.rows.cols());
  for (std::size_t c = 0; c < system.epsilon.size(); ++c)
    algebra::axpy(system.samples * system.epsilon[c], outputs(static_cast<Index>(c)).values(),
                  precision.values());
  algebra::syrk(Op::transpose, 1.0, system.rows.view(), 1.0, precision.view());
  for (Index m = 0; m < precision.rows(); ++m) precision(m, m) += system.omega[at(m)];
  return precision;
}

}  // namespace kloom::methods
