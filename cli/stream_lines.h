// SPDX-License-Identifier: BSD-3-Clause
//
// Standard input, line by line, and which of its lines are samples.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kloom/stream.h"
#include "session.h"

namespace kloom::cli {

// Blank lines and comments hold no sample.
[[nodiscard]] bool holds_sample(std::string_view line);

// The first line of `text` with its end; it is taken off.
[[nodiscard]] std::string_view next_line(std::string_view& text);

// Whole lines of standard input, a given number of samples at a time.
class Lines {
 public:
  // Up to `most` sample lines (fewer at the end of the input), with everything between them.
  std::string take(Index most);
  [[nodiscard]] bool ended() const { return ended_ && start_ == text_.size(); }
  // Why the input ended before its end; empty: it did not.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  // False after Ctrl-C, if there is nothing to be had at once.
  bool refill();

  std::string text_;
  std::size_t start_ = 0;
  bool ended_ = false;
  std::string trouble_;
};

// What was read of a piece of the input.
struct Piece {
  std::optional<Dataset> data;  // nothing: it holds no sample
  std::string trouble;          // about the line after `data`, where reading ended; empty: all was read
};

// Samples from pieces of whole lines. A line that is no sample ends the reading or is passed over.
class SampleReader {
 public:
  SampleReader(StreamReader reader, bool skip, Session& session)
      : reader_(std::move(reader)), skip_(skip), session_(session) {}

  [[nodiscard]] bool is_header(std::string_view first_line) const { return reader_.is_header(first_line); }
  [[nodiscard]] bool began() const { return began_; }
  // Throws what the reader throws about its first piece, of which no line is good.
  Piece read(std::string_view text);
  [[nodiscard]] Index bad() const { return bad_; }  // lines that were passed over

 private:
  // What the reader makes of the lines, each looked at by itself.
  struct Sorted {
    std::string good;     // all that can be read, in their order
    std::string before;   // those before the first that cannot
    Index bad = 0;        // lines that cannot
    std::string message;  // about the first of them
  };
  [[nodiscard]] Sorted sort(std::string_view text, const StreamReader& reader) const;
  [[nodiscard]] Piece read_good(std::string_view start, const Sorted& sorted);
  [[nodiscard]] StreamReader informed(std::string_view start, std::string_view text) const;

  StreamReader reader_;
  bool skip_;
  Session& session_;
  bool began_ = false;
  Index bad_ = 0;
};

}  // namespace kloom::cli
