// SPDX-License-Identifier: BSD-3-Clause
//
// Words and numbers in messages and tables: what the library and the command line write alike.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kloom {

// ASCII letters only.
[[nodiscard]] bool equal_ignoring_case(std::string_view a, std::string_view b);

// The one of `known` that `name` was probably meant to be, or "": the same but for case, or within a third of
// its letters (at least two), counting insertions, deletions, replacements and swaps of neighbours.
[[nodiscard]] std::string nearest_name(std::string_view name, const std::vector<std::string>& known);
// " (did you mean 'x'?)" for the nearest name, or "".
[[nodiscard]] std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

// "a/b/rna.csv.gz" → "rna".
[[nodiscard]] std::string stem_of(std::string_view path);

// The shortest digits that read back as the same number.
[[nodiscard]] std::string number_text(double value);

// Text that may quote anything, fit for a terminal and a log: control characters, marks that turn the direction of
// writing, and bytes that are no UTF-8 are written as \x1b or \u202e (line breaks and tabs stay), and of a line longer
// than `longest` bytes the beginning and the end are kept, with a word about what was left out between them.
[[nodiscard]] std::string printable(std::string_view text, std::size_t longest = 2000);

// Columns that UTF-8 text takes on a terminal: its characters, not its bytes.
[[nodiscard]] std::size_t width_of(std::string_view text);
[[nodiscard]] std::string padded(std::string_view text, std::size_t width);

// Breaks paragraphs between words so that no line exceeds `width`; every line but the first starts with
// `indent` spaces. Words longer than a line stay whole. Line breaks in the text are kept.
[[nodiscard]] std::string wrap(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace kloom
