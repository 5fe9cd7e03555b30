// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/spec/range.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <unordered_set>

#include "kloom/kernels.h"

namespace kloom::kernels {
namespace {

// A last value that misses the end of the range by rounding still belongs to it.
constexpr double kSlack = 1e-9;

bool starts_number(const Scanner& s) {
  const bool sign = s.peek() == '-' || s.peek() == '+';
  return is_digit(s.peek(sign ? 1 : 0));
}

double read(const Scanner& scanner, std::size_t begin, std::size_t end) {
  std::string_view text = scanner.slice(begin, end);
  if (text.starts_with('+')) text.remove_prefix(1);  // from_chars knows no plus sign
  double value = 0.0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec == std::errc::result_out_of_range)
    scanner.fail(begin, fmt::format("the number {} is beyond what a double can hold", text));
  if (result.ec != std::errc() || result.ptr != text.data() + text.size())
    scanner.fail(begin, fmt::format("'{}' is not a number", text));
  return value;
}

void skip_digits(Scanner& s) {
  while (is_digit(s.peek())) s.advance(1);
}
void skip_sign(Scanner& s) {
  if (s.peek() == '-' || s.peek() == '+') s.advance(1);
}
// "." followed by another "." belongs to the range, not to the number. Returns whether there was a fraction.
bool skip_fraction(Scanner& s) {
  if (s.peek() != '.' || s.peek(1) == '.') return false;
  s.advance(1);
  skip_digits(s);
  return true;
}

// Powers of ten go through the decimal reader, so that 10^-1 is the double that people write as 0.1.
double times_power_of_ten(double mantissa, double exponent, const Scanner& scanner, std::size_t position) {
  const std::string text = fmt::format("{}e{}", mantissa, static_cast<long>(exponent));
  double value = 0.0;
  // A mantissa that itself needs an exponent ("1e+30e2") is not readable this way.
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec == std::errc() && result.ptr == text.data() + text.size()) return value;
  value = mantissa * std::pow(10.0, exponent);
  if (!std::isfinite(value)) scanner.fail(position, "this number is beyond what a double can hold");
  return value;
}

double power(double base, double exponent, const Scanner& scanner, std::size_t position) {
  const bool whole = exponent == std::floor(exponent) && std::abs(exponent) < 1000.0;
  const double value =
      base == 10.0 && whole ? times_power_of_ten(1.0, exponent, scanner, position) : std::pow(base, exponent);
  if (!std::isfinite(value) || (value == 0.0 && base != 0.0))
    scanner.fail(position, fmt::format("{}^{} is beyond what a double can hold", base, exponent));
  return value;
}

void scan_exponent(Scanner& s, Number& number, std::size_t begin) {
  const std::size_t mark = s.position();
  s.advance(1);
  skip_sign(s);
  if (!is_digit(s.peek())) s.fail_expected("the digits of an exponent, as in 1e-3");
  const std::size_t digits = s.position();
  skip_digits(s);
  number.form = Number::Form::scientific;
  number.base = read(s, begin, mark);
  number.exponent = read(s, digits, s.position());
  if (s.slice(mark, digits).ends_with('-')) number.exponent = -number.exponent;
  number.value = read(s, begin, s.position());
}

void scan_power(Scanner& s, Number& number, std::size_t begin) {
  if (number.value <= 0.0) s.fail(begin, "the base of a power must be positive, as in 2^-3");
  number.base = number.value;
  s.advance(1);
  const std::size_t exponent = s.position();
  skip_sign(s);
  if (!is_digit(s.peek())) s.fail_expected("an exponent, as in 2^-3");
  skip_digits(s);
  skip_fraction(s);
  number.form = Number::Form::power;
  number.exponent = read(s, exponent, s.position());
  number.value = power(number.base, number.exponent, s, begin);
}

[[noreturn]] void fail_size(const RangeItem& item, double count, const Scanner& scanner) {
  scanner.fail(item.position,
               fmt::format("this range has {:.0f} values, more than the {} that are allowed; use a "
                           "larger step or count=",
                           count, kMostValues));
}

