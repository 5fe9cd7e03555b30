// SPDX-License-Identifier: BSD-3-Clause
#include "methods/seam/duality_gap.h"

#include <algorithm>
#include <cmath>

namespace kloom::methods {

double relative_gap(double primal, double dual) {
  constexpr double kSmallest = 1e-300;  // an objective of 0 must not become a division by 0
  return (primal - dual) / std::max(std::abs(primal), kSmallest);
}

std::optional<Status> reason_to_end(double gap, const GapTarget& target, Index iteration,
                                    ProgressMeter& meter) {
  if (!std::isfinite(gap)) return Status::numerical_trouble;
  if (gap <= target.tolerance) return Status::converged;
  if (meter.step(iteration, target.iterations, gap)) return Status::stopped;
  return std::nullopt;
}

}  // namespace kloom::methods
