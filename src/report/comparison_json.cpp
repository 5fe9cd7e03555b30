// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "kloom/evaluate.h"
#include "kloom/machine.h"
#include "kloom/page.h"
#include "models/scores.h"
#include "select/metrics.h"

namespace kloom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kCurvePoints = 120;
constexpr std::size_t kMostCurves = 12;
constexpr std::size_t kMostResiduals = 1500;

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

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

// What the first repeat predicted for every sample that it held out.
struct HeldOut {
  std::vector<int> truth, guess;
  std::vector<Vector> chances;  // a row per sample; empty without probabilities
  std::vector<Vector> scores;
  std::vector<std::array<double, 3>> values;  // regression: truth, prediction, deviation
};

Vector row_of(const Matrix& matrix, Index row) {
  Vector values;
  for (Index c = 0; c < matrix.cols(); ++c) values.push_back(matrix(row, c));
  return values;
}

HeldOut held_out(const Comparison& comparison, Index candidate, const Targets& targets) {
  HeldOut all;
  for (const Outcome& outcome : comparison.validation.outcomes) {
    const Split& split = comparison.request.splits[static_cast<std::size_t>(outcome.split)];
    if (outcome.candidate != candidate || split.repeat != 0 || !outcome.failure.empty()) continue;
    const Predictions& p = outcome.predictions;
    for (std::size_t i = 0; i < split.test.size(); ++i) {
      const auto row = static_cast<Index>(i);
      const auto sample = static_cast<std::size_t>(split.test[i]);
      if (models::has_codes(targets.task)) {
        all.truth.push_back(targets.codes[sample]);
        all.guess.push_back(p.codes[i]);
        all.scores.push_back(row_of(p.scores, row));
        if (!p.probabilities.empty()) all.chances.push_back(row_of(p.probabilities, row));
      } else if (targets.task == Task::regression) {
        all.values.push_back({targets.values(split.test[i], 0), p.scores(row, 0),
                              p.deviation.empty() ? std::nan("") : p.deviation(row, 0)});
      }
    }
  }
  return all;
}

Json curve_json(const std::string& name, const Vector& scores, const std::vector<int>& positive) {
  if (!std::ranges::all_of(scores, [](double s) { return std::isfinite(s); })) return nullptr;
  const auto curve = select::roc_curve(scores, positive);
  if (curve.empty()) return nullptr;
  Json points = Json::array();
  for (const auto& point : select::thinned(curve, kCurvePoints))
    points.push_back({point.false_positive, point.true_positive});
  return {{"class", name}, {"auc", select::area_under(curve)}, {"points", points}};
}

Json roc_json(const HeldOut& all, const Targets& targets) {
  Json curves = Json::array();
  const std::size_t classes = targets.classes.size();
  const bool binary = targets.task == Task::binary;
  if (all.truth.empty() || classes > kMostCurves) return curves;
  const bool chances = all.chances.size() == all.truth.size();
  for (std::size_t c = binary ? 1 : 0; c < classes; ++c) {
    Vector scores;
    std::vector<int> positive;
    for (std::size_t i = 0; i < all.truth.size(); ++i) {
      const Vector& row = chances ? all.chances[i] : all.scores[i];
      const std::size_t column = !chances && binary ? 0 : c;
      if (column >= row.size() || (!chances && !binary && row.size() != classes)) return curves;
      scores.push_back(row[column]);
      positive.push_back(all.truth[i] == static_cast<int>(c) ? 1 : 0);
    }
    Json curve = curve_json(targets.classes[c], scores, positive);
    if (!curve.is_null()) curves.push_back(std::move(curve));
  }
  return curves;
}

// Two classes: the positive one. Several: the likeliest, right or wrong.
Json reliability_json(const HeldOut& all, const Targets& targets) {
  Json bins = Json::array();
  if (all.chances.empty() || all.chances.size() != all.truth.size()) return bins;
  Vector probability;
  std::vector<int> came_true;
  for (std::size_t i = 0; i < all.truth.size(); ++i) {
    const Vector& row = all.chances[i];
    const std::size_t c = targets.task == Task::binary
                              ? 1
                              : static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
    probability.push_back(row[c]);
    came_true.push_back(all.truth[i] == static_cast<int>(c) ? 1 : 0);
  }
  for (const auto& bin : select::reliability(probability, came_true)) {
    bins.push_back({{"low", bin.low},
                    {"high", bin.high},
                    {"probability", bin.mean_probability},
                    {"frequency", bin.frequency},
                    {"count", bin.count}});
  }
  return bins;
}

