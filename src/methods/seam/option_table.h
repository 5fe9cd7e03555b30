// SPDX-License-Identifier: BSD-3-Clause
//
// Options are plain structs; a table says of each field what it is called, which values it takes and why
// one would change it. The registry, the command line, Python and the docs are made from that table.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kloom/learner.h"
#include "kloom/words.h"

namespace kloom::methods {

// Bounds of a number, in the words of OptionInfo::rule.
struct NumberRule {
  double low = -std::numeric_limits<double>::infinity();
  bool low_open = false;
  double high = std::numeric_limits<double>::infinity();
  bool infinite = false;  // "inf" is a value
};
inline constexpr NumberRule kPositive{0.0, true};
inline constexpr NumberRule kNonNegative{0.0, false};
inline constexpr NumberRule kAtLeastOne{1.0, false};

inline constexpr auto kForClasses = OptionInfo::Suits::classes;
inline constexpr auto kForNumbers = OptionInfo::Suits::numbers;

template <typename... Words>
std::vector<std::string> one_of(Words... words) {
  return {words...};
}

// A number and its rule; one of several words; or a flag, any text or any number.
template <typename Options>
struct OptionField {
  using Member = std::variant<double Options::*, Index Options::*, bool Options::*, std::string Options::*>;
  using Suits = OptionInfo::Suits;

  OptionField(std::string name_, Member member_, NumberRule rule_, std::string doc_, Suits suits_ = Suits::all)
      : name(std::move(name_)), member(member_), rule(rule_), doc(std::move(doc_)), suits(suits_) {}
  OptionField(std::string name_, Member member_, std::vector<std::string> choices_, std::string doc_,
              Suits suits_ = Suits::all)
      : name(std::move(name_)),
        member(member_),
        choices(std::move(choices_)),
        doc(std::move(doc_)),
        suits(suits_) {}
  OptionField(std::string name_, Member member_, std::string doc_, Suits suits_ = Suits::all)
      : OptionField(std::move(name_), member_, NumberRule{}, std::move(doc_), suits_) {}

  std::string name;
  Member member;
  NumberRule rule;
  std::vector<std::string> choices;
  std::string doc;
  Suits suits;
};

// The parts that do not depend on the struct. Each throws InvalidArgument with option, value and rule.
std::string rule_text(const NumberRule& rule);
double parse_real(const std::string& name, const std::string& value, const NumberRule& rule);
Index parse_integer(const std::string& name, const std::string& value, const NumberRule& rule);
bool parse_flag(const std::string& name, const std::string& value);
std::string parse_choice(const std::string& name, const std::string& value,
                         const std::vector<std::string>& choices);
[[noreturn]] void unknown_option(const std::string& method, const std::string& name,
                                 const std::vector<std::string>& known);

template <typename Options>
using OptionTable = std::vector<OptionField<Options>>;

template <typename Options>
std::map<std::string, std::string> option_texts(const OptionTable<Options>& table, const Options& options) {
  std::map<std::string, std::string> texts;
  for (const auto& field : table) {
    texts[field.name] = std::visit(
        [&](auto member) -> std::string {
          using Value = std::decay_t<decltype(options.*member)>;
          if constexpr (std::is_same_v<Value, std::string>) {
            return options.*member;
          } else if constexpr (std::is_same_v<Value, bool>) {
            return options.*member ? "true" : "false";
          } else {
            return number_text(static_cast<double>(options.*member));
          }
        },
        field.member);
  }
  return texts;
}

template <typename Options>
std::vector<OptionInfo> describe_options(const OptionTable<Options>& table) {
  const Options unchanged;  // with braces, GCC 12 takes options that inherit others for uninitialised
  const auto defaults = option_texts(table, unchanged);
  std::vector<OptionInfo> infos;
  for (const auto& field : table) {
    // The order of OptionInfo::Kind is the order of the variant's alternatives up to flag and choice.
    static constexpr OptionInfo::Kind kKinds[] = {OptionInfo::Kind::real, OptionInfo::Kind::integer,
                                                  OptionInfo::Kind::flag, OptionInfo::Kind::choice};
    const bool free_text = field.member.index() == 3 && field.choices.empty();
    infos.push_back({field.name, free_text ? OptionInfo::Kind::text : kKinds[field.member.index()],
                     defaults.at(field.name), field.member.index() < 2 ? rule_text(field.rule) : "", field.doc,
                     field.choices, field.rule.low, field.rule.high, field.rule.low_open, field.rule.infinite,
                     field.suits});
  }
  return infos;
}

template <typename Options>
Options parse_options(const OptionTable<Options>& table, const OptionValues& values,
                      const std::string& method) {
  Options options;
  std::vector<std::string> known;
  for (const auto& field : table) known.push_back(field.name);
  for (const auto& [name, value] : values) {
    bool found = false;
    for (const auto& field : table) {
      if (field.name != name) continue;
      found = true;
      if (auto* real = std::get_if<double Options::*>(&field.member)) {
        options.** real = parse_real(name, value, field.rule);
      } else if (auto* integer = std::get_if<Index Options::*>(&field.member)) {
        options.** integer = parse_integer(name, value, field.rule);
      } else if (auto* flag = std::get_if<bool Options::*>(&field.member)) {
        options.** flag = parse_flag(name, value);
      } else {
        options.*std::get<std::string Options::*>(field.member) = parse_choice(name, value, field.choices);
      }
    }
    if (!found) unknown_option(method, name, known);
  }
  return options;
}

}  // namespace kloom::methods
