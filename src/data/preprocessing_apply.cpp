// SPDX-License-Identifier: BSD-3-Clause
//
// Applying: raw samples become the features that training fitted.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "data/absent_views.h"
#include "data/column_finder.h"
#include "data/column_fit.h"
#include "data/column_kind.h"
#include "data/names.h"
#include "data/number.h"
#include "kloom/dataset.h"
#include "kloom/error.h"

namespace kloom {
namespace {

using data::ColumnFinder;
using Column = Preprocessing::Column;

constexpr std::string_view kMissing = " is missing";

void require_columns(const Dataset& data, const ColumnFinder& finder, const std::vector<Feature>& wanted) {
  std::vector<std::string> missing;
  std::set<std::string> seen;
  for (const Feature& feature : wanted) {
    if (finder.numeric(feature) < 0 && finder.text(feature) == nullptr) {
      std::string name = feature.view.empty() ? feature.name : feature.view + ": " + feature.name;
      if (seen.insert(name).second) {
        missing.push_back(std::move(name));
      }
    }
  }
  if (!missing.empty()) {
    std::vector<std::string> names;
    for (const Feature& feature : data.feature_info) {
      names.push_back(feature.name);
    }
    throw InvalidArgument(fmt::format(
        "{}: {} of the model {} not in this data: {}. Names must agree exactly.{}", data::source_of(data),
        missing.size() == 1 ? "one column" : "some columns", missing.size() == 1 ? "is" : "are",
        data::list_some(missing), data::suggestion(missing[0], names)));
  }
}

// A text column where training had numbers: its numbers, and nothing where it holds anything else. As in
// training, a tenth of the cells may be no numbers where gaps are filled; more is another column.
Vector numbers_of(const Dataset& data, const TextColumn& text, const Column& column, Impute impute) {
  Vector values = data::numbers_in(text.values, column.format);
  const auto is_text = [&](std::size_t i) {
    return std::isnan(values[i]) && data::read_cell(text.values[i]).kind != data::CellKind::missing;
  };
  std::size_t texts = 0;
  for (std::size_t i = 0; i < values.size(); ++i) texts += is_text(i) ? 1 : 0;
  if (impute != Impute::refuse && 10 * texts <= values.size()) return values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!is_text(i)) continue;
    throw InvalidArgument(fmt::format(
        "{} {}: {} holds the text '{}', but the model was trained on numbers there.", data::source_of(data),
        data::place_of(data, static_cast<Index>(i)), data::column_name(column.source()), text.values[i]));
  }
  return values;
}

// A text column's values; gaps where the data lack its whole view.
std::vector<std::string> texts_or_gaps(const Dataset& data, const ColumnFinder& finder, const Feature& source) {
  if (finder.text(source) == nullptr && finder.numeric(source) < 0)
    return std::vector<std::string>(static_cast<std::size_t>(data.samples));
  return finder.texts(source);
}

Vector marks(const Dataset& data, const ColumnFinder& finder, const Feature& source) {
  Vector values;
  const Index j = finder.numeric(source);
  if (j >= 0) {
    for (const double v : data.features.column(j)) values.push_back(std::isnan(v) ? 1.0 : 0.0);
  } else if (const TextColumn* text = finder.text(source)) {
    for (const std::string& v : text->values) values.push_back(data::is_missing(v) ? 1.0 : 0.0);
  } else {
    values.assign(static_cast<std::size_t>(data.samples), 0.0);
  }
  return values;
}

// Raw values of one model column in new data.
Vector raw_values(const Dataset& data, const ColumnFinder& finder, const Column& column, Impute impute) {
  const Feature source = column.source();
  if (column.indicator) return marks(data, finder, source);
  if (column.transform == Transform::codes)
    return data::codes_of(texts_or_gaps(data, finder, source), column.categories);
  if (column.onehot) return data::indicator(texts_or_gaps(data, finder, source), column.category);
  const Index j = finder.numeric(source);
  if (j >= 0) {
    const auto values = data.features.column(j);
    return {values.begin(), values.end()};
  }
  if (const TextColumn* text = finder.text(source)) return numbers_of(data, *text, column, impute);
  return Vector(static_cast<std::size_t>(data.samples),
                0.0);  // absent_is_zero, or of an absent view; require_columns refused the rest
}

