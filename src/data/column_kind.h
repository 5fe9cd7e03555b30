// SPDX-License-Identifier: BSD-3-Clause
//
// What a column is, from its name and its training values. docs/guide/columns.md has the same rules for people.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kloom/dataset.h"

namespace kloom::data {

// More categories than this are coded one-hot only where they occur twice, the most frequent first.
constexpr Index kMostCategories = 50;

struct TextKind {
  ColumnKind kind = ColumnKind::category;
  Index missing = 0;
  std::string reason;
  NumberFormat format = {};  // where it holds numbers
};

[[nodiscard]] TextKind text_kind(const std::string& name, const std::vector<std::string>& values);

// Why a column of numbers is no feature but an id; empty if it is a feature. `values` may hold NaN.
[[nodiscard]] std::string id_reason(const std::string& name, std::span<const double> values);

// Categories that get a 0/1 feature each, sorted. `all`: every one of them, however many.
[[nodiscard]] std::vector<std::string> chosen_categories(const std::vector<std::string>& values, bool all);

}  // namespace kloom::data
