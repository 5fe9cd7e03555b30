// SPDX-License-Identifier: BSD-3-Clause
//
// BEMKL for several tasks at once (kloom/tasks.h): one fit of all tasks with shared kernel weights, fits of each by itself,
// or of the two the one that predicts held-out samples better.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kloom/tasks.h"
#include "methods/bemkl/bemkl.h"
#include "methods/bemkl_tasks/joint_factors.h"

namespace kloom::methods {

// Those of every task as a fit of BEMKL by itself has them, and what is between tasks.
struct BemklTasksOptions : BemklOptions {
  std::string weights_across = "auto";  // or "shared", "separate"
};
[[nodiscard]] const OptionTable<BemklTasksOptions>& bemkl_tasks_option_table();

// Models and reports of the tasks, and the report on all together.
struct BemklTasksFit {
  std::vector<FitResult> tasks;
  bool shared = false;  // one posterior of the kernel weights for all
  Report report;
};
// Throws InvalidArgument naming the task that cannot be learned, Error where the numbers gave out, and Interrupted where
// the fit was stopped before every task had a model.
[[nodiscard]] BemklTasksFit fit_bemkl_tasks(std::span<const TaskData> tasks, const OptionValues& options,
                                            const Context& context);

// A task on its way to the fit.
struct PlannedTask {
  const TaskData* data = nullptr;
  BemklPlan plan;
  BemklOptions options;  // with the σ_g of this task
};

// What fits of all tasks that go on without a third of the samples of each say of these (as bemkl_held_out does); nothing of
// a task that has too few. Throws Interrupted if told to stop.
[[nodiscard]] std::vector<HeldOut> joint_held_out(std::span<const PlannedTask> tasks,
                                                  const JointFactors& factors, const BemklOptions& options,
                                                  const Context& context);

}  // namespace kloom::methods
