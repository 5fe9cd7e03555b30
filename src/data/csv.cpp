// SPDX-License-Identifier: BSD-3-Clause
#include "data/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <unordered_map>

#include "data/number.h"
#include "kloom/error.h"

namespace kloom::data {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

[[noreturn]] void fail(std::string_view source, Index line, std::string_view what) {
  throw InvalidArgument(fmt::format("{} line {}: {}", source, line, what));
}

std::string_view without_mark(std::string_view text) {
  if (text.starts_with(byte_order_mark)) {
    text.remove_prefix(byte_order_mark.size());
  }
  return text;
}

void refuse_nul(std::string_view text, std::string_view source) {
  const std::size_t nul = text.find('\0');
  if (nul != std::string_view::npos) {
    const auto line = 1 + std::ranges::count(text.substr(0, nul), '\n');
    fail(source, line, "holds a NUL byte, so this is no text file, or one in UTF-16. Save it as UTF-8 text.");
  }
}

}  // namespace

Index TextTable::find(std::string_view name) const {
  const auto it = std::ranges::find(names, name);
  return it == names.end() ? -1 : static_cast<Index>(it - names.begin());
}

// Walks over the text once and appends cells to a table.
class CsvReader {
 public:
  CsvReader(std::string_view text, char delimiter, TextTable& table)
      : text_(text), delimiter_(delimiter), table_(table) {}

  // Appends the next row that is not blank; false at the end of the text.
  bool next_row() {
    while (position_ < text_.size()) {
      row_line_ = line_;
      const std::size_t before = table_.ends_.size();
      const bool quoted = read_row();
      row_cells_ = table_.ends_.size() - before;
      const bool blank = row_cells_ == 1 && !quoted && last_cell_size() == 0;
      if (!blank) {
        return true;
      }
      table_.ends_.pop_back();
    }
    return false;
  }
  [[nodiscard]] Index row_line() const { return row_line_; }
  [[nodiscard]] Index row_cells() const { return static_cast<Index>(row_cells_); }

  // Turns the only row read so far into the header.
  void row_becomes_header() {
    for (Index j = 0; j < row_cells(); ++j) {
      table_.names.emplace_back(table_.cell(0, j));
    }
    table_.text_.clear();
    table_.ends_.clear();
  }

 private:
  // One row with its line break; true if its last cell was quoted.
  bool read_row() {
    while (true) {
      skip_blanks();
      const bool quoted = position_ < text_.size() && text_[position_] == '"';
      if (quoted) {
        read_quoted();
      } else {
        read_plain();
      }
      table_.ends_.push_back(table_.text_.size());
      if (position_ == text_.size()) {
        return quoted;
      }
      if (text_[position_] != delimiter_) {
        take_break();
        return quoted;
      }
      ++position_;
      if (position_ == text_.size()) {  // the text ends in a delimiter: one more, empty cell
        table_.ends_.push_back(table_.text_.size());
        return false;
      }
    }
  }

  void read_plain() {
    const std::size_t begin = position_;
    while (position_ < text_.size() && !at_cell_end()) {
      ++position_;
    }
    table_.text_ += trim(text_.substr(begin, position_ - begin));
  }

  void read_quoted() {
    const Index opened = line_;
    ++position_;
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (c == '"' && position_ + 1 < text_.size() && text_[position_ + 1] == '"') {
        table_.text_ += '"';
        position_ += 2;
      } else if (c == '"') {
        ++position_;
        finish_quoted();
        return;
      } else if (c == '\n' || c == '\r') {
        table_.text_ += '\n';
        take_break();
      } else {
        table_.text_ += c;
        ++position_;
      }
    }
    fail(table_.source, opened, "a quote (\") opens here and is never closed.");
  }

  void finish_quoted() {
    skip_blanks();
    if (position_ < text_.size() && !at_cell_end()) {
      fail(table_.source, line_,
           fmt::format("'{}' follows a closing quote. A quote inside a quoted cell is written twice (\"\").",
                       text_[position_]));
    }
  }

  [[nodiscard]] bool at_cell_end() const {
    const char c = text_[position_];
    return c == delimiter_ || c == '\n' || c == '\r';
  }

  void skip_blanks() {
    while (position_ < text_.size() && text_[position_] != delimiter_ &&
           (text_[position_] == ' ' || text_[position_] == '\t')) {
      ++position_;
    }
  }

  void take_break() {
    position_ += text_.substr(position_).starts_with("\r\n") ? 2 : 1;
    ++line_;
  }

  [[nodiscard]] std::size_t last_cell_size() const {
    const std::size_t n = table_.ends_.size();
    return table_.ends_[n - 1] - (n > 1 ? table_.ends_[n - 2] : 0);
  }

  std::string_view text_;
  char delimiter_;
  TextTable& table_;
  std::size_t position_ = 0;
  Index line_ = 1;
  Index row_line_ = 1;
  std::size_t row_cells_ = 0;
};