void add_held_out(Json& json, const HeldOut& all, const Targets& targets) {
  if (!all.truth.empty()) {
    const std::size_t classes = targets.classes.size();
    select::Confusion confusion(classes, std::vector<Index>(classes, 0));
    for (std::size_t i = 0; i < all.truth.size(); ++i)
      ++confusion[static_cast<std::size_t>(all.truth[i])][static_cast<std::size_t>(all.guess[i])];
    json["confusion"] = confusion;
    json["roc"] = roc_json(all, targets);
    json["reliability"] = reliability_json(all, targets);
  }
  if (all.values.empty()) return;
  Json points = Json::array();
  const std::size_t stride = (all.values.size() + kMostResiduals - 1) / kMostResiduals;
  for (std::size_t i = 0; i < all.values.size(); i += stride)
    points.push_back({all.values[i][0], all.values[i][1], number(all.values[i][2])});
  json["residuals"] = points;
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

Json method_json(const Comparison& comparison, const MethodSummary& method, const Targets& targets) {
  const auto& candidates = comparison.request.candidates;
  const auto candidate =
      std::ranges::find(candidates, method.candidate.method, &Candidate::method) - candidates.begin();
  Json grid = Json::object();
  for (const auto& [name, values] : method.candidate.grid) grid[name] = values;
  Json metrics = Json::array();
  for (const MetricSummary& metric : method.metrics)
    metrics.push_back(
        {{"name", metric.name}, {"mean", number(metric.mean)}, {"deviation", number(metric.deviation)}});
  Json json = {
      {"method", method.candidate.method},
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
  add_held_out(json, held_out(comparison, candidate, targets), targets);
  return json;
}

Json model_json(const FitResult& fit) {
  const Model& model = fit.model;
  const Matrix& weights = model.weights.values;
  const bool deviations =
      !model.weights.deviation.empty() && model.weights.shape == KernelWeights::Shape::shared;
  Json kernels = Json::array();
  for (Index p = 0; p < weights.cols() && p < std::ssize(model.kernel_names); ++p) {
    const auto k = static_cast<std::size_t>(p);
    double mean = 0.0;
    for (const double w : weights.column(p)) mean += w / static_cast<double>(weights.rows());
    Json one = {{"name", model.kernel_names[k]}, {"weight", number(mean)}};
    if (deviations) one["deviation"] = number(model.weights.deviation(0, p));
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
          {"report", Json::parse(model.report_json.empty() ? to_json(fit.report) : model.report_json)},
          {"kernels", kernels}};
}

std::string json_text(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string to_json(const Comparison& comparison, const Dataset& data, const Targets& targets,
                    const RunFacts& facts) {
  const ValidationRequest& request = comparison.request;
  Json json = facts_json(facts);
  json["data"] = data_json(data, targets,
                           request.spec.families.empty() ? "chosen from the columns of each training part"
                                                         : to_string(request.spec));
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
    methods.push_back(method_json(comparison, method, targets));
  json["methods"] = methods;
  if (comparison.final_fit) json["model"] = model_json(*comparison.final_fit);
  return json_text(json);
}

std::string to_json(const FitResult& fit, const Dataset& data, const Targets& targets, const RunFacts& facts) {
  Json json = facts_json(facts);
  json["data"] = data_json(data, targets, fit.model.recipe ? to_string(fit.model.recipe->spec) : "");
  if (fit.model.recipe) {
    Json columns = Json::array();
    for (const ColumnDecision& d : fit.model.recipe->decisions)
      columns.push_back({{"name", d.feature.name},
                         {"kind", to_string(d.kind)},
                         {"used", d.used},
                         {"missing", d.missing},
                         {"treatment", d.treatment},
                         {"reason", d.reason}});
    json["data"]["columns"] = std::move(columns);
    json["data"]["kernels_chosen"] = fit.model.recipe->advice;
  }
  json["methods"] = Json::array();
  json["model"] = model_json(fit);
  return json_text(json);
}

}  // namespace kloom
