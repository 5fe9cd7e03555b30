// SPDX-License-Identifier: BSD-3-Clause
//
// kloom info: what a file holds, or what the machine can do.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands.h"
#include "exit_code.h"
#include "help_formatter.h"
#include "interrupt.h"
#include "kloom/error.h"
#include "kloom/kernels.h"
#include "kloom/machine.h"
#include "model_text.h"
#include "task_models.h"
#include "text.h"
#include "training_data.h"

namespace kloom::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kInfoExamples =
    "  kloom info model.kloom\n"
    "  kloom info data.csv --target label\n"
    "  kloom info --machine";

struct InfoOptions {
  CommonOptions common;
  DatasetOptions dataset;
  bool machine = false;
};

enum class FileKind { model, bank, data };

// Model and bank files begin with the length of a JSON header that names their format.
FileKind kind_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::uint64_t length = 0;
  for (int byte = 0; byte < 8; ++byte) {
    const int value = file.get();
    if (value == std::ifstream::traits_type::eof()) return FileKind::data;
    length |= static_cast<std::uint64_t>(value) << (8 * byte);
  }
  constexpr std::uint64_t kLongestHeader = 100'000'000;
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(path, unknown);
  if (file.peek() != '{' || length > kLongestHeader || unknown || length > size) return FileKind::data;
  std::string header(length, '\0');
  file.read(header.data(), static_cast<std::streamsize>(length));
  return header.find("kloom-bank") != std::string::npos ? FileKind::bank : FileKind::model;
}

std::string options_text(const Model& model) {
  const Json options = Json::parse(model.options_json, nullptr, false);
  std::vector<std::string> texts;
  for (const auto& [name, value] : options.items()) {
    texts.push_back(name + "=" + (value.is_string() ? value.get<std::string>() : value.dump()));
  }
  return list_of(texts, texts.size());
}

void show_model(const std::string& path, Session& session) {
  const Model model = load_model(path);
  const Json report = Json::parse(model.report_json, nullptr, false);
  std::string text = fmt::format("{}: model of {}, {}\n", path, model.method, to_string(model.task));
  if (!class_sentence(model).empty()) text += "  " + class_sentence(model) + "\n";
  if (!model.target_name.empty()) text += fmt::format("  target '{}'\n", model.target_name);
  text += fmt::format("  {} training samples, {} kernels, {}\n", model.coefficients.rows(),
                      model.kernel_names.size(), format_bytes(std::filesystem::file_size(path)));
  if (model.recipe) text += "  kernels: " + wrap(to_string(model.recipe->spec), 100, 4) + "\n";
  if (model.recipe) {
    for (const std::string& line : model.recipe->advice) text += "    " + wrap(line, 100, 6) + "\n";
    if (!model.recipe->decisions.empty()) text += "  columns:\n" + columns_text(model.recipe->decisions);
  }
  text += "  options: " + wrap(options_text(model), 100, 11) + "\n";
  if (report.is_object()) {
    text += fmt::format("  training: {} after {} iterations\n", report.value("status", "?"),
                        report.value("iterations", 0));
  }
  constexpr std::size_t kKernelsShown = 10;
  session.console().result(text + kernel_table(model, kKernelsShown) + view_table(model, kKernelsShown));
  Json json = {{"kind", "model"},
               {"path", path},
               {"method", model.method},
               {"task", to_string(model.task)},
               {"classes", model.classes},
               {"target", model.target_name},
               {"samples", model.coefficients.rows()}};
  json["spec"] = model.recipe ? Json(to_string(model.recipe->spec)) : Json();
  json["options"] = Json::parse(model.options_json, nullptr, false);
  json["kernels"] = kernels_json(model);
  json["weights_by_view"] = views_json(model);
  if (model.recipe) {
    json["columns"] = columns_json(model.recipe->decisions);
    json["kernels_chosen"] = model.recipe->advice;
  }
  json["report"] = report.is_discarded() ? Json() : report;
  session.console().json_result(dump(json));
}

void show_bank(const std::string& path, Session& session) {
  const auto bank = load_bank(path);
  std::string text = fmt::format("{}: kernel bank, {}\n  {} kernels, {} x {} samples{}, {}\n", path,
                                 bank->kind(), bank->kernels(), bank->rows(), bank->cols(),
                                 bank->symmetric() ? ", symmetric" : "", format_bytes(bank->bytes()));
  constexpr std::size_t kNamesShown = 10;
  text += fmt::format("  {}\n", list_of(bank->names(), kNamesShown));
  session.console().result(text);
  session.console().json_result(dump({{"kind", "bank"},
                                      {"path", path},
                                      {"storage", bank->kind()},
                                      {"rows", bank->rows()},
                                      {"columns", bank->cols()},
                                      {"symmetric", bank->symmetric()},
                                      {"bytes", bank->bytes()},
                                      {"kernels", bank->names()}}));
}

Index count_missing(const Dataset& data) {
  Index missing = 0;
  for (const double value : data.features.values()) missing += std::isnan(value) ? 1 : 0;
  return missing;
}

std::vector<std::string> feature_names(const Dataset& data) {
  std::vector<std::string> names;
  for (const Feature& feature : data.feature_info) {
    names.push_back(feature.view.empty() ? feature.name : feature.view + "." + feature.name);
  }
  return names;
}

// The targets that training would see; none where it would refuse them.
std::optional<Targets> targets_of(const InfoOptions& options, const Dataset& data) {
  if (data.labels.empty()) return std::nullopt;
  try {
    TargetsRequest request = targets_request(options.dataset, data);
    request.allow_unlabelled = true;
    return make_targets(data.labels, request);
  } catch (const InvalidArgument&) {
    return std::nullopt;
  }
}

