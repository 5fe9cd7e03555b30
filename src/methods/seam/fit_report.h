// SPDX-License-Identifier: BSD-3-Clause
//
// What the report of every method says besides its own findings.
#pragma once

#include <string>

#include "kloom/learner.h"

namespace kloom::methods {

// Method, bank, task, sizes, threads and seed.
void describe_fit(Report& report, const std::string& method, const KernelBank& bank, const Targets& targets,
                  int threads, const Context& context);

}  // namespace kloom::methods
