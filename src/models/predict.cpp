// SPDX-License-Identifier: BSD-3-Clause
//
// Scores, probabilities and labels of new samples.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "algebra/blas.h"
#include "algebra/threads.h"
#include "base/progress.h"
#include "kloom/error.h"
#include "kloom/model.h"
#include "methods/bemkl/predictive.h"
#include "methods/gated/scores.h"
#include "methods/margin/probability.h"
#include "methods/mcmkl/scores.h"

namespace kloom {

using algebra::Op;

namespace {

void check_bank(const Model& model, const KernelBank& bank) {
  const auto kernels = static_cast<Index>(model.kernel_names.size());
  if (bank.kernels() != kernels || bank.cols() != model.coefficients.rows()) {
    throw InvalidArgument(
        fmt::format("the model needs {} kernels against {} training samples; {} kernels against {} were given",
                    kernels, model.coefficients.rows(), bank.kernels(), bank.cols()));
  }
}

// Row of the kernel weights that output c uses.
Vector weights_of(const Model& model, Index c) {
  const Matrix& w = model.weights.values;
  const Index row = model.weights.shape == KernelWeights::Shape::per_class ? c : 0;
  Vector weights(static_cast<std::size_t>(w.cols()));
  for (Index m = 0; m < w.cols(); ++m) weights[static_cast<std::size_t>(m)] = w(row, m);
  return weights;
}

// Kernel outputs Σ_n A_nc k_p(x, x_n) of one class as a rows × P matrix.
Matrix outputs_of(const Matrix& applied, Index c, Index rows, Index kernels) {
  Matrix outputs(rows, kernels);
  std::ranges::copy(applied.column(c), outputs.values().begin());
  return outputs;
}

Matrix contributions_of(const Matrix& outputs, const Vector& weights) {
  Matrix result = outputs;
  for (Index m = 0; m < result.cols(); ++m)
    algebra::scale(weights[static_cast<std::size_t>(m)], result.column(m));
  return result;
}

std::vector<int> codes_of(const Matrix& scores) {
  std::vector<int> codes(static_cast<std::size_t>(scores.rows()));
  for (Index i = 0; i < scores.rows(); ++i) {
    Index best = 0;
    for (Index c = 1; c < scores.cols(); ++c) best = scores(i, c) > scores(i, best) ? c : best;
    codes[static_cast<std::size_t>(i)] =
        scores.cols() == 1 ? (scores(i, 0) > 0.0 ? 1 : 0) : static_cast<int>(best);
  }
  return codes;
}

Matrix selected(const Matrix& from, const std::vector<Index>& rows, const std::vector<Index>& cols) {
  Matrix result(static_cast<Index>(rows.size()), static_cast<Index>(cols.size()));
  for (std::size_t j = 0; j < cols.size(); ++j) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      result(static_cast<Index>(i), static_cast<Index>(j)) = from(rows[i], cols[j]);
    }
  }
  return result;
}

