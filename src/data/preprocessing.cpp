// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "data/names.h"
#include "data/number.h"
#include "kloom/dataset.h"
#include "kloom/error.h"

namespace kloom {
namespace {

using Column = Preprocessing::Column;
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

std::string column_name(const Feature& feature) {
  return feature.view.empty() ? fmt::format("column '{}'", feature.name)
                              : fmt::format("column '{}' of view '{}'", feature.name, feature.view);
}

std::string source_of(const Dataset& data) {
  return data.source.empty() ? "The data" : data.source;
}

void refuse_infinite(const Dataset& data, const Feature& feature, std::span<const double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isinf(values[i])) {
      throw InvalidArgument(fmt::format("{} {}: {} is infinite. Features must be finite numbers.",
                                        source_of(data), data::place_of(data, static_cast<Index>(i)),
                                        column_name(feature)));
    }
  }
}

void refuse_missing(const Dataset& data, const Feature& feature, std::span<const double> values) {
  const auto first = std::ranges::find_if(values, [](double v) { return std::isnan(v); });
  if (first == values.end()) {
    return;
  }
  const auto count = std::ranges::count_if(values, [](double v) { return std::isnan(v); });
  throw InvalidArgument(
      fmt::format("{} {}: {} has no value{}. Fill it in, leave the column out (--ignore), or replace missing "
                  "values by the mean "
                  "(--impute mean).",
                  source_of(data), data::place_of(data, first - values.begin()), column_name(feature),
                  count > 1 ? fmt::format(" (the first of {} missing)", count) : ""));
}

// Mean over the largest magnitude, in two passes: the second takes out what rounding left in the first.
double stable_mean(std::span<const double> values) {
  double largest = 0.0;
  for (const double v : values) {
    largest = std::max(largest, std::abs(v));
  }
  if (largest == 0.0) {
    return 0.0;
  }
  const auto n = static_cast<double>(values.size());
  double sum = 0.0;
  for (const double v : values) {
    sum += v / largest;
  }
  const double rough = sum / n;
  double rest = 0.0;
  for (const double v : values) {
    rest += v / largest - rough;
  }
  return (rough + rest / n) * largest;
}

double median(Vector values) {
  const std::size_t half = values.size() / 2;
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(half));
  const double upper = values[half];
  if (values.size() % 2 == 1) {
    return upper;
  }
  const double lower = *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half));
  return lower + (upper - lower) / 2.0;
}

// Sample standard deviation about `mean`; scaled by the largest deviation so that squares neither overflow
// nor vanish.
double deviation(std::span<const double> values, double mean) {
  double largest = 0.0;
  for (const double v : values) {
    largest = std::max(largest, std::abs(v - mean));
  }
  if (largest == 0.0 || values.size() < 2) {
    return 0.0;
  }
  double squares = 0.0;
  double sum = 0.0;  // of deviations: what rounding left in the mean, taken out again
  for (const double v : values) {
    const double d = (v - mean) / largest;
    squares += d * d;
    sum += d;
  }
  const auto n = static_cast<double>(values.size());
  return largest * std::sqrt(std::max(0.0, squares - sum * sum / n) / (n - 1.0));
}

// Settles fill, centre and scale of one column from its training values.
void fit_column(Column& column, const Dataset& data, std::span<const double> raw,
                const PreprocessingOptions& options) {
  refuse_infinite(data, column.feature, raw);
  Vector values;
  std::ranges::copy_if(raw, std::back_inserter(values), [](double v) { return !std::isnan(v); });
  if (options.impute == Impute::refuse) {
    refuse_missing(data, column.feature, raw);
  } else if (values.empty()) {
    throw InvalidArgument(
        fmt::format("{}: {} has no values at all, so none can be made up. Leave it out (--ignore).",
                    source_of(data), column_name(column.feature)));
  } else {
    column.fill = options.impute == Impute::mean ? stable_mean(values) : median(values);
    values.resize(raw.size(), column.fill);
  }
  if (values.empty()) {
    throw InvalidArgument(fmt::format("{}: there are no samples.", source_of(data)));
  }
  const auto [least, most] = std::ranges::minmax(values);
  if (least == most) {  // by comparison: the mean of equal numbers may differ from them by rounding
    column.scale = 0.0;
    column.centre = options.standardise ? least : 0.0;
    return;
  }
  const double mean = stable_mean(values);
  const double spread = deviation(values, mean);
  if (!options.standardise) {
    return;
  }
  if (!std::isfinite(spread) || !std::isfinite(mean)) {
    throw InvalidArgument(fmt::format("{}: {} has numbers too far apart to standardise ({:g} to {:g}).",
                                      source_of(data), column_name(column.feature), least, most));
  }
  column.centre = mean;
  column.scale = spread;
}

// 1 where the text is `category`, NaN where it is missing, else 0.
Vector indicator(const std::vector<std::string>& texts, const std::string& category) {
  Vector values;
  values.reserve(texts.size());
  for (const std::string& text : texts) {
    values.push_back(text == category ? 1.0 : (data::is_missing(text) ? nan_value : 0.0));
  }
  return values;
}

