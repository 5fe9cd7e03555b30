// SPDX-License-Identifier: BSD-3-Clause
//
// Ridge regression in a model: its place in the model file.
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "algebra/blas.h"
#include "kloom/error.h"
#include "kloom/part_file.h"
#include "kloom/parts.h"
#include "methods/mkr/mkr.h"
#include "methods/seam/weight_set.h"
#include "models/scores.h"

namespace kloom {
namespace {

// Targets of the same weights are read from one sum of kernels, so that thousands of them cost little more than one.
Predictions scores_by_weights(const Model& model, const KernelBank& bank) {
  std::map<Vector, std::vector<Index>> groups;
  for (Index t = 0; t < model.coefficients.cols(); ++t) groups[models::weights_of(model, t)].push_back(t);
  const std::vector<Index> all = models::all_of(model.coefficients.rows());
  Predictions result;
  result.scores = Matrix(bank.rows(), model.coefficients.cols());
  for (const auto& [theta, targets] : groups) {
    const Matrix kernel = bank.combine(theta);  // training samples × rows
    const Matrix coefficients = models::selected(model.coefficients, all, targets);
    Matrix scores(bank.rows(), coefficients.cols());
    algebra::gemm(algebra::Op::transpose, algebra::Op::none, 1.0, kernel.view(), coefficients.view(), 0.0,
                  scores.view());
    for (std::size_t k = 0; k < targets.size(); ++k) {
      for (Index i = 0; i < bank.rows(); ++i)
        result.scores(i, targets[k]) = model.bias[at(targets[k])] + scores(i, static_cast<Index>(k));
    }
  }
  return result;
}

}  // namespace

Predictions RidgePart::predict(const Model& model, const KernelBank& bank,
                               const PredictOptions& options) const {
  Predictions result =
      options.contributions ? models::weighted_sums(model, bank, options) : scores_by_weights(model, bank);
  // The root mean square of what was missed when one sample was left out, for every new sample the same.
  if (options.probabilities) {
    result.deviation = Matrix(bank.rows(), std::ssize(losses));
    for (Index t = 0; t < std::ssize(losses); ++t)
      std::ranges::fill(result.deviation.column(t), std::sqrt(losses[at(t)]));
  }
  if (bank.presence().complete()) return result;
  if (sizes.empty())
    throw InvalidArgument(
        "the model was trained on samples that have all views and does not know how large its kernels are; it "
        "predicts samples that have all views, too");
  for (Index t = 0; t < result.scores.cols(); ++t) {
    const Vector scales = models::present_scales(bank.presence().rows, models::weights_of(model, t), sizes);
    for (Index i = 0; i < bank.rows(); ++i) {
      double& score = result.scores(i, t);
      score = model.bias[at(t)] + scales[at(i)] * (score - model.bias[at(t)]);
      for (Index m = 0; options.contributions && m < bank.kernels(); ++m)
        result.contributions[at(t)](i, m) *= scales[at(i)];
    }
  }
  return result;
}

std::shared_ptr<const ModelPart> RidgePart::restricted(const Needs& needs) const {
  auto small = std::make_shared<RidgePart>(*this);
  small->points = models::selected(points, models::all_of(points.rows()), needs.kernels);
  if (!sizes.empty()) small->sizes = models::selected(sizes, needs.kernels);
  if (!groups.empty()) small->groups = models::selected(groups, needs.kernels);
  small->sample_weights = {};
  return small;
}

void RidgePart::save(PartWriter& file) const {
  file.matrix("mkr.points", points);
  file.vector("mkr.grid", grid);
  file.vector("mkr.strengths", strengths);
  file.vector("mkr.losses", losses);
  if (!sizes.empty()) file.vector("mkr.sizes", sizes);
  if (!groups.empty()) {
    file.vector("mkr.set", {group_norm, mix});
    file.vector("mkr.groups", groups);
  }
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
  if (!models::empty_or(sizes, std::ssize(model.kernel_names)))
    return "the sizes of the kernels are not one for each";
  if (!models::all_at_least(sizes, 0.0)) return "the size of a kernel is no number >= 0";
  if (!models::all_at_least(points.values(), 0.0)) return "a kernel weight that was tried is no number >= 0";
  if (!models::all_above(grid, 0.0) || !models::all_above(strengths, 0.0)) return "a strength is not positive";
  if (!models::all_at_least(losses, 0.0)) return "an error is no number >= 0";
  if (!models::all_at_least(sample_weights, 0.0)) return "a sample weight is no number >= 0";
  if (!models::all_at_least(model.weights.values.values(), 0.0)) return "a kernel weight is negative";
  return methods::weight_set_trouble(groups, group_norm, mix, model.kernel_names.size());
}

namespace methods {

std::shared_ptr<const ModelPart> load_mkr(PartReader& file, const Model& /*model*/) {
  auto part = std::make_shared<RidgePart>();
  part->points = file.matrix("mkr.points");
  part->grid = file.vector("mkr.grid");
  part->strengths = file.vector("mkr.strengths");
  part->losses = file.vector("mkr.losses");
  if (file.has("mkr.sizes")) part->sizes = file.vector("mkr.sizes");
  if (file.has("mkr.groups")) {
    part->groups = file.vector("mkr.groups");
    const Vector set = file.vector("mkr.set");
    if (set.size() != 2) file.damaged("'mkr.set' does not have two numbers");
    part->group_norm = set[0];
    part->mix = set[1];
  }
  if (file.has("mkr.sample_weights")) part->sample_weights = file.vector("mkr.sample_weights");
  part->refined = file.section("mkr").flag("refined");
  return part;
}

}  // namespace methods
}  // namespace kloom