// What kernels see of a value that is not missing.
double seen(const Column& column, double value, bool standardise) {
  switch (column.transform) {
    case Transform::raw:
    case Transform::codes:
      return value;
    case Transform::ranks:
      return data::rank_score(column.knots, value);
    case Transform::tfidf:
      return value * column.centre;
    case Transform::standardised:
      if (!standardise) return value;
      break;
    case Transform::relevance:
      break;
  }
  return column.scale == 0.0 ? 0.0 : (value - column.centre) / column.scale;
}

struct Known {
  std::set<std::string> categories;
  bool all = false;  // every category of training is among them
};

// Categories of each coded text column.
std::map<std::pair<std::string, std::string>, Known> known_categories(const std::vector<Column>& columns) {
  std::map<std::pair<std::string, std::string>, Known> known;
  for (const Column& column : columns) {
    if (!column.from_text()) continue;
    const Feature source = column.source();
    Known& of_source = known[{source.name, source.view}];
    if (column.onehot) of_source.categories.insert(column.category);
    of_source.categories.insert(column.categories.begin(), column.categories.end());
    of_source.all = of_source.all || !column.categories.empty();
  }
  return known;
}

// " (training has 'red')" for Red, and for 1.0 where training has 1: most such values are slips of the pen.
std::string meant_category(const std::string& value, const std::set<std::string>& known) {
  const data::CellValue number = data::read_cell(value);
  for (const std::string& category : known) {
    const data::CellValue other = data::read_cell(category);
    const bool same_number = number.kind == data::CellKind::number && other.kind == data::CellKind::number &&
                             number.value == other.value;
    if (same_number || equal_ignoring_case(data::trim(value), data::trim(category)))
      return fmt::format(" (training has '{}')", category);
  }
  return {};
}

// Categories that training never saw become all zero; that is said once per column.
void note_new_categories(const Dataset& data, const ColumnFinder& finder, const std::vector<Column>& columns,
                         std::vector<std::string>& notes) {
  for (const auto& [key, known] : known_categories(columns)) {
    std::map<std::string, Index> fresh;
    Index count = 0;
    const std::vector<std::string> all = texts_or_gaps(data, finder, {key.first, key.second});
    for (const std::string& value : all) {
      if (data::is_missing(value) || known.categories.contains(value)) continue;
      ++fresh[value];
      ++count;
    }
    if (fresh.empty()) continue;
    const bool thinned = !known.all && std::ssize(known.categories) >= data::kMostCategories;
    std::vector<std::string> values;
    values.reserve(fresh.size());
    for (const auto& [value, times] : fresh) values.push_back(value + meant_category(value, known.categories));
    notes.push_back(fmt::format("Column '{}': training never {}saw {}; coded as all zero ({} of {} samples).",
                                key.first, thinned ? "or hardly " : "", data::list_some(values), count,
                                all.size()));
  }
}

}  // namespace

Feature Preprocessing::Column::source() const {
  std::size_t length = feature.name.size();
  if (indicator) {
    length -= kMissing.size();
  } else if (onehot) {
    length -= category.size() + 1;
  }
  return {feature.name.substr(0, length), feature.view};
}

namespace {

// Columns of views of which the data have nothing at all: their samples lack them.
std::set<std::pair<std::string, std::string>> columns_not_there(const std::vector<ViewBlock>& blocks,
                                                                const Dataset& data,
                                                                const ColumnFinder& finder) {
  std::set<std::pair<std::string, std::string>> absent;
  for (const ViewBlock& block : blocks) {
    if (!data::has_no_column(block, data, finder)) continue;
    for (const Feature& column : block.columns) absent.emplace(column.name, column.view);
  }
  return absent;
}

}  // namespace

