// SPDX-License-Identifier: BSD-3-Clause
#include "data/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "data/gzip.h"
#include "data/mat.h"
#include "data/matrices.h"
#include "data/names.h"
#include "data/number.h"
#include "data/svmlight.h"
#include "data/texts.h"
#include "kloom/error.h"
#include "kloom/machine.h"

namespace kloom::data {
namespace {

bool is_any_of(std::string_view name, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return equal_ignoring_case(name, word); });
}

struct Ending {
  std::string_view text;
  FileKind kind;
};

constexpr std::array<Ending, 10> endings{{{".csv", {Format::table, ','}},
                                          {".tsv", {Format::table, '\t'}},
                                          {".tab", {Format::table, '\t'}},
                                          {".txt", {Format::table, 0}},
                                          {".svm", {Format::svmlight, 0}},
                                          {".svmlight", {Format::svmlight, 0}},
                                          {".libsvm", {Format::svmlight, 0}},
                                          {".npy", {Format::npy, 0}},
                                          {".npz", {Format::npz, 0}},
                                          {".mat", {Format::mat, 0}}}};

void name_by_number(Dataset& data, const std::string& view, Index first) {
  for (Index j = 0; j < data.features.cols(); ++j) {
    data.feature_info.push_back({std::to_string(first + j), view});
  }
}

void set_features(Dataset& data, Array& array) {
  const Index rows = array.shape[0];
  const Index columns = array.dimensions() == 2 ? array.shape[1] : 1;
  if (array.is_text || array.dimensions() > 2) {
    throw InvalidArgument(
        fmt::format("{}: features must be numbers in a matrix (samples × features).", data.source));
  }
  if (rows == 0 || columns == 0) {
    throw InvalidArgument(
        fmt::format("{}: an array of {} × {} holds no features.", data.source, rows, columns));
  }
  data.features = Matrix(rows, columns, std::move(array.values));
}

void name_features(Dataset& data, const std::string& view, const std::vector<std::string>& names) {
  if (names.empty()) {
    name_by_number(data, view, 1);
    return;
  }
  if (static_cast<Index>(names.size()) != data.features.cols()) {
    throw InvalidArgument(
        fmt::format("{}: {} feature names for {} features.", data.source, names.size(), data.features.cols()));
  }
  for (const std::string& name : names) {
    data.feature_info.push_back({name, view});
  }
}

// As in tables: "nan", "NA" and the like stand for no label.
void clear_missing(std::vector<std::string>& labels) {
  for (std::string& label : labels)
    if (is_missing(label)) label.clear();
}

void set_weights(Dataset& data, const Array& array) {
  if (array.is_text ||
      std::ranges::any_of(array.values, [](double w) { return !(w >= 0.0) || std::isinf(w); })) {
    throw InvalidArgument(
        fmt::format("{}: sample weights ('{}') must be finite numbers, 0 or larger.", data.source, array.name));
  }
  data.weights = array.values;
}

void require_count(const Dataset& data, std::size_t found, std::string_view what) {
  if (found != 0 && static_cast<Index>(found) != data.samples) {
    throw InvalidArgument(fmt::format("{}: {} {} for {} samples.", data.source, found, what, data.samples));
  }
}

// Numbers that are labels or ids become texts, and every column of a matrix gets a name.
void require_room_for(const std::vector<Array>& arrays, const std::string& path, const Context& context) {
  std::size_t needed = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
  for (const Array& array : arrays) {
    const auto extent = [&](std::size_t d) {
      return d < array.shape.size() ? static_cast<std::size_t>(array.shape[d]) : 1;
    };
    const bool vector = extent(0) == 1 || extent(1) == 1;
    needed = sum_bytes(needed, array.bytes());
    if (array.dimensions() == 2) needed = sum_bytes(needed, area_bytes(extent(1), 1, sizeof(Feature)));
    if (vector && array.dimensions() < 3)
      needed = sum_bytes(needed, area_bytes(array.values.size(), 1, text_bytes(0)));
    rows = std::max(rows, extent(0));
    columns = std::max(columns, extent(1));
  }
  require_room(needed, memory_budget(context), path, rows, columns);
}

