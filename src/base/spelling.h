// SPDX-License-Identifier: BSD-3-Clause
//
// Help for misspelt names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kloom {

// The nearest of `known` if it is near enough to be what was meant, else empty.
[[nodiscard]] std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

// " (did you mean 'x'?)" for the nearest name, or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

}  // namespace kloom
