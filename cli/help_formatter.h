// SPDX-License-Identifier: BSD-3-Clause
//
// Help texts with wrapped lines (CLI11's own formatter does not wrap).
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace kloom::cli {

// Options that every command has; shown last.
inline constexpr const char* kCommonGroup = "Running";

// " [DATA] [OPTIONS]": what stands behind the command's name.
[[nodiscard]] std::string arguments_usage(const CLI::App& app);
// The groups of options as help shows them.
[[nodiscard]] std::vector<std::string> groups_in_order(const CLI::App& app);

class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace kloom::cli
