// SPDX-License-Identifier: BSD-3-Clause
#include "data/number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>

namespace kloom::data {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

// from_chars says "out of range" for 1e999 and for 1e-999 alike; the second is an honest zero. The sign of
// the decimal exponent of the leading digit tells them apart.
bool too_small(std::string_view text) {
  std::ptrdiff_t exponent = 0;
  const std::size_t e = text.find_first_of("eE");
  if (e != std::string_view::npos) {
    const std::string_view digits = text.substr(e + 1);
    const std::size_t skip = digits.starts_with('+') ? 1 : 0;
    const auto [end, error] = std::from_chars(digits.data() + skip, digits.data() + digits.size(), exponent);
    if (error == std::errc::result_out_of_range) {
      return digits.starts_with('-');
    }
  }
  const std::string_view mantissa = text.substr(0, e);
  const std::size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) {
    return true;
  }
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const auto place = static_cast<std::ptrdiff_t>(point) - static_cast<std::ptrdiff_t>(first);
  return exponent < std::numeric_limits<std::ptrdiff_t>::max() / 2 && place + exponent < 0;
}

}  // namespace

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool is_missing(std::string_view cell) {
  const std::string_view text = trim(cell);
  if (text.empty() || text == "?" || text == ".") {
    return true;
  }
  constexpr std::array<std::string_view, 4> words{"na", "nan", "n/a", "null"};
  return std::ranges::any_of(words, [&](std::string_view word) { return equal_ignoring_case(text, word); });
}

CellValue read_cell(std::string_view cell) {
  std::string_view text = trim(cell);
  // Among numbers a dash stands for no value; among words it may be one (+ and -).
  if (is_missing(text) || text == "-" || text == "--") {
    return {CellKind::missing, kNoNumber};
  }
  if (text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+') {
    text.remove_prefix(1);
  }
  std::string_view digits = text;
  if (digits[0] == '-') {
    digits.remove_prefix(1);
  }
  if (equal_ignoring_case(digits, "inf") || equal_ignoring_case(digits, "infinity")) {
    return {CellKind::infinite, text[0] == '-' ? -HUGE_VAL : HUGE_VAL};
  }
  // from_chars would also take "nan(…)"; a number starts with a digit or a point.
  if (digits.empty() || !(is_digit(digits[0]) || digits[0] == '.')) {
    return {CellKind::text, kNoNumber};
  }
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) {
    return {CellKind::text, kNoNumber};
  }
  if (error == std::errc::result_out_of_range) {
    if (too_small(digits)) {
      return {CellKind::number, 0.0};
    }
    return {CellKind::infinite, text[0] == '-' ? -HUGE_VAL : HUGE_VAL};
  }
  return {CellKind::number, value};
}

std::string label_text(double value) {
  std::array<char, 64> buffer{};
  char* const begin = buffer.data();
  char* const end = begin + buffer.size();
  // Below 2^53 every integer is exact and fixed notation is its plain decimal form.
  constexpr double exact_integers = 9007199254740992.0;
  const bool integer = std::abs(value) < exact_integers && value == std::floor(value);
  const auto result = integer ? std::to_chars(begin, end, value == 0.0 ? 0.0 : value, std::chars_format::fixed)
                              : std::to_chars(begin, end, value);
  return {begin, result.ptr};
}

}  // namespace kloom::data
