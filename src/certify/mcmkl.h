// SPDX-License-Identifier: BSD-3-Clause
//
// The referee's view of a multiclass MKL model: primal, dual and their gap, which is a proof.
#pragma once

#include "kloom/certify.h"
#include "kloom/parts.h"

namespace kloom::certify_detail {

[[nodiscard]] Certificate certify_mcmkl(const KernelBank& bank, const Targets& targets, const Model& model,
                                        const Context& context);

}  // namespace kloom::certify_detail
