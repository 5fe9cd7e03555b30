// SPDX-License-Identifier: BSD-3-Clause
//
// Which kernels are worth a cross-validation of their own.
#pragma once

#include <vector>

#include "kloom/bank.h"
#include "kloom/context.h"
#include "methods/margin/outputs.h"

namespace kloom::methods {

// At most `count` kernels, in their order: those of least leave-one-out loss of ridge regression, which has a closed
// form, on at most 500 samples. All of them where there are no more.
[[nodiscard]] std::vector<Index> promising_kernels(const KernelBank& bank, const MarginOutput& output,
                                                   Index count, const Context& context);

}  // namespace kloom::methods
