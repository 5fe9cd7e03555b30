// SPDX-License-Identifier: BSD-3-Clause
#include "methods/bemkl_tasks/bemkl_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "algebra/threads.h"
#include "base/progress.h"
#include "kloom/error.h"
#include "kloom/learner.h"
#include "methods/bemkl/passes.h"
#include "methods/seam/check_fit.h"

namespace kloom::methods {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ---- what is refused

void check_tasks(std::span<const TaskData> tasks) {
  if (tasks.empty()) throw InvalidArgument("there are no tasks to learn");
  const KernelBank& first = *tasks.front().bank;
  std::set<std::string_view> names;
  for (const TaskData& task : tasks) {
    if (task.name.empty()) throw InvalidArgument("a task has no name");
    if (!names.insert(task.name).second)
      throw InvalidArgument(fmt::format("there are two tasks called '{}'", task.name));
    if (task.bank->names() != first.names()) {
      throw InvalidArgument(fmt::format(
          "task '{}' has {} kernels that are not the {} of task '{}': all tasks need the same kernels in the "
          "same order",
          task.name, task.bank->kernels(), first.kernels(), tasks.front().name));
    }
    if (task.targets.task == Task::multi_regression || task.targets.task == Task::multilabel) {
      throw InvalidArgument(
          fmt::format("task '{}' has several targets; give each a task of its own", task.name));
    }
    if (task.targets.samples() < 2) {
      throw InvalidArgument(fmt::format("task '{}' has {} sample{}; a task needs two at least", task.name,
                                        task.targets.samples(), task.targets.samples() == 1 ? "" : "s"));
    }
    try {
      check_fit(find_learner("bemkl"), *task.bank, task.targets);
    } catch (const InvalidArgument& error) {
      throw InvalidArgument(fmt::format("task '{}': {}", task.name, error.what()));
    }
  }
}

// ---- the two ways to fit

struct Fitted {
  std::vector<BemklFactors> tasks;
  std::optional<JointFactors> joint;  // shared kernel weights
  std::vector<HeldOut> held_out;      // of each task, once it was asked for
  Report report;
};

Fitted fit_together(std::span<const PlannedTask> tasks, const BemklOptions& options, const Context& context) {
  std::vector<BemklFactors> starts;
  for (const PlannedTask& task : tasks)
    starts.push_back(bemkl_start(*task.data->bank, task.plan.problems.front(), task.options, std::nullopt));
  JointFactors joint(std::move(starts));
  Fitted fit;
  fit.report = run_passes(joint, options, context);
  if (!is_usable(fit.report) && fit.report.status != Status::stopped) return fit;
  // One more q(G): a step that cannot lower the bound, after which every factor follows from those in the models.
  if (!joint.update_intermediate()) throw InternalError("BEMKL lost q(G) after its last iteration");
  fit.report.objective = joint.lower_bound();
  fit.tasks = joint.tasks();
  fit.joint = std::move(joint);
  return fit;
}

Fitted fit_apart(std::span<const PlannedTask> tasks, const Context& context) {
  Fitted all;
  for (const PlannedTask& task : tasks) {
    BemklFit fit = fit_problem(*task.data->bank, task.plan.problems.front(), task.options, context);
    if (all.report.status == Status::converged) all.report.status = fit.report.status;  // the worst is told
    if (fit.report.status != Status::converged || all.report.message.empty())
      all.report.message = fmt::format("task '{}': {}", task.data->name, fit.report.message);
    all.report.iterations += fit.report.iterations;
    all.report.objective += fit.report.objective;
    all.tasks.push_back(std::move(fit.factors));
    if (all.report.status == Status::stopped && all.tasks.size() < tasks.size())
      throw Interrupted("stopped before every task had its fit");
    if (all.report.status == Status::numerical_trouble) break;
  }
  return all;
}

// ---- what held-out samples say

// Of each task; nothing of those that have too few samples. Throws Interrupted if told to stop.
std::vector<HeldOut> held_out_of(std::span<const PlannedTask> tasks, const Fitted& fit,
                                 const BemklOptions& options, const Context& context) {
  if (fit.joint) return joint_held_out(tasks, *fit.joint, options, context);
  std::vector<HeldOut> held_out;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const auto& [data, plan, own] = tasks[t];
    held_out.push_back(bemkl_held_out(*data->bank, data->targets, plan, {fit.tasks[t]}, own, context));
  }
  return held_out;
}

// How much the log loss of a held-out sample falls with shared kernel weights: mean over the tasks, and its standard error.
struct LossOfSharing {
  double shared = 0.0, separate = 0.0;  // means over the tasks
  double standard_error = kInfinity;    // of their difference
};