namespace {

void check_names(const TextTable& table, Index line) {
  std::unordered_map<std::string_view, std::size_t> seen;
  bool all_numbers = true;
  bool fraction = false;
  for (std::size_t j = 0; j < table.names.size(); ++j) {
    const std::string& name = table.names[j];
    if (name.empty()) {  // refuse_nameless looks at it when the rows are there
      all_numbers = false;
      continue;
    }
    const CellValue value = read_cell(name);
    all_numbers = all_numbers && value.kind == CellKind::number;
    fraction = fraction || name.find('.') != std::string::npos;
    const auto [it, fresh] = seen.emplace(name, j);
    if (!fresh) {
      fail(table.source, line,
           fmt::format(
               "columns {} and {} are both called '{}'. Rename one{}.", it->second + 1, j + 1, name,
               value.kind == CellKind::number ? " (or does the file lack a line of column names?)" : ""));
    }
  }
  if (all_numbers && fraction) {
    fail(table.source, line,
         "the first line holds numbers. Put a line with the names of the columns above it.");
  }
}

// A column without a name is one of row names if it is the first, and no column at all if it is empty: some programs end
// every line with a delimiter.
void refuse_nameless(const TextTable& table, Index line) {
  for (Index j = 1; j < table.columns; ++j) {
    if (!table.names[static_cast<std::size_t>(j)].empty()) continue;
    for (Index i = 0; i < table.rows(); ++i) {
      if (table.cell(i, j).empty()) continue;
      fail(table.source, line,
           fmt::format(
               "column {} has no name, but line {} holds '{}' there. The first line must name every column.",
               j + 1, table.lines[static_cast<std::size_t>(i)], table.cell(i, j)));
    }
  }
}

}  // namespace

TextTable parse_csv(std::string_view text, const CsvOptions& options) {
  TextTable table;
  table.source = options.source;
  table.delimiter = options.delimiter;
  const std::string_view content = without_mark(text);
  refuse_nul(content, options.source);
  CsvReader reader(content, options.delimiter, table);
  if (!reader.next_row()) {
    throw InvalidArgument(fmt::format("{}: the file is empty.", options.source));
  }
  table.columns = reader.row_cells();
  Index header_line = 1;
  if (options.header) {
    reader.row_becomes_header();
    check_names(table, reader.row_line());
    header_line = reader.row_line();
  } else {
    table.lines.push_back(reader.row_line());
  }
  while (reader.next_row()) {
    if (reader.row_cells() != table.columns) {
      fail(options.source, reader.row_line(),
           fmt::format("{} cells, but the {} has {}.", reader.row_cells(),
                       options.header ? "line of column names" : "first line", table.columns));
    }
    table.lines.push_back(reader.row_line());
  }
  if (table.lines.empty()) {
    throw InvalidArgument(fmt::format("{}: there are column names but no samples below them.", options.source));
  }
  if (options.header) refuse_nameless(table, header_line);
  return table;
}

char guess_delimiter(std::string_view text, char expected) {
  const std::string_view content = without_mark(text);
  bool quoted = false;
  std::string seen;  // candidates found outside quotes in the first line
  for (const char c : content) {
    if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '\n' || c == '\r')) {
      break;
    } else if (!quoted && (c == ',' || c == ';' || c == '\t' || c == '|' || c == ' ') &&
               seen.find(c) == std::string::npos) {
      seen += c;
    }
  }
  const auto has = [&](char c) { return seen.find(c) != std::string::npos; };
  if (expected != 0 && has(expected)) return expected;
  if (expected != 0) {
    for (const char c : {';', '\t', '|', ','})
      if (has(c)) return c;
    return expected;
  }
  for (const char c : {'\t', ',', ';', '|', ' '}) {
    if (has(c)) {
      return c;
    }
  }
  return ',';
}

}  // namespace kloom::data
