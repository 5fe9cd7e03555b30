// SPDX-License-Identifier: BSD-3-Clause
//
// The verb for several tasks: their samples, targets and kernels out of one table, the fit, the certificate of each.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/progress.h"
#include "kloom/certify.h"
#include "kloom/error.h"
#include "kloom/evaluate.h"
#include "kloom/machine.h"
#include "kloom/tasks.h"
#include "kloom/words.h"
#include "methods/bemkl_tasks/bemkl_tasks.h"

namespace kloom {
namespace {

std::string place_of_sample(const Dataset& data, std::size_t i) {
  return i < data.lines.size() ? fmt::format("line {}", data.lines[i]) : fmt::format("sample {}", i + 1);
}

// A kernel that is centred, or given as a matrix, is one of all samples together.
void check_recipe(const Recipe& recipe) {
  for (const KernelTerm& term : recipe.terms) {
    if (term.normalisation == Normalisation::centre) {
      throw InvalidArgument(fmt::format(
          "kernel '{}' is centred on all samples, and tasks have samples of their own; use another normalisation",
          term.name));
    }
    if (term.function == KernelFunction::precomputed || term.function == KernelFunction::expdist) {
      throw InvalidArgument(fmt::format(
          "kernel '{}' is given as a matrix over all samples; tasks from a table need kernels that are computed "
          "from its columns",
          term.name));
    }
  }
}

// The recipe with the samples of one task as those that new ones are compared with.
Recipe recipe_of_task(const Recipe& whole, const std::vector<Index>& rows) {
  Recipe part = whole;
  part.basis = select_samples(whole.basis, rows);
  return part;
}

Targets targets_of_task(const Dataset& data, const TasksRequest& request, const std::string& name,
                        const std::vector<Index>& rows) {
  const Dataset own = select_samples(data, rows);
  TargetsRequest labels = request.targets;
  labels.source = own.source;
  labels.lines = own.lines;
  try {
    Targets targets = make_targets(own.labels, labels);
    targets.weights = own.weights;
    return targets;
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("task '{}': {}", name, error.what()));
  }
}

// Each task gets the memory that its share of all entries asks for.
std::shared_ptr<const KernelBank> bank_of_task(const Recipe& recipe, BankKind kind, double share, Index outputs,
                                               const Context& context) {
  const Learner& learner = find_learner("bemkl");
  Context own = context;
  own.memory_budget = static_cast<std::size_t>(share * static_cast<double>(memory_budget(context)));
  const auto kernels = std::ssize(recipe.terms);
  const MemoryShare memory = share_memory(learner, recipe.basis.samples, kernels, outputs, own);
  own.memory_budget = memory.bank;
  BankRequest request = preferred_bank(learner, recipe.basis.samples, kernels, memory.bank);
  if (kind != BankKind::automatic) request.kind = kind;
  return store_bank(recipe.training_bank(), request, own);
}

std::vector<std::string> names_in_order(const std::vector<std::string>& task_of) {
  std::vector<std::string> names;
  for (const std::string& name : task_of) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

// What can be checked and measured of the finished model of a task. Who stopped the fit is waiting for the models.
void judge_task(const TaskData& task, FitResult& fit, const Context& context) {
  if (fit.report.status != Status::stopped) {
    const Predictions predictions = predict(fit.model, *task.bank, {}, context);
    fit.report.training_sums = training_sums(predictions);
    fit.report.evaluations.push_back(evaluate(predictions, task.targets));
    fit.report.evaluations.back().name = fmt::format("training data of task '{}'", task.name);
    fit.report.certificate = certify(*task.bank, task.targets, fit.model, context);
  }
  fit.model.report_json = to_json(fit.report);
}

}  // namespace

const std::vector<OptionInfo>& task_options() {
  static const std::vector<OptionInfo> options = describe_options(methods::bemkl_tasks_option_table());
  return options;
}

TasksFit train_tasks(std::span<const TaskData> tasks, const OptionValues& options, const Context& context) {
  methods::BemklTasksFit fit = methods::fit_bemkl_tasks(tasks, options, context);
  TasksFit result;
  result.report = std::move(fit.report);
  result.models.shared = fit.shared;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    judge_task(tasks[t], fit.tasks[t], context);
    const auto& evaluations = fit.tasks[t].report.evaluations;
    result.report.evaluations.insert(result.report.evaluations.end(), evaluations.begin(), evaluations.end());
    result.models.names.push_back(tasks[t].name);
    result.models.models.push_back(std::move(fit.tasks[t].model));
  }
  if (result.report.status != Status::stopped)
    result.report.certificate = certify_tasks(tasks, result.models, context);
  result.models.options_json = nlohmann::json(options).dump();
  result.models.report_json = to_json(result.report);
  return result;
}

