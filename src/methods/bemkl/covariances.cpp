// SPDX-License-Identifier: BSD-3-Clause
#include "methods/bemkl/covariances.h"

#include <cmath>
#include <numbers>

#include "algebra/blas.h"

namespace kloom::methods {

using algebra::Op;

std::shared_ptr<const Covariances> make_covariances(Index samples, Index kernels, Index outputs,
                                                    bool regression, bool non_negative) {
  if (non_negative) return make_non_negative_covariances(kernels, outputs);
  if (!regression && thin_pays(samples, outputs, kernels)) return make_thin_covariances(kernels);
  return make_direct_covariances(kernels, regression ? at(outputs) : 1);
}

Matrix diagonal_matrix(const Vector& diagonal) {
  Matrix result(std::ssize(diagonal), std::ssize(diagonal));
  for (Index m = 0; m < result.rows(); ++m) result(m, m) = diagonal[at(m)];
  return result;
}

Covariances::Covariances(Index kernels, std::size_t outputs)
    : weight_variances_(at(kernels), 1.0),
      outputs_(outputs, {static_cast<double>(kernels), 0.0, 0.0, Vector(at(kernels))}) {}

Covariances::Next Covariances::with_outputs(std::span<const double> mean, const Vector& upsilon,
                                            const Vector& epsilon) const {
  const std::shared_ptr<Covariances> next = copy();
  const Index p = std::ssize(mean);
  for (std::size_t c = 0; c < outputs_.size(); ++c) {
    Output& of = next->outputs_[c];
    if (!next->make_core(c, upsilon[c], epsilon[c], of)) return nullptr;
    next->times_core(static_cast<Index>(c), {mean.data(), 1, p, 1}, {of.w.data(), 1, p, 1});
    const double scale = 1.0 + epsilon[c] * algebra::dot(of.w, mean);
    of.kappa = epsilon[c] / scale;
    of.trace -= of.kappa * algebra::dot(of.w, of.w);
    of.log_det -= std::log(scale);
    if (!std::isfinite(of.log_det)) return nullptr;
  }
  return next;
}

Matrix Covariances::outputs(Index c) const {
  Matrix result = core(c);
  algebra::rank_one(-output(c).kappa, output(c).w, result.view());
  return result;
}

void Covariances::times_outputs(Index c, ConstMatrixView rows, MatrixView out) const {
  times_core(c, rows, out);
  Vector along(at(rows.rows));
  algebra::gemv(Op::none, output(c).kappa, rows, output(c).w, 0.0, along);
  for (Index m = 0; m < rows.cols; ++m) algebra::axpy(-output(c).w[at(m)], along, out.column(m));
}

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
  Matrix precision = outputs(0);
  if (system.epsilon[0] != 1.0) algebra::scale(system.epsilon[0], precision.values());
  for (std::size_t c = 1; c < system.epsilon.size(); ++c)
    algebra::axpy(system.epsilon[c], outputs(static_cast<Index>(c)).values(), precision.values());
  algebra::syrk(Op::transpose, 1.0, system.rows.view(), system.samples, precision.view());
  for (Index m = 0; m < precision.rows(); ++m) precision(m, m) += system.omega[at(m)];
  return precision;
}

}  // namespace kloom::methods
