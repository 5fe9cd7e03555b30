// SPDX-License-Identifier: BSD-3-Clause
#include "manual_page.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>

#include "help_formatter.h"
#include "kloom/machine.h"
#include "text.h"

namespace kloom::cli {
namespace {

constexpr std::size_t kSourceWidth = 76;

// One character of UTF-8 as the number that Unicode gives it; `text` is left behind it.
std::uint32_t take_character(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = first < 0x80 ? 1 : (first < 0xE0 ? 2 : (first < 0xF0 ? 3 : 4));
  std::uint32_t code = length == 1 ? first : first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < std::min(length, text.size()); ++i)
    code = (code << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  text.remove_prefix(std::min(length, text.size()));
  return code;
}

// Plain ASCII that troff prints as `line`, whatever stands in it.
std::string troff_line(std::string_view line) {
  std::string out = line.starts_with('.') || line.starts_with('\'') ? "\\&" : "";
  while (!line.empty()) {
    const std::uint32_t code = take_character(line);
    if (code == '\\') {
      out += "\\e";
    } else if (code == '-') {
      out += "\\-";  // a minus that can be copied, not a hyphen
    } else if (code == '\'') {
      out += "\\(aq";
    } else if (code == '`') {
      out += "\\(ga";
    } else if (code == '~') {
      out += "\\(ti";
    } else if (code == '^') {
      out += "\\(ha";
    } else if (code < 0x80) {
      out += static_cast<char>(code);
    } else {
      out += fmt::format("\\[u{:04X}]", code);
    }
  }
  return out;
}

std::string troff_lines(const std::string& text) {
  std::string out;
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    out += troff_line(std::string_view(text).substr(start, end - start)) + "\n";
    start = end + 1;
  }
  return out;
}

std::string troff_paragraph(const std::string& text) {
  return troff_lines(wrap(text, kSourceWidth, 0));
}

std::string troff_entry(const ManualEntry& entry) {
  std::vector<std::string> names;
  for (const std::string& name : entry.names) names.push_back(fmt::format("\\fB{}\\fR", troff_line(name)));
  std::string text = fmt::format(".TP\n{}", fmt::join(names, ", "));
  if (!entry.value.empty()) text += fmt::format(" \\fI{}\\fR", troff_line(entry.value));
  return text + "\n" + troff_paragraph(entry.text);
}

std::string troff_section(const ManualSection& section) {
  std::string text = fmt::format("{} \"{}\"\n", section.nested ? ".SS" : ".SH", troff_line(section.title));
  text += troff_paragraph(section.text);
  for (const ManualEntry& entry : section.entries) text += troff_entry(entry);
  if (!section.verbatim.empty()) text += ".nf\n" + troff_lines(section.verbatim) + ".fi\n";
  return text;
}

std::string upper_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  return text;
}

ManualEntry manual_entry(const CLI::Option& option) {
  ManualEntry entry;
  if (option.get_positional()) {
    entry.names = {option.get_name(true)};
  } else {
    for (const auto& name : option.get_snames()) entry.names.push_back("-" + name);
    for (const auto& name : option.get_lnames()) entry.names.push_back("--" + name);
    if (option.get_type_size() != 0) entry.value = option.get_type_name();
  }
  entry.text = option.get_description();
  return entry;
}

ManualSection synopsis(const CLI::App& app) {
  ManualSection section;
  section.title = "SYNOPSIS";
  section.text = app.get_name() + arguments_usage(app);
  return section;
}

// "kloom kernels build" has the page kloom-kernels: a page per word of `kloom --help`.
std::string page_name(const CLI::App& app) {
  const std::string& name = app.get_name();
  const std::size_t first = name.find(' ');
  return name.substr(0, first) + "-" + name.substr(first + 1, name.find(' ', first + 1) - first - 1);
}

}  // namespace

std::string manual_page(const std::string& name, const std::string& summary,
                        const std::vector<ManualSection>& sections) {
  std::string text =
      fmt::format(".TH \"{}\" 1 \"\" \"kloom {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n",
                  troff_line(upper_case(name)), version(), troff_line(name), troff_line(summary));
  for (const ManualSection& section : sections) text += troff_section(section);
  return text;
}

std::string manual_page(const CLI::App& app, const std::string& summary,
                        const std::vector<ManualSection>& more) {
  std::vector<ManualSection> sections{synopsis(app), {"DESCRIPTION", app.get_description(), {}, "", false}};
  ManualSection positionals{"ARGUMENTS", "", {}, "", false};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) positionals.entries.push_back(manual_entry(*option));
  }
  if (!positionals.entries.empty()) sections.push_back(positionals);
  sections.push_back({"OPTIONS", "", {}, "", false});
  for (const std::string& group : groups_in_order(app)) {
    ManualSection part{group, "", {}, "", true};
    for (const CLI::Option* option : app.get_options()) {
      if (option->nonpositional() && option->get_group() == group)
        part.entries.push_back(manual_entry(*option));
    }
    if (!part.entries.empty()) sections.push_back(part);
  }
  sections.insert(sections.end(), more.begin(), more.end());
  const std::string footer = app.get_footer();
  sections.push_back({"EXAMPLES", "", {}, footer.substr(footer.find('\n') + 1), false});
  sections.push_back({"SEE ALSO",
                      "kloom(1) lists the commands and their exit codes, "
                      "kloom-methods(1) the options of every method.",
                      {},
                      "",
                      false});
  return manual_page(page_name(app), summary, sections);
}

}  // namespace kloom::cli
