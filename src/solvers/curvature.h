// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers that the solvers of support vector machines share.
#pragma once

#include <limits>

namespace kloom::solvers {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kTinyCurvature = 1e-12;  // stands for zero or negative curvature (indefinite kernels)

}  // namespace kloom::solvers
