// SPDX-License-Identifier: BSD-3-Clause
#include "data/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <utility>

#include "data/names.h"
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

// Lines end in LF, CRLF or CR.
std::size_t line_breaks(std::string_view text) {
  auto count = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  for (std::size_t at = text.find('\r'); at != std::string_view::npos; at = text.find('\r', at + 1))
    count += at + 1 == text.size() || text[at + 1] != '\n' ? 1 : 0;
  return count;
}

// At most so many cells are in the first row; line breaks inside of quotes do not end it.
std::size_t cells_of_first_row(std::string_view text, char delimiter) {
  std::size_t cells = 1;
  bool quoted = false;
  for (const char c : text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()))) {
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '\n' || c == '\r')) break;
    cells += c == delimiter ? 1 : 0;
  }
  return cells;
}

}  // namespace

Index TextTable::find(std::string_view name) const {
  const auto it = std::ranges::find(names, name);
  return it == names.end() ? -1 : static_cast<Index>(it - names.begin());
}

std::size_t TextTable::bytes() const {
  return text_.capacity() + starts_.size() * sizeof(std::size_t) + ends_.size() * sizeof(std::uint32_t) +
         lines.size() * sizeof(Index);
}

// Walks over the text of a table once and moves the cells to its front.
class CsvReader {
 public:
  // `position`: where the text begins, behind a byte order mark.
  CsvReader(TextTable& table, std::string text, std::size_t position)
      : table_(table), text_(table.text_), position_(position) {
    text_ = std::move(text);
  }

  // Appends the next row that is not blank; false at the end of the text.
  bool next_row() {
    while (position_ < text_.size()) {
      row_line_ = line_;
      row_start_ = written_;
      row_cells_ = 0;
      const bool quoted = read_row();
      const bool blank = row_cells_ == 1 && !quoted && written_ == row_start_;
      if (!blank) {
        table_.starts_.push_back(row_start_);
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
    table_.starts_.clear();
    table_.ends_.clear();
    written_ = 0;
  }

  // Takes memory for the cells that are left, once: growing would hold them twice. There are no more than lines times
  // columns, and each has a delimiter or a line break after it.
  void reserve_cells(std::size_t limit) {
    most_cells_ = row_cells_;
    const auto rest = std::string_view(text_).substr(position_);
    const std::size_t rows = line_breaks(rest) + 1;
    const std::size_t cells = std::min(area_bytes(rows, row_cells_, 1), rest.size() + 1);
    const std::size_t needed = text_.capacity() + rows * (sizeof(std::size_t) + sizeof(Index)) +
                               sum_bytes(table_.ends_.size(), cells) * sizeof(std::uint32_t);
    require_room(needed, limit, table_.source, rows, row_cells_);
    table_.starts_.reserve(table_.starts_.size() + rows);
    table_.lines.reserve(table_.lines.size() + rows);
    table_.ends_.reserve(table_.ends_.size() + cells);
  }

  // The text behind the cells is no longer needed.
  void finish() { text_.resize(written_); }

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
      end_cell();
      if (position_ == text_.size()) {
        return quoted;
      }
      if (text_[position_] != table_.delimiter) {
        take_break();
        return quoted;
      }
      ++position_;
      if (position_ == text_.size()) {  // the text ends in a delimiter: one more, empty cell
        end_cell();
        return false;
      }
    }
  }

  void end_cell() {
    const std::size_t length = written_ - row_start_;
    if (length > std::numeric_limits<std::uint32_t>::max()) {
      fail(table_.source, row_line_, "this row is longer than 4 GiB. Is a quote never closed?");
    }
    // Cells beyond the columns are counted, for the message, but not kept.
    if (row_cells_++ < most_cells_) table_.ends_.push_back(static_cast<std::uint32_t>(length));
  }

  void write(char c) { text_[written_++] = c; }

  void read_plain() {
    const std::size_t begin = position_;
    while (position_ < text_.size() && !at_cell_end()) {
      ++position_;
    }
    for (const char c : trim(std::string_view(text_).substr(begin, position_ - begin))) write(c);
  }

  void read_quoted() {
    const Index opened = line_;
    ++position_;
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (c == '"' && position_ + 1 < text_.size() && text_[position_ + 1] == '"') {
        write('"');
        position_ += 2;
      } else if (c == '"') {
        ++position_;
        finish_quoted();
        return;
      } else if (c == '\n' || c == '\r') {
        take_break();
        write('\n');
      } else {
        write(c);
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
    return c == table_.delimiter || c == '\n' || c == '\r';
  }

  void skip_blanks() {
    while (position_ < text_.size() && text_[position_] != table_.delimiter &&
           (text_[position_] == ' ' || text_[position_] == '\t')) {
      ++position_;
    }
  }

  void take_break() {
    position_ += std::string_view(text_).substr(position_).starts_with("\r\n") ? 2 : 1;
    ++line_;
  }

  TextTable& table_;
  std::string& text_;
  std::size_t position_;
  std::size_t written_ = 0;  // characters of cells at the front of the text
  std::size_t row_start_ = 0;
  Index line_ = 1;
  Index row_line_ = 1;
  std::size_t row_cells_ = 0;
  std::size_t most_cells_ = std::numeric_limits<std::size_t>::max();  // columns, once they are known
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

TextTable parse_csv(std::string text, const CsvOptions& options) {
  refuse_nul(text, options.source);
  // The cells of the first row are held as they are found, and may become names.
  const std::size_t names = cells_of_first_row(text, options.delimiter);
  require_room(text.capacity() + names * (2 * sizeof(std::uint32_t) + sizeof(std::string)), options.limit,
               options.source, 1, names);
  const std::size_t mark = text.size() - without_mark(text).size();
  TextTable table;
  table.source = options.source;
  table.delimiter = options.delimiter;
  CsvReader reader(table, std::move(text), mark);
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
  reader.reserve_cells(options.limit);
  while (reader.next_row()) {
    if (reader.row_cells() != table.columns) {
      fail(options.source, reader.row_line(),
           fmt::format("{} cells, but the {} has {}.", reader.row_cells(),
                       options.header ? "line of column names" : "first line", table.columns));
    }
    table.lines.push_back(reader.row_line());
  }
  reader.finish();
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
