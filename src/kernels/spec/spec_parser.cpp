// SPDX-License-Identifier: BSD-3-Clause
//
//   spec    = family { ";" family } [ ";" ]
//   family  = name [ "(" part { "," part } ")" ] [ "on" scope { "," scope } ]
//   part    = "auto" [ "=" values ] | "count=" integer | "step=" number | "normalise=" word | "scale=" word
//           | "folds=" integer | "mismatches=" integer | "gaps=" integer | parameter "=" values
//   values  = value { ("," | "|") value },   value = number [ ".." number ]
//   number  = decimal | decimal "^" exponent
//   scope   = "all" | "each" | "views" | "view" name | name { "+" name }
//
// docs/guide/kernel-spec.md is the reference for people.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/functions/functions.h"
#include "kernels/spec/range.h"
#include "kernels/spec/scanner.h"
#include "kernels/spec/spec.h"
#include "kloom/error.h"
#include "kloom/kernels.h"

namespace kloom::kernels {
namespace {

// What stood between the parentheses of one family, before it is put together.
struct Parts {
  std::vector<RangeItem> items;
  std::string parameter;
  std::size_t parameter_position = 0;
  Spacing spacing;
  bool automatic = false;
  std::size_t automatic_position = 0;
  bool has_normalisation = false;
  Normalisation normalisation = Normalisation::none;
  bool has_transform = false;
  Transform transform = Transform::standardised;
  Index folds = 0;
  Index mismatches = -1;  // not said
  Index gaps = -1;
};

struct Name {
  std::string text;
  bool quoted = false;
};

// Kernels of categories, texts and given matrices see their inputs in one way only, and trees see their order only.
bool takes_scale(KernelFunction function) {
  return uses_features(function) && function != KernelFunction::overlap && function != KernelFunction::trees;
}

std::string parameter_list(const FamilyRule& rule) {
  std::string list;
  for (const auto& p : rule.parameters)
    if (!p.empty()) list += fmt::format("{}=, ", p);
  if (rule.automatic) list += "auto, ";
  if (!list.empty()) list += "count=, step=, ";
  if (takes_scale(rule.function)) list += "scale=, ";
  if (rule.function == KernelFunction::trees) list += "folds=, ";
  if (rule.function == KernelFunction::spectrum) list += "mismatches=, gaps=, ";
  return list + "normalise=";
}

class Parser {
 public:
  explicit Parser(std::string_view text) : scanner_(text, "kernel spec") {}

  KernelSpec spec() {
    KernelSpec result;
    Index kernels = 0;
    do {
      scanner_.skip_space();
      const std::size_t begin = scanner_.position();
      if (scanner_.at_end() && !result.families.empty()) break;  // a ';' at the end
      result.families.push_back(family());
      kernels += kernels_of(result.families.back());
      if (kernels > kMostValues)
        scanner_.fail(begin, fmt::format("this spec asks for more than {} kernels; use fewer values or scopes",
                                         kMostValues));
    } while (scanner_.accept(";"));
    scanner_.skip_space();
    if (!scanner_.at_end())
      scanner_.fail_expected(result.families.back().scopes.front().kind == ScopeKind::automatic
                                 ? "'on' and where the kernel looks, ';' and another kernel, or the end"
                                 : "',' and another scope, ';' and another kernel, or the end");
    return result;
  }

 private:
  static Index kernels_of(const KernelFamily& family) {
    Index values = family.values.empty() ? 1 : static_cast<Index>(family.values.size());
    if (family.automatic && family.values.empty())
      values = family.automatic_count > 0 ? family.automatic_count : kAutomaticWidths;
    return values * (family.folds + 1) * static_cast<Index>(family.scopes.size());
  }

