// SPDX-License-Identifier: BSD-3-Clause
//
// What was decided about columns, for people.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "data/names.h"
#include "kloom/dataset.h"
#include "kloom/error.h"

namespace kloom {
namespace {

using Names = std::vector<std::string>;

std::string counted(std::size_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

// "3 categories coded one-hot (a, b, c)"; of one kind that needs no names, the number alone.
void add_group(Names& parts, const Names& names, std::string_view one, std::string_view many,
               std::string_view what) {
  if (names.empty()) return;
  std::string text = counted(names.size(), one, many);
  if (!what.empty()) text += fmt::format(" {} ({})", what, data::list_some(names, 6));
  parts.push_back(std::move(text));
}

}  // namespace

std::string_view to_string(ColumnKind kind) {
  switch (kind) {
    case ColumnKind::number:
      return "number";
    case ColumnKind::category:
      return "category";
    case ColumnKind::sentences:
      return "sentences";
    case ColumnKind::sequence:
      return "sequence";
    case ColumnKind::date:
      return "date";
    case ColumnKind::identifier:
      return "id";
    case ColumnKind::name:
      return "name";
    case ColumnKind::constant:
      return "constant";
    case ColumnKind::empty:
      return "empty";
  }
  throw InternalError("kind of column without a name");
}

ColumnDecision plain_decision(const Preprocessing::Column& column) {
  ColumnDecision decision;
  decision.feature = column.feature;
  if (column.scale == 0.0) {
    decision.kind = ColumnKind::constant;
    decision.used = false;
    decision.treatment = "left out";
    decision.reason = "it has the same value in every training sample";
  } else {
    decision.treatment = "number";
  }
  return decision;
}

std::vector<std::string> summarise(const std::vector<ColumnDecision>& decisions) {
  std::map<ColumnKind, Names> used;
  std::map<std::string, Names> dropped;
  Names missing;
  for (const ColumnDecision& decision : decisions) {
    const std::string& name = decision.feature.name;
    if (decision.missing > 0 && decision.kind != ColumnKind::empty)
      missing.push_back(fmt::format("{} {}", name, decision.missing));
    if (!decision.treatment.starts_with("dropped") && decision.kind != ColumnKind::constant) {
      used[decision.kind].push_back(name);
      continue;
    }
    constexpr std::array<std::pair<ColumnKind, std::string_view>, 5> whys = {
        {{ColumnKind::date, "dates"},
         {ColumnKind::identifier, "ids"},
         {ColumnKind::name, "nearly one value per row"},
         {ColumnKind::constant, "the same value in every row"},
         {ColumnKind::empty, "no values"}}};
    for (const auto& [kind, why] : whys)
      if (decision.kind == kind) dropped[std::string(why)].push_back(name);
  }
  Names parts;
  add_group(parts, used[ColumnKind::number], "number", "numbers", "");
  add_group(parts, used[ColumnKind::category], "category", "categories", "coded one-hot");
  add_group(parts, used[ColumnKind::sentences], "text column", "text columns", "compared by words");
  add_group(parts, used[ColumnKind::sequence], "text column", "text columns", "compared by substrings");
  Names lines;
  if (!parts.empty()) lines.push_back(fmt::format("columns: {}", fmt::join(parts, ", ")));
  if (!missing.empty())
    lines.push_back(fmt::format("missing values in {}: {}", counted(missing.size(), "column", "columns"),
                                data::list_some(missing, 6)));
  Names left_out;
  for (const auto& [why, names] : dropped)
    left_out.push_back(fmt::format("{} ({})", data::list_some(names, 6), why));
  if (!left_out.empty()) lines.push_back(fmt::format("left out: {}", fmt::join(left_out, "; ")));
  return lines;
}

}  // namespace kloom