[[noreturn]] void refuse_text(const Dataset& data, const TextColumn& column) {
  // The first value that is no number shows why the column is text; if all are numbers it was asked for.
  const auto is_word = [](const std::string& v) { return data::read_cell(v).kind == data::CellKind::text; };
  const auto found = std::ranges::find_if(column.values, is_word);
  const auto at = found == column.values.end() ? column.values.begin() : found;
  const bool decimal_comma = found != column.values.end() && found->find(',') != std::string::npos &&
                             found->find_first_not_of("0123456789,+-eE ") == std::string::npos;
  throw InvalidArgument(fmt::format(
      "{} {}: {} holds the text '{}'. {}", source_of(data), data::place_of(data, at - column.values.begin()),
      column_name(column.feature), column.values.empty() ? "" : *at,
      decimal_comma ? "Write decimals with a point."
                    : "Code it as 0/1 features (--categorical onehot) or leave the column out (--ignore)."));
}

// Adds the one-hot columns of a text column; returns their positions.
std::vector<Index> add_onehot(std::vector<Column>& columns, const Dataset& data, const TextColumn& text,
                              const PreprocessingOptions& options) {
  std::set<std::string> categories;
  for (const std::string& value : text.values) {
    if (!data::is_missing(value)) {
      categories.insert(value);
    }
  }
  if (categories.empty()) {
    throw InvalidArgument(fmt::format("{}: {} has no values at all. Leave it out (--ignore).", source_of(data),
                                      column_name(text.feature)));
  }
  std::vector<Index> places;
  for (const std::string& category : categories) {
    Column column;
    column.feature = {text.feature.name + "=" + category, text.feature.view};
    column.category = category;
    column.onehot = true;
    Column raw = column;
    raw.feature = text.feature;  // messages speak of the column in the file
    fit_column(raw, data, indicator(text.values, category), options);
    column.centre = raw.centre;
    column.scale = raw.scale;
    column.fill = raw.fill;
    places.push_back(static_cast<Index>(columns.size()));
    columns.push_back(std::move(column));
  }
  return places;
}

void require_kept_texts(const Dataset& train, const std::vector<std::string>& keep) {
  for (const std::string& name : keep) {
    const bool found =
        std::ranges::any_of(train.texts, [&](const TextColumn& t) { return t.feature.name == name; });
    if (!found) {
      std::vector<std::string> names;
      for (const TextColumn& text : train.texts) {
        names.push_back(text.feature.name);
      }
      throw InvalidArgument(fmt::format("{}: there is no text column '{}'. Text columns: {}.", source_of(train),
                                        name, names.empty() ? "none" : data::list_some(names)));
    }
  }
}

// The columns of new data, looked up by name and view.
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
      values.push_back(std::isnan(v) ? std::string() : data::number_text(v));
    }
    return values;
  }

 private:
  const Dataset& data_;
  std::map<std::pair<std::string, std::string>, Index> numeric_;
  std::map<std::pair<std::string, std::string>, const TextColumn*> text_;
};

// "colour=red" was coded from "colour".
Feature coded_from(const Column& column) {
  const std::size_t length = column.feature.name.size() - column.category.size() - 1;
  return {column.feature.name.substr(0, length), column.feature.view};
}

void require_columns(const Dataset& data, const ColumnFinder& finder, const std::vector<Feature>& wanted) {
  std::vector<std::string> missing;
  for (const Feature& feature : wanted) {
    if (finder.numeric(feature) < 0 && finder.text(feature) == nullptr) {
      std::string name = feature.view.empty() ? feature.name : feature.view + ": " + feature.name;
      if (missing.empty() || missing.back() != name) {
        missing.push_back(std::move(name));
      }
    }
  }
  if (!missing.empty()) {
    std::vector<std::string> names;
    for (const Feature& feature : data.feature_info) {
      names.push_back(feature.name);
    }
    throw InvalidArgument(
        fmt::format("{}: {} of the model {} not in this data: {}. Names must agree exactly.{}", source_of(data),
                    missing.size() == 1 ? "one column" : "some columns", missing.size() == 1 ? "is" : "are",
                    data::list_some(missing), data::did_you_mean(missing[0], names)));
  }
}

// Raw values of one model column in new data.
Vector raw_values(const Dataset& data, const ColumnFinder& finder, const Column& column) {
  if (column.onehot) {
    return indicator(finder.texts(coded_from(column)), column.category);
  }
  const Index j = finder.numeric(column.feature);
  if (j >= 0) {
    const auto values = data.features.column(j);
    return {values.begin(), values.end()};
  }
  if (const TextColumn* text = finder.text(column.feature)) {
    const auto is_word = [](const std::string& v) { return data::read_cell(v).kind == data::CellKind::text; };
    const auto found = std::ranges::find_if(text->values, is_word);
    throw InvalidArgument(
        fmt::format("{} {}: {} holds the text '{}', but the model was trained on numbers there.",
                    source_of(data), data::place_of(data, found - text->values.begin()),
                    column_name(column.feature), found == text->values.end() ? "" : *found));
  }
  return Vector(static_cast<std::size_t>(data.samples),
                0.0);  // absent_is_zero; require_columns refused the rest
}

