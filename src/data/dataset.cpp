// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "base/memory.h"
#include "data/matrices.h"
#include "data/names.h"
#include "data/sources.h"
#include "data/texts.h"
#include "data/views.h"
#include "kloom/error.h"
#include "kloom/machine.h"

namespace kloom {
namespace {

using data::Source;

std::vector<Source> read_sources(const DatasetRequest& request, const Context& context) {
  std::vector<Source> sources;
  std::size_t held = 0;
  const auto read = [&](const std::string& path, const std::string& view) {
    sources.push_back(data::read_source(path, view, request, base::without_memory(context, held)));
    held += sources.back().bytes();
  };
  if (!request.path.empty()) read(request.path, "");
  for (const ViewRequest& view : request.views) {
    if (!view.path.empty()) read(view.path, view.name);
  }
  return sources;
}

std::vector<std::string> all_columns(const std::vector<Source>& sources) {
  std::vector<std::string> names;
  for (const Source& source : sources) {
    for (std::string& name : source.column_names()) {
      if (!name.empty()) {
        names.push_back(std::move(name));
      }
    }
  }
  return names;
}

// Several targets, separated by commas, all in one table.
bool has_all_targets(const std::vector<Source>& sources, const std::string& target) {
  const std::vector<std::string> names = data::split_names(target);
  if (names.size() < 2) return false;
  return std::ranges::any_of(sources, [&](const Source& source) {
    return source.table &&
           std::ranges::all_of(names, [&](const std::string& name) { return source.table->find(name) >= 0; });
  });
}

// The target column of the tables: the one asked for, or the only one with a usual name. Empty if none.
std::string choose_target(const std::vector<Source>& sources, const DatasetRequest& request) {
  if (has_all_targets(sources, request.target)) return request.target;
  std::set<std::string> found;
  for (const Source& source : sources) {
    for (const std::string& name : source.table ? source.table->names : std::vector<std::string>()) {
      const bool usual = request.target.empty() && data::is_target_name(name) && name != request.id &&
                         name != request.weight && !data::named_by(request.ignore, name);
      if (name == request.target || usual) {
        found.insert(name);
      }
    }
  }
  found.erase("");
  if (found.size() > 1 && request.target_required) {
    throw InvalidArgument(fmt::format("{}: several columns could be the target: {}. Name it (--target).",
                                      sources[0].path, data::list_some({found.begin(), found.end()})));
  }
  return found.size() == 1 ? *found.begin() : std::string();
}

// Columns that are named but exist nowhere are spelling mistakes, except in prediction, where the file may
// well lack what training left out.
void require_named_columns(const std::vector<Source>& sources, const DatasetRequest& request) {
  const std::vector<std::string> names = all_columns(sources);
  const auto require = [&](const std::string& pattern, std::string_view what) {
    const bool found =
        std::ranges::any_of(names, [&](const std::string& name) { return data::named_by({pattern}, name); });
    if (!found) {
      throw InvalidArgument(fmt::format("There is no column '{}' to {}. Columns: {}.{}", pattern, what,
                                        data::list_some(names, 20), data::suggestion(pattern, names)));
    }
  };
  if (!request.target_required || sources.empty()) {
    return;
  }
  for (const std::string& pattern : request.ignore) {
    require(pattern, "ignore");
  }
  for (const std::string& pattern : request.text) {
    require(pattern, "read as text");
  }
}

// Labels that came with the format (svmlight, NPZ, MAT) serve where no table has the target, under the name
// asked for or any usual name.
void settle_given_labels(Dataset& part, const DatasetRequest& request, const std::string& table_target) {
  const bool wanted =
      request.target.empty() || request.target == part.target_name || data::is_target_name(request.target);
  if (!part.labels.empty() && (!table_target.empty() || !wanted)) {
    part.notes.push_back(fmt::format("{}: its labels are not used.", part.source));
    part.labels.clear();
    part.target_name.clear();
  }
}

std::vector<Dataset> make_parts(std::vector<Source> sources, const DatasetRequest& request,
                                const Context& context) {
  const std::string target = choose_target(sources, request);
  std::vector<Dataset> parts;
  std::size_t held = 0;
  for (const Source& source : sources) held += source.bytes();
  for (Source& source : sources) {
    if (source.table) {
      parts.push_back(data::table_to_dataset(source, request, target, base::without_memory(context, held)));
      held += sample_bytes(parts.back());
      parts.back().reading_bytes = held;
      held -= source.bytes();
      source.table.reset();  // cells are no longer needed; the next file may be as large
    } else {
      parts.push_back(std::move(*source.ready));
      data::drop_ignored(parts.back(), request);
      settle_given_labels(parts.back(), request, target);
    }
  }
  return parts;
}

// Files of several views are put side by side: all numbers are there twice for a moment.
void require_room_to_join(const std::vector<Dataset>& parts, const Context& context) {
  if (parts.size() < 2) return;
  std::size_t needed = 0;
  std::size_t columns = 0;
  for (const Dataset& part : parts) {
    needed = data::sum_bytes(needed, sample_bytes(part) + part.features.values().size_bytes());
    columns += part.feature_info.size();
  }
  data::require_room(needed, memory_budget(context), parts.front().source,
                     static_cast<std::size_t>(parts.front().samples), columns);
}

void require_target(const Dataset& data, const DatasetRequest& request,
                    const std::vector<std::string>& columns) {
  if (!data.labels.empty() || !request.target_required) {
    return;
  }
  const std::string names = columns.empty() ? "none" : data::list_some(columns, 20);
  if (!request.target.empty()) {
    throw InvalidArgument(fmt::format("{}: there is no target column '{}'. Columns: {}.{}", data.source,
                                      request.target, names, data::suggestion(request.target, columns)));
  }
  throw InvalidArgument(fmt::format(
      "{}: no column is called label, target, class or y. Name the target column (--target). Columns: {}.",
      data.source, names));
}

void require_weights(const Dataset& data, const DatasetRequest& request,
                     const std::vector<std::string>& columns) {
  if (!request.weight.empty() && data.weights.empty() && request.target_required) {
    throw InvalidArgument(fmt::format("{}: there is no column '{}' for sample weights. Columns: {}.{}",
                                      data.source, request.weight, data::list_some(columns, 20),
                                      data::suggestion(request.weight, columns)));
  }
}

// Labels inside a kernel file must go by the target's name, like those of any other format.
data::MatrixFile read_matrices(const std::string& path, const DatasetRequest& request, const Context& context) {
  data::MatrixFile file = data::read_matrix_file(path, data::rows_of(request), context);
  if (!request.target.empty() && request.target != file.label_name && !data::is_target_name(request.target)) {
    file.labels.clear();
  }
  return file;
}

void attach_files(Dataset& data, const DatasetRequest& request, const Context& context) {
  const auto attach = [&](const std::string& path, data::MatrixUse use) {
    const std::size_t held = sample_bytes(data) + matrix_bytes(data);
    data::MatrixFile file = read_matrices(path, request, base::without_memory(context, held));
    const std::size_t besides = file.reading_bytes;
    data::attach_matrices(data, std::move(file), use);
    data.reading_bytes = std::max(data.reading_bytes, sample_bytes(data) + matrix_bytes(data) + besides);
  };
  for (const std::string& path : request.kernel_files) attach(path, data::MatrixUse::kernel);
  for (const std::string& path : request.distance_files) attach(path, data::MatrixUse::distance);
}

std::vector<Index> all_of(Index count) {
  std::vector<Index> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

Matrix select_entries(ConstMatrixView matrix, const std::vector<Index>& rows,
                      const std::vector<Index>& columns) {
  Matrix result(static_cast<Index>(rows.size()), static_cast<Index>(columns.size()));
  for (std::size_t j = 0; j < columns.size(); ++j) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      result(static_cast<Index>(i), static_cast<Index>(j)) = matrix(rows[i], columns[j]);
    }
  }
  return result;
}

template <typename T>
std::vector<T> select_values(const std::vector<T>& values, const std::vector<Index>& rows) {
  std::vector<T> result;
  if (values.empty()) {
    return result;
  }
  result.reserve(rows.size());
  for (const Index row : rows) {
    result.push_back(values[static_cast<std::size_t>(row)]);
  }
  return result;
}

std::vector<PrecomputedMatrix> select_matrices(const std::vector<PrecomputedMatrix>& matrices,
                                               const std::vector<Index>& rows,
                                               const std::vector<Index>* columns) {
  std::vector<PrecomputedMatrix> result;
  result.reserve(matrices.size());
  for (const PrecomputedMatrix& matrix : matrices) {
    const ConstMatrixView values = matrix.values.view();
    if (columns == nullptr && rows == all_of(values.rows)) {
      result.push_back(matrix);  // all of it, which needs no copy
      continue;
    }
    result.push_back({matrix.name, select_entries(values, rows, columns ? *columns : all_of(values.cols))});
  }
  return result;
}

}  // namespace

