// SPDX-License-Identifier: BSD-3-Clause
//
// From a table of texts to a data set: which column is what, and which columns are numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "data/names.h"
#include "data/number.h"
#include "data/sources.h"
#include "data/texts.h"
#include "data/views.h"
#include "kloom/error.h"
#include "kloom/machine.h"

namespace kloom::data {
namespace {

struct Roles {
  std::vector<Index> targets;
  Index id = -1;
  Index weight = -1;
  std::vector<Index> features;  // all that have no other role
};

// The named column, or an error that lists the columns.
Index require_column(const TextTable& table, const std::string& name, std::string_view role) {
  const Index column = table.find(name);
  if (column < 0) {
    throw InvalidArgument(fmt::format("{}: there is no column '{}' for the {}. Columns: {}.{}", table.source,
                                      name, role, list_some(table.names, 20), suggestion(name, table.names)));
  }
  return column;
}

// The target, or the targets if there is no column of that very name.
std::vector<Index> find_targets(const TextTable& table, const std::string& target) {
  if (target.empty()) return {};
  if (const Index column = table.find(target); column >= 0) return {column};
  std::vector<Index> columns;
  for (const std::string& name : split_names(target)) {
    const Index column = table.find(name);
    if (column < 0) return {};
    columns.push_back(column);
  }
  return columns;
}

// Programs write row names as a first column without a name; pandas reads it as "Unnamed: 0".
bool is_nameless(const std::string& name) {
  return name.empty() || name == "Unnamed: 0";
}

// The column of sample ids where none was asked for, -1 if there is none: one called so, or a first one without a name.
// It has to name every sample: `usable(j)` says whether column j does, and has no other role.
template <typename Usable>
Index find_unasked_id(const std::vector<std::string>& names, Usable usable) {
  for (const std::string_view wanted : {"id", "sample"}) {
    for (std::size_t j = 0; j < names.size(); ++j) {
      const auto column = static_cast<Index>(j);
      if (equal_ignoring_case(names[j], wanted) && usable(column)) return column;
    }
  }
  return is_nameless(names[0]) && usable(0) ? 0 : -1;
}

std::string id_note(const std::string& source, Index column, const std::string& name) {
  return column == 0 && is_nameless(name)
             ? fmt::format("{}: took the first column, which has no name, as sample ids.", source)
             : fmt::format("{}: took column '{}' as sample ids.", source, name);
}

Index find_id(const TextTable& table, const DatasetRequest& request, const std::vector<Index>& targets) {
  if (!request.id.empty()) {
    return require_column(table, request.id, "sample id");
  }
  return find_unasked_id(table.names, [&](Index j) {
    if (std::ranges::find(targets, j) != targets.end()) return false;
    if (named_by(request.ignore, table.names[static_cast<std::size_t>(j)])) return false;
    for (Index i = 0; i < table.rows(); ++i)
      if (table.cell(i, j).empty()) return false;
    return true;
  });
}

Roles choose_roles(const TextTable& table, const DatasetRequest& request, const std::string& target) {
  Roles roles;
  roles.targets = find_targets(table, target);
  roles.id = find_id(table, request, roles.targets);
  roles.weight = request.weight.empty() ? -1 : table.find(request.weight);
  for (const Index column : roles.targets) {
    if (column != roles.id && column != roles.weight && std::ranges::count(roles.targets, column) == 1)
      continue;
    throw InvalidArgument(fmt::format("{}: column '{}' cannot be the target and something else.", table.source,
                                      table.names[static_cast<std::size_t>(column)]));
  }
  for (Index j = 0; j < table.columns; ++j) {
    const std::string& name = table.names[static_cast<std::size_t>(j)];
    const bool target_column = std::ranges::find(roles.targets, j) != roles.targets.end();
    const bool taken = target_column || j == roles.id || j == roles.weight;
    if (!taken && !name.empty() && !named_by(request.ignore, name)) {
      roles.features.push_back(j);
    }
  }
  return roles;
}

std::vector<std::string> texts_of(const TextTable& table, Index column) {
  std::vector<std::string> values;
  values.reserve(static_cast<std::size_t>(table.rows()));
  for (Index i = 0; i < table.rows(); ++i) {
    values.emplace_back(table.cell(i, column));
  }
  return values;
}

// What a column takes as texts.
std::size_t bytes_as_texts(const TextTable& table, Index column) {
  std::size_t total = 0;
  for (Index i = 0; i < table.rows(); ++i) total += text_bytes(table.cell(i, column).size());
  return total;
}

// What the data set will take before it is known which columns are text: lines, labels, ids, weights, numbers.
std::size_t bytes_as_numbers(const TextTable& table, const Roles& roles) {
  const auto n = static_cast<std::size_t>(table.rows());
  std::size_t total = n * sizeof(Index) + area_bytes(n, roles.features.size() + (roles.weight >= 0 ? 1 : 0));
  for (const Index column : roles.targets) total = sum_bytes(total, bytes_as_texts(table, column));
  return roles.id >= 0 ? sum_bytes(total, bytes_as_texts(table, roles.id)) : total;
}

// Missing cells are empty. Several targets of a sample are one label; it is empty if all of them are.
std::vector<std::string> labels_of(const TextTable& table, const std::vector<Index>& targets) {
  std::vector<std::string> labels(static_cast<std::size_t>(table.rows()));
  for (Index i = 0; i < table.rows(); ++i) {
    std::string& label = labels[static_cast<std::size_t>(i)];
    bool any = false;
    for (const Index column : targets) {
      if (column != targets.front()) label += Dataset::separator;
      const std::string cell(table.cell(i, column));
      if (is_missing(cell)) continue;
      label += cell;
      any = true;
    }
    if (!any) label.clear();
  }
  return labels;
}

// Numbers of the feature columns; a column with a cell that is neither a number nor missing is text.
struct Scan {
  Vector values;  // rows × features
  std::vector<bool> is_text;
};

void refuse_infinite(const TextTable& table, const Scan& scan, const Roles& roles) {
  for (std::size_t k = 0; k < roles.features.size(); ++k) {
    const auto n = static_cast<std::size_t>(table.rows());
    const auto values = std::span(scan.values).subspan(k * n, n);
    const auto found = std::ranges::find_if(values, [](double v) { return std::isinf(v); });
    if (!scan.is_text[k] && found != values.end()) {
      const Index row = found - values.begin();
      const Index column = roles.features[k];
      throw InvalidArgument(
          fmt::format("{} line {}: column '{}' holds '{}', which is infinite or too large. Features must be "
                      "finite numbers.",
                      table.source, table.lines[static_cast<std::size_t>(row)],
                      table.names[static_cast<std::size_t>(column)], table.cell(row, column)));
    }
  }
}

Scan scan_features(const TextTable& table, const Roles& roles, const DatasetRequest& request) {
  const std::size_t count = roles.features.size();
  const auto n = static_cast<std::size_t>(table.rows());
  Scan scan{Vector(n * count), std::vector<bool>(count, false)};
  for (std::size_t k = 0; k < count; ++k) {
    scan.is_text[k] = named_by(request.text, table.names[static_cast<std::size_t>(roles.features[k])]);
  }
  for (Index i = 0; i < table.rows(); ++i) {  // rows outside: cells of a row lie together
    for (std::size_t k = 0; k < count; ++k) {
      if (scan.is_text[k]) {
        continue;
      }
      const CellValue cell = read_cell(table.cell(i, roles.features[k]));
      scan.is_text[k] = cell.kind == CellKind::text;
      scan.values[static_cast<std::size_t>(i) + k * n] = cell.value;
    }
  }
  refuse_infinite(table, scan, roles);
  return scan;
}

void set_features(Dataset& data, const TextTable& table, const Roles& roles, Scan scan,
                  const std::string& view) {
  const Index n = table.rows();
  Index numeric = 0;  // columns of numbers, which are moved to the front
  for (std::size_t k = 0; k < roles.features.size(); ++k) {
    const Index column = roles.features[k];
    Feature feature{table.names[static_cast<std::size_t>(column)], view};
    if (scan.is_text[k]) {
      data.texts.push_back({std::move(feature), texts_of(table, column)});
      continue;
    }
    const auto values = scan.values.begin() + static_cast<Index>(k) * n;
    std::copy(values, values + n, scan.values.begin() + numeric * n);
    ++numeric;
    data.feature_info.push_back(std::move(feature));
  }
  scan.values.resize(static_cast<std::size_t>(numeric * n));
  if (scan.values.size() < scan.values.capacity() / 2) scan.values.shrink_to_fit();
  data.features = Matrix(n, numeric, std::move(scan.values));
}

void set_weights(Dataset& data, const TextTable& table, Index column) {
  for (Index i = 0; i < table.rows(); ++i) {
    const CellValue cell = read_cell(table.cell(i, column));
    if (cell.kind != CellKind::number || cell.value < 0.0) {
      throw InvalidArgument(
          fmt::format("{} line {}: the sample weight '{}' is not a finite number of 0 or more.", table.source,
                      table.lines[static_cast<std::size_t>(i)], table.cell(i, column)));
    }
    data.weights.push_back(cell.value);
  }
}

void set_ids(Dataset& data, const TextTable& table, Index column) {
  data.ids = texts_of(table, column);
  const auto empty = std::ranges::find(data.ids, std::string());
  if (empty != data.ids.end()) {
    throw InvalidArgument(fmt::format("{} line {}: the sample id is empty.", table.source,
                                      table.lines[static_cast<std::size_t>(empty - data.ids.begin())]));
  }
}

}  // namespace

bool named_by(const std::vector<std::string>& patterns, const std::string& name) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return pattern == name || (is_glob(pattern) && glob_match(pattern, name));
  });
}

