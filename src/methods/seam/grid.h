// SPDX-License-Identifier: BSD-3-Clause
//
// Values of an option that are tried one after the other.
#pragma once

#include <string>

#include "kloom/matrix.h"

namespace kloom::methods {

// What the text of option `name` says, ascending; no text, as Python's None says it, is `usual`. Throws InvalidArgument where
// one of them is not above 0.
[[nodiscard]] Vector positive_grid(const std::string& name, const std::string& text, const std::string& usual);

}  // namespace kloom::methods
