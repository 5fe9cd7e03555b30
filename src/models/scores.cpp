// SPDX-License-Identifier: BSD-3-Clause
#include "models/scores.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "algebra/blas.h"

namespace kloom::models {

using algebra::Op;

Vector weights_of(const Model& model, Index c) {
  const Matrix& w = model.weights.values;
  const Index row = model.weights.shape == KernelWeights::Shape::per_class ? c : 0;
  Vector weights(at(w.cols()));
  for (Index m = 0; m < w.cols(); ++m) weights[at(m)] = w(row, m);
  return weights;
}

Matrix outputs_of(const Matrix& applied, Index c, Index rows, Index kernels) {
  Matrix outputs(rows, kernels);
  std::ranges::copy(applied.column(c), outputs.values().begin());
  return outputs;
}

Matrix contributions_of(const Matrix& outputs, const Vector& weights) {
  Matrix result = outputs;
  for (Index m = 0; m < result.cols(); ++m) algebra::scale(weights[at(m)], result.column(m));
  return result;
}

void add_output(const Model& model, const Matrix& outputs, Index c, const PredictOptions& options,
                Predictions& result) {
  const Vector weights = weights_of(model, c);
  std::ranges::fill(result.scores.column(c), model.bias[at(c)]);
  algebra::gemv(Op::none, 1.0, outputs.view(), weights, 1.0, result.scores.column(c));
  if (options.contributions) result.contributions.push_back(contributions_of(outputs, weights));
}

Predictions weighted_sums(const Model& model, const KernelBank& bank, const PredictOptions& options) {
  Predictions result;
  result.scores = Matrix(bank.rows(), model.coefficients.cols());
  const Matrix applied = bank.apply(model.coefficients.view());
  for (Index c = 0; c < model.coefficients.cols(); ++c)
    add_output(model, outputs_of(applied, c, bank.rows(), bank.kernels()), c, options, result);
  return result;
}

namespace {

// Weights of output k, one row for all or one row each.
Matrix weights_by_kernel(const Matrix& weights, Index outputs) {
  Matrix result(weights.cols(), outputs);
  for (Index k = 0; k < outputs; ++k) {
    for (Index p = 0; p < weights.cols(); ++p) result(p, k) = weights(weights.rows() == 1 ? 0 : k, p);
  }
  return result;
}

// What each kernel adds, and scores that are the sums of what is shown, to the last digit.
void add_shown(const Matrix& applied, const Matrix& weights, Predictions& result) {
  for (Index k = 0; k < weights.cols(); ++k) {
    const Matrix part = contributions_of(outputs_of(applied, k, result.scores.rows(), weights.rows()),
                                         {weights.column(k).begin(), weights.column(k).end()});
    algebra::axpy(1.0, part.values(), result.contributions[at(k)].values());
    for (Index p = 0; p < part.cols(); ++p) algebra::axpy(1.0, part.column(p), result.scores.column(k));
  }
}

}  // namespace

Vector present_scales(const Matrix& presence, std::span<const double> weights, std::span<const double> sizes) {
  Vector scales(at(presence.rows()), 1.0);
  for (Index i = 0; i < presence.rows(); ++i) {
    double own = 0.0;
    double lacking = 0.0;
    for (Index p = 0; p < presence.cols(); ++p)
      (presence(i, p) > 0.0 ? own : lacking) += weights[at(p)] * sizes[at(p)];
    // A sample that lacks nothing of weight keeps 1 to the last bit.
    if (lacking > 0.0 && own > 0.0) scales[at(i)] = std::sqrt((own + lacking) / own);
  }
  return scales;
}

namespace {

// Adds one term to scores and, if asked, contributions.
void add_term(const KernelBank& bank, const WeightedTerm& term, const PredictOptions& options,
              Predictions& result) {
  const Index outputs = result.scores.cols();
  const std::vector<Index> rows = all_of(bank.rows());
  const Matrix weights = weights_by_kernel(term.weights, outputs);
  const std::vector<Index> used = used_rows(term.coefficients);
  const Matrix own = selected(term.coefficients, used, all_of(outputs));
  if (options.contributions) {
    add_shown(bank.apply_chosen(rows, used, own.view()), weights, result);
  } else {
    bank.combination(weights.view(), 0)->add_scores(rows, used, own.view(), result.scores.view());
  }
}

void add_scaled(const Matrix& from, const Vector& scales, Matrix& to) {
  for (Index c = 0; c < from.cols(); ++c) {
    for (Index i = 0; i < from.rows(); ++i) to(i, c) += scales[at(i)] * from(i, c);
  }
}

}  // namespace

Predictions sum_of_terms(const Model& model, const KernelBank& bank, std::span<const WeightedTerm> terms,
                         const PredictOptions& options, std::span<const double> sizes) {
  const Index outputs = model.coefficients.cols();
  const Matrix nothing(bank.rows(), bank.kernels());
  Predictions result;
  result.scores = Matrix(bank.rows(), outputs);
  if (options.contributions) result.contributions.assign(at(outputs), nothing);
  for (Index k = 0; k < outputs; ++k) std::ranges::fill(result.scores.column(k), model.bias[at(k)]);
  for (const auto& term : terms) {
    if (bank.presence().complete() || sizes.empty()) {
      add_term(bank, term, options, result);
      continue;
    }
    Predictions own;
    own.scores = Matrix(bank.rows(), outputs);
    if (options.contributions) own.contributions.assign(at(outputs), nothing);
    add_term(bank, term, options, own);
    const Vector scales = present_scales(bank.presence().rows, term.weights.values(), sizes);
    add_scaled(own.scores, scales, result.scores);
    for (std::size_t k = 0; k < own.contributions.size(); ++k)
      add_scaled(own.contributions[k], scales, result.contributions[k]);
  }
  return result;
}

std::vector<WeightedTerm> restricted_terms(const std::vector<WeightedTerm>& terms, const Needs& needs) {
  std::vector<WeightedTerm> small;
  small.reserve(terms.size());
  for (const WeightedTerm& term : terms) {
    small.push_back({selected(term.weights, all_of(term.weights.rows()), needs.kernels),
                     selected(term.coefficients, needs.samples, all_of(term.coefficients.cols()))});
  }
  return small;
}

namespace {

bool any_in(std::span<const double> values) {
  return std::ranges::any_of(values, [](double value) { return value != 0.0; });
}

bool row_is_zero(const Matrix& m, Index row) {
  for (Index k = 0; k < m.cols(); ++k) {
    if (m(row, k) != 0.0) return false;
  }
  return true;
}

}  // namespace

std::string terms_trouble(const std::vector<WeightedTerm>& terms, const Model& model) {
  const Index outputs = model.coefficients.cols();
  for (const auto& term : terms) {
    if ((term.weights.rows() != 1 && term.weights.rows() != outputs) ||
        term.weights.cols() != std::ssize(model.kernel_names))
      return "the kernel weights of a solution have the wrong shape";
    if (!is_shape(term.coefficients, model.coefficients.rows(), outputs))
      return "the coefficients of a solution have the wrong shape";
    if (!all_at_least(term.weights.values(), 0.0)) return "a kernel weight of a solution is no number >= 0";
    if (!all_finite(term.coefficients.values())) return "a coefficient of a solution is no finite number";
    for (Index p = 0; p < term.weights.cols(); ++p) {
      if (any_in(term.weights.column(p)) && !any_in(model.weights.values.column(p)))
        return "a solution uses a kernel to which the model gives no weight";
    }
    for (const Index n : used_rows(term.coefficients)) {
      if (row_is_zero(model.coefficients, n))
        return "a solution uses a sample to which the model gives no coefficient";
    }
  }
  return {};
}

std::vector<int> codes_of(const Matrix& scores) {
  std::vector<int> codes(at(scores.rows()));
  for (Index i = 0; i < scores.rows(); ++i) {
    Index best = 0;
    for (Index c = 1; c < scores.cols(); ++c) best = scores(i, c) > scores(i, best) ? c : best;
    codes[at(i)] = scores.cols() == 1 ? (scores(i, 0) > 0.0 ? 1 : 0) : static_cast<int>(best);
  }
  return codes;
}

bool has_codes(Task task) {
  return task == Task::binary || task == Task::multiclass;
}

bool has_numbers(Task task) {
  return task == Task::regression || task == Task::multi_regression;
}

std::vector<Index> all_of(Index n) {
  std::vector<Index> indices(at(n));
  std::iota(indices.begin(), indices.end(), Index{0});
  return indices;
}

std::vector<Index> used_rows(const Matrix& coefficients) {
  std::vector<Index> used;
  for (Index n = 0; n < coefficients.rows(); ++n) {
    for (Index k = 0; k < coefficients.cols(); ++k) {
      if (coefficients(n, k) == 0.0) continue;
      used.push_back(n);
      break;
    }
  }
  return used;
}

Matrix selected(const Matrix& from, const std::vector<Index>& rows, const std::vector<Index>& cols) {
  Matrix result(std::ssize(rows), std::ssize(cols));
  for (Index j = 0; j < result.cols(); ++j) {
    for (Index i = 0; i < result.rows(); ++i) result(i, j) = from(rows[at(i)], cols[at(j)]);
  }
  return result;
}

Vector selected(const Vector& from, const std::vector<Index>& chosen) {
  Vector result;
  for (const Index i : chosen) result.push_back(from[at(i)]);
  return result;
}

namespace {

void append(Matrix& all, const Matrix& part, Range rows, Index total) {
  if (part.empty()) return;
  if (all.empty()) all = Matrix(total, part.cols());
  for (Index j = 0; j < part.cols(); ++j) {
    std::ranges::copy(part.column(j), all.column(j).begin() + rows.begin);
  }
}

void append(std::vector<Matrix>& all, const std::vector<Matrix>& parts, Range rows, Index total) {
  all.resize(parts.size());
  for (std::size_t c = 0; c < parts.size(); ++c) append(all[c], parts[c], rows, total);
}

}  // namespace

void append(Predictions& all, const Predictions& part, Range rows, Index total) {
  append(all.scores, part.scores, rows, total);
  append(all.probabilities, part.probabilities, rows, total);
  append(all.deviation, part.deviation, rows, total);
  all.codes.insert(all.codes.end(), part.codes.begin(), part.codes.end());
  append(all.contributions, part.contributions, rows, total);
  append(all.contribution_deviations, part.contribution_deviations, rows, total);
}

bool is_shape(const Matrix& m, Index rows, Index cols) {
  return m.rows() == rows && m.cols() == cols;
}

bool all_finite(std::span<const double> values) {
  return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
}

bool all_at_least(std::span<const double> values, double least) {
  return std::ranges::all_of(values, [&](double value) { return std::isfinite(value) && value >= least; });
}

bool all_above(std::span<const double> values, double least) {
  return std::ranges::all_of(values, [&](double value) { return std::isfinite(value) && value > least; });
}

bool like_covariance(const Matrix& m) {
  for (Index i = 0; i < m.rows(); ++i) {
    if (!(m(i, i) >= 0.0)) return false;
  }
  return all_finite(m.values());
}

bool empty_or(const Vector& v, Index n) {
  return v.empty() || std::ssize(v) == n;
}

}  // namespace kloom::models
