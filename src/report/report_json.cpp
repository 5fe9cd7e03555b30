// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <nlohmann/json.hpp>

#include "kloom/report.h"
#include "report/sample_maps.h"

namespace kloom {
namespace {

using Json = nlohmann::ordered_json;

// Writes numbers, and remembers where one was not finite.
class Numbers {
 public:
  Json operator()(double value, const std::string& where) {
    if (std::isfinite(value)) return value;
    lost_.push_back(where);
    return nullptr;
  }
  void note_in(Json& json) const {
    if (!lost_.empty()) json["non_finite"] = lost_;
  }

 private:
  std::vector<std::string> lost_;
};

Json certificate_json(const Certificate& certificate, const std::string& path, Numbers& number) {
  Json items = Json::array();
  for (const auto& item : certificate.items) {
    Json one = {
        {"name", item.name}, {"value", number(item.value, path + item.name)}, {"meaning", item.meaning}};
    if (std::isfinite(item.limit)) one["limit"] = item.limit;
    items.push_back(std::move(one));
  }
  Json json = {{"finding", to_string(certificate.finding)},
               {"proof", certificate.proof},
               {"verdict", certificate.verdict},
               {"items", items}};
  if (!std::isnan(certificate.tolerance)) json["tolerance"] = number(certificate.tolerance, path + "tolerance");
  if (!certificate.refutations.empty()) json["refuted"] = certificate.refutations;
  return json;
}

Json sums_json(const TrainingSums& sums, Numbers& number) {
  Json json = Json::object();
  const auto add = [&](const char* name, const std::vector<Vector>& columns) {
    for (const Vector& column : columns) {
      Json values = Json::array();
      for (const double value : column) values.push_back(number(value, std::string("training_sums.") + name));
      json[name].push_back(std::move(values));
    }
  };
  add("scores", sums.scores);
  add("probabilities", sums.probabilities);
  add("variances", sums.variances);
  return json;
}

Json evaluation_json(const Evaluation& evaluation, const std::string& path, Numbers& number) {
  Json json = {{"name", evaluation.name}, {"samples", evaluation.samples}};
  Json values = Json::object();
  for (const auto& [name, value] : evaluation.values) values[name] = number(value, path + name);
  json["values"] = values;
  if (!evaluation.confusion.empty()) {
    json["classes"] = evaluation.classes;
    json["confusion"] = evaluation.confusion;
  }
  return json;
}

Json trace_json(const std::vector<TracePoint>& trace, Numbers& number) {
  Json points = Json::array();
  for (const auto& point : trace) {
    const std::string where = "trace[" + std::to_string(points.size()) + "].";
    points.push_back({{"iteration", point.iteration},
                      {"objective", number(point.objective, where + "objective")},
                      {"seconds", number(point.seconds, where + "seconds")}});
  }
  return points;
}

Json rows_json(const Matrix& values) {
  Json rows = Json::array();
  for (Index i = 0; i < values.rows(); ++i) {
    Json row = Json::array();
    // Four digits: the map is for drawing.
    for (Index p = 0; p < values.cols(); ++p) row.push_back(std::round(1e4 * values(i, p)) / 1e4);
    rows.push_back(std::move(row));
  }
  return rows;
}

// One output's map: everything that a drawing of samples × kernels needs, and the counts that belong beside it.
Json map_json(const Report::SampleMap& map) {
  Json json = {
      {"output", map.output}, {"kernels", map.kernels}, {"weights", map.weights}, {"classes", map.classes}};
  json["sample_classes"] = map.codes;
  json["order"] = report::drawing_order(map);
  json["class_means"] = rows_json(report::class_means(map));
  if (map.kind == Report::SampleMap::Kind::gating) {
    json["samples"] = rows_json(map.values);
    return json;
  }
  Json patterns = Json::array();
  for (const report::PatternCount& count : report::pattern_counts(map)) {
    patterns.push_back({{"switches", count.pattern}, {"samples", count.samples}, {"by_class", count.by_class}});
  }
  json["patterns"] = patterns;
  Json samples = Json::array();
  for (Index i = 0; i < map.values.rows(); ++i) samples.push_back(report::pattern_text(map, i));
  json["samples"] = samples;
  return json;
}

void add_maps(const Report& report, Json& json) {
  for (const Report::SampleMap& map : report.maps) {
    json[map.kind == Report::SampleMap::Kind::gating ? "gating" : "switches"].push_back(map_json(map));
  }
}

// Names come from files in any encoding; bytes that are not UTF-8 become the replacement character.
std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string to_json(const Report& report) {
  Numbers number;
  Json json = {{"method", report.method},
               {"status", to_string(report.status)},
               {"message", report.message},
               {"task", report.task},
               {"samples", report.samples},
               {"kernels", report.kernels},
               {"bank", report.bank},
               {"iterations", report.iterations},
               {"objective_name", report.objective_name},
               {"objective", number(report.objective, "objective")},
               {"certificate", certificate_json(report.certificate, "certificate.", number)},
               {"options", report.options},
               {"threads", report.threads},
               {"seed", report.seed},
               {"memory_bytes", report.memory_bytes}};
  if (!std::isnan(report.gap)) json["gap"] = number(report.gap, "gap");
  Json seconds = Json::object();
  for (const auto& [stage, value] : report.seconds) seconds[stage] = number(value, "seconds." + stage);
  json["seconds"] = seconds;
  if (!report.training_sums.scores.empty()) json["training_sums"] = sums_json(report.training_sums, number);
  Json evaluations = Json::array();
  for (const auto& one : report.evaluations) {
    evaluations.push_back(evaluation_json(one, "evaluations." + one.name + ".", number));
  }
  json["evaluations"] = evaluations;
  Json tables = Json::array();
  for (const auto& table : report.tables) {
    Json rows = Json::array();
    for (const auto& row : table.rows) {
      Json cells = Json::array();
      for (double value : row) cells.push_back(number(value, "tables." + table.title));
      rows.push_back(cells);
    }
    tables.push_back({{"title", table.title}, {"columns", table.columns}, {"rows", rows}});
  }
  json["tables"] = tables;
  for (const double error : report.errors_alone)
    json["errors_alone"].push_back(std::isnan(error) ? Json() : Json(error));
  add_maps(report, json);
  json["warnings"] = report.warnings;
  json["environment"] = report.environment;
  json["trace"] = trace_json(report.trace, number);
  number.note_in(json);
  return dump(json);
}

std::string to_json(const Certificate& certificate) {
  Numbers number;
  Json json = certificate_json(certificate, "", number);
  number.note_in(json);
  return dump(json);
}

std::string to_json(const Evaluation& evaluation) {
  Numbers number;
  Json json = evaluation_json(evaluation, "", number);
  number.note_in(json);
  return dump(json);
}

}  // namespace kloom
