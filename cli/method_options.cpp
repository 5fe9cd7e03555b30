// SPDX-License-Identifier: BSD-3-Clause
#include "method_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "completions.h"
#include "kloom/error.h"
#include "kloom/train.h"
#include "text.h"

namespace kloom::cli {
namespace {

std::string method_in(const Arguments& arguments) {
  constexpr std::string_view kFlag = "--method";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == kWordsRequest) ++i;  // the word after it is still being typed
    if (argument == kFlag && i + 1 < arguments.size()) return arguments[i + 1];
    if (argument.starts_with(kFlag) && argument.substr(kFlag.size()).starts_with('=')) {
      return std::string(argument.substr(kFlag.size() + 1));
    }
  }
  return "";
}

// The one that `choose_learner` takes where nothing speaks against it: the first of the registry.
const Learner& default_learner() {
  return all_learners().front();
}

bool on_by_default(const OptionInfo& option) {
  return option.kind == OptionInfo::Kind::flag && option.default_value == "true";
}

void add_one(CLI::App& app, const OptionInfo& option, const std::string& group, std::string& value) {
  const std::string description = option_description(option);
  if (option.kind == OptionInfo::Kind::flag) {
    app.add_flag(option_flag(option) + (on_by_default(option) ? "{false}" : "{true}"), value, description)
        ->group(group);
  } else {
    app.add_option(option_flag(option), value, description)->group(group)->type_name(option_type(option));
  }
}

std::vector<std::string> flags_of(const Learner& learner) {
  std::vector<std::string> flags;
  for (const OptionInfo& option : learner.options) flags.push_back(option_flag(option));
  return flags;
}

}  // namespace

void add_options(CLI::App& app, const std::vector<OptionInfo>& options, const std::string& group,
                 OptionValues& values) {
  for (const OptionInfo& option : options) add_one(app, option, group, values[option.name]);
}

OptionValues given_values(const std::vector<OptionInfo>& options, const OptionValues& values) {
  OptionValues given;
  for (const OptionInfo& option : options) {
    const auto value = values.find(option.name);
    if (value != values.end() && !value->second.empty()) given[option.name] = value->second;
  }
  return given;
}

std::vector<std::string> methods_that(bool Learner::*trait) {
  std::vector<std::string> names;
  for (const Learner& learner : all_learners()) {
    if (learner.*trait) names.push_back(learner.name);
  }
  return names;
}

std::string option_flag(const OptionInfo& option) {
  std::string flag = (on_by_default(option) ? "--no-" : "--") + option.name;
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

std::string option_type(const OptionInfo& option) {
  if (option.kind == OptionInfo::Kind::flag) return "";
  if (option.kind == OptionInfo::Kind::real) return "NUMBER";
  if (option.kind == OptionInfo::Kind::integer) return "N";
  return option.choices.empty() ? "VALUE" : fmt::format("{}", fmt::join(option.choices, "|"));
}

std::string option_description(const OptionInfo& option) {
  if (option.kind == OptionInfo::Kind::flag) return on_by_default(option) ? "do not " + option.doc : option.doc;
  std::vector<std::string> notes;
  if (!option.default_value.empty()) notes.push_back("default " + option.default_value);
  if (!option.rule.empty()) notes.push_back(option.rule);
  return notes.empty() ? option.doc : fmt::format("{} ({})", option.doc, fmt::join(notes, "; "));
}

void add_method_options(CommandLine& line, const Arguments& arguments, MethodOptions& options,
                        const std::vector<std::string>& taken) {
  std::vector<std::string> names;
  for (const Learner& learner : all_learners()) names.push_back(learner.name);
  line.app()
      .add_option("--method", options.method,
                  fmt::format("Learning method (default {} where it can do the task): {}",
                              default_learner().name, list_of(names, 30)))
      ->group("Method")
      ->type_name(kMethodType);
  const std::string named = method_in(arguments);
  const Learner& learner = named.empty() ? default_learner() : find_learner(named);
  options.table = learner.name;
  for (const OptionInfo& option : learner.options) {
    if (std::find(taken.begin(), taken.end(), option_flag(option)) != taken.end()) continue;
    add_one(line.app(), option, "Options of " + learner.name, options.values[option.name]);
  }
  const std::vector<std::string> known = flags_of(learner);
  for (const Learner& other : all_learners()) {
    for (const std::string& flag : flags_of(other)) {
      if (std::find(known.begin(), known.end(), flag) != known.end()) continue;
      line.explain_foreign_option(flag, fmt::format("{} is an option of {}, not of {}, whose options are: {}",
                                                    flag, other.name, learner.name, list_of(known, 40)));
    }
  }
}

const Learner& choose_method(const MethodOptions& options, const Targets& targets) {
  const Learner& learner = choose_learner(options.method, targets);
  if (options.method.empty() && learner.name != options.table &&
      !option_values(options, find_learner(options.table)).empty()) {
    throw InvalidArgument(fmt::format(
        "the given options are of {}, which does not suit these labels; name a method with --method",
        options.table));
  }
  return learner;
}

OptionValues option_values(const MethodOptions& options, const Learner& learner) {
  return given_values(learner.options, options.values);
}

}  // namespace kloom::cli
