// SPDX-License-Identifier: BSD-3-Clause
#include "completions.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "commands.h"
#include "kloom/learner.h"

namespace kloom::cli {
namespace {

using Words = std::vector<std::string>;

bool is_option(const std::string& word) {
  return word.size() > 1 && word.front() == '-';
}

bool takes_value(const CLI::Option* option) {
  return option != nullptr && option->get_items_expected_min() > 0;
}

// The option that waits for its value after these words; null if none does.
const CLI::Option* waiting_option(const CLI::App& app, const Words& earlier) {
  if (earlier.empty() || !is_option(earlier.back())) return nullptr;
  const CLI::Option* option = app.get_option_no_throw(earlier.back());
  return takes_value(option) ? option : nullptr;
}

// "a|b", "KIND:{a,b}" → a, b.
Words choices_in(const std::string& type) {
  const std::size_t brace = type.find('{');
  const bool braces = brace != std::string::npos && type.back() == '}';
  const std::string list = braces ? type.substr(brace + 1, type.size() - brace - 2) : type;
  if (!braces && list.find('|') == std::string::npos) return {};
  Words choices{""};
  for (const char letter : list) {
    if (letter == (braces ? ',' : '|')) {
      choices.emplace_back();
    } else {
      choices.back() += letter;
    }
  }
  return choices;
}

std::vector<Completion> method_candidates() {
  std::vector<Completion> candidates;
  for (const Learner& learner : all_learners()) candidates.push_back({learner.name, learner.summary});
  return candidates;
}

std::vector<Completion> that_begin_with(const std::string& start, std::vector<Completion> candidates) {
  std::erase_if(candidates, [&](const Completion& candidate) {
    return candidate.word != kAnyFile && !candidate.word.starts_with(start);
  });
  return candidates;
}

// `before` stands in front of every candidate: "--method=", "bemkl,".
std::vector<Completion> behind(const std::string& before, std::vector<Completion> candidates) {
  for (Completion& candidate : candidates) {
    if (candidate.word != kAnyFile) candidate.word = before + candidate.word;
  }
  return candidates;
}

std::vector<Completion> value_candidates(const CLI::Option& option, const std::string& word) {
  const std::string type = option.get_type_name();
  if (type == "FILE" || type == "MODEL" || type == "VIEW") return {{kAnyFile, ""}};
  if (type == kCommandType) return command_candidates(word);
  if (type == kMethodType) return that_begin_with(word, method_candidates());
  if (type == kMethodsType) {
    const std::size_t comma = word.rfind(',');
    const std::string before = comma == std::string::npos ? "" : word.substr(0, comma + 1);
    return behind(before, that_begin_with(word.substr(before.size()), method_candidates()));
  }
  std::vector<Completion> candidates;
  for (const std::string& choice : choices_in(type)) candidates.push_back({choice, ""});
  return that_begin_with(word, candidates);
}

std::vector<Completion> option_candidates(const CLI::App& app, const std::string& word) {
  std::vector<Completion> candidates;
  for (const CLI::Option* option : app.get_options()) {
    for (const auto& name : option->get_lnames())
      candidates.push_back({"--" + name, option->get_description()});
    for (const auto& name : option->get_snames()) candidates.push_back({"-" + name, option->get_description()});
  }
  return that_begin_with(word, candidates);
}

// The argument whose turn it is; null where all are given.
const CLI::Option* next_positional(const CLI::App& app, const Words& earlier) {
  std::size_t given = 0;
  for (std::size_t i = 0; i < earlier.size(); ++i) {
    if (!is_option(earlier[i])) {
      ++given;
    } else if (takes_value(app.get_option_no_throw(earlier[i]))) {
      ++i;
    }
  }
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() && given-- == 0) return option;
  }
  return nullptr;
}

}  // namespace

std::vector<Completion> command_candidates(const std::string& word) {
  std::vector<Completion> candidates;
  for (const Command& command : all_commands()) {
    if (command.listed) candidates.push_back({std::string(command.name), std::string(command.summary)});
  }
  return that_begin_with(word, candidates);
}

std::vector<Completion> completions(const CLI::App& app, const Words& earlier, const std::string& word) {
  if (const CLI::Option* option = waiting_option(app, earlier); option != nullptr)
    return value_candidates(*option, word == "=" ? "" : word);
  const std::size_t equals = word.find('=');
  if (is_option(word) && equals != std::string::npos) {
    const CLI::Option* option = app.get_option_no_throw(word.substr(0, equals));
    if (!takes_value(option)) return {};
    return behind(word.substr(0, equals + 1), value_candidates(*option, word.substr(equals + 1)));
  }
  const CLI::Option* positional = next_positional(app, earlier);
  if (word.starts_with('-') || positional == nullptr) return option_candidates(app, word);
  return value_candidates(*positional, word);
}

std::string candidates_text(const std::vector<Completion>& candidates) {
  std::string text;
  for (const Completion& candidate : candidates)
    text += fmt::format("{}\t{}\n", candidate.word, candidate.description);
  return text;
}

}  // namespace kloom::cli
