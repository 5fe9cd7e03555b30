// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kloom/bank.h"
#include "kloom/context.h"
#include "kloom/model.h"
#include "kloom/report.h"
#include "kloom/targets.h"

namespace kloom::certify_detail {

[[nodiscard]] Certificate certify_mtmkl(const KernelBank& bank, const Targets& targets, const Model& model,
                                        const Context& context);

}  // namespace kloom::certify_detail
