// SPDX-License-Identifier: BSD-3-Clause
#include "methods/seam/option_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "kloom/error.h"
#include "kloom/words.h"

namespace kloom::methods {
namespace {

bool within(double value, const NumberRule& rule) {
  return (rule.low_open ? value > rule.low : value >= rule.low) && value <= rule.high;
}

[[noreturn]] void reject(const std::string& name, const std::string& value, const std::string& rule) {
  throw InvalidArgument(fmt::format("option {} must be {}; got '{}'", name, rule, value));
}

}  // namespace

std::string rule_text(const NumberRule& rule) {
  const std::string low =
      std::isinf(rule.low) ? "" : fmt::format("{} {}", rule.low_open ? ">" : ">=", rule.low);
  const std::string high = std::isinf(rule.high) ? "" : fmt::format("<= {}", rule.high);
  const std::string bounds = low.empty() || high.empty() ? low + high : low + " and " + high;
  return rule.infinite ? bounds + ", may be inf" : bounds;
}

double parse_real(const std::string& name, const std::string& value, const NumberRule& rule) {
  double number = 0.0;
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc() || stop != end || std::isnan(number) || (std::isinf(number) && !rule.infinite) ||
      !within(number, rule)) {
    reject(name, value, "a number " + rule_text(rule));
  }
  return number;
}

Index parse_integer(const std::string& name, const std::string& value, const NumberRule& rule) {
  const double number = parse_real(name, value, rule);
  if (number != std::floor(number) || std::abs(number) > 1e15)
    reject(name, value, "a whole number " + rule_text(rule));
  return static_cast<Index>(number);
}

bool parse_flag(const std::string& name, const std::string& value) {
  if (value == "true" || value == "1" || value == "yes" || value.empty()) return true;
  if (value == "false" || value == "0" || value == "no") return false;
  reject(name, value, "true or false");
}

std::string parse_choice(const std::string& name, const std::string& value,
                         const std::vector<std::string>& choices) {
  if (!choices.empty() && std::ranges::find(choices, value) == choices.end()) {
    reject(name, value, fmt::format("one of {}", fmt::join(choices, ", ")));
  }
  return value;
}

void unknown_option(const std::string& method, const std::string& name, const std::vector<std::string>& known) {
  throw InvalidArgument(fmt::format("method {} has no option '{}'{}; its options are {}", method, name,
                                    did_you_mean(name, known), fmt::join(known, ", ")));
}

}  // namespace kloom::methods
