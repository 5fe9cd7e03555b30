// SPDX-License-Identifier: BSD-3-Clause
//
// What training promised, against what the referee finds.
#pragma once

#include "kloom/bank.h"
#include "kloom/context.h"
#include "kloom/model.h"
#include "kloom/report.h"

namespace kloom::certify_detail {

// Adds to the refutations every number of the report in the model that the certificate or the model's predictions of its
// training samples (`bank`) contradict. A model that is being trained has no report yet and promises nothing.
void compare_with_promise(const KernelBank& bank, const Model& model, const Context& context,
                          Certificate& certificate);

}  // namespace kloom::certify_detail
