// SPDX-License-Identifier: BSD-3-Clause
#include "task_models.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "console.h"
#include "evaluation.h"
#include "exit_code.h"
#include "interrupt.h"
#include "kloom/certify.h"
#include "kloom/error.h"
#include "kloom/machine.h"
#include "kloom/output_file.h"
#include "model_text.h"
#include "prediction_table.h"
#include "text.h"

namespace kloom::cli {
namespace {

using Json = nlohmann::ordered_json;

// New samples, and which of them are of which task.
struct TaskSamples {
  Dataset data;
  std::vector<std::string> task_of;
  std::vector<std::vector<Index>> of_task;
};

TaskSamples read_samples(const TaskModels& models, const DatasetOptions& options, bool target_required,
                         Session& session) {
  const Model& first = models.models.front();
  if (models.column.empty() || !first.recipe)
    throw InvalidArgument("these models were not learned from a table, so that no table can be read for them");
  DatasetRequest request = request_for_model(first, options, target_required);
  request.text.push_back(models.column);
  TaskSamples samples{load_dataset(request, session.context()), {}, {}};
  stop_if_interrupted();
  samples.task_of = take_task_column(samples.data, models.column);
  samples.of_task = samples_of_tasks(samples.data, samples.task_of, models.names);
  return samples;
}

// Label and its probability of a class, number and its deviation otherwise.
void fill_rows(const Model& model, const Predictions& found, const std::vector<Index>& rows,
               PredictionTable& table) {
  const bool classes = !model.classes.empty();
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const auto row = static_cast<Index>(k);
    auto& cells = table.rows[static_cast<std::size_t>(rows[k])];
    if (classes) {
      const int code = found.codes[k];
      cells.push_back(text_cell(model.classes[static_cast<std::size_t>(code)]));
      cells.push_back(number_cell(found.probabilities(row, code)));
      cells.push_back(text_cell(""));
      cells.push_back(text_cell(""));
    } else {
      cells.push_back(text_cell(""));
      cells.push_back(text_cell(""));
      cells.push_back(number_cell(found.scores(row, 0)));
      cells.push_back(number_cell(found.deviation(row, 0)));
    }
  }
}

Json json_of(const TaskModels& models) {
  Json tasks = Json::array();
  for (std::size_t t = 0; t < models.names.size(); ++t) {
    const Model& model = models.models[t];
    tasks.push_back({{"name", models.names[t]},
                     {"task", to_string(model.task)},
                     {"classes", model.classes},
                     {"samples", model.coefficients.rows()},
                     {"kernels", kernels_json(model)}});
  }
  return tasks;
}

}  // namespace

std::string tasks_text(const TaskModels& models) {
  constexpr std::size_t kShown = 10;
  std::string text;
  for (std::size_t t = 0; t < models.names.size(); ++t) {
    const Model& model = models.models[t];
    text += fmt::format("task '{}': {}, {}\n", models.names[t], to_string(model.task),
                        counted(model.coefficients.rows(), "sample"));
    if (!models.shared) text += kernel_table(model, kShown);
  }
  if (models.shared) text += "kernel weights of all tasks\n" + kernel_table(models.models.front(), kShown);
  return text;
}

int predict_tasks(const std::string& path, const DatasetOptions& dataset, const std::string& output,
                  Session& session) {
  Console& console = session.console();
  const bool to_file = !output.empty() && output != "-";
  if (to_file) require_outputs({{"-o", output, OutputKind::text}}, {path, dataset.path});
  const TaskModels models = load_tasks(path);
  const TaskSamples samples = read_samples(models, dataset, false, session);
  PredictionTable table;
  table.rows.resize(static_cast<std::size_t>(samples.data.samples));
  if (!samples.data.ids.empty()) table.header.emplace_back("id");
  table.header.insert(table.header.end(), {models.column, "label", "probability", "prediction", "deviation"});
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (!samples.data.ids.empty()) table.rows[i].push_back(text_cell(samples.data.ids[i]));
    table.rows[i].push_back(text_cell(samples.task_of[i]));
  }
  Json evaluations = Json::object();
  for (std::size_t t = 0; t < models.names.size(); ++t) {
    if (samples.of_task[t].empty()) continue;
    const Dataset own = select_samples(samples.data, samples.of_task[t]);
    const Predictions found = predict(models.models[t], own, {}, session.context());
    fill_rows(models.models[t], found, samples.of_task[t], table);
    auto evaluation = evaluate_labelled(models.models[t], found, own, console);
    if (!evaluation) continue;
    evaluation->name = fmt::format("task '{}'", models.names[t]);
    if (!console.json()) console.note_block(to_text(*evaluation));
    evaluations[valid_utf8(models.names[t])] = Json::parse(to_json(*evaluation));
  }
  console.end_progress();
  stop_if_interrupted();
  if (to_file) {
    write_text(output, to_csv(table), session.context());
    console.note(fmt::format("{} predictions written to {}", samples.data.samples, output));
  } else if (!console.json()) {
    write_stdout(to_csv(table));
  }
  Json json = {{"command", "predict"}, {"samples", samples.data.samples}, {"tasks", models.names}};
  if (to_file) json["output"] = output;
  if (!to_file) json["predictions"] = table_json(table);
  json["evaluation"] = evaluations;
  console.json_result(dump(json));
  return kDone;
}

int check_tasks(const std::string& path, const DatasetOptions& dataset, Session& session) {
  const TaskModels models = load_tasks(path);
  TaskSamples samples = read_samples(models, dataset, true, session);
  std::vector<TaskData> tasks;
  for (std::size_t t = 0; t < models.names.size(); ++t) {
    const Model& model = models.models[t];
    const Dataset own = select_samples(samples.data, samples.of_task[t]);
    require_training_samples(model, own);
    Targets targets = targets_for(model, own.labels);
    targets.weights = own.weights;
    tasks.push_back({models.names[t], store_bank(model.recipe->training_bank(), {}, session.context()),
                     std::move(targets)});
  }
  const Certificate certificate = certify_tasks(tasks, models, session.context());
  session.console().end_progress();
  session.console().result(fmt::format("{} with {} kernel weights\n", counted(std::ssize(tasks), "task"),
                                       models.shared ? "shared" : "separate") +
                           to_text(certificate));
  Json json = {{"command", "check"}, {"model", path}, {"method", "bemkl-tasks"}};
  json["certificate"] = Json::parse(to_json(certificate));
  session.console().json_result(dump(json));
  if (certificate.finding != Certificate::Finding::refuted) return kDone;
  write_stderr(fmt::format("kloom: {} is refuted: {}.\n", path, certificate.refutations.front()));
  return kFailed;
}

int show_tasks(const std::string& path, Session& session) {
  const TaskModels models = load_tasks(path);
  std::string text =
      fmt::format("{}: {} with {} kernel weights, {}\n", path, counted(std::ssize(models.names), "task"),
                  models.shared ? "shared" : "separate", format_bytes(std::filesystem::file_size(path)));
  if (!models.column.empty()) text += fmt::format("column '{}' names the task of each row\n", models.column);
  session.console().result(text + tasks_text(models));
  Json json = {{"kind", "tasks"}, {"path", path}, {"method", "bemkl-tasks"}, {"shared", models.shared}};
  json["column"] = models.column;
  json["tasks"] = json_of(models);
  json["options"] = Json::parse(models.options_json, nullptr, false);
  json["report"] = Json::parse(models.report_json, nullptr, false);
  session.console().json_result(dump(json));
  return kDone;
}

}  // namespace kloom::cli
