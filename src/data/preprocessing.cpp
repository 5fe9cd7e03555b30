// SPDX-License-Identifier: BSD-3-Clause
//
// Fitting: what every column is, and the constants of those that are used.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "data/absent_views.h"
#include "data/column_fit.h"
#include "data/column_kind.h"
#include "data/names.h"
#include "data/number.h"
#include "kloom/dataset.h"
#include "kloom/error.h"

namespace kloom {
namespace {

using Column = Preprocessing::Column;

[[noreturn]] void refuse_text(const Dataset& data, const TextColumn& column) {
  // The first value that is no number shows why the column is text; if all are numbers it was asked for.
  const auto is_word = [](const std::string& v) { return data::read_cell(v).kind == data::CellKind::text; };
  const auto found = std::ranges::find_if(column.values, is_word);
  const auto at = found == column.values.end() ? column.values.begin() : found;
  const bool decimal_comma = found != column.values.end() && found->find(',') != std::string::npos &&
                             found->find_first_not_of("0123456789,+-eE ") == std::string::npos;
  throw InvalidArgument(fmt::format(
      "{} {}: {} holds the text '{}'. {}", data::source_of(data),
      data::place_of(data, at - column.values.begin()), data::column_name(column.feature),
      column.values.empty() ? "" : *at,
      decimal_comma ? "Write decimals with a point."
                    : "Code it as 0/1 features (--categorical onehot) or leave the column out (--ignore)."));
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
      throw InvalidArgument(fmt::format("{}: there is no text column '{}'. Text columns: {}.",
                                        data::source_of(train), name,
                                        names.empty() ? "none" : data::list_some(names)));
    }
  }
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<bool> missing_among(std::span<const double> values) {
  std::vector<bool> missing;
  missing.reserve(values.size());
  for (const double v : values) missing.push_back(std::isnan(v));
  return missing;
}

std::vector<bool> missing_among(const std::vector<std::string>& values) {
  std::vector<bool> missing;
  missing.reserve(values.size());
  for (const std::string& v : values) missing.push_back(data::is_missing(v));
  return missing;
}

// One pass over the columns of the training data.
class Fitter {
 public:
  Fitter(const Dataset& train, const PreprocessingOptions& options)
      : blocks(data::blocks_of(train, options)), train_(train), options_(options), having_(blocks, train) {}

  void run() {
    for (std::size_t j = 0; j < train_.feature_info.size(); ++j) {
      look_at(train_.feature_info[j]);
      number(j);
    }
    for (const TextColumn& text : train_.texts) {
      look_at(text.feature);
      texts_[&text - train_.texts.data()] = rows_ == nullptr ? add_text(text) : add_text(seen_texts(text));
    }
    refuse_equal_features();
    for (const View& view : train_.views) add_view(view);
    if (!columns.empty() || !text_columns.empty() || train_.kernels.size() + train_.distances.size() > 0)
      return;
    std::vector<std::string> why;
    for (const ColumnDecision& d : decisions) why.push_back(fmt::format("'{}' ({})", d.feature.name, d.reason));
    if (why.empty()) return;
    throw InvalidArgument(
        fmt::format("{}: no column is left to learn from: {}. Keep one (--keep NAME), or add columns that "
                    "describe the samples.",
                    data::source_of(train_), data::list_some(why)));
  }

  std::vector<Column> columns;
  std::vector<Feature> text_columns;
  std::vector<View> views;
  std::vector<ColumnDecision> decisions;
  std::vector<ViewBlock> blocks;

 private:
  // A column is fitted on the samples that have its view. Of those only what messages need is kept.
  void look_at(const Feature& column) {
    rows_ = having_.with(column);
    seen_ = &train_;
    if (rows_ == nullptr) return;
    const auto [place, fresh] = samples_.try_emplace(rows_);
    if (fresh) {
      Dataset all;
      all.source = train_.source;
      all.samples = train_.samples;
      all.ids = train_.ids;
      all.lines = train_.lines;
      all.absent_is_zero = train_.absent_is_zero;
      all.features = Matrix(train_.samples, 0);
      place->second = select_samples(all, *rows_);
    }
    seen_ = &place->second;
  }

  std::span<const double> seen_numbers(std::size_t j) {
    const auto all = train_.features.column(static_cast<Index>(j));
    if (rows_ == nullptr) return all;
    numbers_seen_.clear();
    for (const Index i : *rows_) numbers_seen_.push_back(all[static_cast<std::size_t>(i)]);
    return numbers_seen_;
  }

