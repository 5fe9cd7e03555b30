// SPDX-License-Identifier: BSD-3-Clause
//
// Anderson's extrapolation of a fixed-point iteration x ← F(x) [WalkerNi2011].
#pragma once

#include <optional>
#include <vector>

#include "kloom/matrix.h"

namespace kloom::solvers {

// With residuals r_j = F(x_j) − x_j of the last passes, the combination of the F(x_j) whose residual, were F linear,
// would be smallest. Whether that is a better place to go on from, the caller must find out.
class Anderson {
 public:
  // The twelve last passes are remembered: states before and after each.
  void remember(Vector before, Vector after);
  // Nothing after fewer than two passes, or where the last residuals are all the same.
  [[nodiscard]] std::optional<Vector> extrapolated() const;

 private:
  std::vector<Vector> before_, after_;
};

}  // namespace kloom::solvers
