// SPDX-License-Identifier: BSD-3-Clause
#include "select/journal.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>

#include "kloom/error.h"
#include "kloom/machine.h"

namespace kloom::select {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no NaN and no infinity; scores may hold them, so numbers go as null and text.
Json number(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value > 0.0 ? "inf" : "-inf";
  return value;
}

double number(const Json& json) {
  if (json.is_null()) return std::nan("");
  if (json.is_string()) return json == "inf" ? INFINITY : -INFINITY;
  return json.get<double>();
}

Json matrix_json(const Matrix& matrix) {
  Json values = Json::array();
  for (const double value : matrix.values()) values.push_back(number(value));
  return {{"rows", matrix.rows()}, {"cols", matrix.cols()}, {"values", values}};
}

Matrix matrix_from(const Json& json) {
  const auto rows = json.at("rows").get<Index>();
  const auto cols = json.at("cols").get<Index>();
  const Json& values = json.at("values");
  if (rows < 0 || cols < 0 || static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols) != values.size())
    throw InvalidArgument("a matrix of the wrong size");
  Matrix matrix(rows, cols);
  for (std::size_t i = 0; i < values.size(); ++i) matrix.values()[i] = number(values[i]);
  return matrix;
}

Json evaluation_json(const Evaluation& evaluation) {
  Json values = Json::array();
  for (const auto& [name, value] : evaluation.values) values.push_back({name, number(value)});
  return {{"samples", evaluation.samples},
          {"values", values},
          {"classes", evaluation.classes},
          {"confusion", evaluation.confusion}};
}

Evaluation evaluation_from(const Json& json) {
  Evaluation evaluation;
  evaluation.samples = json.at("samples").get<Index>();
  for (const Json& pair : json.at("values"))
    evaluation.values.emplace_back(pair.at(0).get<std::string>(), number(pair.at(1)));
  evaluation.classes = json.at("classes").get<std::vector<std::string>>();
  evaluation.confusion = json.at("confusion").get<std::vector<std::vector<Index>>>();
  return evaluation;
}