  [[nodiscard]] TextColumn seen_texts(const TextColumn& text) const {
    TextColumn own{text.feature, {}};
    for (const Index i : *rows_) own.values.push_back(text.values[static_cast<std::size_t>(i)]);
    return own;
  }

  // What became of a column of the data: features, or a text.
  struct Places {
    std::vector<Index> features;
    Index text = -1;
  };

  // "colour=red" may be a column of the file and what one-hot coding makes of 'colour'; kernels could not tell them apart.
  void refuse_equal_features() const {
    std::map<std::pair<std::string, std::string>, const Column*> seen;
    for (const Column& column : columns) {
      const auto [place, fresh] = seen.emplace(std::pair(column.feature.view, column.feature.name), &column);
      if (fresh) continue;
      throw InvalidArgument(fmt::format(
          "{}: column '{}' is coded as a feature '{}', and column '{}' gives one of "
          "the same name. Rename one of the two columns, or leave it out (--ignore).",
          data::source_of(train_), column.source().name, column.feature.name, place->second->source().name));
    }
  }

  [[nodiscard]] bool indicates() const { return options_.indicate && options_.impute != Impute::refuse; }

  Index push(Column column) {
    columns.push_back(std::move(column));
    return static_cast<Index>(columns.size()) - 1;
  }

  void drop(const Feature& feature, ColumnKind kind, Index missing, const std::string& reason) {
    decisions.push_back({feature, kind, false, missing, "dropped", reason});
  }

  void number(std::size_t j) {
    const Feature& feature = train_.feature_info[j];
    const auto values = seen_numbers(j);
    Places& places = numbers_[j];
    const bool kept = contains(options_.keep, feature.name);
    const std::string id =
        options_.drop_ids && !kept && !seen_->absent_is_zero ? data::id_reason(feature.name, values) : "";
    if (!id.empty()) {
      drop(feature, ColumnKind::identifier, 0, id);
      return;
    }
    add_number(feature, values, {}, places);
  }

  // A column of numbers, with a mark where values are missing.
  void add_number(const Feature& feature, std::span<const double> values, const NumberFormat& format,
                  Places& places) {
    const auto missing =
        static_cast<Index>(std::ranges::count_if(values, [](double v) { return std::isnan(v); }));
    if (options_.decide && options_.impute != Impute::refuse && train_.samples > 0 &&
        missing == std::ssize(values)) {
      drop(feature, ColumnKind::empty, missing, "it has no values");
      return;
    }
    Column column;
    column.feature = feature;
    column.format = format;
    data::fit_column(column, *seen_, values, options_);
    ColumnDecision decision = plain_decision(column);
    places.features.push_back(push(std::move(column)));
    if (missing > 0) {
      decision.missing = missing;
      decision.used = true;  // at least the mark
      const std::string how = options_.impute == Impute::mean ? "mean" : "median";
      decision.treatment +=
          fmt::format(", missing values filled by the {}{}", how, indicates() ? " and marked" : "");
      decision.reason += fmt::format("{}{} of {} values are missing", decision.reason.empty() ? "" : "; ",
                                     missing, seen_->samples);
      if (indicates()) add_indicator(feature, missing_among(values), places);
    }
    decisions.push_back(std::move(decision));
  }

  // Columns that are missing together (a view that a sample lacks) share one mark.
  void add_indicator(const Feature& feature, std::vector<bool> missing, Places& places) {
    const auto [place, fresh] = indicators_.try_emplace({rows_, std::move(missing)}, 0);
    if (fresh) {
      Column column;
      column.feature = {feature.name + " is missing", feature.view};
      column.indicator = true;
      centre(column, std::ranges::count(place->first.second, true));
      place->second = push(std::move(column));
    }
    places.features.push_back(place->second);
  }

  // 0/1 features are centred but not divided by their deviation, which would blow up rare categories: two
  // samples that differ in a category are then as far apart as in a number, a squared distance of 2.
  void centre(Column& column, std::ptrdiff_t ones) const {
    if (ones == 0 || ones == static_cast<std::ptrdiff_t>(seen_->samples)) column.scale = 0.0;
    if (options_.standardise) column.centre = static_cast<double>(ones) / static_cast<double>(seen_->samples);
  }

