// SPDX-License-Identifier: BSD-3-Clause
#include "select/outcome_json.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "data/container_json.h"

namespace kloom::select {
namespace {

using data::Fields;
using nlohmann::json;
using Ordered = nlohmann::ordered_json;

// JSON has no NaN and no infinity; metrics may be undefined, so numbers go as null and text.
Ordered number_json(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value > 0.0 ? "inf" : "-inf";
  return value;
}

double number_from(const json& value, Fields& fields, std::string_view key) {
  if (value.is_null()) return std::nan("");
  if (value.is_number()) return value.get<double>();
  if (value == "inf" || value == "-inf") return value == "inf" ? INFINITY : -INFINITY;
  fields.damaged(key, "has an entry that is no number");
}

Ordered matrix_json(const Matrix& matrix) {
  Ordered values = Ordered::array();
  for (const double value : matrix.values()) values.push_back(number_json(value));
  return {{"rows", matrix.rows()}, {"cols", matrix.cols()}, {"values", values}};
}

Matrix matrix_from(Fields& parent, std::string_view key) {
  Fields fields(parent.at(key), parent.source(), fmt::format("'{}'", key));
  const Index rows = fields.index("rows");
  const Index cols = fields.index("cols");
  const json& values = fields.array("values");
  fields.finish();
  // As many values as the shape says, so neither number can be large: the values are there already.
  const std::size_t count = values.size();
  const bool fits = cols == 0 || static_cast<std::size_t>(rows) <= count / static_cast<std::size_t>(cols);
  const bool empty = rows == 0 || cols == 0;
  if (!fits || (empty ? 0 : static_cast<std::size_t>(rows * cols)) != count)
    parent.damaged(key, "has another size than its shape");
  if (empty) return {};
  Matrix matrix(rows, cols);
  for (std::size_t i = 0; i < count; ++i) matrix.values()[i] = number_from(values[i], parent, key);
  return matrix;
}

Ordered evaluation_json(const Evaluation& evaluation) {
  Ordered values = Ordered::array();
  for (const auto& [name, value] : evaluation.values) values.push_back({name, number_json(value)});
  return {{"samples", evaluation.samples},
          {"values", values},
          {"classes", Ordered(data::encode_texts(evaluation.classes))},
          {"confusion", evaluation.confusion}};
}

std::vector<std::vector<Index>> counts_from(Fields& fields, std::string_view key) {
  std::vector<std::vector<Index>> rows;
  for (const json& row : fields.array(key)) {
    const json one = {{"row", row}};
    rows.push_back(Fields(one, fields.source(), fmt::format("'{}'", key)).indices("row"));
  }
  return rows;
}

Evaluation evaluation_from(Fields& parent) {
  Fields fields(parent.at("evaluation"), parent.source(), "'evaluation'");
  Evaluation evaluation;
  evaluation.samples = fields.index("samples");
  for (const json& pair : fields.array("values")) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string())
      fields.damaged("values", "has an entry that is not a name and a number");
    evaluation.values.emplace_back(pair[0].get<std::string>(), number_from(pair[1], fields, "values"));
  }
  evaluation.classes = fields.texts("classes");
  evaluation.confusion = counts_from(fields, "confusion");
  fields.finish();
  return evaluation;
}

std::vector<int> codes_from(Fields& fields) {
  std::vector<int> codes;
  for (const Index code : fields.indices("codes")) {
    if (code > std::numeric_limits<int>::max()) fields.damaged("codes", "has an entry that is too large");
    codes.push_back(static_cast<int>(code));
  }
  return codes;
}

OptionValues options_from(Fields& fields) {
  OptionValues options;
  const json& object = fields.at("chosen");
  if (!object.is_object()) fields.damaged("chosen", "is not an object");
  for (const auto& [name, value] : object.items()) {
    if (!value.is_string()) fields.damaged("chosen", "has a value that is not text");
    options[name] = value.get<std::string>();
  }
  return options;
}

void seconds_from(Fields& fields, Outcome& outcome) {
  const json& seconds = fields.array("seconds");
  if (seconds.size() != 3) fields.damaged("seconds", "does not have three numbers");
  outcome.kernel_seconds = number_from(seconds[0], fields, "seconds");
  outcome.train_seconds = number_from(seconds[1], fields, "seconds");
  outcome.predict_seconds = number_from(seconds[2], fields, "seconds");
}

}  // namespace

Ordered outcome_json(const Outcome& outcome) {
  Ordered whole = {{"candidate", outcome.candidate},
                   {"split", outcome.split},
                   {"failure", Ordered(data::encode_text(outcome.failure))},
                   {"evaluation", evaluation_json(outcome.evaluation)},
                   {"codes", outcome.predictions.codes},
                   {"scores", matrix_json(outcome.predictions.scores)},
                   {"probabilities", matrix_json(outcome.predictions.probabilities)},
                   {"deviation", matrix_json(outcome.predictions.deviation)},
                   {"chosen", outcome.chosen},
                   {"status", static_cast<int>(outcome.status)},
                   {"seconds", {outcome.kernel_seconds, outcome.train_seconds, outcome.predict_seconds}},
                   {"kernels_used", outcome.kernels_used},
                   {"kernels", outcome.kernels},
                   {"memory_bytes", outcome.memory_bytes}};
  if (outcome.kernel_names.empty()) return whole;
  whole["kernel_names"] = Ordered(data::encode_texts(outcome.kernel_names));
  whole["kernel_weights"] = Ordered::array();
  for (const double weight : outcome.kernel_weights) whole["kernel_weights"].push_back(number_json(weight));
  for (const double error : outcome.errors_alone) whole["errors_alone"].push_back(number_json(error));
  return whole;
}

Outcome outcome_from_json(const json& value, const std::string& source, const std::string& what) {
  Fields fields(value, source, what);
  Outcome outcome;
  outcome.candidate = fields.index("candidate");
  outcome.split = fields.index("split");
  outcome.failure = fields.text("failure");
  outcome.evaluation = evaluation_from(fields);
  outcome.predictions.codes = codes_from(fields);
  outcome.predictions.scores = matrix_from(fields, "scores");
  outcome.predictions.probabilities = matrix_from(fields, "probabilities");
  outcome.predictions.deviation = matrix_from(fields, "deviation");
  outcome.chosen = options_from(fields);
  const Index status = fields.index("status");
  if (status > static_cast<Index>(Status::numerical_trouble)) fields.damaged("status", "is unknown");
  outcome.status = static_cast<Status>(status);
  seconds_from(fields, outcome);
  outcome.kernels_used = fields.index("kernels_used");
  outcome.kernels = fields.index("kernels");
  outcome.memory_bytes = static_cast<std::size_t>(fields.index("memory_bytes"));
  if (fields.find("kernel_names") != nullptr) {
    outcome.kernel_names = fields.texts("kernel_names");
    for (const json& weight : fields.array("kernel_weights"))
      outcome.kernel_weights.push_back(number_from(weight, fields, "kernel_weights"));
    if (fields.find("errors_alone") != nullptr) {
      for (const json& error : fields.array("errors_alone"))
        outcome.errors_alone.push_back(number_from(error, fields, "errors_alone"));
    }
  }
  fields.finish();
  return outcome;
}

}  // namespace kloom::select
