// SPDX-License-Identifier: BSD-3-Clause
#include "data/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "data/names.h"
#include "data/outer_join.h"
#include "kloom/error.h"

namespace kloom::data {
namespace {

using Positions = std::unordered_map<std::string_view, Index>;

Positions positions_of(const Dataset& part) {
  Positions result;
  std::vector<std::string> twice;
  for (std::size_t i = 0; i < part.ids.size(); ++i) {
    if (!result.emplace(part.ids[i], static_cast<Index>(i)).second) {
      twice.push_back(
          fmt::format("'{}' ({})", part.ids[i],
                      i < part.lines.size() ? fmt::format("again on line {}", part.lines[i]) : "again"));
    }
  }
  if (!twice.empty()) {
    throw InvalidArgument(
        fmt::format("{}: sample ids occur more than once: {}. Ids must be unique to join files.", part.source,
                    list_some(twice, 5)));
  }
  return result;
}

// Ids of `part` that `other` lacks: the join would lose them.
void refuse_missing(const Dataset& part, const Positions& in_other, const Dataset& other) {
  std::vector<std::string> missing;
  for (const std::string& id : part.ids) {
    if (!in_other.contains(id)) {
      missing.push_back(id);
    }
  }
  if (!missing.empty()) {
    throw InvalidArgument(
        fmt::format("{}: {} of the {} samples in {} {} not there: {}. Add them, or keep only samples that "
                    "every file has (--join inner), or all that some file has (--join outer).",
                    other.source, missing.size(), part.samples, part.source, missing.size() == 1 ? "is" : "are",
                    list_some(missing, 5)));
  }
}

// For each part the rows to take, in the order of the first part.
std::vector<std::vector<Index>> rows_by_id(const std::vector<Dataset>& parts, bool inner) {
  std::vector<Positions> positions;
  positions.reserve(parts.size());
  for (const Dataset& part : parts) {
    positions.push_back(positions_of(part));
  }
  for (std::size_t k = 1; k < parts.size() && !inner; ++k) {
    refuse_missing(parts[0], positions[k], parts[k]);
    refuse_missing(parts[k], positions[0], parts[0]);
  }
  std::vector<std::vector<Index>> rows(parts.size());
  for (const std::string& id : parts[0].ids) {
    const bool everywhere = std::ranges::all_of(positions, [&](const Positions& p) { return p.contains(id); });
    for (std::size_t k = 0; everywhere && k < parts.size(); ++k) {
      rows[k].push_back(positions[k].at(id));
    }
  }
  if (rows[0].empty()) {
    throw InvalidArgument(
        fmt::format("{} and {} have no sample id in common.", parts[0].source, parts[1].source));
  }
  return rows;
}

void require_equal_counts(const std::vector<Dataset>& parts) {
  for (const Dataset& part : parts) {
    if (part.samples != parts[0].samples) {
      throw InvalidArgument(fmt::format(
          "{} has {} samples and {} has {}, and there are no ids to join them by. Name the id column (--id).",
          parts[0].source, parts[0].samples, part.source, part.samples));
    }
  }
}

void require_ids_everywhere(const std::vector<Dataset>& parts) {
  for (const Dataset& part : parts) {
    if (part.ids.empty()) {
      throw InvalidArgument(
          fmt::format("{}: there is no column of sample ids (id or sample) to join it with the other files. "
                      "Name it (--id).",
                      part.source));
    }
  }
}

void join_labels(Dataset& joined, const Dataset& part) {
  if (part.labels.empty()) {
    return;
  }
  if (joined.labels.empty()) {
    joined.labels = part.labels;
    joined.target_name = part.target_name;
    return;
  }
  for (std::size_t i = 0; i < joined.labels.size(); ++i) {
    if (joined.labels[i] != part.labels[i]) {
      throw InvalidArgument(
          fmt::format("{}: {} has the label '{}', but '{}' in the files before. Keep the target in one file "
                      "only, or correct it.",
                      part.source, place_of(joined, static_cast<Index>(i)), part.labels[i], joined.labels[i]));
    }
  }
}

// Appends the columns of `part`, whose rows are already in the joined order.
void join_part(Dataset& joined, Dataset part) {
  if (!part.kernels.empty()) {
    throw InvalidArgument(
        fmt::format("{}: kernels cannot be joined as a view. Give the file as a kernel file (--kernel-file).",
                    part.source));
  }
  joined.source += (joined.source.empty() ? "" : ", ") + part.source;
  join_labels(joined, part);
  if (joined.weights.empty()) {
    joined.weights = std::move(part.weights);
  }
  Matrix features(joined.samples, joined.features.cols() + part.features.cols());
  auto out = features.values().begin();
  out = std::ranges::copy(joined.features.values(), out).out;
  std::ranges::copy(part.features.values(), out);
  joined.features = std::move(features);
  std::ranges::move(part.feature_info, std::back_inserter(joined.feature_info));
  std::ranges::move(part.texts, std::back_inserter(joined.texts));
  std::ranges::move(part.notes, std::back_inserter(joined.notes));
  joined.absent_is_zero = joined.absent_is_zero && part.absent_is_zero;
}

// Columns of the main file that a name or glob stands for.
void add_matching(View& view, const Dataset& data, const std::string& pattern) {
  const auto add = [](std::vector<Index>& list, std::size_t k) {
    const auto index = static_cast<Index>(k);
    if (std::ranges::find(list, index) == list.end()) {
      list.push_back(index);
    }
  };
  std::vector<std::string> names;
  bool found = false;
  for (const bool as_glob : {false, true}) {  // a column that is really called "a*" goes before the glob
    if (found || (as_glob && !is_glob(pattern))) {
      break;
    }
    const auto matches = [&](const Feature& feature) {
      return feature.view.empty() && (as_glob ? glob_match(pattern, feature.name) : feature.name == pattern);
    };
    for (std::size_t j = 0; j < data.feature_info.size(); ++j) {
      if (matches(data.feature_info[j])) {
        add(view.features, j);
        found = true;
      }
    }
    for (std::size_t t = 0; t < data.texts.size(); ++t) {
      if (matches(data.texts[t].feature)) {
        add(view.texts, t);
        found = true;
      }
    }
  }
  if (!found) {
    for (const Feature& feature : data.feature_info) {
      names.push_back(feature.name);
    }
    throw InvalidArgument(
        fmt::format("{}: view '{}' asks for '{}', but no feature is called so. Features: {}.{}", data.source,
                    view.name, pattern, list_some(names, 12), suggestion(pattern, names)));
  }
}

void declare_by_prefix(Dataset& data) {
  std::vector<std::string> loose;
  const auto view_of = [&](const std::string& name) -> View* {
    const std::size_t dot = name.find('.');
    if (dot == std::string::npos || dot == 0) {
      loose.push_back(name);
      return nullptr;
    }
    const std::string prefix = name.substr(0, dot);
    const auto it = std::ranges::find(data.views, prefix, &View::name);
    return it != data.views.end() ? &*it : &data.views.emplace_back(View{prefix, {}, {}});
  };
  for (std::size_t j = 0; j < data.feature_info.size(); ++j) {
    View* view = data.feature_info[j].view.empty() ? view_of(data.feature_info[j].name) : nullptr;
    if (view != nullptr) {
      view->features.push_back(static_cast<Index>(j));
    }
  }
  for (std::size_t t = 0; t < data.texts.size(); ++t) {
    View* view = data.texts[t].feature.view.empty() ? view_of(data.texts[t].feature.name) : nullptr;
    if (view != nullptr) {
      view->texts.push_back(static_cast<Index>(t));
    }
  }
  if (data.views.empty()) {
    throw InvalidArgument(fmt::format(
        "{}: no column name has the form view.column, so there are no views by prefix.", data.source));
  }
  if (!loose.empty()) {
    data.notes.push_back(fmt::format("In no view, because there is no '.' in the name: {}.", list_some(loose)));
  }
}

// Whether every column is called view.column, with few enough prefixes of two columns at least: then the
// table says itself what its views are.
bool has_prefixes(const Dataset& data) {
  constexpr std::size_t most_views = 50;
  std::unordered_map<std::string, Index> columns;
  const auto counts = [&](const Feature& feature) {
    const std::size_t dot = feature.name.find('.');
    if (!feature.view.empty() || dot == std::string::npos || dot == 0 || dot + 1 == feature.name.size())
      return false;
    ++columns[feature.name.substr(0, dot)];
    return columns.size() <= most_views;
  };
  for (const Feature& feature : data.feature_info)
    if (!counts(feature)) return false;
  for (const TextColumn& text : data.texts)
    if (!counts(text.feature)) return false;
  return columns.size() >= 2 &&
         std::ranges::all_of(columns, [](const auto& prefix) { return prefix.second >= 2; });
}

void declare_file_view(Dataset& data, View& view) {
  for (std::size_t j = 0; j < data.feature_info.size(); ++j) {
    if (data.feature_info[j].view == view.name) {
      view.features.push_back(static_cast<Index>(j));
    }
  }
  for (std::size_t t = 0; t < data.texts.size(); ++t) {
    if (data.texts[t].feature.view == view.name) {
      view.texts.push_back(static_cast<Index>(t));
    }
  }
}

}  // namespace

Dataset join_files(std::vector<Dataset> parts, const DatasetRequest& request) {
  if (parts.size() == 1) {
    return std::move(parts[0]);
  }
  const bool any_ids = std::ranges::any_of(parts, [](const Dataset& part) { return !part.ids.empty(); });
  Dataset joined;
  joined.absent_is_zero = true;
  if (any_ids) {
    require_ids_everywhere(parts);
    if (request.outer_join) {
      for (const Dataset& part : parts) static_cast<void>(positions_of(part));  // no id twice
      parts = with_all_samples(std::move(parts), request.target_required, joined.notes);
    } else {
      const auto rows = rows_by_id(parts, request.inner_join);
      for (std::size_t k = 0; k < parts.size(); ++k) parts[k] = select_samples(parts[k], rows[k]);
    }
    joined.ids = parts[0].ids;
  } else {
    require_equal_counts(parts);
    joined.notes.emplace_back("The files have no sample ids; they were joined row by row.");
  }
  joined.samples = parts[0].samples;
  joined.features = Matrix(joined.samples, 0);
  // Lines are those of one file; in a joined data set the id says more.
  for (Dataset& part : parts) {
    join_part(joined, std::move(part));
  }
  return joined;
}

DatasetRequest with_named_views(const DatasetRequest& request) {
  DatasetRequest named = request;
  std::unordered_set<std::string> seen;
  for (ViewRequest& view : named.views) {
    if (view.name.empty() && !view.path.empty()) {
      view.name = stem_of(view.path);
    }
    if (view.name.empty()) {
      throw InvalidArgument("A view of columns needs a name: --view NAME=column,column.");
    }
    if (!seen.insert(view.name).second) {
      throw InvalidArgument(
          fmt::format("Two views are called '{}'. Name them apart: --view NAME=…", view.name));
    }
    if (view.path.empty() == view.columns.empty()) {
      throw InvalidArgument(fmt::format("View '{}' must be either a file or columns.", view.name));
    }
    if (view.path.empty() && named.path.empty()) {
      throw InvalidArgument(fmt::format("View '{}' consists of columns, but no table was given.", view.name));
    }
  }
  return named;
}

void declare_views(Dataset& data, const DatasetRequest& request) {
  if (request.views_by_prefix) {
    declare_by_prefix(data);
  }
  if (!request.views_by_prefix && !request.no_views && request.views.empty() && has_prefixes(data)) {
    declare_by_prefix(data);
    std::vector<std::string> names;
    for (const View& view : data.views) names.push_back(view.name);
    data.notes.push_back(
        fmt::format("{} views by the beginnings of the column names: {} (--no-views takes all columns as one).",
                    names.size(), list_some(names)));
  }
  for (const ViewRequest& wanted : request.views) {
    if (std::ranges::find(data.views, wanted.name, &View::name) != data.views.end()) {
      throw InvalidArgument(fmt::format("Two views are called '{}', one of them by its prefix.", wanted.name));
    }
    View view{wanted.name, {}, {}};
    if (!wanted.path.empty()) {
      declare_file_view(data, view);
    }
    for (const std::string& pattern : wanted.columns) {
      add_matching(view, data, pattern);
    }
    if (view.features.empty() && view.texts.empty()) {
      throw InvalidArgument(fmt::format("View '{}' ({}) has no features.", view.name, wanted.path));
    }
    data.views.push_back(std::move(view));
  }
}

}  // namespace kloom::data
