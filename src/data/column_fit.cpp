// SPDX-License-Identifier: BSD-3-Clause
#include "data/column_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "data/names.h"
#include "data/number.h"
#include "kloom/error.h"

namespace kloom::data {
namespace {

using Column = Preprocessing::Column;
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
// Distinct values beyond which the knots of ranks are thinned out; the score of a value in between is off by
// less than a hundredth of a rank in N then.
constexpr std::size_t kMostKnots = 256;

// Mean over the largest magnitude, in two passes: the second takes out what rounding left in the first.
double stable_mean(std::span<const double> values) {
  double largest = 0.0;
  for (const double v : values) {
    largest = std::max(largest, std::abs(v));
  }
  if (largest == 0.0) {
    return 0.0;
  }
  const auto n = static_cast<double>(values.size());
  double sum = 0.0;
  for (const double v : values) {
    sum += v / largest;
  }
  const double rough = sum / n;
  double rest = 0.0;
  for (const double v : values) {
    rest += v / largest - rough;
  }
  return (rough + rest / n) * largest;
}

double median(Vector values) {
  const std::size_t half = values.size() / 2;
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(half));
  const double upper = values[half];
  if (values.size() % 2 == 1) {
    return upper;
  }
  const double lower = *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half));
  return lower + (upper - lower) / 2.0;
}

// Sample standard deviation about `mean`; scaled by the largest deviation so that squares neither overflow
// nor vanish.
double deviation(std::span<const double> values, double mean) {
  double largest = 0.0;
  for (const double v : values) {
    largest = std::max(largest, std::abs(v - mean));
  }
  if (largest == 0.0 || values.size() < 2) {
    return 0.0;
  }
  double squares = 0.0;
  double sum = 0.0;  // of deviations: what rounding left in the mean, taken out again
  for (const double v : values) {
    const double d = (v - mean) / largest;
    squares += d * d;
    sum += d;
  }
  const auto n = static_cast<double>(values.size());
  return largest * std::sqrt(std::max(0.0, squares - sum * sum / n) / (n - 1.0));
}

// What stands after the number, without digits in it ("kg" of "12 kg", "%"), or a sign of money before it.
std::string_view unit_of(std::string_view value) {
  constexpr std::array<std::string_view, 4> money = {"$", "€", "£", "¥"};
  for (const std::string_view sign : money)
    if (value.starts_with(sign)) return sign;
  if (value.empty() || !(is_digit(value[0]) || value[0] == '-' || value[0] == '+' || value[0] == '.'))
    return {};
  const std::size_t last = value.find_last_of("0123456789");
  if (last == std::string_view::npos) return {};
  constexpr std::size_t longest = 12;
  const std::string_view unit = trim(value.substr(last + 1));
  return unit.size() > longest || unit == "." ? std::string_view() : unit;
}

std::string_view without_unit(std::string_view value, std::string_view unit) {
  if (value.size() > unit.size() && value.starts_with(unit)) return trim(value.substr(unit.size()));
  if (value.size() > unit.size() && value.ends_with(unit))
    return trim(value.substr(0, value.size() - unit.size()));
  return value;
}

// 1,234 and -12,345,678.9: groups of three digits, and no 0 before the first mark.
bool has_thousands(std::string_view value, char mark) {
  if (value.starts_with('-') || value.starts_with('+')) value.remove_prefix(1);
  const char point = mark == ',' ? '.' : ',';
  const std::string_view whole = value.substr(0, value.find(point));
  const std::size_t first = whole.find(mark);
  if (first == std::string_view::npos || first == 0 || first > 3 || whole[0] == '0') return false;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const bool at_mark = i >= first && (i - first) % 4 == 0;
    if (at_mark ? whole[i] != mark : !is_digit(whole[i])) return false;
  }
  return (whole.size() - first) % 4 == 0 &&
         std::ranges::all_of(value.substr(std::min(value.size(), whole.size() + 1)), is_digit);
}

}  // namespace

