// SPDX-License-Identifier: BSD-3-Clause
//
// The referee's view of weights that a rule found before the machine: is that what the rule says, and is the machine on
// them the best one?
#pragma once

#include "kloom/certify.h"

namespace kloom::certify_detail {

[[nodiscard]] Certificate certify_easymkl(const KernelBank& bank, const Targets& targets, const Model& model,
                                          const Context& context);
[[nodiscard]] Certificate certify_align(const KernelBank& bank, const Targets& targets, const Model& model,
                                        const Context& context);
[[nodiscard]] Certificate certify_alignf(const KernelBank& bank, const Targets& targets, const Model& model,
                                         const Context& context);
[[nodiscard]] Certificate certify_gram(const KernelBank& bank, const Targets& targets, const Model& model,
                                       const Context& context);
[[nodiscard]] Certificate certify_fheuristic(const KernelBank& bank, const Targets& targets, const Model& model,
                                             const Context& context);
[[nodiscard]] Certificate certify_pwmk(const KernelBank& bank, const Targets& targets, const Model& model,
                                       const Context& context);

}  // namespace kloom::certify_detail
