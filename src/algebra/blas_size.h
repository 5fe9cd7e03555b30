// SPDX-License-Identifier: BSD-3-Clause
//
// Dimensions as BLAS counts them.
#pragma once

#include "kloom/error.h"
#include "kloom/matrix.h"

namespace kloom::algebra {

[[nodiscard]] inline int narrow(Index n) {
  if (n > 2147483647) throw InternalError("matrix dimension exceeds what 32-bit BLAS can address");
  return static_cast<int>(n);
}

}  // namespace kloom::algebra
