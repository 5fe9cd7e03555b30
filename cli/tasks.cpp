// SPDX-License-Identifier: BSD-3-Clause
//
// kloom tasks: one table, a column that says which task each row belongs to → models of all tasks in one file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "exit_code.h"
#include "interrupt.h"
#include "kloom/error.h"
#include "kloom/output_file.h"
#include "kloom/tasks.h"
#include "method_options.h"
#include "model_text.h"
#include "task_models.h"
#include "text.h"
#include "training_data.h"

namespace kloom::cli {
namespace {

constexpr const char* kTasksExamples =
    "  kloom tasks clinics.csv --target outcome --by clinic -o tasks.kloom\n"
    "  kloom tasks clinics.csv --target outcome --by clinic --weights-across shared\n"
    "  kloom predict tasks.kloom new_clinics.csv   # it has the column clinic, too";

struct TasksOptions {
  CommonOptions common;
  DatasetOptions dataset;
  KernelOptions kernels;
  OptionValues values;
  std::string column;
  std::string output;
};

int run(TasksOptions& options) {
  Session session(options.common);
  Console& console = session.console();
  if (options.output.empty()) options.output = stem_of(options.dataset.path) + ".kloom";
  DatasetOptions dataset = options.dataset;
  dataset.text.push_back(options.column);
  const DatasetRequest request = dataset_request(dataset, true);
  require_outputs({{"-o", options.output, OutputKind::file}}, input_files(request));
  TrainingData input = read_training_data(request, options.kernels, session);
  TasksRequest tasks;
  drop_unlabelled(input.data, session);
  tasks.task_of = take_task_column(input.data, options.column);
  console.note(describe(input.data));
  tasks.targets = targets_request(options.dataset, input.data);
  const KernelChoice kernels = choose_kernels(input.data, options.dataset, options.kernels);
  if (!kernels.by_default) tasks.kernels = kernels.spec;
  tasks.recipe = kernels.recipe;
  if (!options.kernels.bank.empty()) tasks.bank = parse_bank_kind(options.kernels.bank);
  tasks.options = given_values(task_options(), options.values);
  TasksFit fit = train_tasks(input.data, tasks, session.stoppable_context());
  fit.models.column = options.column;
  console.end_progress();
  save_tasks(fit.models, options.output);
  console.note(
      fmt::format("models of {} are in {}", counted(std::ssize(fit.models.names), "task"), options.output));
  console.result(to_text(fit.report) + tasks_text(fit.models));
  nlohmann::ordered_json json = {
      {"command", "tasks"}, {"model", options.output}, {"shared", fit.models.shared}};
  json["tasks"] = fit.models.names;
  json["report"] = nlohmann::ordered_json::parse(fit.models.report_json);
  console.json_result(dump(json));
  return interrupted() ? interrupted_code() : kDone;
}

}  // namespace

int run_tasks(const Arguments& arguments) {
  TasksOptions options;
  CommandLine line(
      "tasks",
      "Learns several related tasks at once with BEMKL: each has its own rows of the table and its own "
      "target, numbers or classes, and all look at their rows through the same kernels. Their weights "
      "are shared where held-out samples say that this predicts better.",
      kTasksExamples);
  add_dataset_options(line.app(), options.dataset);
  line.app()
      .add_option("--by", options.column, "Column that names the task of each row")
      ->required()
      ->group("Data")
      ->type_name("NAME");
  add_target_options(line.app(), options.dataset);
  add_preprocessing_options(line.app(), options.dataset);
  add_kernel_options(line.app(), options.kernels);
  add_options(line.app(), task_options(), "Options of bemkl-tasks", options.values);
  line.app()
      .add_option("-o,--output", options.output,
                  "Model file (default: called after the data file, in this folder)")
      ->group("Output")
      ->type_name("FILE");
  add_common_options(line.app(), options.common);
  return line.parse(arguments) ? run(options) : kDone;
}

}  // namespace kloom::cli