std::size_t sample_bytes(const Dataset& data) {
  std::size_t total = data.features.values().size_bytes() + data::text_bytes(data.ids) +
                      data::text_bytes(data.labels) + data.lines.size() * sizeof(Index) +
                      data.weights.size() * sizeof(double) + data.feature_info.size() * sizeof(Feature);
  for (const TextColumn& column : data.texts) total += data::text_bytes(column.values);
  return total;
}

std::size_t matrix_bytes(const Dataset& data) {
  std::size_t total = 0;
  for (const auto* matrices : {&data.kernels, &data.distances}) {
    for (const PrecomputedMatrix& matrix : *matrices) total += matrix.values.values().size_bytes();
  }
  return total;
}

Dataset load_dataset(const DatasetRequest& request, const Context& context) {
  const DatasetRequest named = data::with_named_views(request);
  std::vector<Source> sources = read_sources(named, context);
  if (sources.empty() && named.kernel_files.empty() && named.distance_files.empty()) {
    throw InvalidArgument("No data was given: name a table, views (--view) or kernels (--kernel-file).");
  }
  const std::vector<std::string> columns = all_columns(sources);
  require_named_columns(sources, named);
  std::vector<Dataset> parts = make_parts(std::move(sources), named, context);
  std::size_t reading = 0;
  for (const Dataset& part : parts) reading = std::max(reading, part.reading_bytes);
  require_room_to_join(parts, context);
  Dataset data = parts.empty() ? Dataset() : data::join_files(std::move(parts), named);
  data.reading_bytes = reading;
  data::declare_views(data, named);
  attach_files(data, named, context);
  require_target(data, named, columns);
  require_weights(data, named, columns);
  if (request.target.empty() && !data.target_name.empty()) {
    data.notes.push_back(fmt::format("Took '{}' as the target.", data.target_name));
  }
  if (data.samples == 0) {
    throw InvalidArgument(fmt::format("{}: there are no samples.", data.source));
  }
  if (data.feature_info.empty() && data.texts.empty() && data.kernels.empty() && data.distances.empty()) {
    throw InvalidArgument(
        fmt::format("{}: besides target and ids there are no columns, so nothing to learn from.", data.source));
  }
  return data;
}

