// SPDX-License-Identifier: BSD-3-Clause
#include "data/svmlight.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "data/names.h"
#include "data/number.h"
#include "data/texts.h"
#include "kloom/error.h"
#include "kloom/machine.h"

namespace kloom::data {
namespace {

[[noreturn]] void fail(const SvmlightData& data, Index line, std::string_view what) {
  throw InvalidArgument(fmt::format("{} line {}: {}", data.source, line, what));
}

std::string_view next_token(std::string_view& rest) {
  constexpr std::string_view blanks = " \t\r\v\f";
  const std::size_t begin = std::min(rest.find_first_not_of(blanks), rest.size());
  const std::size_t end = std::min(rest.find_first_of(blanks, begin), rest.size());
  const std::string_view token = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return token;
}

Index read_index(const SvmlightData& data, std::string_view text, std::string_view pair, Index line) {
  Index index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  // The bound keeps sums of indices far from overflow; a matrix that wide is refused anyway.
  constexpr Index largest = std::numeric_limits<Index>::max() / 4;
  if (error != std::errc{} || end != text.data() + text.size() || index < 0 || index > largest) {
    fail(data, line, fmt::format("'{}' is not index:value with a whole index of 1 or more.", pair));
  }
  return index;
}

void read_pair(SvmlightData& data, std::string_view pair, Index line) {
  const std::size_t colon = pair.find(':');
  if (colon == std::string_view::npos) {
    fail(data, line, fmt::format("'{}' is not index:value.", pair));
  }
  if (pair.substr(0, colon) == "qid") {
    data.query_ids = true;
    return;
  }
  const Index index = read_index(data, pair.substr(0, colon), pair, line);
  const std::size_t row_begin = data.ends.empty() ? 0 : data.ends.back();
  if (data.indices.size() > row_begin && index <= data.indices.back()) {
    fail(data, line,
         index == data.indices.back()
             ? fmt::format("index {} occurs twice.", index)
             : fmt::format("index {} comes after {}. Indices must increase.", index, data.indices.back()));
  }
  const CellValue value = read_cell(pair.substr(colon + 1));
  if (value.kind == CellKind::text || value.kind == CellKind::infinite) {
    fail(data, line,
         fmt::format("the value of '{}' {}.", pair,
                     value.kind == CellKind::text ? "is not a number" : "is infinite or too large"));
  }
  data.indices.push_back(index);
  data.values.push_back(value.value);
}

void read_line(SvmlightData& data, std::string_view text, Index line) {
  std::string_view rest = text.substr(0, text.find('#'));
  std::string_view token = next_token(rest);
  if (token.empty()) {
    return;
  }
  std::string label;
  if (token.find(':') == std::string_view::npos) {
    label = token;
    token = next_token(rest);
  }
  for (; !token.empty(); token = next_token(rest)) {
    read_pair(data, token, line);
  }
  data.several_labels = data.several_labels || label.find(',') != std::string::npos;
  data.labels.push_back(std::move(label));
  data.lines.push_back(line);
  data.ends.push_back(data.indices.size());
}

// Takes the memory once, and asks before. Labels may be long, but not longer than what was read.
void reserve(SvmlightData& data, std::string_view text, std::size_t limit) {
  const auto rows = static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1;
  const auto pairs = static_cast<std::size_t>(std::ranges::count(text, ':'));
  const std::size_t row = sizeof(std::string) + sizeof(Index) + sizeof(std::size_t);
  const std::size_t needed = text.size() + rows * row + pairs * (sizeof(Index) + sizeof(double));
  require_room(needed, limit, data.source, rows, pairs / rows);
  data.labels.reserve(rows);
  data.lines.reserve(rows);
  data.ends.reserve(rows);
  data.indices.reserve(pairs);
  data.values.reserve(pairs);
}

}  // namespace

std::size_t SvmlightData::bytes() const {
  return text_bytes(labels) + lines.size() * (sizeof(Index) + sizeof(std::size_t)) +
         indices.size() * (sizeof(Index) + sizeof(double));
}

SvmlightData parse_svmlight(std::string_view text, const std::string& source, std::size_t limit) {
  SvmlightData data;
  data.source = source;
  reserve(data, text, limit);
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  std::string_view rest = text;
  if (rest.starts_with(byte_order_mark)) {
    rest.remove_prefix(byte_order_mark.size());
  }
  Index line = 1;
  for (; !rest.empty(); ++line) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (rest.substr(0, end).find('\0') != std::string_view::npos) {
      fail(data, line, "holds a NUL byte, so this is no text file, or one in UTF-16. Save it as UTF-8 text.");
    }
    read_line(data, rest.substr(0, end), line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (data.labels.empty()) {
    throw InvalidArgument(fmt::format("{}: there are no samples in the file.", source));
  }
  if (!data.indices.empty()) {
    const auto [smallest, largest] = std::ranges::minmax(data.indices);
    data.first = smallest == 0 ? 0 : 1;
    data.last = largest;
  }
  return data;
}

Matrix svmlight_matrix(const SvmlightData& data, const Context& context) {
  const auto rows = static_cast<std::size_t>(data.samples());
  const auto columns = static_cast<std::size_t>(data.features());
  // Besides the numbers, every column has a name, and lines and labels are copied.
  const std::size_t rest = sum_bytes(data.bytes(), area_bytes(columns, 1, sizeof(Feature)));
  require_room(sum_bytes(sum_bytes(data.bytes(), rest), area_bytes(rows, columns)), memory_budget(context),
               data.source, rows, columns);
  Matrix matrix(data.samples(), data.features());
  std::size_t k = 0;
  for (Index i = 0; i < data.samples(); ++i) {
    for (; k < data.ends[static_cast<std::size_t>(i)]; ++k) {
      matrix(i, data.indices[k] - data.first) = data.values[k];
    }
  }
  return matrix;
}

}  // namespace kloom::data
