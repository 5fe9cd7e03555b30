// SPDX-License-Identifier: BSD-3-Clause
#include "data/matrices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "data/container.h"
#include "data/container_json.h"
#include "data/names.h"
#include "data/number.h"
#include "data/sources.h"
#include "data/symmetry.h"
#include "kloom/error.h"
#include "kloom/machine.h"

namespace kloom::data {
namespace {

void require_finite(std::span<const double> values, Index rows, const std::string& name,
                    const std::string& path) {
  const auto found = std::ranges::find_if(values, [](double v) { return !std::isfinite(v); });
  if (found != values.end()) {
    const Index k = found - values.begin();
    throw InvalidArgument(fmt::format("{}: entry ({}, {}) of '{}' is {}. Every entry must be a finite number.",
                                      path, k % rows + 1, k / rows + 1, name, *found));
  }
}

// Kernels of training samples must be their own mirror images to the bit. What rounding took from that is given back here,
// where the numbers are not shared yet: later a copy of each would be made for it.
void round_to_symmetry(MatrixView matrix, MatrixRows rows) {
  if (rows == MatrixRows::new_samples || matrix.rows != matrix.cols) return;
  const Asymmetry found = asymmetry(matrix);
  if (!found.exact() && found.rounding()) average_mirror_images(matrix);
}

bool is_word(std::string_view cell) {
  return read_cell(cell).kind == CellKind::text;
}

// Where the numbers of a matrix in text form begin: (1, ·) below a line of ids, (·, 1) beside a column of ids.
struct Corner {
  Index row = 0;
  Index column = 0;
};

// Ids that are words show themselves. Ids that are numbers need the usual corner above and beside them: an
// empty cell or "id".
Corner find_corner(const TextTable& table) {
  const std::string_view first = table.cell(0, 0);
  if (table.columns == 1) {
    return {is_word(first) ? 1 : 0, 0};
  }
  if (first.empty() || is_id_name(first)) {
    return {1, 1};
  }
  Corner corner;
  for (Index j = 1; j < table.columns && corner.row == 0; ++j) {
    corner.row = is_word(table.cell(0, j)) ? 1 : 0;
  }
  for (Index i = corner.row; i < table.rows() && corner.column == 0; ++i) {
    corner.column = is_word(table.cell(i, 0)) ? 1 : 0;
  }
  return corner;
}

MatrixFile matrix_of_table(const TextTable& table, MatrixRows meaning, const Context& context) {
  const Corner corner = find_corner(table);
  MatrixFile file;
  file.path = table.source;
  const Index rows = table.rows() - corner.row;
  const Index columns = table.columns - corner.column;
  if (rows < 1) {
    throw InvalidArgument(fmt::format("{}: there are no numbers below the first line.", table.source));
  }
  const auto n = static_cast<std::size_t>(rows);
  const auto m = static_cast<std::size_t>(columns);
  require_room(sum_bytes(sum_bytes(area_bytes(n, m), area_bytes(n + m, 1, sizeof(std::string))), table.bytes()),
               memory_budget(context), table.source, n, m);
  Matrix matrix(rows, columns);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      const std::string_view text = table.cell(i + corner.row, j + corner.column);
      const CellValue cell = read_cell(text);
      if (cell.kind != CellKind::number) {
        throw InvalidArgument(fmt::format("{} line {}: cell {} is '{}'. Every entry must be a finite number.",
                                          table.source, table.lines[static_cast<std::size_t>(i + corner.row)],
                                          j + corner.column + 1, text));
      }
      matrix(i, j) = cell.value;
    }
    if (corner.column == 1) {
      file.row_ids.emplace_back(table.cell(i + corner.row, 0));
    }
  }
  for (Index j = 0; corner.row == 1 && j < columns; ++j) {
    file.column_ids.emplace_back(table.cell(0, j + corner.column));
  }
  round_to_symmetry(matrix.view(), meaning);
  file.reading_bytes = table.bytes();
  file.matrices.push_back({stem_of(table.source), std::move(matrix)});
  return file;
}