LossOfSharing loss_of_sharing(const Fitted& together, const Fitted& apart) {
  LossOfSharing loss;
  Vector gains;
  for (std::size_t t = 0; t < std::min(together.held_out.size(), apart.held_out.size()); ++t) {
    const HeldOut& shared = together.held_out[t];
    const HeldOut& separate = apart.held_out[t];
    if (shared.empty() || separate.empty()) continue;
    loss.shared += shared.loss(shared.temperature());
    loss.separate += separate.loss(separate.temperature());
    gains.push_back(separate.loss(separate.temperature()) - shared.loss(shared.temperature()));
  }
  const auto count = static_cast<double>(gains.size());
  if (gains.size() < 2) return loss;
  loss.shared /= count;
  loss.separate /= count;
  double square = 0.0;
  for (const double gain : gains) square += std::pow(gain - (loss.separate - loss.shared), 2.0);
  loss.standard_error = std::sqrt(square / (count - 1.0) / count);
  return loss;
}

// Shared weights where held-out samples say so clearly: by more than two standard errors. Fits of folds have fewer samples,
// and the fewer there are the more sharing helps. The lower bound could not decide: it counts the kernel weights of every
// task anew and prefers shared ones even where the tasks have nothing in common.
Fitted fit_better(std::span<const PlannedTask> tasks, const BemklOptions& options, const Context& context) {
  Fitted together = fit_together(tasks, options, context);
  if (together.report.status == Status::stopped || tasks.size() == 1) return together;
  try {
    if (is_usable(together.report)) together.held_out = held_out_of(tasks, together, options, context);
    Fitted apart = fit_apart(tasks, context);
    if (is_usable(apart.report)) apart.held_out = held_out_of(tasks, apart, options, context);
    const LossOfSharing loss = loss_of_sharing(together, apart);
    const bool shared = !is_usable(apart.report) || loss.separate - loss.shared > 2.0 * loss.standard_error;
    Fitted& better = shared && is_usable(together.report) ? together : apart;
    better.report.tables.push_back({"log loss of held-out samples, mean over tasks",
                                    {"shared weights", "separate weights", "standard error of the difference"},
                                    {{loss.shared, loss.separate, loss.standard_error}}});
    return std::move(better);
  } catch (const Interrupted&) {
    if (!is_usable(together.report)) throw;
    together.report.status = Status::stopped;
    together.report.message =
        "stopped on request before it was known whether separate kernel weights do better; the models are usable";
  }
  return together;
}

// Of the probabilities and deviations of each task; 1 where it was not asked for, or there are too few samples.
std::vector<double> temperatures(std::span<const PlannedTask> tasks, Fitted& fit, const BemklOptions& options,
                                 const Context& context) {
  std::vector<double> found(tasks.size(), 1.0);
  if (options.calibration == "none" || !is_usable(fit.report)) return found;
  try {
    if (fit.held_out.empty()) fit.held_out = held_out_of(tasks, fit, options, context);
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      if (!fit.held_out[t].empty()) found[t] = fit.held_out[t].temperature();
    }
  } catch (const Interrupted&) {
    fit.report.status = Status::stopped;
    fit.report.message = "stopped on request before probabilities were calibrated; the models are usable";
  }
  return found;
}

// ---- what is made of a fit

FitResult fit_of_task(const PlannedTask& task, const BemklFactors& factors, double temperature,
                      const Report& of_all, const Context& context) {
  const auto texts = option_texts(bemkl_option_table(), task.options);
  return complete_fit(
      find_learner("bemkl"), *task.data->bank, task.data->targets, texts, context, [&](FitResult& result) {
        result.model =
            bemkl_model(*task.data->bank, task.data->targets, task.plan, {factors}, task.options, temperature);
        result.report.status = of_all.status;
        result.report.message = of_all.message;
        result.report.iterations = of_all.iterations;
        result.report.objective_name = "lower bound";
        result.report.objective = factors.lower_bound();
      });
}

Report::Table table_of_tasks(std::span<const PlannedTask> tasks, const Fitted& fit,
                             const std::vector<double>& temperature) {
  Report::Table table{"tasks", {"samples", "classes", "lower bound", "temperature"}, {}};
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const Targets& targets = tasks[t].data->targets;
    table.rows.push_back({static_cast<double>(targets.samples()), static_cast<double>(targets.classes.size()),
                          fit.tasks[t].lower_bound(), temperature[t]});
  }
  return table;
}

