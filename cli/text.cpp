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

std::string csv_number(double value) {
  return std::isnan(value) ? "" : number_text(value);
}

namespace {

bool is_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// Spreadsheets run what begins with these; a sign alone (the classes + and -) and numbers are harmless.
bool is_formula(std::string_view text) {
  constexpr std::string_view kBeginnings = "=+-@";
  return text.size() > 1 && kBeginnings.find(text.front()) != std::string_view::npos && !is_number(text);
}

}  // namespace

std::string csv_cell(std::string_view cell) {
  std::string text = (is_formula(cell) ? "'" : "") + std::string(cell);
  const bool plain = text.find_first_of(",\"\r\n") == std::string_view::npos &&
                     (text.empty() || (text.front() != ' ' && text.back() != ' '));
  if (plain) return text;
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
  constexpr std::size_t kLongest = 300;  // names may be anything, also the content of a large cell
  for (std::size_t i = 0; i < shown; ++i) text.append(i == 0 ? "" : ", ").append(printable(items[i], kLongest));
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
