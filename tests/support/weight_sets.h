// SPDX-License-Identifier: BSD-3-Clause
//
// Sets of kernel weights in groups, by their definition.
#pragma once

#include <algorithm>
#include <cmath>

#include "methods/seam/weight_set.h"

namespace kloom::test {

// v Σ β + (1 − v) Σ β², by its definition.
inline double size_of(const methods::WeightSet& set, const Vector& theta) {
  double size = 0.0;
  for (Index g = 0; g < set.groups; ++g) {
    double beta = 0.0;
    for (std::size_t m = 0; m < theta.size(); ++m) {
      if (set.group[m] != g) continue;
      beta = std::isinf(set.norm) ? std::max(beta, theta[m]) : beta + std::pow(theta[m], set.norm);
    }
    if (!std::isinf(set.norm)) beta = std::pow(beta, 1.0 / set.norm);
    size += set.mix * beta + (1.0 - set.mix) * beta * beta;
  }
  return size;
}

// Stretched or shrunk to the edge of the set.
inline Vector at_edge(const methods::WeightSet& set, Vector theta) {
  double low = 0.0;
  double high = 1e6;
  for (int halving = 0; halving < 200; ++halving) {
    const double middle = 0.5 * (low + high);
    Vector scaled = theta;
    for (double& one : scaled) one *= middle;
    (size_of(set, scaled) > 1.0 ? high : low) = middle;
  }
  for (double& one : theta) one *= low;
  return theta;
}

}  // namespace kloom::test
