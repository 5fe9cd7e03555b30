// SPDX-License-Identifier: BSD-3-Clause
#include "help_formatter.h"

#include <fmt/format.h>

#include <algorithm>

#include "console.h"
#include "text.h"

namespace kloom::cli {
namespace {

constexpr std::size_t kColumn = 26;  // where descriptions start

std::size_t line_width() {
  return std::clamp<std::size_t>(terminal_width(), 60, 100);
}

std::string left_side(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  std::string text;
  for (const auto& name : option.get_snames()) text += fmt::format("{}-{}", text.empty() ? "" : " ", name);
  for (const auto& name : option.get_lnames()) text += fmt::format("{}--{}", text.empty() ? "" : " ", name);
  if (option.get_type_size() != 0 && !option.get_type_name().empty()) text += " " + option.get_type_name();
  return text;
}

std::string entry(const std::string& left, const std::string& description) {
  std::string text = "  " + left;
  text += width_of(text) + 2 > kColumn ? "\n" + std::string(kColumn, ' ')
                                       : std::string(kColumn - width_of(text), ' ');
  return text + wrap(description, line_width(), kColumn) + "\n";
}

std::string group_text(const CLI::App& app, const std::string& group) {
  std::string entries;
  for (const CLI::Option* option : app.get_options()) {
    if (option->nonpositional() && option->get_group() == group) {
      entries += entry(left_side(*option), option->get_description());
    }
  }
  return entries.empty() ? "" : fmt::format("\n{}:\n{}", group, entries);
}

}  // namespace

std::string arguments_usage(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    text += option->get_required() ? " " + option->get_name(true) : " [" + option->get_name(true) + "]";
  }
  return text + " [OPTIONS]";
}

std::vector<std::string> groups_in_order(const CLI::App& app) {
  // --help comes first in CLI11's list and belongs to what every command has: that group goes last.
  std::vector<std::string> groups = app.get_groups();
  std::stable_partition(groups.begin(), groups.end(),
                        [](const std::string& group) { return group != kCommonGroup; });
  return groups;
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode /*mode*/) const {
  std::string text = fmt::format("Usage: {}{}\n", name.empty() ? app->get_name() : name, arguments_usage(*app));
  text += "\n" + wrap(app->get_description(), line_width(), 0) + "\n";
  std::string positionals;
  for (const CLI::Option* option : app->get_options()) {
    if (option->get_positional()) positionals += entry(left_side(*option), option->get_description());
  }
  if (!positionals.empty()) text += "\nArguments:\n" + positionals;
  for (const std::string& group : groups_in_order(*app)) text += group_text(*app, group);
  if (!app->get_footer().empty()) text += "\n" + app->get_footer() + "\n";
  return text;
}

}  // namespace kloom::cli
