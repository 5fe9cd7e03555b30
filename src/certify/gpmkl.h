// SPDX-License-Identifier: BSD-3-Clause
//
// The referee's view of a Gaussian process: kernel weights by the slopes of the evidence, coefficients by the equation of
// the posterior's mode.
#pragma once

#include "kloom/certify.h"
#include "kloom/parts.h"

namespace kloom::certify_detail {

[[nodiscard]] Certificate certify_gpmkl(const KernelBank& bank, const Targets& targets, const Model& model,
                                        const Context& context);

}  // namespace kloom::certify_detail
