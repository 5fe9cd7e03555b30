// SPDX-License-Identifier: BSD-3-Clause
//
// Options chosen from a grid, by the training part alone.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kloom/validate.h"
#include "select/part.h"

namespace kloom::select {

// All combinations of the grid's values, the last axis running fastest.
[[nodiscard]] std::vector<OptionValues> grid_points(const OptionGrid& grid);

[[nodiscard]] bool has_option(const Learner& learner, const std::string& name);
// The method can walk this grid by itself, with warm starts: it has an option NAME_grid for every axis, and
// judges by the metric that is asked for.
[[nodiscard]] bool walks_grid(const Learner& learner, const OptionGrid& grid, const std::string& metric,
                              Task task);

struct Choice {
  OptionValues options;    // for the fit on the whole training part
  bool by_method = false;  // the fit itself chooses
};

// `train`: the samples to choose by. Ties go to the point that comes first.
[[nodiscard]] Choice choose(const Problem& problem, const std::vector<Index>& train, const Candidate& candidate,
                            const ValidationRequest& request, const Context& context);

}  // namespace kloom::select
