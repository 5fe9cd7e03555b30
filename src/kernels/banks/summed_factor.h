// SPDX-License-Identifier: BSD-3-Clause
//
// A weighted sum of kernels as one thin factor, where all of them have thin ones.
#pragma once

#include <span>

#include "kloom/bank.h"

namespace kloom::kernels {

// F with F Fᵀ = Σ_p w_p K_p, the factors of the kernels with a weight side by side, each times √w_p. Empty where one of them
// is kept by its entries, or where F would have more than `most` columns.
[[nodiscard]] Matrix summed_factor(const KernelBank& bank, std::span<const double> w, Index most);

}  // namespace kloom::kernels
