// SPDX-License-Identifier: BSD-3-Clause
#include "report/kernel_label.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>

#include "report/svg.h"

namespace kloom::report {
namespace {

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// The parameters between the parentheses, "width=0.847134", with about three digits each. Names of columns, which may hold
// digits that matter, stand behind them.
std::string with_few_digits(const std::string& parameters) {
  std::string result;
  for (std::size_t i = 0; i < parameters.size();) {
    const char* const begin = parameters.data() + i;
    const bool starts =
        i == 0 || parameters[i - 1] == '=' || parameters[i - 1] == ',' || parameters[i - 1] == ' ';
    double value = 0.0;
    const auto [end, error] = std::from_chars(begin, parameters.data() + parameters.size(), value);
    if (starts && error == std::errc() && std::isdigit(static_cast<unsigned char>(*begin)) != 0) {
      result += short_number(value);
      i += static_cast<std::size_t>(end - begin);
    } else {
      result += parameters[i++];
    }
  }
  return result;
}

// "width=0.847, scale=raw" → "0.847, raw"
std::string without_keys(const std::string& parameters) {
  std::string result;
  std::size_t word = 0;  // where in the result the present parameter begins
  for (const char c : parameters) {
    if (c == '=') {
      result.resize(word);
      continue;
    }
    result += c;
    if (c == ',' || c == ' ') word = result.size();
  }
  return result;
}

}  // namespace

std::string kernel_label(const std::string& name, std::size_t most) {
  if (characters(name) <= most) return name;
  const std::size_t open = name.find('(');
  const std::size_t close = open == std::string::npos ? open : name.find(')', open);
  if (close == std::string::npos) return shortened_inside(name, most);
  const std::string function = name.substr(0, open + 1);
  const std::string few = with_few_digits(name.substr(open + 1, close - open - 1));
  std::string where = name.substr(close);
  if (std::string label = function + few + where; characters(label) <= most) return label;
  constexpr std::string_view view = " on view ";
  if (const std::size_t at = where.find(view); at != std::string::npos) where.replace(at, view.size(), " on ");
  return shortened_inside(function + without_keys(few) + where, most);
}

}  // namespace kloom::report
