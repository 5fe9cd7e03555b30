// SPDX-License-Identifier: BSD-3-Clause
//
// Predictions of any model: what its part says, in blocks of rows, from no more kernels and samples than it needs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "algebra/threads.h"
#include "base/progress.h"
#include "data/absent_views.h"
#include "kloom/error.h"
#include "kloom/learner.h"
#include "kloom/model.h"
#include "models/scores.h"

namespace kloom {

using models::all_of;
using models::selected;

namespace {

void check_bank(const Model& model, const KernelBank& bank) {
  const auto kernels = std::ssize(model.kernel_names);
  if (bank.kernels() != kernels || bank.cols() != model.coefficients.rows()) {
    throw InvalidArgument(
        fmt::format("the model needs {} kernels against {} training samples; {} kernels against {} were given",
                    kernels, model.coefficients.rows(), bank.kernels(), bank.cols()));
  }
}

// A method that cannot leave kernels out would take them for 0.
void check_presence(const Model& model, const KernelBank& bank) {
  if (bank.presence().complete()) return;
  const Learner* learner = learner_of_model(model.method);
  if (learner != nullptr && std::ranges::find(learner->absent_tasks, model.task) != learner->absent_tasks.end())
    return;
  throw InvalidArgument(fmt::format(
      "some samples lack a view, and models of method {} predict whole samples only; give all views, or "
      "train with a method that can do without",
      model.method));
}

// The model with nothing but what prediction needs: the same scores from fewer kernels and samples.
Model reduced(const Model& model, const Needs& needed) {
  Model small = model;
  small.weights.values = selected(model.weights.values, all_of(model.weights.values.rows()), needed.kernels);
  small.weights.deviation = Matrix();
  small.coefficients = selected(model.coefficients, needed.samples, all_of(model.coefficients.cols()));
  if (auto part = model.part->restricted(needed)) small.part = std::move(part);
  small.kernel_names.clear();
  small.recipe->terms.clear();
  for (const Index m : needed.kernels) {
    small.kernel_names.push_back(model.kernel_names[at(m)]);
    small.recipe->terms.push_back(model.recipe->terms[at(m)]);
  }
  if (std::ssize(needed.samples) != model.coefficients.rows())
    small.recipe->basis = select_samples(model.recipe->basis, needed.samples);
  return small;
}

// Columns of the kernels that were left out are 0.
void expand_contributions(std::vector<Matrix>& parts, const std::vector<Index>& kernels, Index total) {
  for (Matrix& part : parts) {
    Matrix whole(part.rows(), total);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      std::ranges::copy(part.column(static_cast<Index>(k)), whole.column(kernels[k]).begin());
    }
    part = std::move(whole);
  }
}

Predictions predict_all(const Model& model, const Dataset& samples, const PredictOptions& options,
                        const Context& context) {
  // Blocks of rows, so that memory does not grow with the number of samples.
  constexpr Index kBlock = 512;
  Predictions result;
  ProgressMeter meter(context, "predict");
  for (Index start = 0; start < samples.samples; start += kBlock) {
    const Range rows{start, std::min(samples.samples, start + kBlock)};
    std::vector<Index> chosen(at(rows.size()));
    std::iota(chosen.begin(), chosen.end(), rows.begin);
    const auto bank = model.recipe->bank_for(select_samples(samples, chosen));
    models::append(result, predict(model, *bank, options, context), rows, samples.samples);
    if (meter.step(rows.end, samples.samples, std::numeric_limits<double>::quiet_NaN())) {
      throw Interrupted("stopped while samples were being predicted");
    }
  }
  return result;
}

// Kernels whose value for a pair of samples also depends on the other training samples, or comes with all of them.
bool needs_whole_basis(const KernelTerm& term) {
  return term.normalisation == Normalisation::centre || term.function == KernelFunction::precomputed ||
         term.function == KernelFunction::expdist || term.function == KernelFunction::words ||
         term.function == KernelFunction::edit || term.mismatches > 0 || term.tfidf;
}

}  // namespace

Needs ModelPart::needs(const Model& model) const {
  Needs result;
  for (Index m = 0; m < model.weights.values.cols(); ++m) {
    if (std::ranges::any_of(model.weights.values.column(m), [](double w) { return w != 0.0; }))
      result.kernels.push_back(m);
  }
  result.samples = models::used_rows(model.coefficients);
  return result;
}

std::shared_ptr<const ModelPart> ModelPart::restricted(const Needs& /*needs*/) const {
  return nullptr;
}

Predictions ModelPart::predict_samples(const Model& /*model*/, const Dataset& /*samples*/,
                                       const PredictOptions& /*options*/, const Context& /*context*/) const {
  throw InternalError("this part of a model does not predict raw samples by itself");
}

std::string ModelPart::trouble(const Model& /*model*/) const {
  return {};
}

Needs needs(const Model& model) {
  Needs result = model.part->needs(model);
  if (model.recipe && std::ranges::any_of(model.recipe->terms, needs_whole_basis))
    result.samples = all_of(model.coefficients.rows());
  // A model without a single kernel or sample still has a bias; one of each keeps every shape valid.
  if (result.kernels.empty()) result.kernels.push_back(0);
  if (result.samples.empty()) result.samples.push_back(0);
  return result;
}

// A prediction that is no number is never passed on as one.
static Predictions with_numbers(Predictions predictions) {
  const Matrix& scores = predictions.scores;
  for (Index k = 0; k < scores.size(); ++k) {
    if (std::isfinite(scores.data()[k])) continue;
    throw InvalidArgument(fmt::format(
        "the prediction of sample {} is no finite number; its features or kernel values are out of all "
        "proportion to those of training",
        k % scores.rows() + 1));
  }
  return predictions;
}

Predictions predict(const Model& model, const KernelBank& bank, const PredictOptions& options,
                    const Context& context) {
  if (model.part->reads_samples()) {
    throw InvalidArgument(
        "the model reads samples and keeps no kernels against training samples; give it samples, not kernels");
  }
  check_bank(model, bank);
  check_presence(model, bank);
  const algebra::ThreadScope threads(context);
  if (bank.rows() > 0) return with_numbers(model.part->predict(model, bank, options));
  Predictions nothing;
  nothing.scores = Matrix(0, model.coefficients.cols());
  return nothing;
}

Predictions predict(const Model& model, const Dataset& samples, const PredictOptions& options,
                    const Context& context) {
  if (!model.recipe) {
    throw InvalidArgument(
        "the model has no recipe for raw samples: it was trained on kernels; give kernels of the new samples");
  }
  if (model.part->reads_samples())
    return with_numbers(model.part->predict_samples(model, samples, options, context));
  Matrix views = data::views_there(model.recipe->preprocessing.blocks(), samples);
  const Needs needed = needs(model);
  const bool everything = needed.kernels.size() == model.kernel_names.size() &&
                          std::ssize(needed.samples) == model.coefficients.rows();
  Predictions result = everything ? predict_all(model, samples, options, context)
                                  : predict_all(reduced(model, needed), samples, options, context);
  if (!everything) {
    const Index kernels = std::ssize(model.kernel_names);
    expand_contributions(result.contributions, needed.kernels, kernels);
    expand_contributions(result.contribution_deviations, needed.kernels, kernels);
  }
  result.views = std::move(views);
  return with_numbers(std::move(result));
}

}  // namespace kloom
