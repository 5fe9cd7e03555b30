// SPDX-License-Identifier: BSD-3-Clause
//
// The referee's view of a BEMKL model.
#pragma once

#include "kloom/certify.h"
#include "kloom/parts.h"

namespace kloom::certify_detail {

[[nodiscard]] Certificate certify_bemkl(const KernelBank& bank, const Targets& targets, const Model& model,
                                        const Context& context);

}  // namespace kloom::certify_detail
