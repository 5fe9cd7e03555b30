// SPDX-License-Identifier: BSD-3-Clause
//
// The switches of one sample, exactly and without integer programming.
//
//   minimise     Σ_p h_p
//   subject to   Σ_p h_p g_p ≥ needed,   ‖h − h⁰‖₁ ≤ changes,   h ∈ {0,1}^P
//   given        gains g, the switches h⁰ to stay near, the number of changes
//   returns      h, or nothing where no h is feasible
//
// This is [Liu2014] eq. 15 with g_p = y_i g_ip and needed = τ_i(1 − ξ_i) − y_i b. For given numbers a of
// switch-offs and b of switch-ons the largest sum comes from the a smallest gains among h⁰ = 1 off and the b
// largest among h⁰ = 0 on, so after sorting only the pairs (a, b) with a + b ≤ changes have to be looked at.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kloom/matrix.h"

namespace kloom::solvers {

// `start` and the result hold 0 or 1. Of equally few kernels the set with the largest sum of gains; of equal
// gains the kernel that comes first is changed first.
[[nodiscard]] std::optional<Vector> fewest_switches(std::span<const double> gains,
                                                    std::span<const double> start, double needed,
                                                    Index changes);

}  // namespace kloom::solvers