std::string column_name(const Feature& feature) {
  return feature.view.empty() ? fmt::format("column '{}'", feature.name)
                              : fmt::format("column '{}' of view '{}'", feature.name, feature.view);
}

std::string source_of(const Dataset& data) {
  return data.source.empty() ? "The data" : data.source;
}

void refuse_infinite(const Dataset& data, const Feature& feature, std::span<const double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isinf(values[i])) {
      throw InvalidArgument(fmt::format("{} {}: {} is infinite. Features must be finite numbers.",
                                        source_of(data), data::place_of(data, static_cast<Index>(i)),
                                        column_name(feature)));
    }
  }
}

void refuse_missing(const Dataset& data, const Feature& feature, std::span<const double> values) {
  const auto first = std::ranges::find_if(values, [](double v) { return std::isnan(v); });
  if (first == values.end()) {
    return;
  }
  const auto count = std::ranges::count_if(values, [](double v) { return std::isnan(v); });
  throw InvalidArgument(
      fmt::format("{} {}: {} has no value{}. Fill it in, leave the column out (--ignore), or replace missing "
                  "values by the mean (--impute mean).",
                  source_of(data), data::place_of(data, first - values.begin()), column_name(feature),
                  count > 1 ? fmt::format(" (the first of {} missing)", count) : ""));
}

void fit_column(Column& column, const Dataset& data, std::span<const double> raw,
                const PreprocessingOptions& options) {
  refuse_infinite(data, column.feature, raw);
  Vector values;
  std::ranges::copy_if(raw, std::back_inserter(values), [](double v) { return !std::isnan(v); });
  if (options.impute == Impute::refuse) {
    refuse_missing(data, column.feature, raw);
  } else if (values.empty()) {
    throw InvalidArgument(
        fmt::format("{}: {} has no values at all, so none can be made up. Leave it out (--ignore).",
                    source_of(data), column_name(column.feature)));
  } else {
    column.fill = options.impute == Impute::mean ? stable_mean(values) : median(values);
    values.resize(raw.size(), column.fill);
  }
  if (values.empty()) {
    throw InvalidArgument(fmt::format("{}: there are no samples.", source_of(data)));
  }
  const auto [least, most] = std::ranges::minmax(values);
  if (least == most) {  // by comparison: the mean of equal numbers may differ from them by rounding
    column.scale = 0.0;
    column.centre = options.standardise ? least : 0.0;
    return;
  }
  const double mean = stable_mean(values);
  const double spread = deviation(values, mean);
  if (!options.standardise) {
    return;
  }
  if (!std::isfinite(spread) || !std::isfinite(mean)) {
    throw InvalidArgument(fmt::format("{}: {} has numbers too far apart to standardise ({:g} to {:g}).",
                                      source_of(data), column_name(column.feature), least, most));
  }
  column.centre = mean;
  column.scale = spread;
}

Vector indicator(const std::vector<std::string>& texts, const std::string& category) {
  Vector values;
  values.reserve(texts.size());
  for (const std::string& text : texts) {
    values.push_back(text == category ? 1.0 : (data::is_missing(text) ? nan_value : 0.0));
  }
  return values;
}

NumberFormat number_format(const std::vector<std::string>& texts) {
  std::vector<std::string_view> values;
  for (const std::string& text : texts)
    if (read_cell(text).kind != CellKind::missing) values.push_back(trim(text));
  if (values.empty()) return {};
  NumberFormat format;
  const std::string unit(unit_of(values.front()));
  const auto has_unit = [&](std::string_view v) { return without_unit(v, unit).size() < v.size(); };
  if (!unit.empty() && std::ranges::all_of(values, has_unit)) {
    format.unit = unit;
    for (std::string_view& v : values) v = without_unit(v, unit);
  }
  // A number such as 0,125 or 12,5 has a decimal comma, and so have all others then.
  for (const char mark : {',', '.'}) {
    const auto plain = [&](std::string_view v) { return v.find_first_of(",.") == std::string_view::npos; };
    const auto grouped = [&](std::string_view v) { return has_thousands(v, mark); };
    const auto both = [](std::string_view v) { return v.find(',') < v.size() && v.find('.') < v.size(); };
    const bool shown = mark == ',' ? std::ranges::any_of(values, grouped) : std::ranges::any_of(values, both);
    if (shown && std::ranges::all_of(values, [&](std::string_view v) {
          return plain(v) || grouped(v) || (v.find(mark) == std::string_view::npos && number_in(v));
        }))
      format.thousands = mark;
  }
  return format;
}