// X, y, ids, feature_names and kernels by their names; other arrays are left alone and said so.
Dataset arrays_to_dataset(const std::string& path, const std::string& view, const DatasetRequest& request,
                          std::vector<Array> arrays, const Context& context) {
  require_room_for(arrays, path, context);
  Dataset data;
  data.source = path;
  std::vector<std::string> feature_names;
  std::vector<Array> kernels;
  bool features = false;
  for (Array& array : arrays) {
    const bool only = array.name.empty();
    if (is_any_of(array.name, {"K", "KH"}) || (array.dimensions() == 3 && !array.is_text)) {
      kernels.push_back(std::move(array));
    } else if (only || (!features && is_any_of(array.name, {"X", "features", "data"}))) {
      set_features(data, array);
      features = true;
    } else if (!request.weight.empty() && array.name == request.weight) {
      set_weights(data, array);
    } else if (data.labels.empty() && (array.name == request.target || is_label_array(array.name))) {
      data.target_name = array.name;
      data.labels = array_texts(array, path);
      clear_missing(data.labels);
    } else if (is_id_array(array.name) || (!request.id.empty() && array.name == request.id)) {
      data.ids = array_texts(array, path);
    } else if (array.is_text && is_any_of(array.name, {"feature_names", "columns"})) {
      feature_names = array_texts(array, path);
    } else {
      data.notes.push_back(fmt::format("{}: array '{}' is not used.", path, array.name));
    }
  }
  if (!features && kernels.empty()) {
    throw InvalidArgument(fmt::format(
        "{}: there are no features (an array X, samples × features) and no kernels (K, or KH n × n × m).",
        path));
  }
  data.kernels = matrices_of_arrays(std::move(kernels), path, rows_of(request));
  data.samples = features ? data.features.rows() : data.kernels[0].values.rows();
  if (features) {
    name_features(data, view, feature_names);
  }
  for (const PrecomputedMatrix& kernel : data.kernels) {
    require_count(data, static_cast<std::size_t>(kernel.values.rows()), "kernel rows");
  }
  require_count(data, data.labels.size(), "labels");
  require_count(data, data.ids.size(), "ids");
  require_count(data, data.weights.size(), "weights");
  return data;
}

}  // namespace

Dataset svmlight_to_dataset(const SvmlightData& raw, const std::string& view, const Context& context) {
  const std::string& path = raw.source;
  Dataset data;
  data.source = path;
  data.samples = raw.samples();
  data.lines = raw.lines;
  data.features = svmlight_matrix(raw, context);
  data.absent_is_zero = true;
  name_by_number(data, view, raw.first);
  if (std::ranges::any_of(raw.labels, [](const std::string& label) { return !label.empty(); })) {
    data.target_name = "label";
    data.labels = raw.labels;
    clear_missing(data.labels);
  }
  if (raw.first == 0) {
    data.notes.push_back(
        fmt::format("{}: indices begin at 0, so the features are called 0 to {}.", path, raw.last));
  }
  if (raw.query_ids) {
    data.notes.push_back(fmt::format("{}: query ids (qid:) are ignored.", path));
  }
  if (raw.several_labels) {
    data.notes.push_back(
        fmt::format("{}: some samples have several labels; each combination is kept as one.", path));
  }
  return data;
}

bool is_target_name(std::string_view name) {
  return is_any_of(name, {"label", "target", "class", "y"});
}

bool is_label_array(std::string_view name) {
  return is_target_name(name) || is_any_of(name, {"labels", "targets"});
}

bool is_id_name(std::string_view name) {
  return is_any_of(name, {"id", "sample"});
}

bool is_id_array(std::string_view name) {
  return is_id_name(name) || is_any_of(name, {"ids", "samples"});
}

