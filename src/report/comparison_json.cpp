// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kloom/evaluate.h"
#include "kloom/page.h"
#include "report/absence_json.h"
#include "report/held_out_json.h"
#include "report/model_json.h"

namespace kloom {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

// What the first repeat predicted for every sample that it held out.
report::HeldOut held_out(const Comparison& comparison, Index candidate, const Targets& targets) {
  report::HeldOut all;
  for (const Outcome& outcome : comparison.validation.outcomes) {
    const Split& split = comparison.request.splits[static_cast<std::size_t>(outcome.split)];
    if (outcome.candidate != candidate || split.repeat != 0 || !outcome.failure.empty()) continue;
    report::add_samples(all, outcome.predictions, targets, split.test);
  }
  return all;
}

Json outcomes_json(const Comparison& comparison, Index candidate) {
  Json list = Json::array();
  for (const Outcome& outcome : comparison.validation.outcomes) {
    if (outcome.candidate != candidate || !outcome.failure.empty()) continue;
    const Split& split = comparison.request.splits[static_cast<std::size_t>(outcome.split)];
    Json values = Json::object();
    for (const auto& [name, value] : outcome.evaluation.values) values[name] = number(value);
    list.push_back({{"repeat", split.repeat + 1},
                    {"fold", split.fold + 1},
                    {"train", split.train.size()},
                    {"test", split.test.size()},
                    {"values", values},
                    {"chosen", outcome.chosen},
                    {"status", to_string(outcome.status)},
                    {"seconds",
                     {{"kernels", outcome.kernel_seconds},
                      {"training", outcome.train_seconds},
                      {"prediction", outcome.predict_seconds}}},
                    {"kernels_used", outcome.kernels_used}});
  }
  return list;
}

Json method_json(const Comparison& comparison, const MethodSummary& method, const Targets& targets,
                 const report::ViewsThere& views) {
  const auto& candidates = comparison.request.candidates;
  const auto candidate = std::ranges::find(candidates, name_of(method.candidate), name_of) - candidates.begin();
  Json grid = Json::object();
  for (const auto& [name, values] : method.candidate.grid) grid[name] = values;
  Json metrics = Json::array();
  for (const MetricSummary& metric : method.metrics)
    metrics.push_back(
        {{"name", metric.name}, {"mean", number(metric.mean)}, {"deviation", number(metric.deviation)}});
  Json json = {
      {"method", name_of(method.candidate)},
      {"summary", find_learner(method.candidate.method).summary},
      {"options", method.candidate.options},
      {"grid", grid},
      {"chosen", method.chosen},
      {"splits", method.splits},
      {"metrics", metrics},
      {"rank", method.rank},
      {"t_test", {{"statistic", number(method.t_statistic)}, {"p", number(method.t_p)}}},
      {"wilcoxon", {{"statistic", number(method.wilcoxon_statistic)}, {"p", number(method.wilcoxon_p)}}},
      {"seconds",
       {{"kernels", method.kernel_seconds},
        {"training", method.train_seconds},
        {"prediction", method.predict_seconds}}},
      {"kernels_used", method.kernels_used},
      {"kernels", method.kernels},
      {"memory_bytes", method.memory_bytes},
      {"outcomes", outcomes_json(comparison, candidate)}};
  for (const Outcome& outcome : comparison.validation.outcomes) {
    if (outcome.candidate != candidate || outcome.kernel_names.empty()) continue;
    json["first_split"] = {{"kernels", outcome.kernel_names}, {"weights", outcome.kernel_weights}};
    for (const double error : outcome.errors_alone)
      json["first_split"]["errors_alone"].push_back(number(error));
  }
  if (!views.there.empty()) json["by_views"] = report::by_views_json(comparison, candidate, targets, views);
  report::add_held_out(json, held_out(comparison, candidate, targets), targets);
  return json;
}

}  // namespace

std::string to_json(const Comparison& comparison, const Dataset& data, const Targets& targets,
                    const RunFacts& facts) {
  const ValidationRequest& request = comparison.request;
  Json json = report::facts_json(facts);
  json["data"] =
      report::data_json(data, targets,
                        request.spec.families.empty() ? "chosen from the columns of each training part"
                                                      : to_string(request.spec));
  const report::ViewsThere views = report::views_there(data, request.recipe.preprocessing);
  if (!views.there.empty()) json["absent_views"] = report::absence_json(views);
  json["metric"] = request.metric;
  json["larger_is_better"] = larger_is_better(request.metric);
  json["splits"] = request.splits.size();
  json["complete_splits"] = comparison.complete_splits;
  json["inner_folds"] = request.inner_folds;
  json["interrupted"] = comparison.validation.interrupted;
  json["budget_seconds"] = number(comparison.budget_seconds);
  json["estimated_seconds"] = number(comparison.estimated_seconds);
  json["recommended"] = comparison.recommended;
  json["recommendation"] = comparison.recommendation;
  json["notes"] = comparison.notes;
  Json left_out = Json::array();
  for (const auto& [method, why] : comparison.left_out) left_out.push_back({{"method", method}, {"why", why}});
  json["left_out"] = left_out;
  Json methods = Json::array();
  for (const MethodSummary& method : comparison.methods)
    methods.push_back(method_json(comparison, method, targets, views));
  json["methods"] = methods;
  if (comparison.final_fit)
    json["model"] = report::model_json(comparison.final_fit->model, to_json(comparison.final_fit->report));
  return report::json_text(json);
}

}  // namespace kloom