// `columns` of the matrices; null: all.
static Dataset select_from(const Dataset& data, const std::vector<Index>& rows,
                           const std::vector<Index>* columns) {
  for (const Index row : rows) {
    if (row < 0 || row >= data.samples) {
      throw InvalidArgument(fmt::format("Sample {} does not exist: there are {}.", row, data.samples));
    }
  }
  Dataset result;
  result.source = data.source;
  result.samples = static_cast<Index>(rows.size());
  result.ids = select_values(data.ids, rows);
  result.lines = select_values(data.lines, rows);
  result.feature_info = data.feature_info;
  result.features = select_entries(data.features.view(), rows, all_of(data.features.cols()));
  result.absent_is_zero = data.absent_is_zero;
  result.views = data.views;
  for (View& view : result.views) view.absent = select_values(view.absent, rows);
  for (const TextColumn& text : data.texts) {
    result.texts.push_back({text.feature, select_values(text.values, rows)});
  }
  result.kernels = select_matrices(data.kernels, rows, columns);
  result.distances = select_matrices(data.distances, rows, columns);
  result.target_name = data.target_name;
  result.labels = select_values(data.labels, rows);
  result.weights = select_values(data.weights, rows);
  result.notes = data.notes;
  return result;
}

Dataset select_samples(const Dataset& data, const std::vector<Index>& rows) {
  return select_from(data, rows, nullptr);
}

Dataset select_samples(const Dataset& data, const std::vector<Index>& rows, const std::vector<Index>& columns) {
  return select_from(data, rows, &columns);
}

}  // namespace kloom
