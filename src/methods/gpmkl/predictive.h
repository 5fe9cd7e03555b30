// SPDX-License-Identifier: BSD-3-Clause
//
// Probabilities of classes from scores that are normal with a mean and a deviation, and what such scores are where a
// sample's own label is left out.
#pragma once

#include <span>

#include "kloom/matrix.h"

namespace kloom::methods {

// σ(f) averaged over f ~ N(score, deviation²), nearly: the logistic function is taken for a probit. One score has two classes,
// several are divided by their sum; then to the power 1/temperature, again with the sum 1. Samples × classes.
[[nodiscard]] Matrix gp_probabilities(const Matrix& scores, const Matrix& deviation, double temperature);

// Laplace's approximation replaces the likelihood of sample i by a normal one of the pseudo-target f_i + a_i/W_ii with the noise
// 1/W_ii; without the i-th of these the score i is normal, with this mean and variance [RasmussenWilliams2006, eq. 5.12].
struct LeftOut {
  Vector mean;
  Vector variance;
};
// All of the same samples: `precision` is (K + W⁻¹)⁻¹ among them, `root` W^½.
[[nodiscard]] LeftOut left_out_scores(const Matrix& precision, std::span<const double> f,
                                      std::span<const double> a, std::span<const double> root);

}  // namespace kloom::methods
