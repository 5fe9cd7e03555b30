// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/error.h"

#include "kloom/words.h"

namespace kloom {

Error::Error(const std::string& message) : std::runtime_error(printable(message)) {}

}  // namespace kloom