  KernelFamily family() {
    scanner_.skip_space();
    const std::size_t begin = scanner_.position();
    const std::string_view name = scanner_.word();
    if (name.empty()) scanner_.fail_expected("the name of a kernel: " + family_names());
    const FamilyRule* rule = find_rule(name);
    if (rule == nullptr)
      scanner_.fail(begin, fmt::format("unknown kernel '{}'; known are {}", name, family_names()));
    Parts parts;
    if (scanner_.accept("(")) {
      do {
        part(*rule, parts);
      } while (scanner_.accept(","));
      if (!scanner_.accept(")")) scanner_.fail_expected("',' and another parameter, or ')'");
    }
    KernelFamily result;
    result.function = rule->function;
    settle_values(*rule, parts, begin, result);
    result.has_normalisation = parts.has_normalisation;
    result.normalisation = parts.normalisation;
    result.transform = parts.transform;
    result.folds = parts.folds;
    settle_tolerance(parts, begin, result);
    result.scopes = scopes();
    return result;
  }

  void part(const FamilyRule& rule, Parts& parts) {
    scanner_.skip_space();
    const std::size_t begin = scanner_.position();
    const std::string_view word = scanner_.word();
    if (word.empty())
      scanner_.fail_expected(fmt::format("a parameter of {}: {}", rule.name, parameter_list(rule)));
    if (word == "auto") {
      if (!rule.automatic) scanner_.fail(begin, fmt::format("{} has no automatic values", rule.name));
      if (parts.automatic) scanner_.fail(begin, "auto is given twice");
      parts.automatic = true;
      parts.automatic_position = begin;
      if (scanner_.accept("=")) values_part(rule, word, begin, parts);
      return;
    }
    const bool values = word == rule.parameters[0] || word == rule.parameters[1];
    const bool spacing = word == "count" || word == "step";
    const bool normalise = word == "normalise" || word == "normalize";
    const bool scale =
        word == "scale" && (takes_scale(rule.function) || rule.function == KernelFunction::spectrum);
    const bool folds = word == "folds" && rule.function == KernelFunction::trees;
    const bool tolerance =
        (word == "mismatches" || word == "gaps") && rule.function == KernelFunction::spectrum;
    if (!values && !spacing && !normalise && !scale && !folds && !tolerance)
      scanner_.fail(
          begin, fmt::format("{} has no parameter '{}'; it accepts {}", rule.name, word, parameter_list(rule)));
    if (!scanner_.accept("=")) scanner_.fail_expected(fmt::format("'=' after {}", word));
    if (values) {
      values_part(rule, word, begin, parts);
    } else if (spacing) {
      spacing_part(rule, word, begin, parts);
    } else if (scale) {
      scale_part(begin, parts);
    } else if (folds) {
      if (parts.folds > 0) scanner_.fail(begin, "folds is given twice");
      parts.folds = whole_number(word, 2, 20);
    } else if (tolerance) {
      Index& said = word == "gaps" ? parts.gaps : parts.mismatches;
      if (said >= 0) scanner_.fail(begin, fmt::format("{} is given twice", word));
      said = whole_number(word, 0, 1000);
    } else {
      normalisation_part(begin, parts);
    }
  }

  void values_part(const FamilyRule& rule, std::string_view word, std::size_t begin, Parts& parts) {
    if (!parts.items.empty())
      scanner_.fail(begin,
                    parts.parameter == word
                        ? fmt::format("{} is given twice; separate values by commas", word)
                        : fmt::format("give {} or {}, not both", rule.parameters[0], rule.parameters[1]));
    parts.parameter = word;
    parts.parameter_position = begin;
    parts.items = scan_values(scanner_);
  }

