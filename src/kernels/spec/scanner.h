// SPDX-License-Identifier: BSD-3-Clause
//
// Reads a short text from left to right and knows how to complain about it: every error says where, what
// was found and what would have been accepted, with a caret under the place.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "data/number.h"

namespace kloom::kernels {

class Scanner {
 public:
  // `what` names the text in messages: "kernel spec", "range".
  Scanner(std::string_view text, std::string what) : text_(text), what_(std::move(what)) {}

  void skip_space();
  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] bool at_end() const { return position_ >= text_.size(); }
  // The character at the position plus `ahead`; '\0' beyond the end.
  [[nodiscard]] char peek(std::size_t ahead = 0) const;
  void advance(std::size_t characters) { position_ += characters; }
  // Skips space, then takes `wanted` if it comes next.
  bool accept(std::string_view wanted);
  [[nodiscard]] std::string_view slice(std::size_t begin, std::size_t end) const {
    return text_.substr(begin, end - begin);
  }

  // Letters, digits, '_' and '-', beginning with a letter; empty if none comes next.
  std::string_view word();

  // "kernel spec, at position 12: <message>" and the text with a caret. Positions count characters from 1.
  [[noreturn]] void fail(std::size_t position, const std::string& message) const;
  // "found ')', expected <expected>" at the present position.
  [[noreturn]] void fail_expected(const std::string& expected) const;

 private:
  std::string_view text_;
  std::string what_;
  std::size_t position_ = 0;
};

[[nodiscard]] bool is_letter(char c);
using data::is_digit;

}  // namespace kloom::kernels
