// SPDX-License-Identifier: BSD-3-Clause
//
// The part of multiclass models: every class's coefficients may speak for every other class.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "algebra/blas.h"
#include "kloom/part_file.h"
#include "kloom/parts.h"
#include "methods/mcmkl/mcmkl.h"
#include "methods/mcmkl/scores.h"
#include "methods/seam/calibration.h"
#include "models/scores.h"

namespace kloom {
namespace {

using models::is_shape;

constexpr std::array<std::pair<McmklPart::Loss, std::string_view>, 3> all_losses = {{
    {McmklPart::Loss::hinge, "hinge"},
    {McmklPart::Loss::squared_hinge, "squared-hinge"},
    {McmklPart::Loss::logistic, "logistic"},
}};

Predictions class_sums(const Model& model, const KernelBank& bank, const PredictOptions& options) {
  Predictions result;
  result.scores = Matrix(bank.rows(), model.coefficients.cols());
  const Matrix applied = bank.apply(model.coefficients.view());
  for (Index c = 0; c < model.coefficients.cols(); ++c) {
    const Matrix parts = methods::class_contributions(model, applied, c, bank.rows());
    std::ranges::fill(result.scores.column(c), model.bias[at(c)]);
    for (Index m = 0; m < parts.cols(); ++m) algebra::axpy(1.0, parts.column(m), result.scores.column(c));
    if (options.contributions) result.contributions.push_back(parts);
  }
  return result;
}

}  // namespace

Predictions McmklPart::predict(const Model& model, const KernelBank& bank,
                               const PredictOptions& options) const {
  Predictions result =
      class_kernels.empty() ? models::weighted_sums(model, bank, options) : class_sums(model, bank, options);
  result.codes = models::codes_of(result.scores);
  if (options.probabilities && temperature > 0.0)
    result.probabilities = methods::tempered_probabilities(result.scores, temperature);
  return result;
}

std::shared_ptr<const ModelPart> McmklPart::restricted(const Needs& needs) const {
  if (class_weights.empty()) return nullptr;
  auto small = std::make_shared<McmklPart>(*this);
  small->class_weights = models::selected(class_weights, models::all_of(class_weights.rows()), needs.kernels);
  return small;
}

void McmklPart::save(PartWriter& file) const {
  file.vector("mcmkl.box", box);
  file.matrix("mcmkl.dual", dual);
  if (!class_kernels.empty()) {
    file.matrix("mcmkl.class_kernels", class_kernels);
    file.matrix("mcmkl.class_weights", class_weights);
  }
  if (temperature != 0.0) file.vector("mcmkl.temperature", {temperature});
  const auto* name = std::ranges::find(all_losses, loss, [](const auto& l) { return l.first; });
  PartWriter& section = file.section("mcmkl");
  section.text("loss", std::string(name->second));
  section.flag("bias", bias);
}

std::string McmklPart::trouble(const Model& model) const {
  const auto classes = std::ssize(model.classes);
  const Index samples = model.coefficients.rows();
  if (!models::has_codes(model.task)) return "a multiclass part needs classes";
  if (model.weights.shape != KernelWeights::Shape::shared)
    return "the classes do not share their kernel weights";
  if (std::ssize(box) != samples) return "the prices of the samples have the wrong length";
  if (!is_shape(dual, samples, classes)) return "the dual point has the wrong shape";
  if (!(temperature >= 0.0 && std::isfinite(temperature)))
    return "the temperature of the probabilities is no number >= 0";
  if (!models::all_at_least(box, 0.0)) return "the price of a sample is no number >= 0";
  if (!models::all_finite(dual.values())) return "the dual point has a number that is not finite";
  if (!models::all_at_least(model.weights.values.values(), 0.0)) return "a kernel weight is negative";
  if (class_kernels.empty()) return {};
  if (model.task != Task::multiclass || class_kernels.rows() != classes || class_kernels.cols() % classes != 0)
    return "the kernels on classes have the wrong shape";
  if (!is_shape(class_weights, class_kernels.cols() / classes, model.weights.values.cols()))
    return "the weights of the kernels on classes have the wrong shape";
  if (!models::all_finite(class_kernels.values())) return "a kernel on classes has a number that is not finite";
  if (!models::all_at_least(class_weights.values(), 0.0)) return "a weight of a kernel on classes is no number >= 0";
  return {};
}

namespace methods {

std::shared_ptr<const ModelPart> load_mcmkl(PartReader& file, const Model& /*model*/) {
  auto part = std::make_shared<McmklPart>();
  PartReader& section = file.section("mcmkl");
  const std::string loss = section.text("loss");
  const auto* known = std::ranges::find(all_losses, loss, [](const auto& l) { return l.second; });
  if (known == all_losses.end()) file.damaged("'loss' of the multiclass part is no loss that this kloom knows");
  part->loss = known->first;
  part->bias = section.flag("bias");
  part->box = file.vector("mcmkl.box");
  part->dual = file.matrix("mcmkl.dual");
  if (file.has("mcmkl.class_kernels")) {
    part->class_kernels = file.matrix("mcmkl.class_kernels");
    part->class_weights = file.matrix("mcmkl.class_weights");
  }
  if (file.has("mcmkl.temperature")) part->temperature = load_temperature(file, "mcmkl.temperature");
  return part;
}

}  // namespace methods
}  // namespace kloom
