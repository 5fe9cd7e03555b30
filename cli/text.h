// SPDX-License-Identifier: BSD-3-Clause
//
// Words on a terminal: wrapping, columns, likely misspellings, numbers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kloom::cli {

// Characters of UTF-8 text, which is what it takes on a terminal.
[[nodiscard]] std::size_t width_of(std::string_view text);
[[nodiscard]] std::string padded(std::string_view text, std::size_t width);

// Breaks paragraphs between words so that no line exceeds `width`; every line but the first starts with
// `indent` spaces. Words longer than a line stay whole. Line breaks in the text are kept.
[[nodiscard]] std::string wrap(std::string_view text, std::size_t width, std::size_t indent);

// The candidate that `word` is most likely meant to be, or "" if none is near.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// "; did you mean 'x'?" or "".
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

// "2.5 s", "3:20", "1:02:03".
[[nodiscard]] std::string format_seconds(double seconds);

// "90", "90s", "10m", "1h30m": seconds. Throws InvalidArgument naming `option`.
[[nodiscard]] double parse_duration(std::string_view text, std::string_view option);

// The words as one would type them in a shell.
[[nodiscard]] std::string shell_line(const std::vector<std::string>& words);

// "4GB", "500 MB", "1.5GiB", "2000000": bytes. Throws InvalidArgument naming `option`.
[[nodiscard]] std::size_t parse_bytes(std::string_view text, std::string_view option);

// The shortest digits that read back as the same number; empty for NaN.
[[nodiscard]] std::string number_text(double value);

// One cell of a CSV file, quoted where it must be.
[[nodiscard]] std::string csv_cell(std::string_view text);

// The bytes with everything that is not UTF-8 replaced, so that JSON can hold them.
[[nodiscard]] std::string valid_utf8(std::string_view text);

// "a, b, c"; with more than `most` items the rest is counted: "a, b and 7 more".
[[nodiscard]] std::string list_of(const std::vector<std::string>& items, std::size_t most);

// "1 kernel", "7 kernels".
[[nodiscard]] std::string counted(std::ptrdiff_t count, std::string_view noun);

// "a,b" → a, b.
[[nodiscard]] std::vector<std::string> split_commas(const std::string& text);

}  // namespace kloom::cli
