// SPDX-License-Identifier: BSD-3-Clause
//
// Words of a text, as word kernels and the rules about text columns see them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kloom::data {

// Runs of letters and digits, with A-Z in lower case. Bytes beyond ASCII count as letters, so that words of
// any language in UTF-8 stay whole.
[[nodiscard]] std::vector<std::string> words_of(std::string_view text);

}  // namespace kloom::data
