// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/spec/preprocessing_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <array>
#include <set>
#include <utility>

#include "kloom/error.h"

namespace kloom::kernels {
namespace {

using data::encode_text;
using data::encode_texts;
using data::Fields;
using nlohmann::json;

constexpr std::array<std::pair<Impute, std::string_view>, 3> all_imputes = {
    {{Impute::refuse, "refuse"}, {Impute::mean, "mean"}, {Impute::median, "median"}}};
constexpr std::array<std::pair<Transform, std::string_view>, 6> all_transforms = {
    {{Transform::standardised, "standardised"},
     {Transform::raw, "raw"},
     {Transform::ranks, "ranks"},
     {Transform::tfidf, "tfidf"},
     {Transform::codes, "codes"},
     {Transform::relevance, "relevance"}}};
constexpr std::array all_kinds = {ColumnKind::number,   ColumnKind::category, ColumnKind::sentences,
                                  ColumnKind::sequence, ColumnKind::date,     ColumnKind::identifier,
                                  ColumnKind::name,     ColumnKind::constant, ColumnKind::empty};

template <typename Enum, std::size_t count>
std::string_view name_in(const std::array<std::pair<Enum, std::string_view>, count>& names, Enum wanted) {
  for (const auto& [value, name] : names)
    if (value == wanted) return name;
  throw InternalError("a value without a name");
}

template <typename Enum, std::size_t count>
Enum value_in(const std::array<std::pair<Enum, std::string_view>, count>& names, Fields& fields,
              const char* key) {
  const std::string text = fields.text(key);
  for (const auto& [value, name] : names)
    if (name == text) return value;
  fields.damaged(key, "has a value that this version of kloom does not know");
}

json encode_column(const Preprocessing::Column& c) {
  json column = {{"name", encode_text(c.feature.name)},
                 {"view", encode_text(c.feature.view)},
                 {"category", encode_text(c.category)},
                 {"onehot", c.onehot}};
  if (c.indicator) column["indicator"] = true;
  if (c.transform != Transform::standardised) column["transform"] = name_in(all_transforms, c.transform);
  if (!c.categories.empty()) column["categories"] = encode_texts(c.categories);
  if (c.format.thousands != 0) column["thousands"] = std::string(1, c.format.thousands);
  if (!c.format.unit.empty()) column["unit"] = encode_text(c.format.unit);
  return column;
}

Preprocessing::Column decode_column(const json& value, const std::string& source) {
  Fields entry(value, source, "a column");
  Preprocessing::Column c;
  c.feature = {entry.text("name"), entry.text("view")};
  c.category = entry.text("category");
  c.onehot = entry.flag("onehot");
  if (entry.find("indicator") != nullptr) c.indicator = entry.flag("indicator");
  if (entry.find("transform") != nullptr) c.transform = value_in(all_transforms, entry, "transform");
  if (entry.find("categories") != nullptr) c.categories = entry.texts("categories");
  if (entry.find("unit") != nullptr) c.format.unit = entry.text("unit");
  if (entry.find("thousands") != nullptr) {
    const std::string mark = entry.text("thousands");
    if (mark != "," && mark != ".") entry.damaged("thousands", "is neither a comma nor a point");
    c.format.thousands = mark[0];
  }
  entry.finish();
  return c;
}

// Columns of numbers about which the file says nothing: their lines follow from their constants.
bool is_plain(const Preprocessing::Column& column) {
  return !column.from_text() && !column.indicator;
}

using ColumnKey = std::pair<std::string, std::string>;
ColumnKey key_of(const Feature& feature) {
  return {feature.name, feature.view};
}

ColumnDecision decode_decision(Fields& entry) {
  ColumnDecision decision;
  decision.feature = {entry.text("name"), entry.text("view")};
  const std::string kind = entry.text("kind");
  bool known = false;
  for (const ColumnKind candidate : all_kinds) {
    if (to_string(candidate) != kind) continue;
    decision.kind = candidate;
    known = true;
  }
  if (!known) entry.damaged("kind", "has a value that this version of kloom does not know");
  decision.used = entry.flag("used");
  decision.missing = entry.index("missing");
  decision.treatment = entry.text("treatment");
  decision.reason = entry.text("reason");
  return decision;
}

}  // namespace

json encode_features(const std::vector<Feature>& features) {
  json list = json::array();
  for (const auto& f : features) list.push_back({{"name", encode_text(f.name)}, {"view", encode_text(f.view)}});
  return list;
}

static Feature decode_feature(const json& value, const std::string& source) {
  Fields fields(value, source, "a feature");
  Feature out{fields.text("name"), fields.text("view")};
  fields.finish();
  return out;
}

std::vector<Feature> decode_features(const json& list, const std::string& source) {
  std::vector<Feature> out;
  for (const auto& value : list) out.push_back(decode_feature(value, source));
  return out;
}

// Samples that lack the view.
static std::vector<Index> places_of_absent(const View& view) {
  std::vector<Index> places;
  for (std::size_t i = 0; i < view.absent.size(); ++i)
    if (view.absent[i]) places.push_back(static_cast<Index>(i));
  return places;
}

json encode_views(const std::vector<View>& views) {
  json list = json::array();
  for (const auto& v : views) {
    json view = {{"name", encode_text(v.name)}, {"features", v.features}, {"texts", v.texts}};
    if (!v.absent.empty()) view["absent"] = places_of_absent(v);
    list.push_back(std::move(view));
  }
  return list;
}

std::vector<View> decode_views(const json& list, const std::string& source, Index samples) {
  std::vector<View> out;
  for (const auto& value : list) {
    Fields fields(value, source, "a view");
    out.push_back({fields.text("name"), fields.indices("features"), fields.indices("texts")});
    if (fields.find("absent") != nullptr) {
      constexpr Index kMost = 1'000'000'000;
      if (samples < 0 || samples > kMost) fields.damaged("absent", "is about more samples than there can be");
      out.back().absent.resize(at(samples));
      for (const Index i : fields.indices("absent")) {
        if (i < 0 || i >= samples) fields.damaged("absent", "names a sample that does not exist");
        out.back().absent[at(i)] = true;
      }
    }
    fields.finish();
  }
  return out;
}

json save_preprocessing(const Preprocessing& preprocessing, data::SectionList& sections) {
  const PreprocessingOptions& options = preprocessing.options();
  json columns = json::array();
  Vector numbers;
  Packed<double> knots;
  for (const auto& c : preprocessing.columns()) {
    columns.push_back(encode_column(c));
    numbers.insert(numbers.end(), {c.centre, c.scale, c.fill});
    knots.add(c.knots);
  }
  sections.vector("recipe.columns", std::move(numbers));
  if (!knots.entries.empty()) {
    sections.indices("recipe.columns.knot_counts", std::move(knots.lengths));
    sections.vector("recipe.columns.knots", std::move(knots.entries));
  }
  json document = {{"standardise", options.standardise},
                   {"impute", name_in(all_imputes, options.impute)},
                   {"onehot", options.onehot},
                   {"keep_text", encode_texts(options.keep_text)},
                   {"columns", std::move(columns)},
                   {"text_columns", encode_features(preprocessing.text_columns())},
                   {"views", encode_views(preprocessing.views())}};
  for (const ViewBlock& block : preprocessing.blocks())
    document["blocks"].push_back(
        {{"view", encode_text(block.view)}, {"columns", encode_features(block.columns)}});
  return document;
}

Preprocessing load_preprocessing(const json& document, data::TensorReader& tensors) {
  const std::string& source = tensors.container().source();
  Fields fields(document, source, "the preprocessing");
  PreprocessingOptions options;
  options.standardise = fields.flag("standardise");
  options.onehot = fields.flag("onehot");
  options.keep_text = fields.texts("keep_text");
  options.impute = value_in(all_imputes, fields, "impute");

  const json& list = fields.array("columns");
  const Vector numbers = tensors.vector("recipe.columns");
  if (numbers.size() != 3 * list.size())
    tensors.container().damaged("'recipe.columns' does not have three numbers per column");
  std::vector<Vector> knots(list.size());
  if (tensors.has("recipe.columns.knots"))
    knots = unpack(tensors.indices("recipe.columns.knot_counts"), tensors.vector("recipe.columns.knots"),
                   list.size(), tensors.container(), "recipe.columns.knots");
  std::vector<Preprocessing::Column> columns;
  for (std::size_t i = 0; i < list.size(); ++i) {
    Preprocessing::Column c = decode_column(list[i], source);
    c.centre = numbers[3 * i];
    c.scale = numbers[3 * i + 1];
    c.fill = numbers[3 * i + 2];
    c.knots = std::move(knots[i]);
    columns.push_back(std::move(c));
  }
  auto text_columns = decode_features(fields.array("text_columns"), source);
  auto views = decode_views(fields.array("views"), source);
  std::vector<ViewBlock> blocks;
  if (fields.find("blocks") != nullptr) {
    for (const json& value : fields.array("blocks")) {
      Fields block(value, source, "a view that samples may lack");
      blocks.push_back({block.text("view"), decode_features(block.array("columns"), source)});
      block.finish();
    }
  }
  fields.finish();
  try {
    return Preprocessing::from_parts(std::move(options), std::move(columns), std::move(text_columns),
                                     std::move(views), std::move(blocks));
  } catch (const InvalidArgument& error) {
    tensors.container().damaged(fmt::format("its preprocessing is not valid ({})", error.what()));
  }
}

json save_decisions(const Recipe& recipe) {
  std::vector<ColumnDecision> plain;
  std::set<ColumnKey> seen;  // a column may be there several times, seen in several ways
  for (const auto& column : recipe.preprocessing.columns())
    if (is_plain(column) && seen.insert(key_of(column.feature)).second) plain.push_back(plain_decision(column));
  json list = json::array();
  std::size_t next = 0;
  for (std::size_t at = 0; at < recipe.decisions.size(); ++at) {
    const ColumnDecision& d = recipe.decisions[at];
    if (next < plain.size() && d == plain[next]) {
      ++next;
      continue;
    }
    // A plain column that was said more about takes its place in the order.
    if (next < plain.size() && key_of(d.feature) == key_of(plain[next].feature)) ++next;
    list.push_back({{"at", at},
                    {"name", encode_text(d.feature.name)},
                    {"view", encode_text(d.feature.view)},
                    {"kind", to_string(d.kind)},
                    {"used", d.used},
                    {"missing", d.missing},
                    {"treatment", encode_text(d.treatment)},
                    {"reason", encode_text(d.reason)}});
  }
  return list;
}

std::vector<ColumnDecision> load_decisions(const json* list, const Preprocessing& preprocessing,
                                           const std::string& source) {
  std::vector<std::pair<Index, ColumnDecision>> said;
  std::set<ColumnKey> mentioned;
  if (list != nullptr) {
    if (!list->is_array()) throw FileError(fmt::format("{}: its decisions about columns are no list", source));
    for (const json& value : *list) {
      Fields entry(value, source, "a decision about a column");
      const Index at = entry.index("at");
      said.emplace_back(at, decode_decision(entry));
      mentioned.insert(key_of(said.back().second.feature));
      entry.finish();
    }
  }
  std::vector<ColumnDecision> decisions;
  std::size_t next = 0;
  const auto add_said = [&] {
    while (next < said.size() && said[next].first <= std::ssize(decisions))
      decisions.push_back(std::move(said[next++].second));
  };
  for (const auto& column : preprocessing.columns()) {
    if (!is_plain(column) || !mentioned.insert(key_of(column.feature)).second) continue;
    add_said();
    decisions.push_back(plain_decision(column));
  }
  add_said();
  for (; next < said.size(); ++next) decisions.push_back(std::move(said[next].second));
  return decisions;
}

}  // namespace kloom::kernels
