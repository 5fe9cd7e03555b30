// SPDX-License-Identifier: BSD-3-Clause
//
// Manual pages for man(1), written from the options of a command.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace kloom::cli {

struct ManualEntry {
  std::vector<std::string> names;  // "-o", "--output": printed bold
  std::string value;               // "FILE": what stands for the value
  std::string text;
};

struct ManualSection {
  std::string title;
  std::string text;
  std::vector<ManualEntry> entries;
  std::string verbatim;  // lines that stay as they are: examples
  bool nested = false;   // a part of the section before it
};

// A page of section 1 that is called `name` ("kloom-train").
[[nodiscard]] std::string manual_page(const std::string& name, const std::string& summary,
                                      const std::vector<ManualSection>& sections);

// The page of one command: its arguments, options and examples as --help shows them, then `more`.
[[nodiscard]] std::string manual_page(const CLI::App& app, const std::string& summary,
                                      const std::vector<ManualSection>& more);

}  // namespace kloom::cli
