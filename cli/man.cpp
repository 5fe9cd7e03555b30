// SPDX-License-Identifier: BSD-3-Clause
//
// kloom man: the manual pages. A command writes its own, from its options.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "commands.h"
#include "completions.h"
#include "exit_code.h"
#include "kloom/error.h"
#include "kloom/learner.h"
#include "text.h"

namespace kloom::cli {
namespace {

std::string page_of_program() {
  ManualSection commands{"COMMANDS", "", {}, "", false};
  for (const Command& command : all_commands()) {
    if (!command.listed) continue;
    commands.entries.push_back({{fmt::format("kloom-{}(1)", command.name)}, "", std::string(command.summary)});
  }
  ManualSection methods{"METHODS", "kloom-methods(1) has their options.", {}, "", false};
  for (const Learner& learner : all_learners())
    methods.entries.push_back({{learner.name}, "", learner.summary});
  const ManualSection codes{
      "EXIT STATUS",
      "",
      {{{std::to_string(kDone)}, "", "done"},
       {{std::to_string(kFailed)}, "", "failed; a sentence on standard error says why"},
       {{std::to_string(kUsersMistake)}, "", "arguments or files that cannot be meant so"},
       {{std::to_string(kInterrupted)}, "", "interrupted; what there is was kept"}},
      "",
      false};
  return manual_page(
      "kloom", "learn from many kernels at once",
      {{"SYNOPSIS", "kloom COMMAND [ARGUMENTS]", {}, "", false},
       {"DESCRIPTION",
        std::string(kProgramSentence) + " Results go to standard output, everything else to "
                                        "standard error; --json makes the result one JSON value.",
        {},
        "",
        false},
       commands,
       methods,
       {"SHELL COMPLETION",
        "'kloom completion bash' prints a script to be sourced, as do zsh and fish in the place of bash.",
        {},
        "",
        false},
       codes,
       {"EXAMPLES", "", {}, kProgramExamples, false}});
}

void print_page_of(const Command& command) {
  Arguments request;
  if (!command.next.empty()) request.emplace_back(command.next);
  request.emplace_back(kPageRequest);
  request.emplace_back(command.summary);
  static_cast<void>(command.run(request));
}

void list_pages() {
  std::string text;
  for (const Command& command : all_commands()) {
    if (command.listed) text += fmt::format("{}\n", command.name);
  }
  write_stdout(text);
}

}  // namespace

int run_man(const Arguments& arguments) {
  std::string name;
  bool list = false;
  CommandLine line("man", "Prints the manual page of kloom or of one of its commands, for man(1).",
                   "  kloom man train | man -l -\n  kloom man >kloom.1");
  line.app().add_option("command", name, "Command (default: kloom itself)")->type_name(kCommandType);
  line.app().add_flag("--list", list, "Name the commands that have a page")->group("Output");
  if (!line.parse(arguments)) return kDone;
  if (list) {
    list_pages();
  } else if (name.empty()) {
    write_stdout(page_of_program());
  } else {
    const Command& command = find_command(name);
    if (!command.listed)
      throw InvalidArgument(fmt::format("'kloom {}' has no manual page; see 'kloom {} --help'", name, name));
    print_page_of(command);
  }
  return kDone;
}

}  // namespace kloom::cli
