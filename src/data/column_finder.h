// SPDX-License-Identifier: BSD-3-Clause
//
// The columns of new data, looked up by name and view.
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "data/number.h"
#include "kloom/dataset.h"

namespace kloom::data {

class ColumnFinder {
 public:
  explicit ColumnFinder(const Dataset& data) : data_(data) {
    for (std::size_t j = 0; j < data.feature_info.size(); ++j) {
      numeric_.emplace(std::pair(data.feature_info[j].name, data.feature_info[j].view), static_cast<Index>(j));
    }
    for (const TextColumn& text : data.texts) {
      text_.emplace(std::pair(text.feature.name, text.feature.view), &text);
    }
  }
  // -1 if there is no such numeric column.
  [[nodiscard]] Index numeric(const Feature& feature) const {
    const auto it = numeric_.find({feature.name, feature.view});
    return it == numeric_.end() ? -1 : it->second;
  }
  [[nodiscard]] const TextColumn* text(const Feature& feature) const {
    const auto it = text_.find({feature.name, feature.view});
    return it == text_.end() ? nullptr : it->second;
  }
  // A text column's values; a column in which this file happens to hold numbers only is written as text again.
  [[nodiscard]] std::vector<std::string> texts(const Feature& feature) const {
    if (const TextColumn* found = text(feature)) {
      return found->values;
    }
    std::vector<std::string> values;
    for (const double v : data_.features.column(numeric(feature))) {
      values.push_back(std::isnan(v) ? std::string() : data::label_text(v));
    }
    return values;
  }

 private:
  const Dataset& data_;
  std::map<std::pair<std::string, std::string>, Index> numeric_;
  std::map<std::pair<std::string, std::string>, const TextColumn*> text_;
};

}  // namespace kloom::data
