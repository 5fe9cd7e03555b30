// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "kloom/bank.h"

namespace kloom::kernels {

// The same kernels in float32, in at most half of the memory: for products that are small beside a sum that
// they correct. Entries are right to about 3e-8 of themselves. Null unless the bank is symmetric and holds every
// kernel dense or as a low-rank factor: passes over other banks read no memory that could be saved.
[[nodiscard]] std::unique_ptr<KernelBank> rounded_bank(const KernelBank& bank);

}  // namespace kloom::kernels
