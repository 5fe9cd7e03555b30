// SPDX-License-Identifier: BSD-3-Clause
#include "methods/margin/part.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "kloom/error.h"
#include "methods/margin/own_margins.h"
#include "methods/margin/probability.h"
#include "methods/seam/weight_set.h"
#include "models/scores.h"

namespace kloom {

Predictions MarginPart::predict(const Model& model, const KernelBank& bank,
                                const PredictOptions& options) const {
  Predictions result = models::weighted_sums(model, bank, options);
  if (!bank.presence().complete()) methods::divide_by_own_margins(*this, bank, result);
  if (options.probabilities && deviation > 0.0)
    result.deviation = Matrix(result.scores.rows(), result.scores.cols(), deviation);
  methods::add_margin_classes(model, options, result);
  return result;
}

std::shared_ptr<const ModelPart> MarginPart::restricted(const Needs& needs) const {
  if (norm_shares.empty()) return nullptr;
  auto small = std::make_shared<MarginPart>(*this);
  if (!groups.empty()) small->groups = models::selected(groups, needs.kernels);
  small->norm_shares = models::selected(norm_shares, needs.kernels, models::all_of(norm_shares.cols()));
  return small;
}

Index MarginPart::scores_for(Index classes) const {
  return pairs.empty() ? classes : classes * (classes - 1) / 2;
}

void MarginPart::save(PartWriter& file) const {
  file.vector("margin", {norm, epsilon, target_centre, target_scale});
  file.matrix("margin.box", box);
  if (!groups.empty()) {
    file.vector("margin.set", {group_norm, mix});
    file.vector("margin.groups", groups);
  }
  if (deviation > 0.0) file.vector("margin.deviation", {deviation});
  if (!pairs.empty()) file.matrix("margin.pairs", pairs);
  if (!platt.empty()) file.matrix("margin.platt", platt);
  if (!norm_shares.empty()) file.matrix("margin.norm_shares", norm_shares);
  if (!margins.empty()) file.matrix("margin.own", margins);
  file.section("margin").flag("regression", regression);
}

// One-versus-one: every pair of classes once, in order.
static bool all_pairs_in_order(const Matrix& pairs, Index classes) {
  Index output = 0;
  for (Index c = 0; c < classes; ++c) {
    for (Index d = c + 1; d < classes; ++d, ++output) {
      if (output >= pairs.rows() || pairs(output, 0) != static_cast<double>(c) ||
          pairs(output, 1) != static_cast<double>(d))
        return false;
    }
  }
  return true;
}

namespace {

std::string shape_trouble(const MarginPart& part, const Model& model) {
  const Index outputs = model.coefficients.cols();
  if (!models::is_shape(part.box, model.coefficients.rows(), outputs))
    return "the bounds of the coefficients have the wrong shape";
  if (!part.platt.empty() && !models::is_shape(part.platt, outputs, 2))
    return "the probability curves have the wrong shape";
  if (!part.pairs.empty() && !models::is_shape(part.pairs, outputs, 2))
    return "the pairs of classes have the wrong shape";
  if (!part.pairs.empty() && !all_pairs_in_order(part.pairs, std::ssize(model.classes)))
    return "the pairs of classes are not all pairs in their order";
  if (!part.norm_shares.empty() && !models::is_shape(part.norm_shares, std::ssize(model.kernel_names), outputs))
    return "the shares of the kernels in the norm have the wrong shape";
  if (!part.margins.empty() && !models::is_shape(part.margins, model.coefficients.rows(), outputs))
    return "the margins of the samples have the wrong shape";
  return {};
}

std::string groups_trouble(const MarginPart& part, const Model& model) {
  if (!part.groups.empty() && part.norm != 0.0) return "weights in groups have no other norm";
  return methods::weight_set_trouble(part.groups, part.group_norm, part.mix, model.kernel_names.size());
}

}  // namespace

std::string MarginPart::trouble(const Model& model) const {
  if (std::string found = shape_trouble(*this, model); !found.empty()) return found;
  if (std::string found = groups_trouble(*this, model); !found.empty()) return found;
  if (!models::all_at_least(norm_shares.values(), 0.0)) return "a kernel's share in the norm is no number >= 0";
  if (!models::all_above(margins.values(), 0.0)) return "a margin of a sample is no number above 0";
  if (!models::all_above({&target_scale, 1}, 0.0)) return "the scale of the target is not positive";
  if (!models::all_at_least({&deviation, 1}, 0.0) || (deviation > 0.0 && !regression))
    return "the deviation of numbers is no number >= 0, or there are none";
  if (!std::isfinite(target_centre)) return "the centre of the target is no finite number";
  if (!(norm == 0.0 || norm >= 1.0)) return "the norm of the kernel weights is none";
  if (!models::all_at_least({&epsilon, 1}, 0.0)) return "the width of the tube is no number >= 0";
  if (!models::all_at_least(box.values(), 0.0)) return "a bound of the coefficients is no number >= 0";
  if (!models::all_finite(platt.values())) return "a probability curve has a number that is not finite";
  if (!models::all_at_least(model.weights.values.values(), 0.0)) return "a kernel weight is negative";
  return {};
}

namespace methods {

void divide_by_own_margins(const MarginPart& part, const KernelBank& bank, Predictions& result) {
  if (part.norm_shares.empty())
    throw InvalidArgument(
        "the model was made by a version of kloom that did "
        "not know samples without some views; train it again");
  for (Index c = 0; c < result.scores.cols(); ++c) {
    const Vector margins =
        own_margins(bank.presence().rows, part.norm_shares.column(c), margin_root(part.norm));
    const auto divide = [&](std::span<double> values) {
      for (std::size_t i = 0; i < values.size(); ++i) values[i] /= margins[i];
    };
    divide(result.scores.column(c));
    if (result.contributions.empty()) continue;
    Matrix& parts = result.contributions[at(c)];
    for (Index p = 0; p < parts.cols(); ++p) divide(parts.column(p));
  }
}

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
  if (file.has("margin.groups")) {
    part.groups = file.vector("margin.groups");
    const Vector set = file.vector("margin.set");
    if (set.size() != 2) file.damaged("'margin.set' does not have two numbers");
    part.group_norm = set[0];
    part.mix = set[1];
  }
  if (file.has("margin.deviation")) {
    const Vector held = file.vector("margin.deviation");
    if (held.size() != 1) file.damaged("'margin.deviation' does not have one number");
    part.deviation = held[0];
  }
  if (file.has("margin.pairs")) part.pairs = file.matrix("margin.pairs");
  if (file.has("margin.platt")) part.platt = file.matrix("margin.platt");
  if (file.has("margin.norm_shares")) part.norm_shares = file.matrix("margin.norm_shares");
  if (file.has("margin.own")) part.margins = file.matrix("margin.own");
}

std::shared_ptr<const ModelPart> load_margin(PartReader& file, const Model& /*model*/) {
  auto part = std::make_shared<MarginPart>();
  load_margin_part(file, *part);
  return part;
}

}  // namespace methods
}  // namespace kloom
