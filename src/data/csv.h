// SPDX-License-Identifier: BSD-3-Clause
//
// CSV and TSV text as a table of cells.
//
// Rules: a first line of names (unless `header` is off), one row per line, every row as long as the
// first. Lines end in LF, CRLF or CR; a UTF-8 byte order mark is skipped; blank lines are skipped. A cell
// that begins with a double quote runs to the closing one, may contain delimiters and line breaks, and has
// its quotes doubled. Blanks around unquoted cells do not count.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "kloom/matrix.h"

namespace kloom::data {

struct CsvOptions {
  char delimiter = ',';
  bool header = true;
  std::string source;                                           // file name, for messages
  std::size_t limit = std::numeric_limits<std::size_t>::max();  // bytes that text and table may take together
};

class TextTable {
 public:
  std::string source;
  std::vector<std::string> names;  // the header; only the first may be empty (an unnamed id column)
  std::vector<Index> lines;        // line on which each row begins, counted from 1
  Index columns = 0;
  char delimiter = ',';

  [[nodiscard]] Index rows() const { return static_cast<Index>(lines.size()); }
  [[nodiscard]] std::string_view cell(Index row, Index column) const {
    const auto k = static_cast<std::size_t>(row * columns + column);
    const std::size_t begin = column == 0 ? 0 : ends_[k - 1];
    return std::string_view(text_).substr(starts_[static_cast<std::size_t>(row)] + begin, ends_[k] - begin);
  }
  // Bytes of memory that it takes.
  [[nodiscard]] std::size_t bytes() const;
  // Position of a column, or -1.
  [[nodiscard]] Index find(std::string_view name) const;

 private:
  friend class CsvReader;
  // All cells one after another, in the memory of the file's text: a large table is held once. A cell never takes more
  // room than it had in the file, so that they can be moved to the front while the rest is being read.
  std::string text_;
  std::vector<std::size_t> starts_;  // where each row begins in text_
  std::vector<std::uint32_t> ends_;  // where each cell ends, counted from the beginning of its row
};

// Throws InvalidArgument: no content, header only, rows of another length, duplicate or missing column
// names, unterminated quote, text after a closing quote, NUL bytes. Throws ResourceError, before the memory is taken, if the
// table would exceed the limit. The text becomes that of the table.
[[nodiscard]] TextTable parse_csv(std::string text, const CsvOptions& options);

// The delimiter of a text whose file name suggests `expected` (',' or '\t', or 0 for no idea): a first line
// that has none of it but semicolons, tabs or vertical bars is separated by those.
[[nodiscard]] char guess_delimiter(std::string_view text, char expected);

}  // namespace kloom::data