FileKind kind_of_file(const std::string& path) {
  std::string_view name = path;
  if (has_gz_name(name)) {
    name.remove_suffix(3);
  }
  const std::size_t dot = name.find_last_of("./");
  const std::string_view ending = dot == std::string_view::npos || name[dot] == '/' ? "" : name.substr(dot);
  for (const Ending& known : endings) {
    if (equal_ignoring_case(ending, known.text)) {
      return known.kind;
    }
  }
  throw InvalidArgument(
      fmt::format("{}: the name does not say what the file holds. It should end in .csv, .tsv, .tab, .txt, "
                  ".svm, .svmlight, .libsvm, .npy, .npz or .mat (and .gz where packed).",
                  path));
}

TextTable read_table(const std::string& path, FileKind kind, bool header, const Context& context) {
  const UnpackLimits limits = unpack_limits(context);
  std::string text = read_unpacked(path, limits);
  const char delimiter = guess_delimiter(text, kind.delimiter);
  return parse_csv(std::move(text), {delimiter, header, path, limits.bytes});
}

std::vector<Array> read_arrays(const std::string& path, Format format, const Context& context) {
  const UnpackLimits limits = unpack_limits(context);
  if (format == Format::npz) {
    return has_gz_name(path) ? parse_npz(read_unpacked(path, limits), path, limits) : read_npz(path, limits);
  }
  std::vector<Array> arrays;
  if (format == Format::npy) {
    arrays.push_back(has_gz_name(path) ? parse_npy(read_unpacked(path, limits), path, limits.bytes)
                                       : read_npy(path, limits));
    return arrays;
  }
  if (has_gz_name(path)) {
    throw InvalidArgument(fmt::format("{}: a packed MAT file. Unpack it first (gunzip).", path));
  }
  MatOptions options;
  options.allow_missing = true;  // features may have gaps; kernels are checked where they are used
  MatFile file = read_mat(path, context, options);
  for (MatArray& array : file.arrays) {
    arrays.push_back({std::move(array.name), std::move(array.shape), false, std::move(array.values), {}});
  }
  return arrays;
}

std::vector<std::string> array_texts(const Array& array, const std::string& source) {
  const bool vector =
      array.dimensions() == 1 || (array.dimensions() == 2 && (array.shape[0] == 1 || array.shape[1] == 1));
  if (!vector) {
    throw InvalidArgument(fmt::format("{}: '{}' must be a vector, its shape is {}.", source, array.name,
                                      fmt::join(array.shape, " × ")));
  }
  if (array.is_text) {
    return array.texts;
  }
  std::vector<std::string> texts;
  texts.reserve(array.values.size());
  for (const double value : array.values) {
    texts.push_back(std::isnan(value) ? std::string() : label_text(value));
  }
  return texts;
}

std::size_t Source::bytes() const {
  return table ? table->bytes() : sample_bytes(*ready) + matrix_bytes(*ready);
}

std::vector<std::string> Source::column_names() const {
  if (table) {
    return table->names;
  }
  std::vector<std::string> names;
  for (const Feature& feature : ready->feature_info) {
    names.push_back(feature.name);
  }
  return names;
}

Source read_source(const std::string& path, const std::string& view, const DatasetRequest& request,
                   const Context& context) {
  const FileKind kind = kind_of_file(path);
  Source source;
  source.path = path;
  source.view = view;
  if (kind.format == Format::table) {
    source.table = read_table(path, kind, true, context);
    if (kind.delimiter != 0 && source.table->delimiter != kind.delimiter) {
      const char found = source.table->delimiter;
      source.notes.push_back(fmt::format("{}: the columns are separated by {}.", path,
                                         found == ';'    ? "semicolons"
                                         : found == '\t' ? "tabs"
                                         : found == '|'  ? "vertical bars"
                                                         : "commas"));
    }
  } else if (kind.format == Format::svmlight) {
    const UnpackLimits limits = unpack_limits(context);
    source.ready =
        svmlight_to_dataset(parse_svmlight(read_unpacked(path, limits), path, limits.bytes), view, context);
  } else {
    source.ready = arrays_to_dataset(path, view, request, read_arrays(path, kind.format, context), context);
  }
  return source;
}

}  // namespace kloom::data
