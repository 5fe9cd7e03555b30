// SPDX-License-Identifier: BSD-3-Clause
//
// What methods make of targets before they learn from them: weights of samples and classes, standardised numbers.
#pragma once

#include <span>

#include "kloom/targets.h"

namespace kloom::methods {

// 1 where no weights were given.
[[nodiscard]] double weight_of(const Targets& targets, Index i);

// Multiplies the weights so that all classes have the same total: those of a class go inversely to its size. `codes` are
// the classes of the samples; those without a label keep their weight.
void balance_classes(std::span<const int> codes, std::size_t classes, Vector& weights);

// (y − centre)/scale has mean 0 and standard deviation 1 under the weights; none: all 1. Numbers that are all the same
// have scale 1.
struct Standardised {
  Vector values;
  double centre = 0.0;
  double scale = 1.0;
};
[[nodiscard]] Standardised standardised(std::span<const double> values, const Vector& weights);

}  // namespace kloom::methods
