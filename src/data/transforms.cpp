// SPDX-License-Identifier: BSD-3-Clause
//
// Columns that kernels see in another way than standardised, and columns that no kernel sees.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "data/absent_views.h"
#include "data/column_finder.h"
#include "data/column_fit.h"
#include "data/column_kind.h"
#include "kloom/dataset.h"

namespace kloom {
namespace {

using Column = Preprocessing::Column;

// The values of the samples that have the view of a column; `rows` null: all.
Vector only(Vector values, const std::vector<Index>* rows) {
  if (rows == nullptr) return values;
  Vector own;
  for (const Index i : *rows) own.push_back(values[static_cast<std::size_t>(i)]);
  return own;
}

// Training values as kernels would see them raw.
Vector filled(const Dataset& train, const data::ColumnFinder& finder, const Column& base) {
  const Index j = finder.numeric(base.feature);
  Vector values;
  if (j >= 0) {
    const auto column = train.features.column(j);
    values.assign(column.begin(), column.end());
  } else if (const TextColumn* text = finder.text(base.feature)) {
    values = data::numbers_in(text->values, base.format);
  }
  values.resize(static_cast<std::size_t>(train.samples), 0.0);
  for (double& v : values)
    if (std::isnan(v)) v = base.fill;
  return values;
}

// ln((1 + n)/(1 + df)) + 1, df the number of samples in which the value is not 0.
double inverse_document_frequency(const Vector& values) {
  const auto present =
      static_cast<double>(values.size()) - static_cast<double>(std::ranges::count(values, 0.0));
  return std::log((1.0 + static_cast<double>(values.size())) / (1.0 + present)) + 1.0;
}

// Places after some were dropped; -1 for those.
std::vector<Index> places_after(std::size_t count, const std::vector<Index>& kept) {
  std::vector<Index> places(count, -1);
  for (std::size_t k = 0; k < kept.size(); ++k)
    places[static_cast<std::size_t>(kept[k])] = static_cast<Index>(k);
  return places;
}

void move_places(std::vector<Index>& indices, const std::vector<Index>& places) {
  for (Index& i : indices) i = places[static_cast<std::size_t>(i)];
  std::erase(indices, -1);
}

}  // namespace

std::vector<Index> Preprocessing::add_transformed(const Dataset& train, Transform transform,
                                                  const std::vector<Index>& chosen) {
  const data::ColumnFinder finder(train);
  data::PresentSamples having(blocks_, train);
  std::map<std::pair<std::string, std::string>, Index> coded;
  std::vector<Index> places;
  for (const Index f : chosen) {
    Column column = columns_[static_cast<std::size_t>(f)];
    const bool mark = column.onehot || column.indicator;
    // 0/1 features have no ranks worth the name.
    if (transform == Transform::standardised || (transform == Transform::ranks && mark)) {
      places.push_back(f);
      continue;
    }
    column.transform = transform;
    if (transform == Transform::codes && column.onehot) {
      const Feature source = column.source();
      const auto [place, fresh] = coded.try_emplace({source.name, source.view}, std::ssize(columns_));
      places.push_back(place->second);
      if (!fresh) continue;
      column = Column{};
      column.feature = source;
      column.transform = Transform::codes;
      column.categories = data::chosen_categories(finder.texts(source), true);
      columns_.push_back(std::move(column));
      continue;
    }
    if (transform == Transform::codes) column.transform = Transform::raw;
    const std::vector<Index>* rows = having.with(column.source());
    if (transform == Transform::ranks)
      column.knots = data::rank_knots(only(filled(train, finder, column), rows));
    if (transform == Transform::tfidf) {
      const Vector values = only(column.onehot ? data::indicator(finder.texts(column.source()), column.category)
                                               : filled(train, finder, column),
                                 rows);
      column.centre = column.indicator ? 1.0 : inverse_document_frequency(values);
    }
    places.push_back(std::ssize(columns_));
    columns_.push_back(std::move(column));
  }
  return places;
}

std::vector<Index> Preprocessing::add_scaled(const std::vector<Index>& chosen, const Vector& factors) {
  std::vector<Index> places;
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    Column column = columns_[static_cast<std::size_t>(chosen[k])];
    column.transform = Transform::relevance;
    column.scale /= factors[k];
    places.push_back(std::ssize(columns_));
    columns_.push_back(std::move(column));
  }
  return places;
}

void Preprocessing::keep(const std::vector<Index>& columns, const std::vector<Index>& texts) {
  const std::vector<Index> column_places = places_after(columns_.size(), columns);
  const std::vector<Index> text_places = places_after(text_columns_.size(), texts);
  std::vector<Column> kept;
  kept.reserve(columns.size());
  for (const Index f : columns) kept.push_back(std::move(columns_[static_cast<std::size_t>(f)]));
  columns_ = std::move(kept);
  std::vector<Feature> kept_texts;
  kept_texts.reserve(texts.size());
  for (const Index t : texts) kept_texts.push_back(std::move(text_columns_[static_cast<std::size_t>(t)]));
  text_columns_ = std::move(kept_texts);
  for (View& view : views_) {
    move_places(view.features, column_places);
    move_places(view.texts, text_places);
  }
}

}  // namespace kloom
