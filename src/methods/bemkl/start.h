// SPDX-License-Identifier: BSD-3-Clause
//
// Where the iteration of BEMKL starts. The paper's author draws a ~ N(0,1) and G, f = (|N(0,1)| + ν)·sign(y); in
// regression G ~ N(0,1). The expected start takes expectations of these instead, a = 1 from E a² and
// E|z| = √(2/π), and G = y in regression: it needs no seed, and permuted samples give the permuted answer.
//
// Samples without a label start from labels grown along similarity: again and again the one that is most similar
// (by the mean of all kernels) to a sample with a label takes that label. From f = 0 the bias alone would decide
// about all of them.
#pragma once

#include <cstdint>

#include "methods/bemkl/factors.h"

namespace kloom::methods {

[[nodiscard]] BemklStart expected_start(const KernelBank& bank, const BemklProblem& problem, double margin);
[[nodiscard]] BemklStart random_start(const KernelBank& bank, const BemklProblem& problem, double margin,
                                      std::uint64_t seed);

}  // namespace kloom::methods
