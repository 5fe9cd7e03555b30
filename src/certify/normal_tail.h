// SPDX-License-Identifier: BSD-3-Clause
//
// Normal distributions that are cut off, for the referees of probit models.
#pragma once

#include "kloom/matrix.h"

namespace kloom::certify_detail {

// log Φ(z) and φ(z)/Φ(z) by complementary error function and, below −30, by the asymptotic series of Mills'
// ratio 1 − 1/z² + 3/z⁴ − 15/z⁶ + … (next term below 1e-11 there).
struct Tail {
  double log_mass;
  double hazard;
};
[[nodiscard]] Tail tail_of(double z);

// N(location, I/weight) where the label's number is the largest: its means, and the log of its mass, which is added to
// `log_mass`. By the integral over u = f_y − location_y on a fine grid around where its integrand is large. That is
// log-concave with a curvature of at least 1, so twelve units from its peak it is below 1e-31 of it.
void multinomial_means(const Vector& location, Index label, double weight, Vector& mean, double& log_mass);

}  // namespace kloom::certify_detail
