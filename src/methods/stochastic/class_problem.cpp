// SPDX-License-Identifier: BSD-3-Clause
#include "methods/stochastic/class_problem.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "algebra/blas.h"
#include "kernels/banks/gated_bank.h"
#include "kloom/error.h"
#include "models/scores.h"

namespace kloom::methods {

ClassLabels labels_of(const Targets& targets) {
  return {targets.codes, targets.weights, static_cast<Index>(targets.classes.size())};
}

FitResult balanced_fit(const KernelBank& bank, const std::function<FitResult(const KernelBank&)>& fit) {
  if (bank.presence().complete()) return fit(bank);
  const Vector equal(at(bank.kernels()), 1.0);
  const Vector scales = models::present_scales(bank.presence().rows, equal, equal);
  const auto scale_rows = [&](Matrix& matrix) {
    for (Index c = 0; c < matrix.cols(); ++c) {
      for (Index i = 0; i < matrix.rows(); ++i) matrix(i, c) *= scales[at(i)];
    }
  };
  Matrix gates = bank.presence().rows;
  scale_rows(gates);
  const kernels::GatedBank balanced(bank, std::move(gates));
  FitResult result = fit(balanced);
  scale_rows(result.model.coefficients);
  for (auto& term : edit_part<StochasticPart>(result.model).terms) scale_rows(term.coefficients);
  return result;
}

void shape_outputs(Model& model, const KernelBank& bank, Index outputs) {
  model.weights.shape = outputs > 1 ? KernelWeights::Shape::per_class : KernelWeights::Shape::shared;
  model.weights.values = Matrix(outputs, bank.kernels());
  model.coefficients = Matrix(bank.rows(), outputs);
  model.bias.assign(static_cast<std::size_t>(outputs), 0.0);
}

void summarise_terms(const StochasticPart& part, Model& model) {
  const double share = 1.0 / static_cast<double>(part.terms.size());
  Matrix& mean = model.weights.values;
  for (const auto& term : part.terms) {
    algebra::axpy(share, term.weights.values(), mean.values());
    algebra::axpy(1.0, term.coefficients.values(), model.coefficients.values());
  }
  if (part.terms.size() < 2) return;
  Matrix deviation(mean.rows(), mean.cols());
  for (std::size_t i = 0; i < mean.values().size(); ++i) {
    double square = 0.0;
    for (const auto& term : part.terms) {
      const double difference = term.weights.values()[i] - mean.values()[i];
      square += difference * difference;
    }
    deviation.values()[i] = std::sqrt(square / static_cast<double>(part.terms.size() - 1));
  }
  model.weights.deviation = std::move(deviation);
}

}  // namespace kloom::methods
