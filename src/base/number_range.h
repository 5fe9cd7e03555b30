// SPDX-License-Identifier: BSD-3-Clause
//
// How large and how small targets and entries of kernels may be.
//
// Methods scale what they are given, and to do so they sum squares: (1e150)² and a million of them are finite, (1e-150)²
// is not zero. What is beyond is refused with a sentence; it is a code for "missing" or a wrong unit anyway.
#pragma once

#include <cmath>

namespace kloom::base {

constexpr double kLargestInput = 1e150;
constexpr double kSmallestSpread = 1e-150;

[[nodiscard]] inline bool too_large(double value) {
  return std::abs(value) > kLargestInput;
}

}  // namespace kloom::base