// Categories that training never saw become all zero; that is said once per column.
void note_new_categories(const ColumnFinder& finder, const std::vector<Column>& columns,
                         std::vector<std::string>& notes) {
  std::map<std::pair<std::string, std::string>, std::set<std::string>> known;
  for (const Column& column : columns) {
    if (column.onehot) {
      const Feature feature = coded_from(column);
      known[{feature.name, feature.view}].insert(column.category);
    }
  }
  for (const auto& [key, categories] : known) {
    std::set<std::string> fresh;
    for (const std::string& value : finder.texts({key.first, key.second})) {
      if (!data::is_missing(value) && !categories.contains(value)) {
        fresh.insert(value);
      }
    }
    if (!fresh.empty()) {
      notes.push_back(fmt::format("Column '{}': training never saw {}; coded as all zero.", key.first,
                                  data::list_some({fresh.begin(), fresh.end()})));
    }
  }
}

}  // namespace

Preprocessing Preprocessing::fit(const Dataset& train, const PreprocessingOptions& options) {
  require_kept_texts(train, options.keep_text);
  Preprocessing result;
  result.options_ = options;
  for (std::size_t j = 0; j < train.feature_info.size(); ++j) {
    Column column;
    column.feature = train.feature_info[j];
    fit_column(column, train, train.features.column(static_cast<Index>(j)), options);
    result.columns_.push_back(std::move(column));
  }
  std::vector<std::vector<Index>> coded(train.texts.size());  // one-hot columns of each text column
  std::vector<Index> kept(train.texts.size(), -1);            // its place in text_columns_
  for (std::size_t t = 0; t < train.texts.size(); ++t) {
    const TextColumn& text = train.texts[t];
    if (std::ranges::find(options.keep_text, text.feature.name) != options.keep_text.end()) {
      kept[t] = static_cast<Index>(result.text_columns_.size());
      result.text_columns_.push_back(text.feature);
    } else if (options.onehot) {
      coded[t] = add_onehot(result.columns_, train, text, options);
    } else {
      refuse_text(train, text);
    }
  }
  for (const View& view : train.views) {
    View fitted{view.name, view.features, {}};
    for (const Index text : view.texts) {
      const auto t = static_cast<std::size_t>(text);
      fitted.features.insert(fitted.features.end(), coded[t].begin(), coded[t].end());
      if (kept[t] >= 0) {
        fitted.texts.push_back(kept[t]);
      }
    }
    result.views_.push_back(std::move(fitted));
  }
  return result;
}

Preprocessing Preprocessing::from_parts(PreprocessingOptions options, std::vector<Column> columns,
                                        std::vector<Feature> text_columns, std::vector<View> views) {
  const auto within = [](const std::vector<Index>& indices, std::size_t size) {
    return std::ranges::all_of(indices, [&](Index i) { return i >= 0 && i < static_cast<Index>(size); });
  };
  for (const View& view : views) {
    if (!within(view.features, columns.size()) || !within(view.texts, text_columns.size())) {
      throw InvalidArgument(fmt::format("View '{}' names a column that does not exist.", view.name));
    }
  }
  for (const Column& column : columns) {
    const bool finite =
        std::isfinite(column.centre) && std::isfinite(column.scale) && std::isfinite(column.fill);
    const bool named = !column.onehot || column.feature.name.ends_with("=" + column.category);
    if (!finite || column.scale < 0.0 || !named) {
      throw InvalidArgument(fmt::format("The constants of column '{}' are not valid.", column.feature.name));
    }
  }
  Preprocessing result;
  result.options_ = std::move(options);
  result.columns_ = std::move(columns);
  result.text_columns_ = std::move(text_columns);
  result.views_ = std::move(views);
  return result;
}

Dataset Preprocessing::apply(const Dataset& data) const {
  const ColumnFinder finder(data);
  std::vector<Feature> wanted = text_columns_;
  for (const Column& column : columns_) {
    if (column.onehot) {
      wanted.push_back(coded_from(column));
    } else if (!data.absent_is_zero) {
      wanted.push_back(column.feature);
    }
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
  out.features = Matrix(data.samples, static_cast<Index>(columns_.size()));
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    const Column& column = columns_[j];
    out.feature_info.push_back(column.feature);
    const Vector raw = raw_values(data, finder, column);
    const Feature feature = column.onehot ? coded_from(column) : column.feature;
    refuse_infinite(data, feature, raw);
    if (options_.impute == Impute::refuse) {
      refuse_missing(data, feature, raw);
    }
    std::ranges::transform(raw, out.features.column(static_cast<Index>(j)).begin(), [&](double v) {
      const double value = std::isnan(v) ? column.fill : v;
      if (!options_.standardise) {
        return value;
      }
      return column.scale == 0.0 ? 0.0 : (value - column.centre) / column.scale;
    });
  }
  for (const Feature& feature : text_columns_) {
    out.texts.push_back({feature, finder.texts(feature)});
  }
  note_new_categories(finder, columns_, out.notes);
  return out;
}

}  // namespace kloom