  Places add_text(const TextColumn& text) {
    Places places;
    const std::string& name = text.feature.name;
    if (contains(options_.keep_text, name)) {
      const data::TextKind found = data::text_kind(name, text.values);
      const bool sentences = found.kind == ColumnKind::sentences;
      keep_text(text, sentences ? ColumnKind::sentences : ColumnKind::sequence, found.missing,
                "it was asked for", places);
    } else if (options_.decide) {
      decide_text(text, places);
    } else if (options_.onehot) {
      const Index missing =
          std::ranges::count_if(text.values, [](const auto& v) { return data::is_missing(v); });
      add_onehot(text, true, places);
      decisions.push_back({text.feature, ColumnKind::category, true, missing,
                           fmt::format("one-hot, {} values", places.features.size()), "it was asked for"});
    } else {
      refuse_text(*seen_, text);
    }
    return places;
  }

  void keep_text(const TextColumn& text, ColumnKind kind, Index missing, const std::string& reason,
                 Places& places) {
    places.text = static_cast<Index>(text_columns.size());
    text_columns.push_back(text.feature);
    decisions.push_back({text.feature, kind, true, missing,
                         kind == ColumnKind::sentences ? "text for word kernels" : "text for spectrum kernels",
                         reason});
  }

  void decide_text(const TextColumn& text, Places& places) {
    data::TextKind found = data::text_kind(text.feature.name, text.values);
    const bool kept = contains(options_.keep, text.feature.name);
    if (contains(options_.categories, text.feature.name) && found.kind != ColumnKind::empty &&
        found.kind != ColumnKind::constant)
      found = {ColumnKind::category, std::ranges::count(missing_among(text.values), true),
               "it was said to be a category"};
    switch (found.kind) {
      case ColumnKind::sentences:
      case ColumnKind::sequence:
        keep_text(text, found.kind, found.missing, found.reason, places);
        return;
      case ColumnKind::number:
        if (options_.impute == Impute::refuse && found.missing > 0) refuse_text(*seen_, text);
        add_number(text.feature, data::numbers_in(text.values, found.format), found.format, places);
        decisions.back().reason += (decisions.back().reason.empty() ? "" : "; ") + found.reason;
        return;
      case ColumnKind::constant:
        // Whether the value is there at all may say something.
        if (found.missing == 0 || !indicates()) break;
        [[fallthrough]];
      case ColumnKind::category:
        add_category(text, found, places);
        return;
      default:
        if (!kept || found.kind == ColumnKind::empty) break;
        found.reason = "it was to be kept";
        add_category(text, found, places);
        return;
    }
    drop(text.feature, found.kind, found.missing, found.reason);
    const double share = static_cast<double>(found.missing) / static_cast<double>(seen_->samples);
    if (found.kind == ColumnKind::empty || !indicates() || share < 0.05 || share > 0.95) return;
    add_indicator(text.feature, missing_among(text.values), places);
    decisions.back().used = true;
    decisions.back().treatment = "dropped, but marked where missing";
  }

  void add_category(const TextColumn& text, const data::TextKind& found, Places& places) {
    add_onehot(text, false, places);
    const std::size_t values = places.features.size();
    std::string treatment = fmt::format("one-hot, {} value{}", values, values == 1 ? "" : "s");
    // A single category and its absence are the same feature twice.
    if (found.missing > 0 && indicates() && values > 1) {
      add_indicator(text.feature, missing_among(text.values), places);
      treatment += " and a mark where missing";
    }
    std::string reason = found.reason;
    if (found.missing > 0)
      reason += fmt::format("; {} of {} values are missing", found.missing, seen_->samples);
    decisions.push_back(
        {text.feature, ColumnKind::category, true, found.missing, std::move(treatment), std::move(reason)});
  }

  // `plainly`: every category, standardised like any other column.
  void add_onehot(const TextColumn& text, bool plainly, Places& places) {
    const std::vector<std::string> categories = data::chosen_categories(text.values, plainly);
    if (categories.empty()) {
      throw InvalidArgument(fmt::format("{}: {} has no values at all. Leave it out (--ignore).",
                                        data::source_of(*seen_), data::column_name(text.feature)));
    }
    for (const std::string& category : categories) {
      Column column;
      column.feature = {text.feature.name + "=" + category, text.feature.view};
      column.category = category;
      column.onehot = true;
      const Vector values = data::indicator(text.values, category);
      if (options_.impute == Impute::refuse) data::refuse_missing(*seen_, text.feature, values);
      if (plainly) {
        Column raw = column;
        raw.feature = text.feature;  // messages speak of the column in the file
        data::fit_column(raw, *seen_, values, options_);
        column.centre = raw.centre;
        column.scale = raw.scale;
        column.fill = raw.fill;
      } else {
        centre(column, std::ranges::count(values, 1.0));
      }
      places.features.push_back(push(std::move(column)));
    }
  }

