// SPDX-License-Identifier: BSD-3-Clause
#include "stream_lines.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "interrupt.h"
#include "kloom/error.h"

namespace kloom::cli {

bool holds_sample(std::string_view line) {
  const std::size_t start = line.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && line[start] != '#';
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end == std::string_view::npos ? text.size() : end + 1);
  text.remove_prefix(line.size());
  return line;
}

namespace {

bool holds_any(std::string_view text) {
  while (!text.empty()) {
    if (holds_sample(next_line(text))) return true;
  }
  return false;
}

}  // namespace

std::string Lines::take(Index most) {
  std::string result;
  for (Index found = 0; found < most;) {
    const std::size_t end = text_.find('\n', start_);
    if (end == std::string::npos && !ended_ && refill()) continue;
    const std::size_t stop = end == std::string::npos ? text_.size() : end + 1;
    // What was cut off by Ctrl-C is not a whole line.
    if (stop == start_ || (end == std::string::npos && !ended_)) break;
    const std::string_view line = std::string_view(text_).substr(start_, stop - start_);
    if (holds_sample(line)) ++found;
    result += line;
    start_ = stop;
  }
  return result;
}

bool Lines::refill() {
  text_.erase(0, start_);
  start_ = 0;
  // A pipe that is silent must not keep Ctrl-C waiting; what is there is taken, so that pieces of a file are whole.
  pollfd input{STDIN_FILENO, POLLIN, 0};
  while (::poll(&input, 1, interrupted() ? 0 : 200) <= 0) {  // a signal ends it with −1
    if (interrupted()) return false;
  }
  char buffer[1 << 16];
  const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof buffer);
  if (got > 0) text_.append(buffer, static_cast<std::size_t>(got));
  if (got == 0) ended_ = true;
  if (got < 0 && errno != EINTR) {
    trouble_ = fmt::format("standard input cannot be read: {}", std::strerror(errno));
    ended_ = true;
  }
  return true;
}

SampleReader::Sorted SampleReader::sort(std::string_view text, const StreamReader& reader) const {
  Sorted sorted;
  for (Index number = 0; !text.empty(); ++number) {
    const std::string_view line = next_line(text);
    if (holds_sample(line)) {
      try {
        StreamReader trial = reader;
        trial.pass_over(number);
        static_cast<void>(trial.read(line, session_.context()));
      } catch (const InvalidArgument& error) {
        if (sorted.bad++ == 0) sorted.message = error.what();
        continue;
      }
    }
    sorted.good += line;
    if (sorted.bad == 0) sorted.before += line;
  }
  return sorted;
}

// A reader that knows the header, from the first line that can be read after it.
StreamReader SampleReader::informed(std::string_view start, std::string_view text) const {
  while (true) {
    const std::string_view line = next_line(text);
    try {
      StreamReader reader = reader_;
      static_cast<void>(reader.read(std::string(start) + std::string(line), session_.context()));
      StreamReader result = reader;
      result.pass_over(reader_.lines() + (start.empty() ? 0 : 1) - reader.lines());
      return result;
    } catch (const InvalidArgument&) {
      if (text.empty()) throw;
    }
  }
}

Piece SampleReader::read_good(std::string_view start, const Sorted& sorted) {
  Piece piece;
  const std::string& text = skip_ ? sorted.good : sorted.before;
  if (holds_any(text)) piece.data = reader_.read(std::string(start) + text, session_.context());
  if (!skip_) {
    piece.trouble = sorted.message;
    return piece;
  }
  if (bad_ == 0)
    session_.console().warn(fmt::format("{} This line is skipped, and others like it.", sorted.message));
  reader_.pass_over(sorted.bad);
  bad_ += sorted.bad;
  return piece;
}

Piece SampleReader::read(std::string_view text) {
  if (!holds_any(text)) return {};
  const StreamReader before = reader_;
  const bool first = !std::exchange(began_, true);
  try {
    return {reader_.read(text, session_.context()), {}};
  } catch (const InvalidArgument&) {
    // Kernels are not fitted to the few samples before a bad line.
    if (first && !skip_) throw;
    reader_ = before;
  }
  if (!first) return read_good({}, sort(text, reader_));
  const std::string_view start = reader_.is_header(text) ? next_line(text) : std::string_view();
  return read_good(start, sort(text, informed(start, text)));
}

}  // namespace kloom::cli
