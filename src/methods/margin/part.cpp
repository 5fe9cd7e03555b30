// SPDX-License-Identifier: BSD-3-Clause
#include "methods/margin/part.h"

#include "methods/margin/probability.h"
#include "models/scores.h"

namespace kloom {

Predictions MarginPart::predict(const Model& model, const KernelBank& bank,
                                const PredictOptions& options) const {
  Predictions result = models::weighted_sums(model, bank, options);
  methods::add_margin_classes(model, options, result);
  return result;
}

Index MarginPart::scores_for(Index classes) const {
  return pairs.empty() ? classes : classes * (classes - 1) / 2;
}

void MarginPart::save(PartWriter& file) const {
  file.vector("margin", {norm, epsilon, target_centre, target_scale});
  file.matrix("margin.box", box);
  if (!pairs.empty()) file.matrix("margin.pairs", pairs);
  if (!platt.empty()) file.matrix("margin.platt", platt);
  file.section("margin").flag("regression", regression);
}

std::string MarginPart::trouble(const Model& model) const {
  const Index outputs = model.coefficients.cols();
  if (!models::is_shape(box, model.coefficients.rows(), outputs))
    return "the bounds of the coefficients have the wrong shape";
  if (!platt.empty() && !models::is_shape(platt, outputs, 2))
    return "the probability curves have the wrong shape";
  if (!pairs.empty() && !models::is_shape(pairs, outputs, 2))
    return "the pairs of classes have the wrong shape";
  for (const double code : pairs.values())
    if (!(code >= 0.0 && code < static_cast<double>(model.classes.size())))
      return "a pair of classes names a class that is not there";
  if (!(target_scale > 0.0)) return "the scale of the target is not positive";
  return {};
}

namespace methods {

void add_margin_classes(const Model& model, const PredictOptions& options, Predictions& result) {
  const auto& part = part_of<MarginPart>(model);
  if (models::has_codes(model.task))
    result.codes = part.pairs.empty() ? models::codes_of(result.scores) : pairwise_votes(model, result.scores);
  if (options.probabilities && !part.platt.empty())
    result.probabilities = margin_probabilities(model, result.scores);
}

void load_margin_part(PartReader& file, MarginPart& part) {
  part.regression = file.section("margin").flag("regression");
  const Vector values = file.vector("margin");
  if (values.size() != 4) file.damaged("'margin' does not have four numbers");
  part.norm = values[0];
  part.epsilon = values[1];
  part.target_centre = values[2];
  part.target_scale = values[3];
  part.box = file.matrix("margin.box");
  if (file.has("margin.pairs")) part.pairs = file.matrix("margin.pairs");
  if (file.has("margin.platt")) part.platt = file.matrix("margin.platt");
}

std::shared_ptr<const ModelPart> load_margin(PartReader& file, const Model& /*model*/) {
  auto part = std::make_shared<MarginPart>();
  load_margin_part(file, *part);
  return part;
}

}  // namespace methods
}  // namespace kloom