bool is_kernel_name(const std::string& name) {
  return equal_ignoring_case(name, "K") || equal_ignoring_case(name, "KH");
}

// In a file given as kernels: stacks, square matrices and whatever is called K or KH; failing these, the only
// matrix there is (kernel rows of new samples are seldom square).
std::vector<Array> kernel_arrays(std::vector<Array>& arrays, const std::string& path) {
  std::vector<Array> chosen;
  std::vector<std::size_t> other;
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    Array& array = arrays[k];
    if (array.is_text || array.dimensions() < 2 || is_label_array(array.name)) {
      continue;
    }
    const bool square = array.dimensions() == 2 && array.shape[0] == array.shape[1];
    if (array.dimensions() == 3 || square || is_kernel_name(array.name)) {
      chosen.push_back(std::move(array));
    } else {
      other.push_back(k);
    }
  }
  if (chosen.empty() && other.size() == 1) {
    chosen.push_back(std::move(arrays[other[0]]));
  }
  if (chosen.empty()) {
    throw InvalidArgument(fmt::format(
        "{}: there is no kernel in it. Expected is a matrix (n × n), a stack (n × n × m), or an array K or KH.",
        path));
  }
  return chosen;
}

MatrixFile matrices_of_file(const std::string& path, Format format, MatrixRows meaning,
                            const Context& context) {
  MatrixFile file;
  file.path = path;
  std::vector<Array> arrays = read_arrays(path, format, context);
  for (const Array& array : arrays) {
    if (!array.name.empty() && is_label_array(array.name) && file.labels.empty()) {
      file.label_name = array.name;
      file.labels = array_texts(array, path);
    } else if (!array.name.empty() && is_id_array(array.name)) {
      file.row_ids = array_texts(array, path);
    }
  }
  file.matrices = matrices_of_arrays(kernel_arrays(arrays, path), path, meaning);
  return file;
}

// A bank that `kloom kernels build` wrote: kernels × rows × columns, each kernel in row-major order.
MatrixFile matrices_of_bank(const std::string& path, MatrixRows meaning, const Context& context) {
  const Container container = Container::map(path, bank_format);
  if (container.version() != bank_version) {
    throw FileError(fmt::format("'{}' has version {} of the bank format, and this kloom reads version {}.",
                                path, container.version(), bank_version));
  }
  TensorReader tensors(container);
  const Tensor& kernels = tensors.tensor("kernels", Dtype::f64, 3);
  const nlohmann::json document = parse_json(tensors.text("document"), path, "its document");
  const std::vector<std::string> names = Fields(document, path, "the bank").texts("names");
  const Index rows = kernels.shape[1];
  const Index columns = kernels.shape[2];
  if (static_cast<Index>(names.size()) != kernels.shape[0] || rows < 1 || columns < 1) {
    container.damaged("it does not have one name per kernel");
  }
  const std::size_t all_rows = names.size() * static_cast<std::size_t>(rows);
  require_room(area_bytes(all_rows, static_cast<std::size_t>(columns)), memory_budget(context), path, all_rows,
               static_cast<std::size_t>(columns));
  container.verify(kernels.begin, kernels.end);
  const std::byte* next = container.bytes(kernels).data();
  MatrixFile file;
  file.path = path;
  for (const std::string& name : names) {
    Matrix matrix(rows, columns);
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < columns; ++j, next += sizeof(double)) {
        std::memcpy(&matrix(i, j), next, sizeof(double));
      }
    }
    require_finite(matrix.values(), rows, name, path);
    round_to_symmetry(matrix.view(), meaning);
    file.matrices.push_back({name, std::move(matrix)});
  }
  return file;
}

