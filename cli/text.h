// SPDX-License-Identifier: BSD-3-Clause
//
// Words on the command line and in files that commands write, beyond those of kloom/words.h.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kloom/words.h"

namespace kloom::cli {

// "2.5 s", "3:20", "1:02:03".
[[nodiscard]] std::string format_seconds(double seconds);

// "90", "90s", "10m", "1h30m": seconds. Throws InvalidArgument naming `option`.
[[nodiscard]] double parse_duration(std::string_view text, std::string_view option);

// The words as one would type them in a shell.
[[nodiscard]] std::string shell_line(const std::vector<std::string>& words);

// "4GB", "500 MB", "1.5GiB", "2000000": bytes. Throws InvalidArgument naming `option`.
[[nodiscard]] std::size_t parse_bytes(std::string_view text, std::string_view option);

// One cell of a CSV file: text, quoted where it must be, or a number, empty for NaN.
[[nodiscard]] std::string csv_cell(std::string_view text);
[[nodiscard]] std::string csv_number(double value);

// The bytes with everything that is not UTF-8 replaced, so that JSON can hold them.
[[nodiscard]] std::string valid_utf8(std::string_view text);

// "a, b, c"; with more than `most` items the rest is counted: "a, b and 7 more".
[[nodiscard]] std::string list_of(const std::vector<std::string>& items, std::size_t most);

// "1 kernel", "7 kernels".
[[nodiscard]] std::string counted(std::ptrdiff_t count, std::string_view noun);

// "a,b" → a, b.
[[nodiscard]] std::vector<std::string> split_commas(const std::string& text);

}  // namespace kloom::cli
