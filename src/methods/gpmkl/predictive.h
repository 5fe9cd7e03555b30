// SPDX-License-Identifier: BSD-3-Clause
//
// Probabilities of classes from scores that are normal with a mean and a deviation, and what such scores are where a
// sample's own label is left out.
#pragma once

#include <span>

#include "kloom/matrix.h"

namespace kloom::methods {

// Samples × classes. The mean of σ(f) over f ~ N(score, deviation²), with a probit in the place of the logistic function,
// for which the mean has a closed form; to the power 1/temperature, and divided by the sum over the classes. A single
// score stands for two classes.
[[nodiscard]] Matrix gp_probabilities(const Matrix& scores, const Matrix& deviation, double temperature);

// Laplace's approximation replaces the likelihood of sample i by that of a pseudo-target f_i + a_i/W_ii with normal noise
// of variance 1/W_ii. Without the i-th of these, score i is normal with this mean and variance
// [RasmussenWilliams2006, eq. 5.12].
struct LeftOut {
  Vector mean;
  Vector variance;
};
// All of the same samples: `precision` is (K + W⁻¹)⁻¹ among them, `root` W^½.
[[nodiscard]] LeftOut left_out_scores(const Matrix& precision, std::span<const double> f,
                                      std::span<const double> a, std::span<const double> root);

}  // namespace kloom::methods
