// SPDX-License-Identifier: BSD-3-Clause
//
// When solvers that prove their result by a duality gap are done.
#pragma once

#include <optional>

#include "base/progress.h"
#include "kloom/report.h"

namespace kloom::methods {

// How far the primal objective can be from the optimum, as a share of itself.
[[nodiscard]] double relative_gap(double primal, double dual);

struct GapTarget {
  double tolerance = 1e-3;  // of the relative gap
  Index iterations = 500;
};

// Why a solver should end after this iteration with this relative gap; nothing: it should go on. Asks the user, too.
[[nodiscard]] std::optional<Status> reason_to_end(double gap, const GapTarget& target, Index iteration,
                                                  ProgressMeter& meter);

}  // namespace kloom::methods
