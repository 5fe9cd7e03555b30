// SPDX-License-Identifier: BSD-3-Clause
//
// Ridge regression in a model: its place in the model file.
#include <algorithm>
#include <cmath>

#include "kloom/part_file.h"
#include "kloom/parts.h"
#include "methods/mkr/mkr.h"
#include "models/scores.h"

namespace kloom {

Predictions RidgePart::predict(const Model& model, const KernelBank& bank,
                               const PredictOptions& options) const {
  return models::weighted_sums(model, bank, options);
}

std::shared_ptr<const ModelPart> RidgePart::restricted(const Needs& needs) const {
  auto small = std::make_shared<RidgePart>(*this);
  small->points = models::selected(points, models::all_of(points.rows()), needs.kernels);
  small->sample_weights = {};
  return small;
}

void RidgePart::save(PartWriter& file) const {
  file.matrix("mkr.points", points);
  file.vector("mkr.grid", grid);
  file.vector("mkr.strengths", strengths);
  file.vector("mkr.losses", losses);
  if (!sample_weights.empty()) file.vector("mkr.sample_weights", sample_weights);
  file.section("mkr").flag("refined", refined);
}

std::string RidgePart::trouble(const Model& model) const {
  const Index targets = model.coefficients.cols();
  if (!models::has_numbers(model.task)) return "ridge regression is for numbers";
  if (points.cols() != std::ssize(model.kernel_names)) return "the points are not of these kernels";
  if (std::ssize(strengths) != targets) return "there is not one strength for each target";
  if (std::ssize(losses) != targets) return "there is not one error for each target";
  if (!models::empty_or(sample_weights, model.coefficients.rows()))
    return "the sample weights are not one for each sample";
  if (!models::all_at_least(points.values(), 0.0)) return "a kernel weight that was tried is no number >= 0";
  if (!models::all_above(grid, 0.0) || !models::all_above(strengths, 0.0)) return "a strength is not positive";
  if (!models::all_at_least(losses, 0.0)) return "an error is no number >= 0";
  if (!models::all_at_least(sample_weights, 0.0)) return "a sample weight is no number >= 0";
  if (!models::all_at_least(model.weights.values.values(), 0.0)) return "a kernel weight is negative";
  return {};
}

namespace methods {

std::shared_ptr<const ModelPart> load_mkr(PartReader& file, const Model& /*model*/) {
  auto part = std::make_shared<RidgePart>();
  part->points = file.matrix("mkr.points");
  part->grid = file.vector("mkr.grid");
  part->strengths = file.vector("mkr.strengths");
  part->losses = file.vector("mkr.losses");
  if (file.has("mkr.sample_weights")) part->sample_weights = file.vector("mkr.sample_weights");
  part->refined = file.section("mkr").flag("refined");
  return part;
}

}  // namespace methods
}  // namespace kloom
