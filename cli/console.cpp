// SPDX-License-Identifier: BSD-3-Clause
#include "console.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "kloom/error.h"
#include "text.h"

namespace kloom::cli {
namespace {

constexpr double kBarPeriod = 0.1;           // seconds between two drawings
constexpr double kLinePeriod = 10.0;         // seconds between two lines in a log
constexpr std::size_t kLongestLine = 10000;  // of a result: commands that list their kernels are long

std::string time_left(const Progress& progress) {
  if (progress.steps <= 0 || progress.step <= 0 || progress.step >= progress.steps) return "";
  const double each = progress.seconds / static_cast<double>(progress.step);
  return ", " + format_seconds(each * static_cast<double>(progress.steps - progress.step)) + " left";
}

std::string progress_text(const Progress& progress) {
  std::string text = fmt::format("{} {}", progress.stage, progress.step);
  if (progress.steps > 0) text += fmt::format("/{}", progress.steps);
  if (std::isfinite(progress.objective)) text += fmt::format(", objective {:.8g}", progress.objective);
  return text + ", " + format_seconds(progress.seconds) + time_left(progress);
}

}  // namespace

std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20) return size.ws_col;
  return 80;
}

void write_stdout(std::string_view text) {
  const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!whole || std::fflush(stdout) != 0) {
    throw FileError(fmt::format("standard output could not be written: {}", std::strerror(errno)));
  }
}

void write_stderr(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

Console::Console(bool quiet, bool json)
    : quiet_(quiet), json_(json), terminal_(isatty(STDERR_FILENO) != 0), width_(terminal_width()) {}

void Console::note(std::string_view text) {
  if (quiet_) return;
  end_progress();
  const std::string shown = printable(text);
  // Lines in a log are for grep and stay whole.
  write_stderr((terminal_ ? wrap(shown, std::min<std::size_t>(width_, 100), 2) : shown) + "\n");
}

void Console::note_block(std::string_view text) {
  if (quiet_) return;
  end_progress();
  write_stderr(printable(text));
}

void Console::warn(const std::string& text) {
  warnings_.push_back(text);
  end_progress();
  write_stderr("kloom: warning: " + printable(text) + "\n");
}

void Console::result(std::string_view text) const {
  if (!quiet_ && !json_) write_stdout(printable(text, kLongestLine));
}

void Console::json_result(const std::string& text) const {
  if (json_) write_stdout(text + "\n");
}

void Console::progress(const Progress& progress) {
  if (quiet_) return;
  const bool new_stage = stage_ != progress.stage;
  const bool last = progress.steps > 0 && progress.step >= progress.steps;
  if (new_stage) {
    end_progress();
    stage_ = progress.stage;
    last_seconds_ = 0.0;
  }
  const double period = terminal_ ? kBarPeriod : kLinePeriod;
  if (progress.seconds - last_seconds_ < period && !(last && bar_shown_)) return;
  last_seconds_ = progress.seconds;
  if (terminal_) {
    draw_bar(progress);
  } else {
    write_line(progress);
  }
}

void Console::draw_bar(const Progress& progress) {
  std::string text = progress_text(progress);
  if (progress.steps > 0) {
    constexpr std::size_t kBar = 20;
    const double part = static_cast<double>(progress.step) / static_cast<double>(progress.steps);
    const auto filled = static_cast<std::size_t>(std::clamp(part, 0.0, 1.0) * static_cast<double>(kBar));
    text = fmt::format("[{}{}] {}", std::string(filled, '#'), std::string(kBar - filled, '.'), text);
  }
  if (text.size() >= width_) text.resize(width_ - 1);
  write_stderr("\r\x1b[K" + text);
  bar_shown_ = true;
}

void Console::write_line(const Progress& progress) {
  write_stderr(progress_text(progress) + "\n");
}

void Console::end_progress() {
  if (bar_shown_) write_stderr("\r\x1b[K");
  bar_shown_ = false;
}

}  // namespace kloom::cli
