// SPDX-License-Identifier: BSD-3-Clause
//
// The commands. Each gets the arguments after its name, returns an exit code, and throws what goes wrong.
#pragma once

#include <span>
#include <string_view>

#include "command_line.h"

namespace kloom::cli {

inline constexpr std::string_view kProgramSentence =
    "kloom learns from many kernels at once: which of them matter, and what they say together.";
inline constexpr const char* kProgramExamples =
    "  kloom train data.csv --target label -o model.kloom\n"
    "  kloom predict model.kloom new.csv -o predictions.csv\n"
    "  kloom compare data.csv --target label -o report.html\n"
    "  kloom check model.kloom data.csv\n";

struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(const Arguments&);
  std::string_view next{};  // the word that follows the name: kernels build
  bool listed = true;       // in the overview, and with a manual page
};

[[nodiscard]] std::span<const Command> all_commands();
// The table's entry. Throws InvalidArgument with the nearest name.
[[nodiscard]] const Command& find_command(const std::string& name);

int run_train(const Arguments& arguments);
int run_predict(const Arguments& arguments);
int run_kernels(const Arguments& arguments);
int run_cv(const Arguments& arguments);
int run_compare(const Arguments& arguments);
int run_stream(const Arguments& arguments);
int run_tasks(const Arguments& arguments);
int run_check(const Arguments& arguments);
int run_view(const Arguments& arguments);
int run_info(const Arguments& arguments);
int run_methods(const Arguments& arguments);
int run_man(const Arguments& arguments);
int run_completion(const Arguments& arguments);
// For the scripts that `completion` prints: what could stand in the place of the last argument.
int run_complete_words(const Arguments& arguments);

}  // namespace kloom::cli
