// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/spec/scanner.h"

#include <fmt/format.h>

#include <algorithm>

#include "kloom/error.h"

namespace kloom::kernels {
namespace {

constexpr std::size_t kWindow = 80;  // characters of the text that a message shows

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
// Bytes 10xxxxxx continue a UTF-8 character and take no column of their own.
bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}
std::size_t columns(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::count_if(text.begin(), text.end(), continues_character));
}

}  // namespace

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
void Scanner::skip_space() {
  while (!at_end() && is_space(text_[position_])) ++position_;
}

char Scanner::peek(std::size_t ahead) const {
  return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
}

bool Scanner::accept(std::string_view wanted) {
  skip_space();
  if (text_.substr(std::min(position_, text_.size())).substr(0, wanted.size()) != wanted) return false;
  position_ += wanted.size();
  return true;
}

std::string_view Scanner::word() {
  skip_space();
  const std::size_t begin = position_;
  if (!is_letter(peek())) return {};
  while (is_letter(peek()) || is_digit(peek()) || peek() == '_' || peek() == '-') ++position_;
  return slice(begin, position_);
}

void Scanner::fail(std::size_t position, const std::string& message) const {
  position = std::min(position, text_.size());
  std::size_t begin = position > kWindow / 2 ? position - kWindow / 2 : 0;
  while (begin > 0 && continues_character(text_[begin])) --begin;
  std::size_t end = std::min(text_.size(), begin + kWindow);
  while (end < text_.size() && continues_character(text_[end])) ++end;
  std::string line(text_.substr(begin, end - begin));
  // A line break or tab would tear the caret away from its place.
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20U || c == '\x7f') c = ' ';
  const std::string before = begin > 0 ? "…" : "";
  const std::string after = end < text_.size() ? "…" : "";
  const std::size_t indent = columns(text_.substr(begin, position - begin)) + (begin > 0 ? 1 : 0);
  throw InvalidArgument(fmt::format("{}, at position {}: {}\n  {}{}{}\n  {}^", what_,
                                    columns(text_.substr(0, position)) + 1, message, before, line, after,
                                    std::string(indent, ' ')));
}

void Scanner::fail_expected(const std::string& expected) const {
  std::string found = "the end";
  if (!at_end()) {
    const char c = text_[position_];
    const bool printable = static_cast<unsigned char>(c) >= 0x20U && static_cast<unsigned char>(c) < 0x7fU;
    found = printable ? fmt::format("'{}'", c) : fmt::format("byte 0x{:02x}", static_cast<unsigned char>(c));
  }
  fail(position_, fmt::format("found {}, expected {}", found, expected));
}

}  // namespace kloom::kernels
