// SPDX-License-Identifier: BSD-3-Clause
#include "methods/twostep/part.h"

#include "methods/margin/part.h"
#include "models/scores.h"

namespace kloom {

void TwoStepPart::save(PartWriter& file) const {
  MarginPart::save(file);
  file.vector("rule.lambda", {lambda});
  if (!gamma.empty()) file.matrix("rule.gamma", gamma);
  if (!ball.empty()) {
    file.vector("rule.gap", {ratio_gap});
    file.matrix("rule.ball", ball);
    file.matrix("rule.bound_gamma", bound_gamma);
    file.matrix("rule.bound_ball", bound_ball);
  }
  if (!accuracies.empty()) {
    file.vector("rule.threshold", {threshold});
    file.matrix("rule.accuracies", accuracies);
  }
  if (!sample_weights.empty()) file.vector("rule.sample_weights", sample_weights);
}

std::string TwoStepPart::trouble(const Model& model) const {
  std::string found = MarginPart::trouble(model);
  if (!found.empty()) return found;
  if (!(lambda >= 0.0 && lambda <= 1.0)) return "lambda is not between 0 and 1";
  if (!models::all_at_least({&ratio_gap, 1}, 0.0)) return "the gap of the ratio is no number >= 0";
  if (!(threshold >= 0.0 && threshold <= 1.0)) return "the threshold is not between 0 and 1";
  const Index samples = model.coefficients.rows();
  const Index outputs = model.coefficients.cols();
  if (gamma.empty() != (lambda == 0.0)) return "lambda and gamma belong to different rules";
  if (!gamma.empty() && !models::is_shape(gamma, samples, outputs)) return "gamma has the wrong shape";
  for (const Matrix* one : {&ball, &bound_gamma, &bound_ball}) {
    if (one->empty() != ball.empty() || (!one->empty() && !models::is_shape(*one, samples, outputs)))
      return "the ball or the bound has the wrong shape";
    if (!models::all_at_least(one->values(), 0.0)) return "a share of the ball or the bound is no number >= 0";
  }
  if (!accuracies.empty() && !models::is_shape(accuracies, std::ssize(model.kernel_names), outputs))
    return "the accuracies have the wrong shape";
  if (!models::all_at_least(gamma.values(), 0.0)) return "a gamma is no number >= 0";
  if (!models::all_at_least(accuracies.values(), 0.0)) return "an accuracy is no number >= 0";
  if (!sample_weights.empty() && std::ssize(sample_weights) != samples)
    return "the sample weights are not one for each sample";
  if (!models::all_at_least(sample_weights, 0.0)) return "a sample weight is no number >= 0";
  return {};
}

namespace methods {
namespace {

double number_of(PartReader& file, const char* name) {
  const Vector values = file.vector(name);
  if (values.size() != 1) file.damaged(std::string("'") + name + "' is not one number");
  return values.front();
}

}  // namespace

std::shared_ptr<const ModelPart> load_two_step(PartReader& file, const Model& /*model*/) {
  auto part = std::make_shared<TwoStepPart>();
  load_margin_part(file, *part);
  part->lambda = number_of(file, "rule.lambda");
  if (file.has("rule.gamma")) part->gamma = file.matrix("rule.gamma");
  if (file.has("rule.ball")) {
    part->ratio_gap = number_of(file, "rule.gap");
    part->ball = file.matrix("rule.ball");
    part->bound_gamma = file.matrix("rule.bound_gamma");
    part->bound_ball = file.matrix("rule.bound_ball");
  }
  if (file.has("rule.accuracies")) {
    part->threshold = number_of(file, "rule.threshold");
    part->accuracies = file.matrix("rule.accuracies");
  }
  if (file.has("rule.sample_weights")) part->sample_weights = file.vector("rule.sample_weights");
  return part;
}

}  // namespace methods
}  // namespace kloom
