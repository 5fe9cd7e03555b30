// SPDX-License-Identifier: BSD-3-Clause
//
// Several related tasks at once: each has samples of its own and its own target, numbers or classes; all look at their
// samples through the same kernels, and may share the weights of these (docs/methods/bemkl-tasks.md).
//
//   TasksFit fit = train_tasks(tasks, {}, context);
//   save_tasks(fit.models, "clinics.kloom");
//   Predictions p = predict(model_of(fit.models, "north"), *bank, {}, context);
//
// What is learned of each task is an ordinary model of BEMKL, so that whatever takes a model takes that of a task.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kloom/bank.h"
#include "kloom/context.h"
#include "kloom/dataset.h"
#include "kloom/learner.h"
#include "kloom/model.h"
#include "kloom/report.h"
#include "kloom/targets.h"
#include "kloom/train.h"

namespace kloom {

// One task: the kernels between its samples, the same kernels in every task, and what is to be learned from them.
struct TaskData {
  std::string name;
  std::shared_ptr<const KernelBank> bank;
  Targets targets;
};

struct TaskModels {
  std::vector<std::string> names;
  std::vector<Model> models;  // one for each name
  bool shared = false;        // one posterior of the kernel weights for all tasks; else each has its own
  std::string column;         // of tables: the column that names the task of each row; empty: not from a table
  std::string options_json;   // effective options
  std::string report_json;    // the report on all tasks together
};

struct TasksFit {
  TaskModels models;
  Report report;  // objective: the lower bound on the sum of log p(y) of all tasks
};

// The options of a fit of several tasks, described once like those of every method.
[[nodiscard]] const std::vector<OptionInfo>& task_options();

// Throws InvalidArgument naming the task for samples, targets or kernels that break a rule, and Interrupted where the
// progress callback asks to stop before every task has a model.
[[nodiscard]] TasksFit train_tasks(std::span<const TaskData> tasks, const OptionValues& options,
                                   const Context& context);

// The same from a table: kernels are fitted on the samples of all tasks together, so that they are the same kernels in every
// task, and each task keeps its own samples.
struct TasksRequest {
  std::vector<std::string> task_of;  // for each sample of the data, its task
  TargetsRequest targets;            // how labels are read, task by task
  OptionValues options;
  std::optional<KernelSpec> kernels;  // none: kernels that suit the data
  RecipeOptions recipe;
  BankKind bank = BankKind::automatic;  // how kernels are stored
};
[[nodiscard]] TasksFit train_tasks(const Dataset& data, const TasksRequest& request, const Context& context);

// Takes the column that names the task of every sample out of data that were read with it as a text column. Throws
// InvalidArgument where there is no such column or a sample has nothing in it.
[[nodiscard]] std::vector<std::string> take_task_column(Dataset& data, const std::string& column);
// The samples of each of these tasks, in their order. Throws InvalidArgument, naming the sample, for other tasks.
[[nodiscard]] std::vector<std::vector<Index>> samples_of_tasks(const Dataset& data,
                                                               const std::vector<std::string>& task_of,
                                                               const std::vector<std::string>& names);

// Throws InvalidArgument with the names of the tasks where there is none of that name.
[[nodiscard]] const Model& model_of(const TaskModels& models, std::string_view name);

// The referee's finding on all tasks: that on each of them, and the lower bound of all together. `tasks`: those of the fit,
// in the order of the models.
[[nodiscard]] Certificate certify_tasks(std::span<const TaskData> tasks, const TaskModels& models,
                                        const Context& context);

// One file for all tasks, written and checked like that of a model (model.h).
void save_tasks(const TaskModels& models, const std::string& path);
[[nodiscard]] TaskModels load_tasks(const std::string& path);
// The same as bytes in memory.
[[nodiscard]] std::string tasks_bytes(const TaskModels& models);
[[nodiscard]] TaskModels tasks_from_bytes(std::string bytes);
// Whether the file says of itself that it holds models of several tasks.
[[nodiscard]] bool holds_tasks(const std::string& path);

}  // namespace kloom
