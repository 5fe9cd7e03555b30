// SPDX-License-Identifier: BSD-3-Clause
//
// One command's arguments: parsing, help, and sentences for what was mistyped.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "manual_page.h"
#include "session.h"

namespace CLI {
class App;
}

namespace kloom::cli {

using Arguments = std::vector<std::string>;

// Instead of a user's, a command can get the arguments of one who wants to know what it takes. Its options are described
// where they are added and nowhere else; what follows is written from there, and nothing is run.
//   {kPageRequest, summary}                   its manual page
//   {kWordsRequest, word, earlier words…}     what the unfinished word could become
inline constexpr std::string_view kPageRequest = "--print-manual-page";
inline constexpr std::string_view kWordsRequest = "--complete-word";

class CommandLine {
 public:
  // `name`: "train"; `examples`: lines for the end of the help text.
  CommandLine(const std::string& name, const std::string& summary, const std::string& examples);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  [[nodiscard]] CLI::App& app() { return *app_; }
  // Options that exist elsewhere (in another method, say) and what to tell someone who uses them here.
  void explain_foreign_option(const std::string& option, const std::string& sentence);

  // What the manual page says beyond options and examples.
  void add_manual_section(ManualSection section);

  // Returns false if help (or a manual page, or words) was asked for and printed. Throws InvalidArgument with a sentence.
  [[nodiscard]] bool parse(const Arguments& arguments);

 private:
  [[nodiscard]] std::vector<std::string> option_names() const;
  // About the first argument that looks like an option and is none; "" if there is no such thing.
  [[nodiscard]] std::string unknown_option(const Arguments& arguments) const;
  [[nodiscard]] std::string missing_arguments() const;
  [[nodiscard]] std::string hint() const;

  std::unique_ptr<CLI::App> app_;
  std::vector<std::pair<std::string, std::string>> foreign_;
  std::vector<ManualSection> sections_;
};

}  // namespace kloom::cli
