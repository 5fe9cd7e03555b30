// SPDX-License-Identifier: BSD-3-Clause
#include "report/model_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kloom/machine.h"
#include "models/scores.h"

namespace kloom {
namespace report {
namespace {

using Json = nlohmann::ordered_json;

constexpr Index kMostRows = 30;  // classes whose own weights are listed

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

// Models of earlier programs say less about their training.
Json whole_report(const std::string& text) {
  Json whole = Json::parse(to_json(Report{}));
  const Json known = Json::parse(text, nullptr, false);
  if (known.is_object()) whole.update(known);
  return whole;
}

}  // namespace

Json data_json(const Dataset& data, const Targets& targets, const std::string& kernels) {
  Json json = {{"source", data.source},
               {"samples", data.samples},
               {"features", data.features.cols()},
               {"texts", data.texts.size()},
               {"matrices", data.kernels.size() + data.distances.size()},
               {"target", data.target_name},
               {"task", to_string(targets.task)},
               {"kernels", kernels}};
  Json views = Json::array();
  for (const View& view : data.views)
    views.push_back({{"name", view.name}, {"features", view.features.size() + view.texts.size()}});
  json["views"] = views;
  Json classes = Json::array();
  for (std::size_t c = 0; c < targets.classes.size(); ++c) {
    Json one = {{"name", targets.classes[c]}};
    if (models::has_codes(targets.task))
      one["samples"] = std::ranges::count(targets.codes, static_cast<int>(c));
    classes.push_back(one);
  }
  json["classes"] = classes;
  return json;
}

Json facts_json(const RunFacts& facts) {
  const MachineInfo machine = machine_info(false);
  return {{"kloom_report", 1},
          {"kind", facts.kind},
          {"version", version()},
          {"command", facts.command},
          {"seconds", number(facts.seconds)},
          {"seed", facts.seed},
          {"threads", facts.threads},
          {"machine", {{"processor", machine.processor}, {"cores", machine.cores}, {"blas", machine.blas}}}};
}

Json model_json(const Model& model, const std::string& report) {
  const Vector weights = mean_weights(model);
  const Matrix& own = model.weights.values;
  const bool deviations =
      !model.weights.deviation.empty() && model.weights.shape == KernelWeights::Shape::shared;
  const bool by_class = model.weights.shape == KernelWeights::Shape::per_class && own.rows() <= kMostRows;
  Json kernels = Json::array();
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const auto p = static_cast<Index>(k);
    Json one = {{"name", model.kernel_names[k]}, {"weight", number(weights[k])}};
    if (deviations) one["deviation"] = number(model.weights.deviation(0, p));
    if (by_class) one["by_class"] = own.column(p);
    if (model.recipe && k < model.recipe->terms.size()) {
      one["function"] = to_string(model.recipe->terms[k].function);
      one["group"] = model.recipe->terms[k].group;
    }
    kernels.push_back(one);
  }
  const char* shape = "shared by all outputs";
  if (model.weights.shape == KernelWeights::Shape::per_class) shape = "mean over classes";
  if (model.weights.shape == KernelWeights::Shape::per_sample) shape = "mean over samples";
  return {{"method", model.method},
          {"weights", shape},
          {"classes", model.classes},
          {"report", whole_report(report)},
          {"kernels", kernels}};
}

// What was decided about columns, and why these kernels.
void add_decisions(Json& data, const Model& model) {
  if (!model.recipe) return;
  Json columns = Json::array();
  for (const ColumnDecision& d : model.recipe->decisions)
    columns.push_back({{"name", d.feature.name},
                       {"kind", to_string(d.kind)},
                       {"used", d.used},
                       {"missing", d.missing},
                       {"treatment", d.treatment},
                       {"reason", d.reason}});
  data["columns"] = std::move(columns);
  data["kernels_chosen"] = model.recipe->advice;
}

std::string json_text(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace report

std::string to_json(const FitResult& fit, const Dataset& data, const Targets& targets, const RunFacts& facts) {
  nlohmann::ordered_json json = report::facts_json(facts);
  json["data"] = report::data_json(data, targets, fit.model.recipe ? to_string(fit.model.recipe->spec) : "");
  report::add_decisions(json["data"], fit.model);
  json["methods"] = nlohmann::ordered_json::array();
  const Model& model = fit.model;
  json["model"] =
      report::model_json(model, model.report_json.empty() ? to_json(fit.report) : model.report_json);
  return report::json_text(json);
}

}  // namespace kloom
