// SPDX-License-Identifier: BSD-3-Clause
//
// What every fit refuses before it begins (complete_fit.cpp): samples, task, labels, weights and views that the method
// cannot learn from. Throws InvalidArgument with a sentence.
#pragma once

#include "kloom/learner.h"

namespace kloom {

void check_fit(const Learner& learner, const KernelBank& bank, const Targets& targets);

}  // namespace kloom