std::vector<Index> all_of(Index n) {
  std::vector<Index> indices(static_cast<std::size_t>(n));
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

// Weights of output k, one row for all or one row each.
Matrix weights_by_kernel(const Matrix& weights, Index outputs) {
  Matrix result(weights.cols(), outputs);
  for (Index k = 0; k < outputs; ++k) {
    for (Index p = 0; p < weights.cols(); ++p) result(p, k) = weights(weights.rows() == 1 ? 0 : k, p);
  }
  return result;
}

// A sum of several solutions, each a combination of kernels of its own: read by combination, so that the number
// of kernels costs nothing where the bank knows how.
Predictions predict_terms(const Model& model, const KernelBank& bank, const PredictOptions& options) {
  const Index outputs = model.coefficients.cols();
  Predictions result;
  result.scores = Matrix(bank.rows(), outputs);
  const std::vector<Index> rows = all_of(bank.rows());
  if (options.contributions)
    result.contributions.assign(static_cast<std::size_t>(outputs), Matrix(bank.rows(), bank.kernels()));
  for (Index k = 0; k < outputs; ++k)
    std::ranges::fill(result.scores.column(k), model.bias[static_cast<std::size_t>(k)]);
  const StochasticPart::Term whole{model.weights.values, model.coefficients};
  const std::span<const StochasticPart::Term> several(model.stochastic->terms);
  for (const auto& term : several.empty() ? std::span(&whole, 1) : several) {
    const Matrix weights = weights_by_kernel(term.weights, outputs);
    const std::vector<Index> used = used_rows(term.coefficients);
    const Matrix own = selected(term.coefficients, used, all_of(outputs));
    if (!options.contributions) {
      bank.combination(weights.view(), 0)->add_scores(rows, used, own.view(), result.scores.view());
      continue;
    }
    const Matrix applied = bank.apply_chosen(rows, used, own.view());
    for (Index k = 0; k < outputs; ++k) {
      const Matrix part = contributions_of(outputs_of(applied, k, bank.rows(), bank.kernels()),
                                           {weights.column(k).begin(), weights.column(k).end()});
      algebra::axpy(1.0, part.values(), result.contributions[static_cast<std::size_t>(k)].values());
      // The scores are the sums of what is shown, to the last digit.
      for (Index p = 0; p < part.cols(); ++p) algebra::axpy(1.0, part.column(p), result.scores.column(k));
    }
  }
  if (!model.classes.empty()) result.codes = codes_of(result.scores);
  return result;
}

// Classes from the scores and, for margin models, their probabilities.
void add_classes(const Model& model, const PredictOptions& options, Predictions& result) {
  const bool pairwise = model.margin && !model.margin->pairs.empty();
  if (model.task == Task::binary || model.task == Task::multiclass) {
    result.codes = pairwise ? models::pairwise_votes(model, result.scores) : codes_of(result.scores);
  }
  if (options.probabilities && model.margin && !model.margin->platt.empty()) {
    result.probabilities = models::margin_probabilities(model, result.scores);
  }
}

void append(Matrix& all, const Matrix& part, Range rows, Index total) {
  if (part.empty()) return;
  if (all.empty()) all = Matrix(total, part.cols());
  for (Index j = 0; j < part.cols(); ++j) {
    std::ranges::copy(part.column(j), all.column(j).begin() + rows.begin);
  }
}

void append(Predictions& all, const Predictions& part, Range rows, Index total) {
  append(all.scores, part.scores, rows, total);
  append(all.probabilities, part.probabilities, rows, total);
  append(all.deviation, part.deviation, rows, total);
  all.codes.insert(all.codes.end(), part.codes.begin(), part.codes.end());
  all.contributions.resize(part.contributions.size());
  for (std::size_t c = 0; c < part.contributions.size(); ++c) {
    append(all.contributions[c], part.contributions[c], rows, total);
  }
}

}  // namespace

Predictions predict(const Model& model, const KernelBank& bank, const PredictOptions& options,
                    const Context& context) {
  if (model.features)
    throw InvalidArgument(
        "the model has finite features in the place of training samples; give it samples, not kernels");
  check_bank(model, bank);
  const algebra::ThreadScope threads(context);
  const Index outputs_count = model.coefficients.cols();
  Predictions result;
  result.scores = Matrix(bank.rows(), outputs_count);
  if (bank.rows() == 0) return result;
  if (model.stochastic) return predict_terms(model, bank, options);
  if (model.gate) {
    result = models::gated_predictions(model, bank, options.contributions);
    add_classes(model, options, result);
    return result;
  }
  const Matrix applied = bank.apply(model.coefficients.view());
  for (Index c = 0; c < outputs_count; ++c) {
    const Matrix outputs = outputs_of(applied, c, bank.rows(), bank.kernels());
    if (model.mcmkl && !model.mcmkl->class_kernels.empty()) {
      const Matrix parts = models::class_contributions(model, applied, c, bank.rows());
      std::ranges::fill(result.scores.column(c), model.bias[static_cast<std::size_t>(c)]);
      for (Index m = 0; m < parts.cols(); ++m) algebra::axpy(1.0, parts.column(m), result.scores.column(c));
      if (options.contributions) result.contributions.push_back(parts);
      continue;
    }
    const Vector weights = weights_of(model, c);
    std::ranges::fill(result.scores.column(c), model.bias[static_cast<std::size_t>(c)]);
    algebra::gemv(Op::none, 1.0, outputs.view(), weights, 1.0, result.scores.column(c));
    if (options.contributions) result.contributions.push_back(contributions_of(outputs, weights));
    if (options.probabilities && model.bemkl) {
      const Vector variance = models::bemkl_variance(model, bank, outputs, c);
      if (result.deviation.empty()) result.deviation = Matrix(bank.rows(), outputs_count);
      for (Index i = 0; i < bank.rows(); ++i)
        result.deviation(i, c) = std::sqrt(variance[static_cast<std::size_t>(i)]);
    }
  }
  if (options.probabilities && model.bemkl && !model.classes.empty()) {
    result.probabilities = models::bemkl_probabilities(model, result.scores, result.deviation);
  }
  add_classes(model, options, result);
  return result;
}