  void add_view(const View& view) {
    View fitted{view.name, {}, {}};
    const auto add = [&](const Places& places) {
      for (const Index f : places.features)
        if (std::ranges::find(fitted.features, f) == fitted.features.end()) fitted.features.push_back(f);
      if (places.text >= 0) fitted.texts.push_back(places.text);
    };
    // Marks are shared by many columns: they come last, so that looking for them stays cheap.
    std::vector<Index> marks;
    for (const Index f : view.features) {
      const Places& places = numbers_[static_cast<std::size_t>(f)];
      for (const Index place : places.features)
        (columns[static_cast<std::size_t>(place)].indicator ? marks : fitted.features).push_back(place);
    }
    std::ranges::sort(marks);
    const auto end = std::unique(marks.begin(), marks.end());
    fitted.features.insert(fitted.features.end(), marks.begin(), end);
    for (const Index t : view.texts) add(texts_[t]);
    if (!fitted.features.empty() || !fitted.texts.empty()) views.push_back(std::move(fitted));
  }

  const Dataset& train_;
  const PreprocessingOptions& options_;
  std::map<std::size_t, Places> numbers_;
  std::map<std::ptrdiff_t, Places> texts_;
  std::map<std::pair<const std::vector<Index>*, std::vector<bool>>, Index> indicators_;
  data::PresentSamples having_;
  std::map<const std::vector<Index>*, Dataset> samples_;
  const Dataset* seen_ = nullptr;             // what the column at hand is fitted on
  const std::vector<Index>* rows_ = nullptr;  // its samples; null: all
  Vector numbers_seen_;
};

}  // namespace

Preprocessing Preprocessing::fit(const Dataset& train, const PreprocessingOptions& options,
                                 std::vector<ColumnDecision>* decisions) {
  require_kept_texts(train, options.keep_text);
  Fitter fitter(train, options);
  fitter.run();
  Preprocessing result;
  result.options_ = options;
  result.columns_ = std::move(fitter.columns);
  result.text_columns_ = std::move(fitter.text_columns);
  result.views_ = std::move(fitter.views);
  result.blocks_ = std::move(fitter.blocks);
  if (decisions != nullptr) *decisions = std::move(fitter.decisions);
  return result;
}

Preprocessing Preprocessing::from_parts(PreprocessingOptions options, std::vector<Column> columns,
                                        std::vector<Feature> text_columns, std::vector<View> views,
                                        std::vector<ViewBlock> blocks) {
  const auto within = [](const std::vector<Index>& indices, std::size_t size) {
    return std::ranges::all_of(indices, [&](Index i) { return i >= 0 && i < static_cast<Index>(size); });
  };
  for (const View& view : views) {
    if (!within(view.features, columns.size()) || !within(view.texts, text_columns.size())) {
      throw InvalidArgument(fmt::format("View '{}' names a column that does not exist.", view.name));
    }
  }
  for (const Column& column : columns) {
    const bool finite = std::isfinite(column.centre) && std::isfinite(column.scale) &&
                        std::isfinite(column.fill) &&
                        std::ranges::all_of(column.knots, [](double v) { return std::isfinite(v); });
    const bool named = (!column.onehot || column.feature.name.ends_with("=" + column.category)) &&
                       (!column.indicator || column.feature.name.ends_with(" is missing"));
    const bool ranked = column.transform == Transform::ranks;
    const bool shaped = column.knots.size() % 2 == 0 && ranked == !column.knots.empty() &&
                        std::ranges::is_sorted(column.categories) &&
                        (column.transform != Transform::tfidf || column.centre > 0.0);
    if (!finite || column.scale < 0.0 || !named || !shaped) {
      throw InvalidArgument(fmt::format("The constants of column '{}' are not valid.", column.feature.name));
    }
  }
  Preprocessing result;
  result.options_ = std::move(options);
  result.columns_ = std::move(columns);
  result.text_columns_ = std::move(text_columns);
  result.views_ = std::move(views);
  result.blocks_ = std::move(blocks);
  return result;
}

}  // namespace kloom
