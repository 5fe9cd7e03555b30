// SPDX-License-Identifier: BSD-3-Clause
#include "command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "completions.h"
#include "help_formatter.h"
#include "kloom/error.h"
#include "text.h"

namespace kloom::cli {

CommandLine::CommandLine(const std::string& name, const std::string& summary, const std::string& examples)
    : app_(std::make_unique<CLI::App>(summary, "kloom " + name)) {
  app_->formatter(std::make_shared<HelpFormatter>());
  app_->set_help_flag("-h,--help", "Show this text")->group(kCommonGroup);
  app_->footer("Examples:\n" + examples);
}

CommandLine::~CommandLine() = default;

void CommandLine::explain_foreign_option(const std::string& option, const std::string& sentence) {
  foreign_.emplace_back(option, sentence);
}

std::vector<std::string> CommandLine::option_names() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : app_->get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    for (const auto& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::string CommandLine::unknown_option(const Arguments& arguments) const {
  const std::vector<std::string> names = option_names();
  const auto known = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  bool value_expected = false;
  for (const std::string& argument : arguments) {
    const bool is_value = value_expected;
    value_expected = false;
    if (argument == "--") return "";
    if (is_value || !argument.starts_with("-") || argument == "-") continue;
    const std::string name = argument.substr(0, argument.find('='));
    if (known(name)) {
      const CLI::Option* option = app_->get_option_no_throw(name);
      value_expected = name == argument && option != nullptr && option->get_items_expected_min() > 0;
      continue;
    }
    // -ovalue and -q: a short option with its value attached.
    if (!name.starts_with("--") && known(name.substr(0, 2))) continue;
    for (const auto& [option, sentence] : foreign_) {
      if (option == name) return sentence;
    }
    return fmt::format("unknown option '{}'{}", name, did_you_mean(name, names));
  }
  return "";
}

std::string CommandLine::missing_arguments() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : app_->get_options()) {
    if (option->get_required() && option->count() == 0) names.push_back(option->get_name(true));
  }
  return fmt::format("what is missing: {}", list_of(names, 5));
}

std::string CommandLine::hint() const {
  return fmt::format(" ('{} --help' shows all options)", app_->get_name());
}

void CommandLine::add_manual_section(ManualSection section) {
  sections_.push_back(std::move(section));
}

bool CommandLine::parse(const Arguments& arguments) {
  if (arguments.size() == 2 && arguments.front() == kPageRequest) {
    write_stdout(manual_page(*app_, arguments.back(), sections_));
    return false;
  }
  if (arguments.size() >= 2 && arguments.front() == kWordsRequest) {
    write_stdout(candidates_text(completions(*app_, {arguments.begin() + 2, arguments.end()}, arguments[1])));
    return false;
  }
  Arguments reversed(arguments.rbegin(), arguments.rend());  // the order that CLI11 takes
  try {
    app_->parse(reversed);
    return true;
  } catch (const CLI::CallForHelp&) {
    write_stdout(app_->help());
    return false;
  } catch (const CLI::ParseError& error) {
    const std::string unknown = unknown_option(arguments);
    if (!unknown.empty()) throw InvalidArgument(unknown + hint());
    if (const auto* extras = dynamic_cast<const CLI::ExtrasError*>(&error); extras != nullptr) {
      throw InvalidArgument(fmt::format("one argument too many: '{}'{}", app_->remaining().front(), hint()));
    }
    if (const auto* required = dynamic_cast<const CLI::RequiredError*>(&error); required != nullptr) {
      throw InvalidArgument(fmt::format("{}{}", missing_arguments(), hint()));
    }
    throw InvalidArgument(error.what() + hint());
  }
}

}  // namespace kloom::cli