Needs needs(const Model& model) {
  const auto column_used = [&](Index m) {
    const auto column = model.weights.values.column(m);
    return std::ranges::any_of(column, [](double w) { return w != 0.0; });
  };
  const auto row_used = [&](Index n) {
    for (Index c = 0; c < model.coefficients.cols(); ++c) {
      if (model.coefficients(n, c) != 0.0) return true;
    }
    return false;
  };
  const auto whole_basis = [](const KernelTerm& term) {
    return term.normalisation == Normalisation::centre || term.function == KernelFunction::precomputed ||
           term.function == KernelFunction::expdist || term.function == KernelFunction::words;
  };
  // Gating functions look at a sample through its kernels with all training samples.
  const bool gating = model.gate && !model.gate->space.empty();
  const bool all_samples =
      model.bemkl || gating || (model.recipe && std::ranges::any_of(model.recipe->terms, whole_basis));
  Needs result;
  for (Index m = 0; m < model.weights.values.cols(); ++m) {
    const bool seen = gating && model.gate->space[static_cast<std::size_t>(m)] != 0.0;
    if (model.bemkl || seen || column_used(m)) result.kernels.push_back(m);
  }
  for (Index n = 0; n < model.coefficients.rows(); ++n) {
    if (all_samples || row_used(n)) result.samples.push_back(n);
  }
  // A model without a single kernel or sample still has a bias; one of each keeps every shape valid.
  if (result.kernels.empty()) result.kernels.push_back(0);
  if (result.samples.empty()) result.samples.push_back(0);
  return result;
}

namespace {

void reduce_gate(GatePart& gate, const Needs& needed) {
  for (GatePart::Output& output : gate.outputs) {
    output.samples = selected(output.samples, needed.samples, needed.kernels);
    if (!output.patterns.empty())
      output.patterns = selected(output.patterns, all_of(output.patterns.rows()), needed.kernels);
    if (!output.parameters.empty())
      output.parameters = selected(output.parameters, needed.kernels, all_of(output.parameters.cols()));
  }
  if (gate.space.empty()) return;
  Vector space;
  for (const Index p : needed.kernels) space.push_back(gate.space[static_cast<std::size_t>(p)]);
  gate.space = std::move(space);
}

// The model with nothing but what prediction needs: the same scores from fewer kernels and samples.
Model reduced(const Model& model, const Needs& needed) {
  Model small = model;
  small.weights.values = selected(model.weights.values, all_of(model.weights.values.rows()), needed.kernels);
  small.weights.deviation = Matrix();
  small.coefficients = selected(model.coefficients, needed.samples, all_of(model.coefficients.cols()));
  if (model.mcmkl && !model.mcmkl->class_weights.empty()) {
    const Matrix& weights = model.mcmkl->class_weights;
    small.mcmkl->class_weights = selected(weights, all_of(weights.rows()), needed.kernels);
  }
  if (small.stochastic) {
    for (auto& term : small.stochastic->terms) {
      term.weights = selected(term.weights, all_of(term.weights.rows()), needed.kernels);
      term.coefficients = selected(term.coefficients, needed.samples, all_of(term.coefficients.cols()));
    }
    small.stochastic->penalties = Matrix();
  }
  if (small.gate) reduce_gate(*small.gate, needed);
  small.stream.reset();
  small.kernel_names.clear();
  small.recipe->terms.clear();
  for (Index m : needed.kernels) {
    small.kernel_names.push_back(model.kernel_names[static_cast<std::size_t>(m)]);
    small.recipe->terms.push_back(model.recipe->terms[static_cast<std::size_t>(m)]);
  }
  if (needed.samples.size() != static_cast<std::size_t>(model.coefficients.rows())) {
    small.recipe->basis = select_samples(model.recipe->basis, needed.samples);
  }
  return small;
}

// Columns of the kernels that were left out are 0.
void expand_contributions(Predictions& predictions, const std::vector<Index>& kernels, Index total) {
  for (Matrix& part : predictions.contributions) {
    Matrix whole(part.rows(), total);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      std::ranges::copy(part.column(static_cast<Index>(k)), whole.column(kernels[k]).begin());
    }
    part = std::move(whole);
  }
}

