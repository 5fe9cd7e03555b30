// SPDX-License-Identifier: BSD-3-Clause
//
// How much memory texts take, before and after they are there.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kloom::data {

// Of one text of this length in a vector: short ones are inside of the string, longer ones beside it, in blocks of the
// allocator: its header and sixteens.
[[nodiscard]] constexpr std::size_t text_bytes(std::size_t length) {
  constexpr std::size_t inside = 15;
  return sizeof(std::string) + (length > inside ? (length + 1 + 8 + 15) / 16 * 16 : 0);
}

[[nodiscard]] inline std::size_t text_bytes(const std::vector<std::string>& texts) {
  std::size_t total = 0;
  for (const std::string& text : texts) total += text_bytes(text.size());
  return total;
}

}  // namespace kloom::data