  void spacing_part(const FamilyRule& rule, std::string_view word, std::size_t begin, Parts& parts) {
    if (rule.parameters[0].empty()) scanner_.fail(begin, fmt::format("{} has no values to space", rule.name));
    scanner_.skip_space();
    const std::size_t place = scanner_.position();
    const Number number = scan_number(scanner_);
    parts.spacing.position = begin;
    if (word == "count") {
      if (parts.spacing.count >= 0) scanner_.fail(begin, "count is given twice");
      const bool whole = number.value == std::floor(number.value);
      if (!whole || number.value < 1.0 || number.value > static_cast<double>(kMostValues))
        scanner_.fail(place, fmt::format("count must be a whole number from 1 to {}", kMostValues));
      parts.spacing.count = static_cast<Index>(number.value);
    } else {
      if (parts.spacing.step > 0.0) scanner_.fail(begin, "step is given twice");
      if (!(number.value > 0.0)) scanner_.fail(place, "step must be positive");
      parts.spacing.step = number.value;
    }
  }

  void scale_part(std::size_t begin, Parts& parts) {
    if (parts.has_transform) scanner_.fail(begin, "scale is given twice");
    scanner_.skip_space();
    const std::size_t place = scanner_.position();
    const std::string_view word = scanner_.word();
    constexpr std::array choices = {Transform::standardised, Transform::raw, Transform::ranks, Transform::tfidf,
                                    Transform::relevance};
    for (const Transform choice : choices) {
      if (kloom::to_string(choice) != word) continue;
      parts.transform = choice;
      parts.has_transform = true;
      return;
    }
    scanner_.fail(place,
                  fmt::format("unknown scale '{}': use standardised, raw, ranks, tfidf or relevance", word));
  }

  Index whole_number(std::string_view word, Index least, Index most) {
    scanner_.skip_space();
    const std::size_t place = scanner_.position();
    const double value = scan_number(scanner_).value;
    if (value != std::floor(value) || value < static_cast<double>(least) || value > static_cast<double>(most))
      scanner_.fail(place, fmt::format("{} must be a whole number from {} to {}", word, least, most));
    return static_cast<Index>(value);
  }

  // How substrings may differ, and how they count.
  void settle_tolerance(const Parts& parts, std::size_t begin, KernelFamily& family) const {
    if (family.function == KernelFunction::spectrum && parts.has_transform &&
        (parts.transform != Transform::tfidf || parts.mismatches > 0 || parts.gaps > 0))
      scanner_.fail(begin, "spectrum takes scale=tfidf alone, and that without mismatches= and gaps=");
    family.mismatches = std::max<Index>(parts.mismatches, 0);
    family.gaps = std::max<Index>(parts.gaps, 0);
    if (family.mismatches > 0 && family.gaps > 0)
      scanner_.fail(begin, "give mismatches= or gaps=, not both; they may be two kernels, separated by ';'");
    for (const double k : family.values)
      if (static_cast<double>(family.mismatches) >= k && family.mismatches > 0)
        scanner_.fail(begin, fmt::format("mismatches must be less than k, but {} is not less than {}",
                                         family.mismatches, k));
  }

  void normalisation_part(std::size_t begin, Parts& parts) {
    if (parts.has_normalisation) scanner_.fail(begin, "normalise is given twice");
    scanner_.skip_space();
    const std::size_t place = scanner_.position();
    const std::string_view word = scanner_.word();
    if (word.empty())
      scanner_.fail_expected("a normalisation: unit-diagonal, unit-trace, unit-variance, centre or none");
    try {
      parts.normalisation = parse_normalisation(word);
    } catch (const InvalidArgument& error) {
      scanner_.fail(place, error.what());
    }
    parts.has_normalisation = true;
  }

