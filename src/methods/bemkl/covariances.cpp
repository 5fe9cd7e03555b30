// SPDX-License-Identifier: BSD-3-Clause
#include "methods/bemkl/covariances.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "algebra/blas.h"
#include "kloom/error.h"

namespace kloom::methods {

std::shared_ptr<const Covariances> make_covariances(Index samples, Index kernels, Index outputs,
                                                    bool regression, bool non_negative) {
  if (non_negative) return make_non_negative_covariances(outputs, kernels);
  if (!regression && thin_pays(samples, outputs, kernels)) return make_thin_covariances(outputs, kernels);
  return make_direct_covariances(outputs, kernels, regression ? outputs : 1);
}

Matrix diagonal_matrix(const Vector& diagonal) {
  Matrix result(std::ssize(diagonal), std::ssize(diagonal));
  for (Index m = 0; m < result.rows(); ++m) result(m, m) = diagonal[at(m)];
  return result;
}

Covariances::Covariances(Index biases, Index kernels, Index outputs)
    : weight_variances_(at(biases + kernels), 1.0),
      bias_rows_(biases, biases + kernels),
      output_traces_(at(outputs), static_cast<double>(kernels)),
      output_log_dets_(at(outputs)) {
  for (Index c = 0; c < biases; ++c) bias_rows_(c, c) = 1.0;
}

Matrix Covariances::second_moments(const WeightSystem& system) const {
  const auto outputs_of_system = std::ssize(system.epsilon);
  const auto size = std::ssize(system.precision);
  const Index kernels = size - outputs_of_system;
  Matrix moments(size, size);
  const MatrixView of_e{moments.column(outputs_of_system).data() + outputs_of_system, kernels, kernels, size};
  for (Index c = 0; c < outputs_of_system; ++c) {
    const double epsilon = system.epsilon[at(c)];
    if (epsilon == 0.0) continue;
    const ConstMatrixView g = system.g[at(c)];
    moments(c, c) = epsilon * algebra::dot(system.ones, system.ones);
    const Matrix of_g = outputs(c);
    for (Index m = 0; m < kernels; ++m) {
      const Index k = outputs_of_system + m;
      moments(c, k) = moments(k, c) = epsilon * algebra::dot(system.ones, g.column(m));
      algebra::axpy(epsilon * system.samples, of_g.column(m), of_e.column(m));
    }
    algebra::syrk(algebra::Op::transpose, epsilon, g, 1.0, of_e);
  }
  return moments;
}

Covariances::Next Covariances::with_given_weights(GivenWeights /*given*/) const {
  throw InternalError("this form of BEMKL's covariances takes no weights from outside");
}

void Covariances::describe_weights(Vector variances, double log_det, double spread) {
  weight_variances_ = std::move(variances);
  const auto size = static_cast<double>(weight_variances_.size());
  weight_entropy_ = 0.5 * (size * (1.0 + std::log(2.0 * std::numbers::pi)) + log_det);
  spread_ = spread;
}

// The trace of a matrix times its inverse, less the part of diag E[γ,ω].
double Covariances::spread_of(const WeightSystem& system, const Vector& variances) {
  return static_cast<double>(variances.size()) - algebra::dot(system.precision, variances);
}

}  // namespace kloom::methods