// Rows of each id; an id that occurs twice is an error.
std::unordered_map<std::string_view, Index> positions(const std::vector<std::string>& ids,
                                                      const std::string& path) {
  std::unordered_map<std::string_view, Index> result;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!result.emplace(ids[i], static_cast<Index>(i)).second) {
      throw InvalidArgument(fmt::format("{}: the sample id '{}' occurs twice.", path, ids[i]));
    }
  }
  return result;
}

std::vector<Index> order_by_ids(const Dataset& data, const MatrixFile& file) {
  const auto position = positions(file.row_ids, file.path);
  std::vector<Index> order;
  std::vector<std::string> missing;
  for (const std::string& id : data.ids) {
    const auto it = position.find(id);
    if (it == position.end()) {
      missing.push_back(id);
    } else {
      order.push_back(it->second);
    }
  }
  if (!missing.empty()) {
    throw InvalidArgument(
        fmt::format("{}: there is no row for sample {} of {}.", file.path, list_some(missing, 5), data.source));
  }
  return order;
}

Matrix reordered(const SharedMatrix& matrix, const std::vector<Index>& rows,
                 const std::vector<Index>& columns) {
  Matrix result(static_cast<Index>(rows.size()), static_cast<Index>(columns.size()));
  for (Index j = 0; j < result.cols(); ++j) {
    for (Index i = 0; i < result.rows(); ++i) {
      result(i, j) = matrix(rows[static_cast<std::size_t>(i)], columns[static_cast<std::size_t>(j)]);
    }
  }
  return result;
}

void align_to_ids(const Dataset& data, MatrixFile& file) {
  const std::vector<Index> rows = order_by_ids(data, file);
  // Columns follow the rows where both are the same samples; else they are the training samples and stay.
  std::vector<Index> columns(static_cast<std::size_t>(file.matrices[0].values.cols()));
  std::iota(columns.begin(), columns.end(), Index{0});
  const auto in_columns = positions(file.column_ids, file.path);
  const bool same = std::ranges::is_permutation(file.row_ids, file.column_ids);
  if (same) {
    columns.clear();
    for (const std::string& id : data.ids) {
      columns.push_back(in_columns.at(id));
    }
  }
  for (PrecomputedMatrix& matrix : file.matrices) {
    matrix.values = SharedMatrix(reordered(matrix.values, rows, columns));
  }
  if (!file.labels.empty()) {
    std::vector<std::string> labels;
    labels.reserve(rows.size());
    for (const Index row : rows) {
      labels.push_back(file.labels[static_cast<std::size_t>(row)]);
    }
    file.labels = std::move(labels);
  }
}

void require_rows(const Dataset& data, const MatrixFile& file) {
  const SharedMatrix& first = file.matrices[0].values;
  if (first.rows() != data.samples) {
    const bool stack_first =
        first.cols() == data.samples && file.matrices.size() == static_cast<std::size_t>(data.samples);
    throw InvalidArgument(fmt::format(
        "{}: the matrix has {} rows, but there are {} samples.{}", file.path, first.rows(), data.samples,
        stack_first ? " In a stack the last axis must count the kernels (n × n × m)." : ""));
  }
}

void check_lengths(const MatrixFile& file) {
  const SharedMatrix& first = file.matrices[0].values;
  for (const PrecomputedMatrix& matrix : file.matrices) {
    if (matrix.values.rows() != first.rows() || matrix.values.cols() != first.cols()) {
      throw InvalidArgument(fmt::format("{}: '{}' is {} × {}, but '{}' is {} × {}.", file.path,
                                        file.matrices[0].name, first.rows(), first.cols(), matrix.name,
                                        matrix.values.rows(), matrix.values.cols()));
    }
  }
  for (const auto& [size, what] :
       {std::pair(file.labels.size(), "labels"), std::pair(file.row_ids.size(), "ids")}) {
    if (size != 0 && static_cast<Index>(size) != first.rows()) {
      throw InvalidArgument(fmt::format("{}: {} {} for {} rows.", file.path, size, what, first.rows()));
    }
  }
}

