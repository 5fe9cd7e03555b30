// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kloom/bank.h"
#include "kloom/context.h"
#include "kloom/parts.h"
#include "kloom/report.h"
#include "kloom/targets.h"

namespace kloom::certify_detail {

// MKL-DA: each of the averaged solutions against its own convex problem. UFO-MKL: the solution
// against the problem.
[[nodiscard]] Certificate certify_stochastic(const KernelBank& bank, const Targets& targets, const Model& model,
                                             const Context& context);

}  // namespace kloom::certify_detail