Dataset table_to_dataset(const Source& source, const DatasetRequest& request, const std::string& target,
                         const Context& context) {
  const TextTable& table = *source.table;
  const Roles roles = choose_roles(table, request, target);
  const std::size_t limit = memory_budget(context);
  const auto rows = static_cast<std::size_t>(table.rows());
  std::size_t needed = bytes_as_numbers(table, roles);
  require_room(needed, limit, table.source, rows, static_cast<std::size_t>(table.columns));
  Dataset data;
  data.source = table.source;
  data.samples = table.rows();
  data.lines = table.lines;
  data.notes = source.notes;
  if (!roles.targets.empty()) {
    data.target_name = target;
    data.labels = labels_of(table, roles.targets);
  }
  if (roles.id >= 0) {
    set_ids(data, table, roles.id);
    if (request.id.empty()) {
      data.notes.push_back(id_note(table.source, roles.id, table.names[static_cast<std::size_t>(roles.id)]));
    }
  }
  if (roles.weight >= 0) {
    set_weights(data, table, roles.weight);
  }
  Scan scan = scan_features(table, roles, request);
  for (std::size_t k = 0; k < roles.features.size(); ++k)
    if (scan.is_text[k]) needed = sum_bytes(needed, bytes_as_texts(table, roles.features[k]));
  require_room(needed, limit, table.source, rows, static_cast<std::size_t>(table.columns));
  set_features(data, table, roles, std::move(scan), source.view);
  return data;
}

