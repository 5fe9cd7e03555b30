// SPDX-License-Identifier: BSD-3-Clause
#include "data/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>

#include "kloom/error.h"
#include "kloom/machine.h"

namespace kloom::data {

bool glob_match(std::string_view pattern, std::string_view text) {
  // Greedy with one way back: after a mismatch the last `*` swallows one character more.
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool is_glob(std::string_view pattern) {
  return pattern.find_first_of("*?") != std::string_view::npos;
}

std::string list_some(const std::vector<std::string>& names, std::size_t limit) {
  const auto shown = static_cast<std::ptrdiff_t>(std::min(limit, names.size()));
  constexpr std::size_t longest = 80;
  std::string text;
  for (std::ptrdiff_t k = 0; k < shown; ++k)
    text += (k == 0 ? "" : ", ") + printable(names[static_cast<std::size_t>(k)], longest);
  if (names.size() > limit) {
    text += fmt::format(", … ({} in all)", names.size());
  }
  return text;
}

std::string suggestion(std::string_view name, const std::vector<std::string>& names) {
  const std::string best = nearest_name(name, names);
  return best.empty() ? std::string() : fmt::format(" Did you mean '{}'?", best);
}

std::string place_of(const Dataset& data, Index row) {
  const auto i = static_cast<std::size_t>(row);
  if (i < data.lines.size()) {
    return fmt::format("line {}", data.lines[i]);
  }
  if (i < data.ids.size()) {
    return fmt::format("sample '{}'", data.ids[i]);
  }
  return fmt::format("sample {}", row + 1);
}

std::size_t area_bytes(std::size_t rows, std::size_t columns, std::size_t each) {
  std::size_t result = 0;
  if (__builtin_mul_overflow(rows, columns, &result) || __builtin_mul_overflow(result, each, &result))
    return std::numeric_limits<std::size_t>::max();
  return result;
}

std::size_t sum_bytes(std::size_t a, std::size_t b) {
  return a > std::numeric_limits<std::size_t>::max() - b ? std::numeric_limits<std::size_t>::max() : a + b;
}

void require_room(std::size_t needed, std::size_t limit, std::string_view source, std::size_t rows,
                  std::size_t columns) {
  if (needed <= limit) return;
  throw ResourceError(fmt::format(
      "{}: reading {} row{} of {} column{} takes {}, more than the {} that may be used. Use fewer columns or "
      "samples, or a larger memory budget (--memory).",
      source, rows, rows == 1 ? "" : "s", columns, columns == 1 ? "" : "s", format_bytes(needed),
      format_bytes(limit)));
}

std::vector<std::string> split_names(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view name = list.substr(0, comma);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    names.emplace_back(name);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return names;
}

}  // namespace kloom::data
