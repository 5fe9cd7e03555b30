// SPDX-License-Identifier: BSD-3-Clause
//
// From a sum over features to the value of a kernel, many entries at a time.
#pragma once

#include "kernels/functions/distance.h"
#include "kloom/kernels.h"

namespace kloom::kernels {

// out[i] = exp(-rate * x[i]) for x >= 0, rate > 0; relative error below 4 ulp; exactly 1 at x = 0, and 0 where
// the argument is below -600 (that is 1e-261). Any n; a value does not depend on its place.
void exp_negative(double rate, const double* x, double* out, Index n);
// With instructions other than the widest that the processor has, for tests.
void exp_negative_with(InstructionSet instructions, double rate, const double* x, double* out, Index n);

// out[i] = x[i]^degree, degree >= 1.
void whole_power(const double* x, int degree, double* out, Index n);

// Which sum over features a kernel function of features is made from.
[[nodiscard]] PairSum pair_sum_of(KernelFunction function);

// k(x, x) = 1 for every x, whatever the data.
[[nodiscard]] bool has_unit_diagonal(KernelFunction function);
// The kernel is evaluated on feature columns, not on texts or given matrices.
[[nodiscard]] bool uses_features(KernelFunction function);
// Features must not be negative.
[[nodiscard]] bool needs_non_negative(KernelFunction function);

}  // namespace kloom::kernels
