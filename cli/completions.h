// SPDX-License-Identifier: BSD-3-Clause
//
// What an unfinished word on the command line could become, read off the options of the command.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace kloom::cli {

// Names for the values of options that say what completes them. Besides these: FILE, MODEL and VIEW are files, and
// names with '|' between them are choices.
inline constexpr const char* kMethodType = "METHOD";
inline constexpr const char* kMethodsType = "METHODS";
inline constexpr const char* kCommandType = "COMMAND";

struct Completion {
  std::string word;
  std::string description;
};

// A candidate with this word says: the shell should offer files.
inline constexpr const char* kAnyFile = ":files";

// `earlier`: the words between the command's name and `word`.
[[nodiscard]] std::vector<Completion> completions(const CLI::App& app, const std::vector<std::string>& earlier,
                                                  const std::string& word);
// The commands of kloom that begin so.
[[nodiscard]] std::vector<Completion> command_candidates(const std::string& word);

// A line per candidate: the word, a tab, its description.
[[nodiscard]] std::string candidates_text(const std::vector<Completion>& candidates);

}  // namespace kloom::cli