// Names tell kernels apart in reports; two files may both call theirs KH.
void add_named(std::vector<PrecomputedMatrix>& all, PrecomputedMatrix matrix, const std::string& path) {
  const auto taken = [&](const std::string& name) {
    return std::ranges::any_of(all, [&](const PrecomputedMatrix& other) { return other.name == name; });
  };
  if (taken(matrix.name)) {
    matrix.name = stem_of(path) + "/" + matrix.name;
  }
  if (taken(matrix.name)) {
    throw InvalidArgument(fmt::format("{}: '{}' is given twice.", path, matrix.name));
  }
  all.push_back(std::move(matrix));
}

}  // namespace

std::vector<PrecomputedMatrix> matrices_of_arrays(std::vector<Array> arrays, const std::string& path,
                                                  MatrixRows meaning) {
  std::vector<PrecomputedMatrix> result;
  for (Array& array : arrays) {
    const std::string name = array.name.empty() ? stem_of(path) : array.name;
    if (array.is_text || array.dimensions() < 2 || array.size() == 0) {
      throw InvalidArgument(
          fmt::format("{}: '{}' is no matrix (n × n) and no stack of them (n × n × m).", path, name));
    }
    const Index rows = array.shape[0];
    const Index columns = array.shape[1];
    const bool stack = array.dimensions() == 3;
    // All matrices of a stack stay where they were read.
    const auto values = std::make_shared<Vector>(std::move(array.values));
    for (Index p = 0; p < (stack ? array.shape[2] : 1); ++p) {
      const std::string numbered = stack ? fmt::format("{}[{}]", name, p + 1) : name;
      double* begin = values->data() + p * rows * columns;
      require_finite({begin, at(rows * columns)}, rows, numbered, path);
      round_to_symmetry({begin, rows, columns, rows}, meaning);
      result.push_back({numbered, SharedMatrix(std::shared_ptr<const double>(values, begin), rows, columns)});
    }
  }
  return result;
}

MatrixFile read_matrix_file(const std::string& path, MatrixRows meaning, const Context& context) {
  if (path.ends_with(".kloom")) return matrices_of_bank(path, meaning, context);
  const FileKind kind = kind_of_file(path);
  if (kind.format == Format::svmlight) {
    throw InvalidArgument(fmt::format(
        "{}: matrices are read from CSV, TSV, NPY, NPZ and MAT files, and from banks (.kloom).", path));
  }
  MatrixFile file = kind.format == Format::table
                        ? matrix_of_table(read_table(path, kind, false, context), meaning, context)
                        : matrices_of_file(path, kind.format, meaning, context);
  check_lengths(file);
  // Ids given once hold for both sides of a square matrix.
  const SharedMatrix& first = file.matrices[0].values;
  if (first.rows() == first.cols() && file.row_ids.empty()) {
    file.row_ids = file.column_ids;
  } else if (first.rows() == first.cols() && file.column_ids.empty()) {
    file.column_ids = file.row_ids;
  }
  return file;
}

void attach_matrices(Dataset& data, MatrixFile file, MatrixUse use) {
  if (data.samples == 0) {
    data.samples = file.matrices[0].values.rows();
    data.source = file.path;
  }
  if (!data.ids.empty() && !file.row_ids.empty()) {
    align_to_ids(data, file);
  } else {
    require_rows(data, file);
    if (data.ids.empty()) {
      data.ids = file.row_ids;
    }
  }
  if (data.labels.empty() && !file.labels.empty()) {
    data.target_name = file.label_name;
    data.labels = std::move(file.labels);
  }
  std::vector<PrecomputedMatrix>& all = use == MatrixUse::kernel ? data.kernels : data.distances;
  for (PrecomputedMatrix& matrix : file.matrices) {
    add_named(all, std::move(matrix), file.path);
  }
}

}  // namespace kloom::data
