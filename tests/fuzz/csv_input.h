// SPDX-License-Identifier: BSD-3-Clause
//
// One fuzz input for the CSV reader. Any text must give a table or an error of kloom; a broken promise of the
// table throws std::logic_error, which neither the fuzzer nor the replay catches.
#pragma once

#include <cmath>
#include <stdexcept>
#include <string_view>

#include "data/csv.h"
#include "data/number.h"
#include "kloom/error.h"

namespace kloom::fuzz {

inline void check_table(const data::TextTable& table, bool header) {
  if (table.rows() < 1 || table.columns < 1 ||
      (header && static_cast<Index>(table.names.size()) != table.columns)) {
    throw std::logic_error("a table without cells or with too few names");
  }
  Index line = header ? 1 : 0;
  for (Index i = 0; i < table.rows(); ++i) {
    if (table.lines[static_cast<std::size_t>(i)] <= line) {
      throw std::logic_error("line numbers do not increase");
    }
    line = table.lines[static_cast<std::size_t>(i)];
    for (Index j = 0; j < table.columns; ++j) {
      const data::CellValue cell = data::read_cell(table.cell(i, j));
      if (cell.kind == data::CellKind::number && !std::isfinite(cell.value)) {
        throw std::logic_error("a number that is not finite");
      }
      if (cell.kind == data::CellKind::number &&
          data::read_cell(data::label_text(cell.value)).value != cell.value) {
        throw std::logic_error("a number that does not read back");
      }
    }
  }
}

// True if the text was a table.
inline bool read_csv_input(std::string_view text) {
  bool read = false;
  for (const char expected : {',', '\t', '\0'}) {
    for (const bool header : {true, false}) {
      try {
        check_table(
            data::parse_csv(std::string(text), {data::guess_delimiter(text, expected), header, "input"}),
            header);
        read = true;
      } catch (const Error&) {  // refusing is fine
      }
    }
  }
  return read;
}

}  // namespace kloom::fuzz