void drop_ignored(Dataset& data, const DatasetRequest& request) {
  std::vector<Index> kept;
  for (std::size_t j = 0; j < data.feature_info.size(); ++j) {
    if (!named_by(request.ignore, data.feature_info[j].name)) {
      kept.push_back(static_cast<Index>(j));
    }
  }
  if (kept.size() == data.feature_info.size()) {
    return;
  }
  Matrix features(data.samples, static_cast<Index>(kept.size()));
  std::vector<Feature> info;
  for (std::size_t k = 0; k < kept.size(); ++k) {
    std::ranges::copy(data.features.column(kept[k]), features.column(static_cast<Index>(k)).begin());
    info.push_back(data.feature_info[static_cast<std::size_t>(kept[k])]);
  }
  data.features = std::move(features);
  data.feature_info = std::move(info);
}

namespace {

void refuse_equal_names(const std::vector<TableColumn>& columns, const std::string& source) {
  std::set<std::string_view> seen;
  for (const TableColumn& column : columns) {
    if (!seen.insert(column.name).second)
      throw InvalidArgument(
          fmt::format("{}: two columns are called '{}'. Rename one of them.", source, column.name));
  }
}

// Whether the column names every sample: no gap in it.
bool is_complete(const TableColumn& column) {
  return column.texts.empty() ? std::ranges::none_of(column.numbers, [](double v) { return std::isnan(v); })
                              : std::ranges::none_of(column.texts, &std::string::empty);
}

std::vector<std::string> as_texts(TableColumn column) {
  if (!column.texts.empty()) return std::move(column.texts);
  std::vector<std::string> texts;
  for (const double v : column.numbers) texts.push_back(std::isnan(v) ? std::string() : label_text(v));
  return texts;
}

// The numbers of a column that has nothing but numbers and gaps; nothing for one of text.
std::optional<Vector> as_numbers(const TableColumn& column) {
  if (column.texts.empty()) return column.numbers;
  Vector numbers;
  for (const std::string& text : column.texts) {
    const CellValue cell = read_cell(text);
    if (cell.kind == CellKind::text) return std::nullopt;
    numbers.push_back(cell.value);
  }
  return numbers;
}

}  // namespace

}  // namespace kloom::data

namespace kloom {

Dataset dataset_from_columns(std::vector<TableColumn> columns, Index rows, const DatasetRequest& request) {
  Dataset result;
  result.source = "X";
  result.samples = rows;
  data::refuse_equal_names(columns, result.source);
  std::vector<std::string> names;
  names.reserve(columns.size());
  for (const TableColumn& column : columns) names.push_back(column.name);
  const auto usable = [&](Index j) { return data::is_complete(columns[static_cast<std::size_t>(j)]); };
  const Index id = request.target_required && !names.empty() ? data::find_unasked_id(names, usable) : -1;
  std::vector<Vector> numbers;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    TableColumn& column = columns[j];
    if (static_cast<Index>(j) == id) {
      result.notes.push_back(data::id_note(result.source, id, column.name));
      result.ids = data::as_texts(std::move(column));
      continue;
    }
    auto parsed = data::named_by(request.text, column.name) ? std::nullopt : data::as_numbers(column);
    if (parsed) {
      result.feature_info.push_back({column.name, ""});
      numbers.push_back(std::move(*parsed));
    } else {
      const Feature feature{column.name, ""};
      result.texts.push_back({feature, data::as_texts(std::move(column))});
    }
  }
  result.features = Matrix(rows, static_cast<Index>(numbers.size()));
  for (std::size_t k = 0; k < numbers.size(); ++k)
    std::ranges::copy(numbers[k], result.features.column(static_cast<Index>(k)).begin());
  data::declare_views(result, request);
  return result;
}

}  // namespace kloom
