// SPDX-License-Identifier: BSD-3-Clause
//
// Column and file names: globs, and lists of names in messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kloom/context.h"
#include "kloom/dataset.h"
#include "kloom/matrix.h"
#include "kloom/words.h"

namespace kloom::data {

// `*` stands for any text, `?` for one byte.
[[nodiscard]] bool glob_match(std::string_view pattern, std::string_view text);
[[nodiscard]] bool is_glob(std::string_view pattern);

// "a, b, c, … (92 in all)".
[[nodiscard]] std::string list_some(const std::vector<std::string>& names, std::size_t limit = 8);
// What did_you_mean of words.h says in brackets, as a sentence of its own: " Did you mean 'x'?", or "".
[[nodiscard]] std::string suggestion(std::string_view name, const std::vector<std::string>& names);

// Which sample a message is about: "line 7", "sample 'P12'" or "sample 7" (counted from 1).
[[nodiscard]] std::string place_of(const Dataset& data, Index row);

// rows × columns things of `each` bytes, or more than any memory has.
[[nodiscard]] std::size_t area_bytes(std::size_t rows, std::size_t columns, std::size_t each = sizeof(double));
// a + b, or the largest number.
[[nodiscard]] std::size_t sum_bytes(std::size_t a, std::size_t b);
// Throws ResourceError, naming `source`, if what is to be held, `needed` bytes for so many rows and columns, exceeds
// `limit`. Readers ask before they take the memory.
void require_room(std::size_t needed, std::size_t limit, std::string_view source, std::size_t rows,
                  std::size_t columns);

// "a,b" → a, b; spaces around names are dropped.
[[nodiscard]] std::vector<std::string> split_names(std::string_view list);

}  // namespace kloom::data
