// SPDX-License-Identifier: BSD-3-Clause
#include "methods/twostep/part.h"

#include "methods/margin/part.h"
#include "models/scores.h"

namespace kloom {

void TwoStepPart::save(PartWriter& file) const {
  MarginPart::save(file);
  file.vector("rule.lambda", {lambda});
  if (!gamma.empty()) file.matrix("rule.gamma", gamma);
  if (!sample_weights.empty()) file.vector("rule.sample_weights", sample_weights);
}

std::string TwoStepPart::trouble(const Model& model) const {
  std::string found = MarginPart::trouble(model);
  if (!found.empty()) return found;
  if (!(lambda >= 0.0 && lambda <= 1.0)) return "lambda is not between 0 and 1";
  const Index samples = model.coefficients.rows();
  if (gamma.empty() != (lambda == 0.0)) return "lambda and gamma belong to different rules";
  if (!gamma.empty() && !models::is_shape(gamma, samples, model.coefficients.cols()))
    return "gamma has the wrong shape";
  if (!models::all_at_least(gamma.values(), 0.0)) return "a gamma is no number >= 0";
  if (!sample_weights.empty() && std::ssize(sample_weights) != samples)
    return "the sample weights are not one for each sample";
  if (!models::all_at_least(sample_weights, 0.0)) return "a sample weight is no number >= 0";
  return {};
}

namespace methods {

std::shared_ptr<const ModelPart> load_two_step(PartReader& file, const Model& /*model*/) {
  auto part = std::make_shared<TwoStepPart>();
  load_margin_part(file, *part);
  const Vector lambda = file.vector("rule.lambda");
  if (lambda.size() != 1) file.damaged("'rule.lambda' is not one number");
  part->lambda = lambda.front();
  if (file.has("rule.gamma")) part->gamma = file.matrix("rule.gamma");
  if (file.has("rule.sample_weights")) part->sample_weights = file.vector("rule.sample_weights");
  return part;
}

}  // namespace methods
}  // namespace kloom
