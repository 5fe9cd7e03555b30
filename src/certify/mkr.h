// SPDX-License-Identifier: BSD-3-Clause
//
// The referee's view of multiple-kernel ridge regression.
#pragma once

#include "kloom/certify.h"

namespace kloom::certify_detail {

[[nodiscard]] Certificate certify_mkr(const KernelBank& bank, const Targets& targets, const Model& model,
                                      const Context& context);

}  // namespace kloom::certify_detail
