// SPDX-License-Identifier: BSD-3-Clause
#include "data/absent_views.h"

#include <algorithm>
#include <cmath>

#include "data/number.h"

namespace kloom::data {

std::vector<ViewBlock> blocks_of(const Dataset& train, const PreprocessingOptions& options) {
  std::vector<ViewBlock> blocks;
  if (!options.absent_views || options.impute == Impute::refuse || train.views.size() < 2) return blocks;
  for (const View& view : train.views) {
    ViewBlock block{view.name, {}};
    for (const Index f : view.features)
      block.columns.push_back(train.feature_info[static_cast<std::size_t>(f)]);
    for (const Index t : view.texts) block.columns.push_back(train.texts[static_cast<std::size_t>(t)].feature);
    const bool own_file =
        std::ranges::all_of(block.columns, [&](const Feature& f) { return f.view == view.name; });
    if (block.columns.size() > 1 || own_file) blocks.push_back(std::move(block));
  }
  return blocks;
}

std::vector<bool> absent_from(const ViewBlock& block, const Dataset& data, const ColumnFinder& finder) {
  std::vector<bool> absent(static_cast<std::size_t>(data.samples), true);
  bool found = false;
  for (const Feature& column : block.columns) {
    if (const Index j = finder.numeric(column); j >= 0) {
      found = true;
      const auto values = data.features.column(j);
      for (std::size_t i = 0; i < absent.size(); ++i) absent[i] = absent[i] && std::isnan(values[i]);
    } else if (const TextColumn* text = finder.text(column)) {
      found = true;
      for (std::size_t i = 0; i < absent.size(); ++i) absent[i] = absent[i] && is_missing(text->values[i]);
    }
  }
  // A file of svmlight that mentions none of the features says that all of them are 0.
  if (!found && data.absent_is_zero) return {};
  if (std::ranges::find(absent, true) == absent.end()) return {};
  return absent;
}

bool has_no_column(const ViewBlock& block, const Dataset& data, const ColumnFinder& finder) {
  return !data.absent_is_zero && std::ranges::none_of(block.columns, [&](const Feature& column) {
    return finder.numeric(column) >= 0 || finder.text(column) != nullptr;
  });
}

Matrix views_there(const std::vector<ViewBlock>& blocks, const Dataset& raw) {
  const ColumnFinder finder(raw);
  Matrix there(raw.samples, std::ssize(blocks), 1.0);
  bool all = true;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const std::vector<bool> absent = absent_from(blocks[b], raw, finder);
    for (std::size_t i = 0; i < absent.size(); ++i) {
      if (!absent[i]) continue;
      there(static_cast<Index>(i), static_cast<Index>(b)) = 0.0;
      all = false;
    }
  }
  return all ? Matrix() : there;
}

PresentSamples::PresentSamples(const std::vector<ViewBlock>& blocks, const Dataset& train) {
  const ColumnFinder finder(train);
  for (const ViewBlock& block : blocks) {
    absent_.push_back(absent_from(block, train, finder));
    if (absent_.back().empty()) continue;
    for (const Feature& column : block.columns)
      blocks_of_[{column.name, column.view}].push_back(absent_.size() - 1);
  }
}

const std::vector<Index>* PresentSamples::with(const Feature& column) {
  const auto place = blocks_of_.find({column.name, column.view});
  if (place == blocks_of_.end()) return nullptr;
  const auto [rows, fresh] = rows_.try_emplace(place->second);
  for (std::size_t i = 0; fresh && i < absent_[place->second.front()].size(); ++i) {
    if (std::ranges::none_of(place->second, [&](std::size_t b) { return absent_[b][i]; }))
      rows->second.push_back(static_cast<Index>(i));
  }
  return &rows->second;
}

}  // namespace kloom::data