std::optional<double> number_in(std::string_view text, const NumberFormat& format) {
  if (!format.unit.empty()) text = without_unit(trim(text), format.unit);
  const CellValue cell = read_cell(text);
  if (format.thousands == 0 && cell.kind == CellKind::number) return cell.value;
  if (cell.kind == CellKind::missing || cell.kind == CellKind::infinite) return std::nullopt;
  std::string with_point(trim(text));
  if (format.thousands != 0) std::erase(with_point, format.thousands);
  const std::size_t comma = with_point.find(',');
  if (format.thousands != 0 && comma == std::string::npos) {
    const CellValue whole = read_cell(with_point);
    return whole.kind == CellKind::number ? std::optional<double>(whole.value) : std::nullopt;
  }
  if (comma == std::string::npos || with_point.find_first_of(".,", comma + 1) != std::string::npos ||
      with_point.find('.') != std::string::npos)
    return std::nullopt;
  with_point[comma] = '.';
  const CellValue again = read_cell(with_point);
  return again.kind == CellKind::number ? std::optional<double>(again.value) : std::nullopt;
}

Vector numbers_in(const std::vector<std::string>& texts, const NumberFormat& format) {
  Vector values;
  values.reserve(texts.size());
  for (const std::string& text : texts) values.push_back(number_in(text, format).value_or(nan_value));
  return values;
}

Vector codes_of(const std::vector<std::string>& texts, const std::vector<std::string>& categories) {
  Vector codes;
  codes.reserve(texts.size());
  for (const std::string& text : texts) {
    const auto place = std::ranges::lower_bound(categories, text);
    const bool known = place != categories.end() && *place == text;
    codes.push_back(is_missing(text) ? 0.0
                                     : (known ? static_cast<double>(place - categories.begin() + 1) : -1.0));
  }
  return codes;
}

Vector rank_knots(std::span<const double> values) {
  std::map<double, Index> counts;
  for (const double v : values) ++counts[v];
  const double n = static_cast<double>(values.size());
  Vector knots;
  Index before = 0;
  for (const auto& [value, count] : counts) {
    // Van der Waerden scores: the normal quantile of the mean rank over n + 1.
    const double rank = static_cast<double>(before) + 0.5 * static_cast<double>(count + 1);
    knots.push_back(value);
    knots.push_back(std::numbers::sqrt2 * boost::math::erf_inv(2.0 * rank / (n + 1.0) - 1.0));
    before += count;
  }
  const std::size_t distinct = counts.size();
  if (distinct <= kMostKnots) return knots;
  Vector thin;
  for (std::size_t k = 0; k < kMostKnots; ++k) {
    const std::size_t at = k * (distinct - 1) / (kMostKnots - 1);
    thin.push_back(knots[2 * at]);
    thin.push_back(knots[2 * at + 1]);
  }
  return thin;
}

double rank_score(const Vector& knots, double value) {
  if (knots.empty()) return 0.0;
  std::size_t low = 0;
  std::size_t high = knots.size() / 2 - 1;
  if (value <= knots[0]) return knots[1];
  if (value >= knots[2 * high]) return knots[2 * high + 1];
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    (knots[2 * middle] <= value ? low : high) = middle;
  }
  const double share = (value - knots[2 * low]) / (knots[2 * high] - knots[2 * low]);
  return knots[2 * low + 1] + share * (knots[2 * high + 1] - knots[2 * low + 1]);
}

}  // namespace kloom::data
