// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/spec/spec.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/spec/scanner.h"
#include "kloom/error.h"

namespace kloom::kernels {
namespace {

constexpr std::array<FamilyRule, 14> kRules = {{
    {KernelFunction::rbf,
     "rbf",
     "gaussian",
     {"width", "gamma"},
     Unsaid::automatic,
     true,
     false,
     0,
     "rbf(width=2^-3..2^6) or rbf(auto)"},
    {KernelFunction::polynomial,
     "poly",
     "polynomial",
     {"degree", ""},
     Unsaid::error,
     false,
     true,
     100,
     "poly(degree=1..3)"},
    {KernelFunction::linear, "linear", "", {"", ""}, Unsaid::nothing, false, false, 0, "linear"},
    {KernelFunction::cosine, "cosine", "", {"", ""}, Unsaid::nothing, false, false, 0, "cosine"},
    {KernelFunction::laplacian,
     "laplacian",
     "",
     {"gamma", ""},
     Unsaid::automatic,
     true,
     false,
     0,
     "laplacian(gamma=2^-3..2^3) or laplacian(auto)"},
    {KernelFunction::chi2,
     "chi2",
     "",
     {"gamma", ""},
     Unsaid::automatic,
     true,
     false,
     0,
     "chi2(gamma=2^-3..2^3) or chi2(auto)"},
    {KernelFunction::intersection,
     "intersection",
     "",
     {"", ""},
     Unsaid::nothing,
     false,
     false,
     0,
     "intersection"},
    {KernelFunction::spectrum, "spectrum", "", {"k", ""}, Unsaid::error, false, true, 1000, "spectrum(k=3)"},
    {KernelFunction::edit,
     "edit",
     "",
     {"width", ""},
     Unsaid::automatic,
     true,
     false,
     0,
     "edit(width=1,2,4) or edit(auto)"},
    {KernelFunction::precomputed, "precomputed", "", {"", ""}, Unsaid::nothing, false, false, 0, "precomputed"},
    {KernelFunction::expdist,
     "expdist",
     "",
     {"gamma", ""},
     Unsaid::one,
     false,
     false,
     0,
     "expdist(gamma=2^-5..2^5, count=200)"},
    {KernelFunction::overlap, "overlap", "", {"", ""}, Unsaid::nothing, false, false, 0, "overlap"},
    {KernelFunction::words, "words", "", {"", ""}, Unsaid::nothing, false, false, 0, "words"},
    {KernelFunction::trees, "trees", "", {"leaves", ""}, Unsaid::error, false, true, 256, "trees(leaves=16)"},
}};

std::string family_text(const KernelFamily& family) {
  std::string parameters;
  const auto add = [&](const std::string& part) { parameters += (parameters.empty() ? "" : ", ") + part; };
  if (family.automatic && family.values.empty()) add("auto");
  if (family.automatic && !family.values.empty()) add(fmt::format("auto={}", fmt::join(family.values, ",")));
  if (family.automatic && family.automatic_count > 0) add(fmt::format("count={}", family.automatic_count));
  if (!family.automatic && !family.values.empty())
    add(fmt::format("{}={}", family.parameter, fmt::join(family.values, ",")));
  if (family.folds > 0) add(fmt::format("folds={}", family.folds));
  if (family.mismatches > 0) add(fmt::format("mismatches={}", family.mismatches));
  if (family.gaps > 0) add(fmt::format("gaps={}", family.gaps));
  if (family.transform != Transform::standardised)
    add(fmt::format("scale={}", kloom::to_string(family.transform)));
  if (family.has_normalisation) add(fmt::format("normalise={}", kloom::to_string(family.normalisation)));
  std::string text(kloom::to_string(family.function));
  if (!parameters.empty()) text += "(" + parameters + ")";
  std::string scopes;
  for (const Scope& scope : family.scopes) {
    const std::string one = to_string(scope);
    if (!one.empty()) scopes += (scopes.empty() ? " on " : ", ") + one;
  }
  return text + scopes;
}

}  // namespace

std::span<const FamilyRule> family_rules() {
  return kRules;
}

const FamilyRule& rule_of(KernelFunction function) {
  const auto* rule =
      std::find_if(kRules.begin(), kRules.end(), [&](const FamilyRule& r) { return r.function == function; });
  if (rule == kRules.end()) throw InternalError("kernel function without a rule");
  return *rule;
}

const FamilyRule* find_rule(std::string_view name) {
  const auto* rule = std::find_if(kRules.begin(), kRules.end(), [&](const FamilyRule& r) {
    return r.name == name || (!r.alias.empty() && r.alias == name);
  });
  return rule == kRules.end() ? nullptr : rule;
}

std::string family_names() {
  std::string names;
  for (const auto& rule : kRules) names += (names.empty() ? "" : ", ") + std::string(rule.name);
  return names;
}

bool is_name_character(char c) {
  constexpr std::string_view marks = "_.-/:%#@$&'";
  return is_letter(c) || is_digit(c) || marks.find(c) != std::string_view::npos ||
         static_cast<unsigned char>(c) >= 0x80U;
}

std::string quoted_name(std::string_view name) {
  constexpr std::array<std::string_view, 5> keywords = {"all", "each", "views", "view", "on"};
  const bool keyword = std::find(keywords.begin(), keywords.end(), name) != keywords.end();
  if (!keyword && !name.empty() && std::all_of(name.begin(), name.end(), is_name_character))
    return std::string(name);
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string to_string(const Scope& scope) {
  switch (scope.kind) {
    case ScopeKind::automatic:
      return "";
    case ScopeKind::all:
      return "all";
    case ScopeKind::each:
      return "each";
    case ScopeKind::views:
      return "views";
    case ScopeKind::view:
      return "view " + quoted_name(scope.names.empty() ? "" : scope.names.front());
    case ScopeKind::columns:
      break;
  }
  std::string text;
  for (const auto& name : scope.names) text += (text.empty() ? "" : " + ") + quoted_name(name);
  return text;
}

}  // namespace kloom::kernels

namespace kloom {

std::string to_string(const KernelSpec& spec) {
  std::string text;
  for (const auto& family : spec.families) text += (text.empty() ? "" : "; ") + kernels::family_text(family);
  return text;
}

std::string_view to_string(KernelFunction function) {
  return kernels::rule_of(function).name;
}

std::string_view to_string(Transform transform) {
  switch (transform) {
    case Transform::standardised:
      return "standardised";
    case Transform::raw:
      return "raw";
    case Transform::ranks:
      return "ranks";
    case Transform::tfidf:
      return "tfidf";
    case Transform::codes:
      return "codes";
    case Transform::relevance:
      return "relevance";
  }
  throw InternalError("transform without a name");
}

std::string_view to_string(Normalisation normalisation) {
  switch (normalisation) {
    case Normalisation::none:
      return "none";
    case Normalisation::unit_diagonal:
      return "unit-diagonal";
    case Normalisation::unit_trace:
      return "unit-trace";
    case Normalisation::unit_variance:
      return "unit-variance";
    case Normalisation::centre:
      return "centre";
  }
  throw InternalError("normalisation without a name");
}

Normalisation parse_normalisation(std::string_view text) {
  for (const auto n : {Normalisation::none, Normalisation::unit_diagonal, Normalisation::unit_trace,
                       Normalisation::unit_variance, Normalisation::centre})
    if (to_string(n) == text) return n;
  if (text == "center") return Normalisation::centre;
  throw InvalidArgument(
      fmt::format("unknown normalisation '{}': use unit-diagonal, unit-trace, unit-variance, "
                  "centre or none",
                  text));
}

}  // namespace kloom
