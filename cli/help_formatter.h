// SPDX-License-Identifier: BSD-3-Clause
//
// Help texts with wrapped lines (CLI11's own formatter does not wrap).
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace kloom::cli {

class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace kloom::cli