std::vector<std::string> take_task_column(Dataset& data, const std::string& column) {
  const auto place = std::ranges::find(data.texts, column, [](const TextColumn& t) { return t.feature.name; });
  if (place == data.texts.end()) {
    throw InvalidArgument(
        fmt::format("{} has no column '{}', which should name the task of each row", data.source, column));
  }
  const Index index = place - data.texts.begin();
  std::vector<std::string> task_of = std::move(place->values);
  data.texts.erase(place);
  for (View& view : data.views) {
    std::erase(view.texts, index);
    for (Index& text : view.texts) text -= text > index ? 1 : 0;
  }
  for (std::size_t i = 0; i < task_of.size(); ++i) {
    if (!task_of[i].empty()) continue;
    throw InvalidArgument(fmt::format(
        "{}, {}: column '{}' is empty, so that the row belongs to no task; fill it in or remove the row",
        data.source, place_of_sample(data, i), column));
  }
  return task_of;
}

std::vector<std::vector<Index>> samples_of_tasks(const Dataset& data, const std::vector<std::string>& task_of,
                                                 const std::vector<std::string>& names) {
  std::map<std::string, std::size_t> places;
  for (std::size_t t = 0; t < names.size(); ++t) places[names[t]] = t;
  std::vector<std::vector<Index>> samples(names.size());
  for (std::size_t i = 0; i < task_of.size(); ++i) {
    const auto place = places.find(task_of[i]);
    if (place == places.end()) {
      throw InvalidArgument(fmt::format("{}, {}: there is no task '{}'{}; the tasks of the model are {}",
                                        data.source, place_of_sample(data, i), task_of[i],
                                        did_you_mean(task_of[i], names), fmt::join(names, ", ")));
    }
    samples[place->second].push_back(static_cast<Index>(i));
  }
  return samples;
}

const Model& model_of(const TaskModels& models, std::string_view name) {
  const auto place = std::ranges::find(models.names, name);
  if (place == models.names.end()) {
    throw InvalidArgument(fmt::format("there is no task '{}'{}; the tasks of the model are {}", name,
                                      did_you_mean(name, models.names), fmt::join(models.names, ", ")));
  }
  return models.models[at(place - models.names.begin())];
}

TasksFit train_tasks(const Dataset& data, const TasksRequest& request, const Context& context) {
  if (std::ssize(request.task_of) != data.samples) {
    throw InvalidArgument(
        fmt::format("{} names of tasks were given for {} samples", request.task_of.size(), data.samples));
  }
  const Recipe whole = Recipe::fit(data, request.kernels.value_or(KernelSpec{}), request.recipe, context);
  for (const std::string& line : whole.advice) log(context, LogLevel::info, line);
  check_recipe(whole);
  const std::vector<std::string> names = names_in_order(request.task_of);
  const auto samples = samples_of_tasks(data, request.task_of, names);
  double entries = 0.0;
  for (const auto& rows : samples) entries += static_cast<double>(rows.size() * rows.size());
  std::vector<TaskData> tasks;
  std::vector<Recipe> recipes;
  for (std::size_t t = 0; t < names.size(); ++t) {
    const double share = static_cast<double>(samples[t].size() * samples[t].size()) / entries;
    Targets targets = targets_of_task(data, request, names[t], samples[t]);
    recipes.push_back(recipe_of_task(whole, samples[t]));
    auto bank = bank_of_task(recipes.back(), request.bank, share, outputs_of(targets), context);
    tasks.push_back({names[t], std::move(bank), std::move(targets)});
  }
  TasksFit fit = train_tasks(tasks, request.options, context);
  for (std::size_t t = 0; t < names.size(); ++t) {
    fit.models.models[t].recipe = std::move(recipes[t]);
    fit.models.models[t].target_name = data.target_name;
  }
  return fit;
}

}  // namespace kloom
