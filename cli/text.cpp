// SPDX-License-Identifier: BSD-3-Clause
#include "text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kloom/error.h"

namespace kloom::cli {
namespace {

std::string wrap_paragraph(std::string_view text, std::size_t width, std::size_t indent, std::size_t& column) {
  std::string result;
  bool first = true;
  while (!text.empty()) {
    const std::size_t start = text.find_first_not_of(' ');
    if (start == std::string_view::npos) break;
    const std::size_t end = std::min(text.find(' ', start), text.size());
    const std::string_view word = text.substr(start, end - start);
    text.remove_prefix(end);
    const std::size_t length = width_of(word);
    if (!first && column + 1 + length > width) {
      result.append(1, '\n').append(indent, ' ');
      column = indent;
      first = true;
    }
    if (!first) {
      result += ' ';
      ++column;
    }
    result += word;
    column += length;
    first = false;
  }
  return result;
}

// Insertions, deletions, replacements and swaps of neighbours that turn a into b.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string padded(std::string_view text, std::size_t width) {
  const std::size_t used = width_of(text);
  return std::string(text) + std::string(used < width ? width - used : 0, ' ');
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  std::string result;
  std::size_t column = indent;  // the first line starts where the caller has come to
  while (true) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    result += wrap_paragraph(text.substr(0, end), width, indent, column);
    if (end == text.size()) return result;
    result.append(1, '\n').append(indent, ' ');
    column = indent;
    text.remove_prefix(end + 1);
  }
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  // A third of the letters may be wrong, at least two.
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < least && distance < candidate.size()) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string best = nearest(word, candidates);
  return best.empty() ? "" : fmt::format("; did you mean '{}'?", best);
}

std::string format_seconds(double seconds) {
  if (!(seconds >= 0.0) || seconds > 1e9) return "?";
  if (seconds < 60.0) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

double parse_duration(std::string_view text, std::string_view option) {
  double seconds = 0.0;
  bool good = !text.empty();
  for (std::string_view rest = text; good && !rest.empty();) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    const char unit = rest.empty() ? 's' : rest.front();
    if (!rest.empty()) rest.remove_prefix(1);
    good = error == std::errc() && value >= 0.0 && (unit == 's' || unit == 'm' || unit == 'h');
    seconds += value * (unit == 'h' ? 3600.0 : (unit == 'm' ? 60.0 : 1.0));
  }
  if (!good || !(seconds > 0.0) || seconds > 1e9)
    throw InvalidArgument(fmt::format("{} is '{}'; write a time such as 90s, 10m or 1h30m", option, text));
  return seconds;
}

std::string shell_line(const std::vector<std::string>& words) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,/:@%^";
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? "'\\''" : std::string(1, c);
    line += '\'';
  }
  return line;
}

std::size_t parse_bytes(std::string_view text, std::string_view option) {
  struct Unit {
    std::string_view name;
    double bytes;
  };
  constexpr std::array<Unit, 13> kUnits{{{"", 1},
                                         {"b", 1},
                                         {"k", 1e3},
                                         {"kb", 1e3},
                                         {"m", 1e6},
                                         {"mb", 1e6},
                                         {"g", 1e9},
                                         {"gb", 1e9},
                                         {"t", 1e12},
                                         {"tb", 1e12},
                                         {"kib", 1024.0},
                                         {"mib", 1048576.0},
                                         {"gib", 1073741824.0}}};
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string unit;
  for (const char* c = end; c != text.data() + text.size(); ++c) {
    if (*c != ' ') unit += static_cast<char>(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
  }
  const auto known = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& u) { return u.name == unit; });
  if (error != std::errc() || known == kUnits.end() || !(value > 0.0) || value * known->bytes > 1e18) {
    throw InvalidArgument(
        fmt::format("{} is '{}'; write an amount of memory such as 4GB or 500MB", option, text));
  }
  return static_cast<std::size_t>(value * known->bytes);
}

std::string number_text(double value) {
  return std::isnan(value) ? "" : fmt::format("{}", value);
}

std::string csv_cell(std::string_view text) {
  const bool plain = text.find_first_of(",\"\r\n") == std::string_view::npos &&
                     (text.empty() || (text.front() != ' ' && text.back() != ' '));
  if (plain) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string valid_utf8(std::string_view text) {
  using Json = nlohmann::json;
  return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
}

std::string list_of(const std::vector<std::string>& items, std::size_t most) {
  std::string text;
  const std::size_t shown = items.size() > most ? most : items.size();
  for (std::size_t i = 0; i < shown; ++i) text.append(i == 0 ? "" : ", ").append(items[i]);
  if (items.size() > shown) text += fmt::format(" and {} more", items.size() - shown);
  return text;
}

std::string counted(std::ptrdiff_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    if (end > start) parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

}  // namespace kloom::cli
