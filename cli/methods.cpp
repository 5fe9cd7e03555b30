// SPDX-License-Identifier: BSD-3-Clause
//
// kloom methods: the registry, for people and programs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "completions.h"
#include "exit_code.h"
#include "help_formatter.h"
#include "kloom/learner.h"
#include "method_options.h"
#include "model_text.h"
#include "text.h"

namespace kloom::cli {
namespace {

std::string tasks_of(const Learner& learner) {
  std::vector<std::string> names;
  for (const Task task : learner.tasks) names.emplace_back(to_string(task));
  return list_of(names, 10);
}

std::string describe_method(const Learner& learner) {
  constexpr std::size_t kIndent = 6;
  std::string text =
      fmt::format("{}: {}\n  tasks: {}\n  options:\n", learner.name, learner.summary, tasks_of(learner));
  for (const OptionInfo& option : learner.options) {
    text += fmt::format("    {}\n{}{}\n", option_flag(option), std::string(kIndent, ' '),
                        wrap(option_description(option), 90, kIndent));
  }
  return text;
}

ManualSection manual_section(const Learner& learner) {
  ManualSection section;
  section.nested = true;
  section.title = learner.name;
  section.text = fmt::format("{} ({}).", learner.summary, tasks_of(learner));
  for (const OptionInfo& option : learner.options) {
    section.entries.push_back({{option_flag(option)}, option_type(option), option_description(option)});
  }
  return section;
}

nlohmann::ordered_json method_json(const Learner& learner) {
  auto options = nlohmann::ordered_json::array();
  for (const OptionInfo& option : learner.options) {
    options.push_back({{"name", option.name},
                       {"flag", option_flag(option)},
                       {"default", option.default_value},
                       {"rule", option.rule},
                       {"choices", option.choices},
                       {"doc", option.doc}});
  }
  return {
      {"name", learner.name}, {"summary", learner.summary}, {"tasks", tasks_of(learner)}, {"options", options}};
}

}  // namespace

int run_methods(const Arguments& arguments) {
  CommonOptions common;
  std::string name;
  CommandLine line("methods", "Lists the learning methods, or explains the options of one.",
                   "  kloom methods\n  kloom methods bemkl");
  line.app().add_option("name", name, "Method to explain")->type_name(kMethodType);
  line.app()
      .add_flag("--json", common.json, "Print the result as JSON on standard output")
      ->group(kCommonGroup);
  line.add_manual_section(
      {"METHODS", "'--method NAME' chooses one; these are the options of each.", {}, "", false});
  for (const Learner& learner : all_learners()) line.add_manual_section(manual_section(learner));
  if (!line.parse(arguments)) return kDone;
  const Console console(false, common.json);
  auto json = nlohmann::ordered_json::array();
  std::string text;
  if (name.empty()) {
    for (const Learner& learner : all_learners()) {
      text += fmt::format("{:<12}{} ({})\n", learner.name, learner.summary, tasks_of(learner));
      json.push_back(method_json(learner));
    }
  } else {
    const Learner& learner = find_learner(name);
    text = describe_method(learner);
    json.push_back(method_json(learner));
  }
  console.result(text);
  console.json_result(dump(json));
  return kDone;
}

}  // namespace kloom::cli
