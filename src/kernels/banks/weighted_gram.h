// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "kloom/bank.h"

namespace kloom::kernels {

// Σ_p K_p W K_p of a symmetric bank, W the diagonal matrix of the weights of the samples, none below 0. No weights: all
// are 1, and this is the bank's `gram`. Samples of weight 0 cost next to nothing.
[[nodiscard]] Matrix weighted_gram(const KernelBank& bank, std::span<const double> weights);

}  // namespace kloom::kernels
