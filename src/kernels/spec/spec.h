// SPDX-License-Identifier: BSD-3-Clause
//
// What the kernel spec may say: one row per kernel family. Parser, canonical text and names of kernels all
// read this table.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "kloom/kernels.h"

namespace kloom::kernels {

// What a family means when no value is given.
enum class Unsaid { nothing, automatic, one, error };

struct FamilyRule {
  KernelFunction function;
  std::string_view name;
  std::string_view alias;                      // another accepted name, or empty
  std::array<std::string_view, 2> parameters;  // accepted parameter names; empty ones are unused
  Unsaid unsaid;
  bool automatic;  // accepts `auto`
  bool integer;    // values are whole numbers
  double largest;  // of an integer parameter
  std::string_view example;
};

[[nodiscard]] std::span<const FamilyRule> family_rules();
[[nodiscard]] const FamilyRule& rule_of(KernelFunction function);
// nullptr if there is no such family.
[[nodiscard]] const FamilyRule* find_rule(std::string_view name);
// "rbf, poly, …"
[[nodiscard]] std::string family_names();

// Number of automatic widths where `count` is not given.
constexpr Index kAutomaticWidths = 5;

// Whether a bare (unquoted) name may contain the character.
[[nodiscard]] bool is_name_character(char c);
// The name as a spec has to write it: quoted if it is a keyword or has other than name characters.
[[nodiscard]] std::string quoted_name(std::string_view name);
// "rna", "view rna", "age + grade"; empty for the automatic scope.
[[nodiscard]] std::string to_string(const Scope& scope);

}  // namespace kloom::kernels