// What the report on all tasks has besides how the fit went.
void complete_report(std::span<const PlannedTask> tasks, const Fitted& fit,
                     const std::vector<double>& temperature, const BemklTasksOptions& options, Report& report) {
  report.method = "bemkl-tasks";
  report.task = "several tasks";
  report.objective_name = "lower bound";
  report.options = option_texts(bemkl_tasks_option_table(), options);
  if (options.weights_across == "auto") report.options["weights_across"] = fit.joint ? "shared" : "separate";
  report.bank = std::string(tasks.front().data->bank->kind());
  report.kernels = tasks.front().data->bank->kernels();
  for (const PlannedTask& task : tasks) {
    report.samples += task.data->bank->rows();
    report.memory_bytes += task.data->bank->bytes();
  }
  report.tables.push_back(table_of_tasks(tasks, fit, temperature));
}

// Numbers have a given σ_g too, by a prior of υ that outweighs what is learned a thousand times: with few samples a learned
// υ lets all kernel outputs pass for noise. Standardised numbers spread about 0.3 times as far as the scores of classes do.
void give_precision(const TaskData& task, BemklOptions& options) {
  constexpr double kSpread = 0.3;
  const auto outputs = static_cast<double>(task.bank->rows() * task.bank->kernels());
  options.alpha_upsilon = 1000.0 * outputs;
  options.beta_upsilon = 1.0 / (options.alpha_upsilon * std::pow(kSpread * options.sigma_g, 2.0));
}

std::vector<PlannedTask> planned(std::span<const TaskData> tasks, const BemklTasksOptions& options,
                                 const Context& context) {
  std::vector<PlannedTask> plans;
  for (const TaskData& task : tasks) {
    PlannedTask plan{&task, bemkl_plan(task.targets, options), static_cast<const BemklOptions&>(options)};
    if (options.sigma_g == 0.0)
      plan.options.sigma_g = chosen_sigma_g(*task.bank, task.targets, plan.options, context);
    if (task.targets.task == Task::regression) give_precision(task, plan.options);
    plans.push_back(std::move(plan));
  }
  return plans;
}

// The table of BEMKL, for the struct that has its fields and more.
OptionField<BemklTasksOptions> inherited(const OptionField<BemklOptions>& field) {
  using Member = OptionField<BemklTasksOptions>::Member;
  OptionField<BemklTasksOptions> row(field.name,
                                     std::visit([](auto member) -> Member { return member; }, field.member),
                                     field.rule, field.doc, field.suits);
  row.choices = field.choices;
  return row;
}

// What BEMKL has for single fits alone, and what give_precision() sets.
constexpr std::array<std::string_view, 9> kNotInherited = {"multiclass",     "likelihood",    "non_negative",
                                                           "sparse_samples", "start",         "restarts",
                                                           "literal",        "alpha_upsilon", "beta_upsilon"};

}  // namespace

const OptionTable<BemklTasksOptions>& bemkl_tasks_option_table() {
  static const OptionTable<BemklTasksOptions> table = [] {
    OptionTable<BemklTasksOptions> rows = {
        {"weights_across", &BemklTasksOptions::weights_across, one_of("auto", "shared", "separate"),
         "kernel weights of the tasks: one posterior for all, one for each, or shared where held-out "
         "samples say clearly that this predicts better"}};
    for (const auto& field : bemkl_option_table()) {
      if (std::ranges::find(kNotInherited, field.name) == kNotInherited.end()) rows.push_back(inherited(field));
    }
    return rows;
  }();
  return table;
}

BemklTasksFit fit_bemkl_tasks(std::span<const TaskData> tasks, const OptionValues& values,
                              const Context& context) {
  check_tasks(tasks);
  const auto options = parse_options(bemkl_tasks_option_table(), values, "bemkl-tasks");
  const algebra::ThreadScope threads(context);
  ProgressMeter clock(context, "bemkl");
  const std::vector<PlannedTask> plans = planned(tasks, options, context);
  Fitted fit = options.weights_across == "shared"     ? fit_together(plans, options, context)
               : options.weights_across == "separate" ? fit_apart(plans, context)
                                                      : fit_better(plans, options, context);
  if (fit.report.status == Status::numerical_trouble)
    throw Error(fmt::format("the fit of the tasks ran into numerical trouble: {}", fit.report.message));
  const double iterated = clock.seconds();
  const std::vector<double> temperature = temperatures(plans, fit, options, context);
  BemklTasksFit result;
  Report& report = result.report = std::move(fit.report);
  report.seconds.emplace_back("iterations", iterated);
  report.seconds.emplace_back("calibration", clock.seconds() - report.seconds.back().second);
  report.threads = threads.threads();
  report.seed = context.seed;
  complete_report(plans, fit, temperature, options, report);
  result.shared = fit.joint.has_value();
  for (std::size_t t = 0; t < tasks.size(); ++t)
    result.tasks.push_back(fit_of_task(plans[t], fit.tasks[t], temperature[t], report, context));
  return result;
}

}  // namespace kloom::methods