Dataset Preprocessing::apply(const Dataset& data) const {
  const ColumnFinder finder(data);
  const auto absent = columns_not_there(blocks_, data, finder);
  std::vector<Feature> wanted;
  const auto want = [&](Feature source) {
    if (!absent.contains({source.name, source.view})) wanted.push_back(std::move(source));
  };
  for (const Feature& feature : text_columns_) want(feature);
  for (const Column& column : columns_) {
    if (column.from_text() || !data.absent_is_zero) want(column.source());
  }
  require_columns(data, finder, wanted);
  Dataset out;
  out.source = data.source;
  out.samples = data.samples;
  out.ids = data.ids;
  out.lines = data.lines;
  out.kernels = data.kernels;
  out.distances = data.distances;
  out.target_name = data.target_name;
  out.labels = data.labels;
  out.weights = data.weights;
  out.notes = data.notes;
  out.views = views_;
  for (View& view : out.views) {
    const auto block = std::ranges::find(blocks_, view.name, &ViewBlock::view);
    if (block != blocks_.end()) view.absent = data::absent_from(*block, data, finder);
  }
  out.features = Matrix(data.samples, static_cast<Index>(columns_.size()));
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    const Column& column = columns_[j];
    out.feature_info.push_back(column.feature);
    const Vector raw = raw_values(data, finder, column, options_.impute);
    data::refuse_infinite(data, column.source(), raw);
    if (options_.impute == Impute::refuse) {
      data::refuse_missing(data, column.source(), raw);
    }
    std::ranges::transform(raw, out.features.column(static_cast<Index>(j)).begin(), [&](double v) {
      return seen(column, std::isnan(v) ? column.fill : v, options_.standardise);
    });
  }
  for (const Feature& feature : text_columns_) {
    out.texts.push_back({feature, texts_or_gaps(data, finder, feature)});
  }
  note_new_categories(data, finder, columns_, out.notes);
  return out;
}

std::vector<std::string> Preprocessing::surprises(const Dataset& data) const {
  const ColumnFinder finder(data);
  std::vector<std::string> notes;
  note_new_categories(data, finder, columns_, notes);
  std::vector<std::string> lacking;
  for (const ViewBlock& block : blocks_) {
    const std::vector<bool> absent = data::absent_from(block, data, finder);
    const auto count = std::ranges::count(absent, true);
    if (count > 0) lacking.push_back(fmt::format("'{}' ({})", block.view, count));
  }
  if (!lacking.empty())
    notes.push_back(fmt::format("Some samples lack views and are predicted from their other ones: {} of {}.",
                                data::list_some(lacking), data.samples));
  data::PresentSamples having(blocks_, data);
  std::vector<std::string> filled;
  std::set<std::pair<std::string, std::string>> looked_at;
  for (const Column& column : columns_) {
    const Feature source = column.source();
    if (column.from_text() || column.indicator || !looked_at.emplace(source.name, source.view).second) continue;
    const Vector values = raw_values(data, finder, column, Impute::median);
    const std::vector<Index>* rows = having.with(source);
    auto missing = std::ranges::count_if(values, [](double v) { return std::isnan(v); });
    if (rows != nullptr)
      missing = std::ranges::count_if(*rows,
                                      [&](Index i) { return std::isnan(values[static_cast<std::size_t>(i)]); });
    if (missing > 0) filled.push_back(fmt::format("'{}' ({})", source.name, missing));
  }
  if (!filled.empty())
    notes.push_back(fmt::format("Missing values were filled by the training {}: {}.",
                                options_.impute == Impute::mean ? "mean" : "median", data::list_some(filled)));
  return notes;
}

}  // namespace kloom