Json to_json(const Outcome& outcome) {
  return {{"candidate", outcome.candidate},
          {"split", outcome.split},
          {"failure", outcome.failure},
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
}

Outcome outcome_from(const Json& json) {
  Outcome outcome;
  outcome.candidate = json.at("candidate").get<Index>();
  outcome.split = json.at("split").get<Index>();
  outcome.failure = json.at("failure").get<std::string>();
  outcome.evaluation = evaluation_from(json.at("evaluation"));
  outcome.predictions.codes = json.at("codes").get<std::vector<int>>();
  outcome.predictions.scores = matrix_from(json.at("scores"));
  outcome.predictions.probabilities = matrix_from(json.at("probabilities"));
  outcome.predictions.deviation = matrix_from(json.at("deviation"));
  outcome.chosen = json.at("chosen").get<OptionValues>();
  const int status = json.at("status").get<int>();
  if (status < 0 || status > static_cast<int>(Status::numerical_trouble))
    throw InvalidArgument("an unknown status");
  outcome.status = static_cast<Status>(status);
  outcome.kernel_seconds = json.at("seconds").at(0).get<double>();
  outcome.train_seconds = json.at("seconds").at(1).get<double>();
  outcome.predict_seconds = json.at("seconds").at(2).get<double>();
  outcome.kernels_used = json.at("kernels_used").get<Index>();
  outcome.kernels = json.at("kernels").get<Index>();
  outcome.memory_bytes = json.at("memory_bytes").get<std::size_t>();
  return outcome;
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// FNV-1a, 64 bits: enough to tell requests apart; no protection against a forged file.
class Hash {
 public:
  void add(const void* data, std::size_t bytes) {
    const auto* byte = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; ++i) value_ = (value_ ^ byte[i]) * 0x100000001b3ULL;
  }
  void add(const std::string& text) {
    const std::size_t size = text.size();
    add(&size, sizeof(size));
    add(text.data(), size);
  }
  void add(std::span<const double> values) { add(values.data(), values.size_bytes()); }
  [[nodiscard]] std::string text() const { return fmt::format("{:016x}", value_); }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

}  // namespace

Journal::Journal(const std::string& path, const std::string& fingerprint) : path_(path) {
  if (path_.empty()) return;
  const std::string first = text_of({{"kloom_journal", 1}, {"fingerprint", fingerprint}});
  const bool there = std::filesystem::exists(path_) && std::filesystem::file_size(path_) > 0;
  const bool begun = there && read(first, fingerprint);
  file_.open(path_, (begun ? std::ios::app : std::ios::trunc) | std::ios::out | std::ios::binary);
  if (!file_) throw FileError(fmt::format("{}: cannot be written", path_));
  if (!begun) append(first);
}

bool Journal::read(const std::string& first, const std::string& fingerprint) {
  std::ifstream file(path_, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) throw FileError(fmt::format("{}: cannot be read", path_));
  const std::string all = text.str();
  const std::size_t whole = all.rfind('\n') + 1;
  if (whole == 0 && first.starts_with(all)) return false;  // a full disk or a crash cut it in its first line
  if (whole == 0)
    throw InvalidArgument(fmt::format("{}: not a journal of finished work; name another file", path_));
  std::istringstream lines(all.substr(0, whole));
  std::string line;
  for (Index count = 1; std::getline(lines, line); ++count) {
    try {
      const Json json = Json::parse(line);
      if (count == 1) {
        if (json.at("kloom_journal") != 1) throw InvalidArgument("another version");
        if (json.at("fingerprint") != fingerprint) {
          throw InvalidArgument(
              fmt::format("{}: holds the results of another run (other data, kernels or options); remove it or "
                          "name another file",
                          path_));
        }
      } else if (json.contains("plan")) {
        plan_ = json.at("plan").get<std::string>();
      } else {
        outcomes_.push_back(outcome_from(json));
      }
    } catch (const InvalidArgument&) {
      throw;
    } catch (const std::exception& error) {
      throw InvalidArgument(
          fmt::format("{}, line {}: not a line of a journal of finished work; remove the file or "
                      "name another ({})",
                      path_, count, error.what()));
    }
  }
  // Removes a line that a crash cut short, so that the next entry starts on a new line.
  if (whole < all.size()) std::filesystem::resize_file(path_, whole);
  return true;
}

void Journal::write_plan(const std::string& json) {
  plan_ = json;
  append(text_of({{"plan", json}}));
}

void Journal::write(const Outcome& outcome) {
  append(text_of(to_json(outcome)));
}

void Journal::append(const std::string& line) {
  if (path_.empty()) return;
  file_ << line << '\n' << std::flush;
  if (!file_) throw FileError(fmt::format("{}: cannot be written (disk full?)", path_));
}

std::string fingerprint_of(const Dataset& data, const Targets& targets, const std::string& settings) {
  Hash hash;
  hash.add(version());
  hash.add(settings);
  hash.add(data.features.values());
  for (const Feature& feature : data.feature_info) hash.add(feature.view + "\t" + feature.name);
  for (const View& view : data.views) {
    hash.add(view.name);
    hash.add(view.features.data(), view.features.size() * sizeof(Index));
  }
  for (const TextColumn& column : data.texts) {
    for (const std::string& value : column.values) hash.add(value);
  }
  for (const auto* matrices : {&data.kernels, &data.distances}) {
    for (const PrecomputedMatrix& matrix : *matrices) hash.add(matrix.values.values());
  }
  for (const std::string& name : targets.classes) hash.add(name);
  hash.add(targets.codes.data(), targets.codes.size() * sizeof(int));
  hash.add(targets.values.values());
  hash.add(std::span<const double>(targets.weights));
  return hash.text();
}

}  // namespace kloom::select