// 0.1 + 2 * 0.1 is 0.30000000000000004; fifteen digits give back the 0.3 that was meant.
double as_written(double value) {
  const std::string text = fmt::format("{:.15g}", value);
  double rounded = value;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

// from, from + step, … up to `to`.
std::vector<double> arithmetic(double from, double to, double step, const RangeItem& item,
                               const Scanner& scanner) {
  const double steps = std::floor((to - from) / step * (1.0 + kSlack) + kSlack);
  if (!(steps < static_cast<double>(kMostValues))) fail_size(item, steps + 1.0, scanner);
  std::vector<double> values;
  for (Index i = 0; i <= static_cast<Index>(steps); ++i)
    values.push_back(std::min(to, as_written(from + static_cast<double>(i) * step)));
  return values;
}

std::vector<double> log_spaced(const RangeItem& item, Index count, const Scanner& scanner) {
  const double a = item.first.value;
  const double b = item.last.value;
  if (!(a > 0.0 && b > 0.0))
    scanner.fail(item.position,
                 "count= spaces values by ratio and needs positive ends; use step= for this range");
  if (count > kMostValues) fail_size(item, static_cast<double>(count), scanner);
  if (a == b) return {a};
  if (count < 2) scanner.fail(item.position, "count= must be at least 2 for a range");
  std::vector<double> values;
  const double low = std::log2(a);
  const double high = std::log2(b);
  for (Index i = 0; i < count; ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(count - 1);
    values.push_back(std::clamp(std::exp2(low + (high - low) * t), a, b));
  }
  values.front() = a;
  values.back() = b;
  return values;
}

bool exponents_step(const RangeItem& item) {
  const bool same_form = item.first.form == item.last.form && item.first.base == item.last.base;
  if (!same_form) return false;
  // Below base 1 the exponents would run against the values.
  return item.first.form == Number::Form::power
             ? item.first.base > 1.0
             : item.first.form == Number::Form::scientific && item.first.base > 0.0;
}

std::vector<double> exponent_range(const RangeItem& item, double step, const Scanner& scanner) {
  std::vector<double> values = arithmetic(item.first.exponent, item.last.exponent, step, item, scanner);
  const bool ten = item.first.form == Number::Form::scientific;
  for (double& v : values) {
    if (!ten) {
      v = power(item.first.base, v, scanner, item.position);
    } else if (v == std::floor(v)) {
      v = times_power_of_ten(item.first.base, v, scanner, item.position);
    } else {
      v = item.first.base * std::pow(10.0, v);
    }
  }
  return values;
}

}  // namespace

Number scan_number(Scanner& s) {
  s.skip_space();
  const std::size_t begin = s.position();
  if (!starts_number(s)) s.fail_expected("a number such as 2, 0.5, 1e-3 or 2^-3");
  skip_sign(s);
  skip_digits(s);
  Number number;
  number.form = skip_fraction(s) ? Number::Form::decimal : Number::Form::integer;
  if (s.peek() == 'e' || s.peek() == 'E') {
    scan_exponent(s, number, begin);
  } else {
    number.value = read(s, begin, s.position());
    if (s.peek() == '^') scan_power(s, number, begin);
  }
  if (is_letter(s.peek()) || s.peek() == '_') s.fail_expected("the end of the number");
  return number;
}

std::vector<RangeItem> scan_values(Scanner& s) {
  std::vector<RangeItem> items;
  for (;;) {
    s.skip_space();
    RangeItem item;
    item.position = s.position();
    item.first = scan_number(s);
    if (s.accept("..")) {
      item.is_range = true;
      item.last = scan_number(s);
      if (item.last.value < item.first.value)
        s.fail(item.position,
               fmt::format("the range runs backwards, from {} to {}; write the smaller end first",
                           item.first.value, item.last.value));
    }
    items.push_back(item);
    if (static_cast<Index>(items.size()) > kMostValues)
      s.fail(item.position, fmt::format("more than {} values", kMostValues));
    if (s.accept("|")) continue;
    Scanner ahead = s;
    if (!ahead.accept(",")) return items;
    ahead.skip_space();
    if (!starts_number(ahead)) return items;
    s = ahead;
  }
}

std::vector<double> expand(const RangeItem& item, const Spacing& spacing, const Scanner& scanner) {
  if (!item.is_range) return {item.first.value};
  if (spacing.count >= 0) return log_spaced(item, spacing.count, scanner);
  const double step = spacing.step > 0.0 ? spacing.step : 1.0;
  if (exponents_step(item)) return exponent_range(item, step, scanner);
  const bool integers = item.first.form == Number::Form::integer && item.last.form == Number::Form::integer;
  if (!integers && !spacing.given())
    scanner.fail(
        item.position,
        "a range of this form needs count= (spaced by ratio) or step=; integers (1..3) and powers of one "
        "base (2^-3..2^6, 1e-1..1e4) do not");
  return arithmetic(item.first.value, item.last.value, step, item, scanner);
}

std::vector<double> expand_all(const std::vector<RangeItem>& items, const Spacing& spacing,
                               const Scanner& scanner, const ValueCheck& check) {
  if (spacing.count >= 0 && spacing.step > 0.0)
    scanner.fail(spacing.position, "give count= or step=, not both");
  const bool any_range = std::any_of(items.begin(), items.end(), [](const RangeItem& i) { return i.is_range; });
  if (spacing.given() && !any_range)
    scanner.fail(spacing.position, "count= and step= need a range a..b to fill");
  std::vector<double> values;
  std::unordered_set<double> seen;
  Index written = 0;
  for (const auto& item : items) {
    const std::vector<double> filled = expand(item, spacing, scanner);
    // Counted before duplicates go, so that the work is bounded too.
    written += static_cast<Index>(filled.size());
    if (written > kMostValues) scanner.fail(item.position, fmt::format("more than {} values", kMostValues));
    for (const double v : filled) {
      if (check) check(item, v);
      if (seen.insert(v).second) values.push_back(v);
    }
  }
  return values;
}

}  // namespace kloom::kernels

namespace kloom {

std::vector<double> parse_range(std::string_view text, Index count, double step) {
  kernels::Scanner scanner(text, "range");
  const auto items = kernels::scan_values(scanner);
  scanner.skip_space();
  if (!scanner.at_end()) scanner.fail_expected("',' and another value, '..' or the end");
  kernels::Spacing spacing;
  spacing.count = count;
  spacing.step = step > 0.0 ? step : 0.0;  // also turns NaN into "not given"
  return kernels::expand_all(items, spacing, scanner, nullptr);
}

}  // namespace kloom
