// SPDX-License-Identifier: BSD-3-Clause
#include "methods/gated/scores.h"

#include <algorithm>
#include <cmath>

#include "algebra/blas.h"

namespace kloom::methods {
namespace {

using algebra::Op;

Vector row_of(const Matrix& matrix, Index row) {
  Vector values(at(matrix.cols()));
  for (Index p = 0; p < matrix.cols(); ++p) values[at(p)] = matrix(row, p);
  return values;
}

void softmax(std::span<double> values, Index stride, Index count) {
  double largest = values[0];
  for (Index p = 1; p < count; ++p) largest = std::max(largest, values[at(p * stride)]);
  double sum = 0.0;
  for (Index p = 0; p < count; ++p) sum += values[at(p * stride)] = std::exp(values[at(p * stride)] - largest);
  const double scale = std::sqrt(static_cast<double>(count)) / sum;
  for (Index p = 0; p < count; ++p) values[at(p * stride)] *= scale;
}

// Gates of the rows, given what the kernels say there.
Matrix gates_of(const Model& model, Index output, const Matrix& outputs, const Matrix& inputs) {
  const Gates& gate = part_of<GatedPart>(model).gates;
  const Gates::Output& of_output = gate.outputs[at(output)];
  if (gate.kind != Gates::Kind::switches) return gate_values(gate.kind, of_output.parameters, inputs);
  const PatternScores chosen =
      best_patterns(outputs, of_output.patterns, model.bias[at(output)], model.task == Task::binary);
  Matrix gates(outputs.rows(), outputs.cols());
  for (Index i = 0; i < gates.rows(); ++i) {
    for (Index p = 0; p < gates.cols(); ++p) gates(i, p) = of_output.patterns(chosen.patterns[at(i)], p);
  }
  return gates;
}

}  // namespace

Matrix gated_outputs(const KernelBank& bank, std::span<const double> weights,
                     std::span<const double> coefficients, const Matrix& gates) {
  Matrix gated(bank.cols(), bank.kernels());
  for (Index p = 0; p < bank.kernels(); ++p) {
    if (weights[at(p)] == 0.0) continue;
    for (Index n = 0; n < bank.cols(); ++n) gated(n, p) = weights[at(p)] * coefficients[at(n)] * gates(n, p);
  }
  return bank.apply_each(gated.view());
}

PatternScores best_patterns(const Matrix& outputs, const Matrix& patterns, double bias, bool two_classes) {
  Matrix all(outputs.rows(), patterns.rows(), bias);
  algebra::gemm(Op::none, Op::transpose, 1.0, outputs.view(), patterns.view(), 1.0, all.view());
  PatternScores best{Vector(at(outputs.rows())), std::vector<Index>(at(outputs.rows()))};
  for (Index i = 0; i < all.rows(); ++i) {
    Index chosen = 0;
    const auto value = [&](Index k) { return two_classes ? std::abs(all(i, k)) : all(i, k); };
    for (Index k = 1; k < all.cols(); ++k) chosen = value(k) > value(chosen) ? k : chosen;
    best.scores[at(i)] = all(i, chosen);
    best.patterns[at(i)] = chosen;
  }
  return best;
}

Matrix gate_inputs(const Gates& gate, const KernelBank& bank) {
  const Matrix kernel = bank.combine(gate.space);  // training samples × rows
  Matrix inputs(bank.rows(), gate.projection.cols());
  for (Index r = 0; r < inputs.cols(); ++r) std::ranges::fill(inputs.column(r), gate.offset[at(r)]);
  algebra::gemm(Op::transpose, Op::none, 1.0, kernel.view(), gate.projection.view(), 1.0, inputs.view());
  return inputs;
}

Matrix gate_values(Gates::Kind kind, const Matrix& parameters, const Matrix& inputs) {
  const Index kernels = parameters.rows();
  const Index inputs_count = inputs.cols();
  Matrix gates(inputs.rows(), kernels);
  for (Index p = 0; p < kernels; ++p) std::ranges::fill(gates.column(p), parameters(p, inputs_count));
  const ConstMatrixView slopes{parameters.data(), kernels, inputs_count, kernels};
  algebra::gemm(Op::none, Op::transpose, 1.0, inputs.view(), slopes, 1.0, gates.view());
  if (kind == Gates::Kind::sigmoid) {
    const double scale = 2.0 / std::sqrt(static_cast<double>(kernels));
    for (double& gate : gates.values()) gate = scale / (1.0 + std::exp(-gate));
    return gates;
  }
  for (Index i = 0; i < gates.rows(); ++i) {
    softmax(gates.values().subspan(at(i)), gates.rows(), kernels);
  }
  return gates;
}

Predictions gated_predictions(const Model& model, const KernelBank& bank, bool contributions) {
  const Gates& gate = part_of<GatedPart>(model).gates;
  Predictions result;
  result.scores = Matrix(bank.rows(), model.coefficients.cols());
  const Matrix inputs = gate.kind == Gates::Kind::switches ? Matrix() : gate_inputs(gate, bank);
  for (Index c = 0; c < result.scores.cols(); ++c) {
    const Index row = model.weights.shape == KernelWeights::Shape::per_class ? c : 0;
    Matrix outputs = gated_outputs(bank, row_of(model.weights.values, row), model.coefficients.column(c),
                                   gate.outputs[at(c)].in_prediction());
    const Matrix gates = gates_of(model, c, outputs, inputs);
    for (std::size_t k = 0; k < gates.values().size(); ++k) outputs.values()[k] *= gates.values()[k];
    std::ranges::fill(result.scores.column(c), model.bias[at(c)]);
    for (Index p = 0; p < outputs.cols(); ++p) algebra::axpy(1.0, outputs.column(p), result.scores.column(c));
    if (contributions) result.contributions.push_back(std::move(outputs));
  }
  return result;
}

}  // namespace kloom::methods