// What training would make of the columns, and with which kernels.
std::string plan_text(const InfoOptions& options, const Dataset& data, Json& json) {
  std::vector<ColumnDecision> decisions;
  const auto preprocessing = Preprocessing::fit(data, preprocessing_options(options.dataset), &decisions);
  const std::optional<Targets> targets = targets_of(options, data);
  const KernelAdvice advice =
      advise_kernels(data, preprocessing, decisions, targets ? &*targets : nullptr, true);
  json["columns"] = columns_json(decisions);
  json["kernels"] = to_string(advice.spec);
  json["reasons"] = advice.reasons;
  std::string text;
  if (!decisions.empty()) text += "  columns:\n" + columns_text(decisions);
  text += "  kernels, if none are named: " + wrap(to_string(advice.spec), 100, 4) + "\n";
  for (const std::string& reason : advice.reasons) text += "    " + wrap(reason, 100, 6) + "\n";
  return text;
}

void show_data(const InfoOptions& options, Session& session) {
  const Dataset data = load_dataset(dataset_request(options.dataset, false), session.context());
  stop_if_interrupted();
  for (const std::string& note : data.notes) session.console().note(note);
  std::map<std::string, Index> counts;
  for (const std::string& label : data.labels) ++counts[label];
  std::vector<std::string> label_texts;
  label_texts.reserve(counts.size());
  for (const auto& [label, count] : counts) {
    label_texts.push_back(fmt::format("{} {}", label.empty() ? "(none)" : label, count));
  }
  std::string text = fmt::format("{}: {}\n", data.source, describe(data));
  constexpr std::size_t kShown = 12;
  if (!data.feature_info.empty()) text += fmt::format("  features: {}\n", list_of(feature_names(data), kShown));
  for (const auto& column : data.texts) text += fmt::format("  text column '{}'\n", column.feature.name);
  for (const auto& view : data.views)
    text += fmt::format("  view '{}': {} features\n", view.name, view.features.size());
  if (!data.labels.empty())
    text += fmt::format("  target '{}': {}\n", data.target_name, list_of(label_texts, kShown));
  const Index missing = count_missing(data);
  if (missing > 0) text += fmt::format("  {} missing values\n", missing);
  Json json = {{"kind", "data"},          {"path", data.source},
               {"samples", data.samples}, {"features", feature_names(data)},
               {"missing", missing},      {"target", data.target_name}};
  json["labels"] = counts;
  json["notes"] = data.notes;
  try {
    text += plan_text(options, data, json);
  } catch (const InvalidArgument& error) {
    // A file that cannot be trained on can still be looked at.
    text += fmt::format("  {}\n", wrap(error.what(), 100, 4));
    json["refused"] = error.what();
  }
  session.console().result(text);
  session.console().json_result(dump(json));
}

void show_machine(Session& session) {
  const MachineInfo info = machine_info(true);
  std::string text = fmt::format("kloom {}\n", version());
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<12}{}\n", name, value);
  };
  line("processor", fmt::format("{} ({})", info.processor, info.instruction_set));
  line("cores", fmt::format("{}; {} threads are used", info.cores, info.threads));
  line("memory",
       fmt::format("{}, {} free", format_bytes(info.memory_bytes), format_bytes(info.memory_free_bytes)));
  line("BLAS", info.blas);
  line("BLAS core",
       fmt::format("{} ({})", info.blas_core,
                   info.blas_core_suits ? "suits this processor" : "does not suit this processor: slow"));
  line("dgemm", fmt::format("{:.1f} GFLOP/s with one thread, {:.1f} with {}", info.dgemm_gflops_1,
                            info.dgemm_gflops, info.threads));
  line("bandwidth", fmt::format("{:.1f} GB/s reading 256 MB", info.bandwidth_gbs));
  session.console().result(text);
  session.console().json_result(dump({{"kind", "machine"},
                                      {"version", version()},
                                      {"processor", info.processor},
                                      {"instruction_set", info.instruction_set},
                                      {"cores", info.cores},
                                      {"threads", info.threads},
                                      {"memory_bytes", info.memory_bytes},
                                      {"memory_free_bytes", info.memory_free_bytes},
                                      {"blas", info.blas},
                                      {"blas_core", info.blas_core},
                                      {"blas_core_suits", info.blas_core_suits},
                                      {"dgemm_gflops_1", info.dgemm_gflops_1},
                                      {"dgemm_gflops", info.dgemm_gflops},
                                      {"bandwidth_gbs", info.bandwidth_gbs}}));
}

int run(const InfoOptions& options) {
  Session session(options.common);
  if (options.machine) {
    show_machine(session);
    return kDone;
  }
  const std::string& path = options.dataset.path;
  if (!path.empty() && holds_tasks(path)) return show_tasks(path, session);
  switch (path.empty() ? FileKind::data : kind_of(path)) {
    case FileKind::model:
      show_model(path, session);
      break;
    case FileKind::bank:
      show_bank(path, session);
      break;
    case FileKind::data:
      show_data(options, session);
      break;
  }
  return kDone;
}

}  // namespace

int run_info(const Arguments& arguments) {
  InfoOptions options;
  CommandLine line("info", "Describes a model, a kernel bank, a data file, or this machine.", kInfoExamples);
  add_dataset_options(line.app(), options.dataset);
  add_preprocessing_options(line.app(), options.dataset);
  line.app()
      .add_flag("--machine", options.machine, "Processor, BLAS, measured speed (takes a second)")
      ->group(kCommonGroup);
  add_common_options(line.app(), options.common);
  return line.parse(arguments) ? run(options) : kDone;
}

}  // namespace kloom::cli
