// SPDX-License-Identifier: BSD-3-Clause
//
// The method and its options, made from the registry's table.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "command_line.h"
#include "kloom/learner.h"

namespace kloom::cli {

struct MethodOptions {
  std::string method;                         // empty: chosen from the task
  std::map<std::string, std::string> values;  // by the registry's name; empty where not given
  std::string table;                          // the method whose options were added
};

// Names of the methods that have a trait: methods_that(&Learner::sample_maps).
[[nodiscard]] std::vector<std::string> methods_that(bool Learner::*trait);

// "sigma_g" → "--sigma-g"; a flag that is on by default is there to be switched off:
// "variance" → "--no-variance".
[[nodiscard]] std::string option_flag(const OptionInfo& option);
// What stands for its value: "NUMBER", "a|b"; nothing for a flag.
[[nodiscard]] std::string option_type(const OptionInfo& option);
// What it does, "(default 1; > 0)".
[[nodiscard]] std::string option_description(const OptionInfo& option);

// Adds these options in a group of that name; `given_values` are those that the user set.
void add_options(CLI::App& app, const std::vector<OptionInfo>& options, const std::string& group,
                 OptionValues& values);
[[nodiscard]] OptionValues given_values(const std::vector<OptionInfo>& options, const OptionValues& values);

// Adds --method and the options of the method that `arguments` name (or of the default one), but those whose
// flags the command has for itself (`taken`). Throws InvalidArgument for an unknown method.
void add_method_options(CommandLine& line, const Arguments& arguments, MethodOptions& options,
                        const std::vector<std::string>& taken = {});

// The learner for this task. Throws InvalidArgument if the method does not do the task, or no method does.
[[nodiscard]] const Learner& choose_method(const MethodOptions& options, const Targets& targets);
// What the user set.
[[nodiscard]] OptionValues option_values(const MethodOptions& options, const Learner& learner);

}  // namespace kloom::cli
