// SPDX-License-Identifier: BSD-3-Clause
//
// Is an outcome that was read from a file one that this request could have had?
#pragma once

#include <string>

#include "kloom/targets.h"
#include "kloom/validate.h"

namespace kloom::select {

// What is wrong with it, or "". Indices, sizes and ranges are checked against request and targets; then the metrics are
// computed again from the predictions and have to be the same.
[[nodiscard]] std::string outcome_trouble(const Outcome& outcome, const ValidationRequest& request,
                                          const Targets& targets);

}  // namespace kloom::select
