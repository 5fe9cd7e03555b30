// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace kloom {
namespace {

char lower(char c) {
  return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

// Insertions, deletions, replacements and swaps of neighbours that turn a into b.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

std::string wrap_paragraph(std::string_view text, std::size_t width, std::size_t indent, std::size_t& column) {
  std::string result;
  bool first = true;
  while (!text.empty()) {
    const std::size_t start = text.find_first_not_of(' ');
    if (start == std::string_view::npos) break;
    const std::size_t end = std::min(text.find(' ', start), text.size());
    const std::string_view word = text.substr(start, end - start);
    text.remove_prefix(end);
    const std::size_t length = width_of(word);
    if (!first && column + 1 + length > width) {
      result.append(1, '\n').append(indent, ' ');
      column = indent;
      first = true;
    }
    if (!first) {
      result += ' ';
      ++column;
    }
    result += word;
    column += length;
    first = false;
  }
  return result;
}

// Bytes of the UTF-8 character at the front of `text`, and the character; 0 bytes where there is none.
struct Character {
  std::size_t bytes = 0;
  std::uint32_t code = 0;
};

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, lead};
  const std::size_t bytes = lead >= 0xF0 ? 4 : (lead >= 0xE0 ? 3 : 2);
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kSmallest[bytes] || code > 0x10FFFF || surrogate) return {};
  return {bytes, code};
}

// What a terminal would obey rather than show.
bool commands_a_terminal(std::uint32_t code) {
  if (code < 0x20) return code != '\n' && code != '\t';
  const bool direction = code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
                         (code >= 0x2066 && code <= 0x2069);
  return (code >= 0x7F && code <= 0x9F) || code == 0x2028 || code == 0x2029 || direction;
}

std::string escaped_line(std::string_view line) {
  std::string result;
  while (!line.empty()) {
    const Character next = first_character(line);
    if (next.bytes == 0) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(line[0]));
    } else if (commands_a_terminal(next.code)) {
      result += fmt::format(fmt::runtime(next.code < 0x100 ? "\\x{:02x}" : "\\u{:04x}"), next.code);
    } else {
      result += line.substr(0, next.bytes);
    }
    line.remove_prefix(std::max<std::size_t>(1, next.bytes));
  }
  return result;
}

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

// Two thirds of what may be kept are the beginning, where messages say what they are about.
std::string shortened_line(std::string_view line, std::size_t longest) {
  if (line.size() <= longest) return escaped_line(line);
  std::size_t head = longest / 3 * 2;
  std::size_t tail = line.size() - longest / 3;
  while (head > 0 && continues_character(line[head])) --head;
  while (tail < line.size() && continues_character(line[tail])) ++tail;
  return fmt::format("{}… ({} bytes left out) …{}", escaped_line(line.substr(0, head)), tail - head,
                     escaped_line(line.substr(tail)));
}

}  // namespace

std::string printable(std::string_view text, std::size_t longest) {
  std::string result;
  while (true) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    result += shortened_line(text.substr(0, end), longest);
    if (end == text.size()) return result;
    result += '\n';
    text.remove_prefix(end + 1);
  }
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
  std::string best;
  // One or two letters are near to every other short name: at most one of them may be wrong.
  std::size_t least = name.size() < 3 ? 2 : std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : known) {
    if (equal_ignoring_case(name, candidate)) return candidate;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < least && distance < candidate.size()) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  const std::string best = nearest_name(name, known);
  return best.empty() ? "" : " (did you mean '" + best + "'?)";
}

std::string stem_of(std::string_view path) {
  std::string_view name = path.substr(path.find_last_of('/') + 1);
  if (name.size() > 3 && equal_ignoring_case(name.substr(name.size() - 3), ".gz")) name.remove_suffix(3);
  const std::size_t dot = name.find_last_of('.');
  return std::string(dot == 0 ? name : name.substr(0, dot));
}

std::string number_text(double value) {
  return fmt::format("{}", value);
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string padded(std::string_view text, std::size_t width) {
  const std::size_t used = width_of(text);
  return std::string(text) + std::string(used < width ? width - used : 0, ' ');
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  std::string result;
  std::size_t column = indent;  // the first line starts where the caller has come to
  while (true) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    result += wrap_paragraph(text.substr(0, end), width, indent, column);
    if (end == text.size()) return result;
    result.append(1, '\n').append(indent, ' ');
    column = indent;
    text.remove_prefix(end + 1);
  }
}

}  // namespace kloom