  void settle_values(const FamilyRule& rule, const Parts& parts, std::size_t begin,
                     KernelFamily& family) const {
    if (!parts.items.empty()) {
      if (parts.automatic && parts.parameter != "auto")
        scanner_.fail(parts.automatic_position, fmt::format("give auto or {}=, not both", parts.parameter));
      family.automatic = parts.automatic;
      if (!parts.automatic) family.parameter = parts.parameter;
      family.values = expand_all(
          parts.items, parts.spacing, scanner_,
          [&](const RangeItem& item, double value) { check_value(rule, parts.parameter, item, value); });
      return;
    }
    const bool automatic = parts.automatic || rule.unsaid == Unsaid::automatic;
    if (automatic && parts.spacing.step > 0.0)
      scanner_.fail(parts.spacing.position, "auto takes count=, not step=");
    if (!automatic && parts.spacing.given())
      scanner_.fail(parts.spacing.position, "count= and step= need a range a..b to fill");
    if (rule.unsaid == Unsaid::error)
      scanner_.fail(begin,
                    fmt::format("{} needs {}=, for example {}", rule.name, rule.parameters[0], rule.example));
    if (automatic) {
      family.automatic = true;
      family.automatic_count = parts.spacing.count > 0 ? parts.spacing.count : 0;
    } else if (rule.unsaid == Unsaid::one) {
      family.parameter = rule.parameters[0];
      family.values = {1.0};
    }
  }

  // Each value has to make sense to the kernel: positive, and for degrees and lengths whole.
  void check_value(const FamilyRule& rule, const std::string& parameter, const RangeItem& item,
                   double v) const {
    if (rule.integer && !(v == std::floor(v) && v >= 1.0 && v <= rule.largest))
      scanner_.fail(item.position,
                    fmt::format("{} must be a whole number from 1 to {}, not {}", parameter, rule.largest, v));
    if (!(v > 0.0)) scanner_.fail(item.position, fmt::format("{} must be positive, not {}", parameter, v));
    // 1/(2 width²) has to be an ordinary number as well.
    const double gamma = parameter == "width" ? 0.5 / (v * v) : v;
    if (!std::isfinite(gamma) || gamma < std::numeric_limits<double>::min())
      scanner_.fail(item.position, fmt::format("{} = {} is too extreme to compute with", parameter, v));
  }

  std::vector<Scope> scopes() {
    Scanner ahead = scanner_;
    if (ahead.word() != "on") return {Scope{}};
    scanner_ = ahead;
    std::vector<Scope> result;
    do {
      result.push_back(scope());
      if (static_cast<Index>(result.size()) > kMostValues)
        scanner_.fail(scanner_.position(), fmt::format("more than {} scopes", kMostValues));
    } while (scanner_.accept(","));
    return result;
  }

  Scope scope() {
    const Name first = name("a scope: all, each, views, view NAME, or a column");
    if (!first.quoted) {
      if (first.text == "all") return {ScopeKind::all, {}};
      if (first.text == "each") return {ScopeKind::each, {}};
      if (first.text == "views") return {ScopeKind::views, {}};
      if (first.text == "view") return {ScopeKind::view, {name("the name of a view").text}};
    }
    Scope result{ScopeKind::columns, {first.text}};
    while (scanner_.accept("+")) result.names.push_back(name("the name of a column").text);
    return result;
  }

  Name name(const std::string& expected) {
    scanner_.skip_space();
    if (scanner_.peek() == '"') return {quoted(), true};
    const std::size_t begin = scanner_.position();
    while (!scanner_.at_end() && is_name_character(scanner_.peek())) scanner_.advance(1);
    if (scanner_.position() == begin) scanner_.fail_expected(expected);
    return {std::string(scanner_.slice(begin, scanner_.position())), false};
  }

  // "…" with "" for a quotation mark inside.
  std::string quoted() {
    const std::size_t begin = scanner_.position();
    std::string text;
    scanner_.advance(1);
    for (;;) {
      if (scanner_.at_end()) scanner_.fail(begin, "this quotation mark is not closed");
      const char c = scanner_.peek();
      scanner_.advance(1);
      if (c == '"' && scanner_.peek() == '"') {
        scanner_.advance(1);
      } else if (c == '"') {
        break;
      }
      text += c;
    }
    if (text.empty()) scanner_.fail(begin, "a name must not be empty");
    return text;
  }

  Scanner scanner_;
};

}  // namespace
}  // namespace kloom::kernels

namespace kloom {

KernelSpec parse_kernel_spec(std::string_view text) {
  return kernels::Parser(text).spec();
}

}  // namespace kloom
