// SPDX-License-Identifier: BSD-3-Clause
//
// The referee's view of models whose kernels depend on the sample. For the gates as they are, the rest is a
// convex problem and its duality gap a proof. That the gates are optimal cannot be proved, so the certificate
// says what can be checked about them.
#pragma once

#include "kloom/certify.h"
#include "kloom/parts.h"

namespace kloom::certify_detail {

[[nodiscard]] Certificate certify_gated(const KernelBank& bank, const Targets& targets, const Model& model,
                                        const Context& context);

}  // namespace kloom::certify_detail
