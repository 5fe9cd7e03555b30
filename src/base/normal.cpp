// SPDX-License-Identifier: BSD-3-Clause
#include "base/normal.h"

#include <cerf.h>

#include <cmath>
#include <numbers>

namespace kloom {

double log_normal_cdf(double z) {
  const double x = -z / std::numbers::sqrt2;
  if (z > 0.0) return std::log1p(-0.5 * std::erfc(-x));
  // Φ(z) = ½ erfc(x) = ½ erfcx(x) exp(−x²): the exponential never has to be formed.
  return std::log(0.5 * erfcx(x)) - 0.5 * z * z;
}

}  // namespace kloom
