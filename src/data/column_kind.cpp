// SPDX-License-Identifier: BSD-3-Clause
#include "data/column_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

#include "data/column_fit.h"
#include "data/number.h"
#include "data/words.h"

namespace kloom::data {
namespace {

// Fewer distinct values than this are categories whatever they look like: a small table has nearly one value
// per row in any column.
constexpr Index kFewValues = 20;
// Below this share of distinct values, text repeats itself and is a category.
constexpr double kMostlyDistinct = 0.5;
// From this share on, a value says nothing about other rows.
constexpr double kNearlyOnePerRow = 0.9;
constexpr double kSentenceWords = 3.0;
constexpr double kSequenceLength = 12.0;
// Serial numbers and hashes have more digits than sequences of letters.
constexpr double kMostDigits = 0.3;

bool has_letter(const std::string& word) {
  return !std::ranges::all_of(word, is_digit);
}

struct Text {
  Index present = 0;
  Index distinct = 0;
  double dates = 0.0;      // shares of the values that are there
  double blanks = 0.0;     // with a blank inside
  double length = 0.0;     // mean
  double words = 0.0;      // mean number of those with a letter
  double recurring = 0.0;  // share of the words that are in another value as well
  double digits = 0.0;     // share of the characters
  Index dashes = 0;        // values that are missing if the others are numbers
  double numbers = 0.0;    // share of the values but dashes
  NumberFormat format;     // of those
};

// Lengths of the runs of digits up to the first blank or T, or nothing if there are other characters.
std::vector<std::size_t> digit_groups(std::string_view text) {
  std::vector<std::size_t> groups(1, 0);
  for (const char c : text) {
    if (c == ' ' || c == 'T') break;
    if (is_digit(c)) {
      ++groups.back();
    } else if (c == '-' || c == '/' || c == '.') {
      groups.push_back(0);
    } else {
      return {};
    }
  }
  return groups;
}

bool has_month_name(std::string_view text) {
  constexpr std::array<std::string_view, 12> months = {"jan", "feb", "mar", "apr", "may", "jun",
                                                       "jul", "aug", "sep", "oct", "nov", "dec"};
  const std::vector<std::string> words = words_of(text);
  const bool month = std::ranges::any_of(words, [&](const std::string& word) {
    return std::ranges::any_of(months, [&](std::string_view m) { return word.starts_with(m); });
  });
  const auto numbers =
      std::ranges::count_if(words, [](const std::string& word) { return std::ranges::all_of(word, is_digit); });
  return month && numbers >= 2 && words.size() <= 7;
}

// 2024-03-01, 1/3/24, 01.03.2024 12:30, 3 March 2024.
bool is_date(std::string_view value) {
  const std::string_view text = trim(value);
  const auto groups = digit_groups(text);
  if (groups.size() != 3) return text.size() <= 40 && has_month_name(text);
  const auto day = [](std::size_t n) { return n == 1 || n == 2; };
  return (groups[0] == 4 && day(groups[1]) && day(groups[2])) ||
         (day(groups[0]) && day(groups[1]) && (groups[2] == 4 || groups[2] == 2));
}

double recurring_share(const std::vector<std::vector<std::string>>& texts) {
  std::unordered_map<std::string_view, Index> in_texts;
  for (const auto& words : texts) {
    const std::set<std::string_view> distinct(words.begin(), words.end());
    for (const std::string_view word : distinct) ++in_texts[word];
  }
  Index all = 0;
  Index again = 0;
  for (const auto& words : texts) {
    for (const std::string& word : words) again += in_texts[word] > 1 ? 1 : 0;
    all += static_cast<Index>(words.size());
  }
  return all == 0 ? 0.0 : static_cast<double>(again) / static_cast<double>(all);
}

Text measure(const std::vector<std::string>& values) {
  Text text;
  text.format = number_format(values);
  std::set<std::string_view> distinct;
  std::vector<std::vector<std::string>> words;
  double characters = 0.0;
  for (const std::string& value : values) {
    if (is_missing(value)) continue;
    ++text.present;
    distinct.insert(value);
    text.dashes += read_cell(value).kind == CellKind::missing ? 1 : 0;
    const std::string_view trimmed = trim(value);
    text.numbers += number_in(value, text.format) ? 1.0 : 0.0;
    text.dates += is_date(trimmed) ? 1.0 : 0.0;
    text.blanks += trimmed.find(' ') != std::string_view::npos ? 1.0 : 0.0;
    text.digits += static_cast<double>(std::ranges::count_if(trimmed, is_digit));
    characters += static_cast<double>(trimmed.size());
    words.push_back(words_of(trimmed));
    text.words += static_cast<double>(std::ranges::count_if(words.back(), has_letter));
  }
  text.distinct = static_cast<Index>(distinct.size());
  text.recurring = recurring_share(words);
  text.digits /= std::max(1.0, characters);
  const double n = std::max(1.0, static_cast<double>(text.present));
  text.length = characters / n;
  text.numbers /= std::max(1.0, n - static_cast<double>(text.dashes));
  for (double* share : {&text.dates, &text.blanks, &text.words}) *share /= n;
  return text;
}

// "id", "patient_id", "PassengerId", "row", "Unnamed: 0"; not "acid" or "solid".
bool sounds_like_id(std::string_view name) {
  constexpr std::array<std::string_view, 10> names = {"id",    "ids",   "uid",    "uuid",       "guid",
                                                      "index", "rowid", "row id", "row number", "row"};
  const auto same = [&](std::string_view wanted) { return equal_ignoring_case(name, wanted); };
  if (std::ranges::any_of(names, same) || name.starts_with("Unnamed")) return true;
  if (name.size() < 3) return false;
  const std::string_view end = name.substr(name.size() - 2);
  const char before = name[name.size() - 3];
  if (equal_ignoring_case(end, "id") && (before == '_' || before == '-' || before == ' ' || before == '.'))
    return true;
  return (end == "Id" || end == "ID") && before >= 'a' && before <= 'z';
}

std::string one_per_row(const Text& text) {
  return fmt::format("{} different values in {} rows", text.distinct, text.present);
}

}  // namespace

TextKind text_kind(const std::string& name, const std::vector<std::string>& values) {
  const Text text = measure(values);
  const double distinct = static_cast<double>(text.distinct);
  const double present = static_cast<double>(text.present);
  const bool many = text.distinct > kFewValues;
  TextKind result{ColumnKind::category, static_cast<Index>(values.size()) - text.present, {}};
  if (text.present == 0) {
    result.kind = ColumnKind::empty;
    result.reason = "it has no values";
  } else if (text.distinct == 1) {
    result.kind = ColumnKind::constant;
    result.reason = "it has the same value in every row";
  } else if (text.numbers == 1.0 || (many && text.numbers >= kNearlyOnePerRow)) {
    result.kind = ColumnKind::number;
    result.format = text.format;
    const double cells = present - static_cast<double>(text.dashes);
    const auto others = static_cast<Index>(std::lround(cells * (1.0 - text.numbers)));
    result.missing += others + text.dashes;
    result.reason =
        others > 0 ? fmt::format("{} of {} values are no numbers and count as missing", others, text.present)
                   : "its values are numbers written as text";
    if (text.format.thousands != 0)
      result.reason += fmt::format("; '{}' separates thousands", text.format.thousands);
    if (!text.format.unit.empty()) result.reason += fmt::format("; their unit is '{}'", text.format.unit);
  } else if (many && text.dates >= kNearlyOnePerRow) {
    result.kind = ColumnKind::date;
    result.reason = "its values are dates";
  } else if (many && sounds_like_id(name) && distinct >= kNearlyOnePerRow * present) {
    result.kind = ColumnKind::identifier;
    result.reason = fmt::format("it is called '{}' and has {}", name, one_per_row(text));
  } else if (distinct >= kMostlyDistinct * present && text.blanks < 0.05 && text.length >= kSequenceLength &&
             text.digits < kMostDigits) {
    result.kind = ColumnKind::sequence;
    result.reason = fmt::format("texts without blanks, {:.0f} letters on average", text.length);
  } else if (distinct >= kMostlyDistinct * present && text.words >= kSentenceWords && text.recurring >= 0.5) {
    result.kind = ColumnKind::sentences;
    result.reason = fmt::format("{:.0f} words on average, most of them in several rows", text.words);
  } else if (many && distinct >= kNearlyOnePerRow * present) {
    result.kind = ColumnKind::name;
    result.reason = one_per_row(text);
  } else {
    result.reason = fmt::format("{} different values", text.distinct);
  }
  return result;
}

std::string id_reason(const std::string& name, std::span<const double> values) {
  constexpr std::size_t few_rows = 10;
  constexpr std::size_t enough_rows = 20;
  constexpr double exact_integers = 9007199254740992.0;
  if (values.size() < few_rows) return {};
  const bool whole =
      std::ranges::all_of(values, [&](double v) { return v == std::floor(v) && std::abs(v) < exact_integers; });
  if (!whole) return {};  // also where a value is missing
  const auto steps_up = [&](double sign) {
    for (std::size_t i = 1; i < values.size(); ++i)
      if (sign * (values[i] - values[i - 1]) < 1.0) return false;
    return true;
  };
  // Of a part of the rows (a fold of a cross-validation) a counter has holes, but not many.
  const double n = static_cast<double>(values.size());
  const bool dense = std::abs(values.back() - values.front()) + 1.0 <= 2.0 * n;
  if (values.size() >= enough_rows && dense && (steps_up(1.0) || steps_up(-1.0))) return "it counts the rows";
  if (!sounds_like_id(name)) return {};
  const std::set<double> distinct(values.begin(), values.end());
  if (static_cast<double>(distinct.size()) < 0.95 * n) return {};
  return fmt::format("it is called '{}' and has {} different values in {} rows", name, distinct.size(),
                     values.size());
}

std::vector<std::string> chosen_categories(const std::vector<std::string>& values, bool all) {
  std::map<std::string, Index> counts;
  for (const std::string& value : values)
    if (!is_missing(value)) ++counts[value];
  std::vector<std::pair<Index, std::string>> order;
  order.reserve(counts.size());
  for (const auto& [value, count] : counts) order.emplace_back(count, value);
  const auto most = static_cast<std::size_t>(kMostCategories);
  if (!all && order.size() > most) {
    std::ranges::stable_sort(order, std::ranges::greater{}, [](const auto& entry) { return entry.first; });
    order.resize(most);
    // A category of one sample says nothing about others; where there is nothing else it was to be kept.
    if (order.front().first > 1) std::erase_if(order, [](const auto& entry) { return entry.first < 2; });
  }
  std::vector<std::string> result;
  result.reserve(order.size());
  for (auto& [count, value] : order) result.push_back(std::move(value));
  std::ranges::sort(result);
  return result;
}

}  // namespace kloom::data
