// SPDX-License-Identifier: BSD-3-Clause
//
// What the program says. Results go to standard output, everything else to standard error, so that output can
// be piped. With --json standard output holds one JSON value and nothing else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kloom/context.h"

namespace kloom::cli {

class Console {
 public:
  Console(bool quiet, bool json);

  [[nodiscard]] bool quiet() const { return quiet_; }
  [[nodiscard]] bool json() const { return json_; }

  // A remark on the way: standard error, nothing with --quiet.
  void note(std::string_view text);
  // The same for tables: lines stay as they are.
  void note_block(std::string_view text);
  // Standard error; also kept, for the report.
  void warn(const std::string& text);
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  // What the user asked for: standard output, nothing with --quiet or --json.
  void result(std::string_view text) const;
  // The one JSON value of a command; nothing without --json.
  void json_result(const std::string& text) const;

  // A bar with objective and time left on a terminal, a line now and then in a log, nothing with --quiet.
  void progress(const Progress& progress);
  // Ends the bar, if one is there. Done by everything else that speaks.
  void end_progress();

 private:
  void draw_bar(const Progress& progress);
  void write_line(const Progress& progress);

  bool quiet_;
  bool json_;
  bool terminal_;
  std::size_t width_;
  bool bar_shown_ = false;
  std::string stage_;
  double last_seconds_ = 0.0;
  std::vector<std::string> warnings_;
};

// Columns of the terminal on standard error, or 80.
[[nodiscard]] std::size_t terminal_width();
// Writes to standard output; throws FileError if that fails (disk full, closed pipe).
void write_stdout(std::string_view text);
void write_stderr(std::string_view text);

}  // namespace kloom::cli
