// SPDX-License-Identifier: BSD-3-Clause
#include "data/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

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
  std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + shown, ", "));
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

std::size_t memory_limit(const Context& context) {
  return memory_budget(context);
}

void require_memory(std::size_t rows, std::size_t columns, const Context& context, std::string_view source) {
  const std::size_t limit = memory_limit(context);
  if (columns != 0 && rows > limit / sizeof(double) / columns) {
    constexpr double gib = 1024.0 * 1024.0 * 1024.0;
    throw ResourceError(fmt::format(
        "{}: a table of {} rows and {} columns takes {:.1f} GiB, more than the {:.1f} GiB allowed. Use fewer "
        "columns or samples, or a larger memory budget.",
        source, rows, columns, static_cast<double>(rows) * static_cast<double>(columns) * sizeof(double) / gib,
        static_cast<double>(limit) / gib));
  }
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
