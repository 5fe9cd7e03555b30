// SPDX-License-Identifier: BSD-3-Clause
#include "evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "text.h"

namespace kloom::cli {
namespace {

// A column whose new values all look like numbers must still be read as text where it was text in training.
std::set<std::string> text_columns(const Preprocessing& preprocessing) {
  std::set<std::string> names;
  for (const auto& feature : preprocessing.text_columns()) names.insert(feature.name);
  for (const auto& column : preprocessing.columns()) {
    if (column.from_text()) names.insert(column.source().name);
  }
  return names;
}

bool has_label(const Targets& targets) {
  const bool coded =
      std::any_of(targets.codes.begin(), targets.codes.end(), [](int code) { return code >= 0; });
  const auto values = targets.values.values();
  return coded || std::any_of(values.begin(), values.end(), [](double value) { return !std::isnan(value); });
}

}  // namespace

DatasetRequest request_for_model(const Model& model, const DatasetOptions& options, bool target_required) {
  DatasetRequest request = dataset_request(options, target_required);
  if (request.target.empty()) request.target = model.target_name;
  if (model.recipe) {
    for (const auto& name : text_columns(model.recipe->preprocessing)) request.text.push_back(name);
  }
  return request;
}

std::optional<Evaluation> evaluate_labelled(const Model& model, const Predictions& predictions,
                                            const Dataset& data, Console& console) {
  if (data.labels.empty()) return std::nullopt;
  std::vector<std::string> unknown;
  const Targets targets = targets_for(model, data.labels, &unknown);
  if (!unknown.empty()) {
    console.warn(fmt::format("{}: labels that the model does not know are left out of the evaluation: {}",
                             data.source, list_of(unknown, 5)));
  }
  if (!has_label(targets)) return std::nullopt;
  return evaluate(predictions, targets);
}

}  // namespace kloom::cli
