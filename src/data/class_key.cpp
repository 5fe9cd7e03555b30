// SPDX-License-Identifier: BSD-3-Clause
#include "data/class_key.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <tuple>

#include "data/number.h"

namespace kloom::data {
namespace {

// The digits of an integer that is rounded when it is read, "" for every other number.
std::string rounded_digits(std::string_view label, double value) {
  constexpr double exact = 9007199254740992.0;  // 2^53
  if (std::abs(value) < exact) return {};
  std::string_view digits = trim(label);
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) return {};
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  const std::string written = (negative ? "-" : "") + std::string(digits);
  return written == fmt::format("{:.0f}", value) ? std::string() : written;
}

}  // namespace

bool operator<(const ClassKey& a, const ClassKey& b) {
  return std::tie(a.is_text, a.value, a.text) < std::tie(b.is_text, b.value, b.text);
}

ClassKey class_key(const std::string& label) {
  const CellValue cell = read_cell(label);
  if (cell.kind == CellKind::number) {
    return {false, cell.value + 0.0, rounded_digits(label, cell.value)};  // + 0.0 makes -0 a 0
  }
  return {true, 0.0, label};
}

}  // namespace kloom::data
