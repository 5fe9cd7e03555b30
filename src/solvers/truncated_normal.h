// SPDX-License-Identifier: BSD-3-Clause
//
// Moments of a unit-variance normal cut off from below, right in the far tails.
//
// With x ~ N(m, 1) restricted to x > c and z = m − c:
//   mass      Z    = Φ(z)   (base/normal.h has its logarithm)
//   mean      E x  = c + (z + r(z)),            r(z) = φ(z)/Φ(z)
//   variance       = 1 − r(z)(z + r(z))
// r and z + r are computed through the scaled complementary error function, and below z = −20 by a continued
// fraction, so that neither Φ underflows nor z + r cancels.
#pragma once

namespace kloom::solvers {

// φ(z)/Φ(z), the inverse Mills ratio at −z.
[[nodiscard]] double normal_hazard(double z);
// z + φ(z)/Φ(z): how far the mean of the cut-off normal lies above the cut; always positive.
[[nodiscard]] double truncated_excess(double z);
// 1 − r(z)(z + r(z)), in (0, 1).
[[nodiscard]] double truncated_variance(double z);

// x ~ N(location, 1) restricted to |x| > margin.
struct TwoSided {
  double mean = 0.0;
  double log_mass = 0.0;
};
[[nodiscard]] TwoSided two_sided(double location, double margin);

}  // namespace kloom::solvers