Predictions predict_all(const Model& model, const Dataset& samples, const PredictOptions& options,
                        const Context& context);

// Scores and contributions of some samples from their finite features.
Predictions features_scores(const Model& model, const Matrix& features, const PredictOptions& options) {
  const FeaturePart& part = *model.features;
  const Index outputs = part.weights.cols();
  const Index count = part.map.count();
  const auto kernels = static_cast<Index>(model.kernel_names.size());
  Predictions result;
  result.scores = Matrix(features.cols(), outputs);
  for (Index k = 0; k < outputs; ++k)
    std::ranges::fill(result.scores.column(k), model.bias[static_cast<std::size_t>(k)]);
  algebra::gemm(Op::transpose, Op::none, 1.0, features.view(), part.weights.view(), 1.0, result.scores.view());
  for (Index k = 0; k < outputs && options.contributions; ++k) {
    Matrix own(features.cols(), kernels);
    for (Index p = 0; p < kernels; ++p) {
      const ConstMatrixView z{features.data() + p * count, count, features.cols(), features.rows()};
      const auto weights =
          part.weights.column(k).subspan(static_cast<std::size_t>(p * count), static_cast<std::size_t>(count));
      algebra::gemv(Op::transpose, 1.0, z, weights, 0.0, own.column(p));
    }
    result.contributions.push_back(std::move(own));
  }
  result.codes = codes_of(result.scores);
  return result;
}

Predictions predict_features(const Model& model, const Dataset& samples, const PredictOptions& options,
                             const Context& context) {
  constexpr Index kRows = 256;
  const algebra::ThreadScope threads(context);
  const Dataset data = model.recipe->preprocessing.apply(samples);
  Predictions result;
  ProgressMeter meter(context, "predict");
  for (Index start = 0; start < data.samples; start += kRows) {
    const Range rows{start, std::min(data.samples, start + kRows)};
    const Matrix features = features_of(model.features->map, model.recipe->terms, data.features, rows);
    append(result, features_scores(model, features, options), rows, data.samples);
    if (meter.step(rows.end, data.samples, std::numeric_limits<double>::quiet_NaN()))
      throw Interrupted("stopped while samples were being predicted");
  }
  return result;
}

}  // namespace

Predictions predict(const Model& model, const Dataset& samples, const PredictOptions& options,
                    const Context& context) {
  if (!model.recipe) {
    throw InvalidArgument(
        "the model has no recipe for raw samples: it was trained on kernels; give kernels of the new samples");
  }
  if (model.features) return predict_features(model, samples, options, context);
  const Needs needed = needs(model);
  const bool everything = needed.kernels.size() == model.kernel_names.size() &&
                          static_cast<Index>(needed.samples.size()) == model.coefficients.rows();
  if (everything) return predict_all(model, samples, options, context);
  Predictions result = predict_all(reduced(model, needed), samples, options, context);
  expand_contributions(result, needed.kernels, static_cast<Index>(model.kernel_names.size()));
  return result;
}

namespace {

Predictions predict_all(const Model& model, const Dataset& samples, const PredictOptions& options,
                        const Context& context) {
  // Blocks of rows, so that memory does not grow with the number of samples.
  constexpr Index kBlock = 512;
  Predictions result;
  ProgressMeter meter(context, "predict");
  for (Index start = 0; start < samples.samples; start += kBlock) {
    const Range rows{start, std::min(samples.samples, start + kBlock)};
    std::vector<Index> chosen(static_cast<std::size_t>(rows.size()));
    std::iota(chosen.begin(), chosen.end(), rows.begin);
    const auto bank = model.recipe->bank_for(select_samples(samples, chosen));
    append(result, predict(model, *bank, options, context), rows, samples.samples);
    if (meter.step(rows.end, samples.samples, std::numeric_limits<double>::quiet_NaN())) {
      throw Interrupted("stopped while samples were being predicted");
    }
  }
  return result;
}

}  // namespace

}  // namespace kloom
