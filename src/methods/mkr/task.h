// SPDX-License-Identifier: BSD-3-Clause
//
// What multiple-kernel ridge regression learns from, and what it finds.
#pragma once

#include "kloom/matrix.h"

namespace kloom::methods {

struct RidgeTask {
  Matrix y;        // N × targets, about their means
  Vector weights;  // s of the samples
  Vector
      sizes;  // mean diagonal of every kernel over the samples that have it; empty: every sample has all kernels
};

// For every target.
struct RidgeChoice {
  Matrix theta;         // targets × P, on the simplex
  Vector strengths;     // α
  Vector losses;        // weighted mean of squared leave-one-out errors
  Matrix coefficients;  // N × targets
};

}  // namespace kloom::methods
