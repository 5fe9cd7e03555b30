// SPDX-License-Identifier: BSD-3-Clause
//
// The referee's view of a BEMKL model.
#pragma once

#include "kloom/certify.h"
#include "kloom/parts.h"

namespace kloom::certify_detail {

[[nodiscard]] Certificate certify_bemkl(const KernelBank& bank, const Targets& targets, const Model& model,
                                        const Context& context);

// What the lower bound of every task counts of kernel weights that several tasks share: E[log p(ω) p(e|ω)] − E[log q(ω) q(e)].
[[nodiscard]] double bound_of_shared_weights(const Model& model);

}  // namespace kloom::certify_detail
