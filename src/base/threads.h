// SPDX-License-Identifier: BSD-3-Clause
//
// How many threads a computation may use.
#pragma once

#include "kloom/context.h"

namespace kloom::base {

// Cores that this process may run on (its affinity mask), at least 1.
[[nodiscard]] int available_cores();

// Context.threads, where 0 means every available core. Throws InvalidArgument for a negative number and beyond
// Context::most_threads.
// In a process forked after the first call the answer is always 1: libgomp's threads do not survive fork,
// and the first parallel region of such a child would wait for them for ever.
[[nodiscard]] int resolve_threads(const Context& context);

// True in a process that was forked after resolve_threads was first called.
[[nodiscard]] bool forked_child();

}  // namespace kloom::base
