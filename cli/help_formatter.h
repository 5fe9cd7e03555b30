// SPDX-License-Identifier: BSD-3-Clause
//
// Help texts with wrapped lines (CLI11's own formatter does not wrap).
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace kloom::cli {

// Options that every command has; shown last.
inline constexpr const char* kCommonGroup = "Running";

class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace kloom::cli
