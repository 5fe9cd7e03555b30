// SPDX-License-Identifier: BSD-3-Clause
//
// What a comparison will run, so that it ends in time: methods, grids, repeats and folds.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kloom/compare.h"

namespace kloom::select {

enum class GridSize { none, coarse, full };

struct Plan {
  std::vector<std::string> methods;
  std::vector<std::string> without_grid;  // of them, those whose grid would take too long
  GridSize grids = GridSize::full;
  Index repeats = 1;
  Index folds = 5;
  double estimated_seconds = 0.0;
  std::vector<std::pair<std::string, std::string>> left_out;
  std::vector<std::string> notes;
};

// Options that are not for choosing.
[[nodiscard]] OptionValues fixed_options(const Learner& learner, const ComparisonRequest& request);

// Values that a person would try for this method, by the options that it has; empty where it chooses by itself.
[[nodiscard]] OptionGrid default_grid(const Learner& learner, GridSize size);

// Methods for the task, trials on few samples, and what fits the budget.
[[nodiscard]] Plan make_plan(const Dataset& data, const Targets& targets, const ComparisonRequest& request,
                             const Context& context);

[[nodiscard]] std::string to_json(const Plan& plan);
// Throws FileError, naming `source`, for a plan that this request could not have had.
[[nodiscard]] Plan plan_from_json(const std::string& json, const ComparisonRequest& request, Task task,
                                  const std::string& source);

}  // namespace kloom::select
