// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers in data files: read and written in the C locale, whatever the user's locale is.
#pragma once

#include <string>
#include <string_view>

#include "kloom/words.h"

namespace kloom::data {

enum class CellKind { missing, number, infinite, text };

struct CellValue {
  CellKind kind = CellKind::missing;
  double value = 0.0;  // NaN where missing
};

// Blanks around the cell do not count. Missing: "", NA, N/A, NaN, null (in any case), "?" and ".".
// Infinite: "inf", "infinity" and numbers beyond the range of a double.
[[nodiscard]] CellValue read_cell(std::string_view cell);
[[nodiscard]] bool is_missing(std::string_view cell);
// 0 to 9, in every locale.
[[nodiscard]] constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
// Without blanks (space, tab) at both ends.
[[nodiscard]] std::string_view trim(std::string_view text);

// The text of a number that is a label or a category: the shortest that reads back, integers without decimals.
// Models keep these texts, so unlike kloom::number_text it may never change.
[[nodiscard]] std::string label_text(double value);

}  // namespace kloom::data
