// SPDX-License-Identifier: BSD-3-Clause
//
// One input file as it was read, before its columns have roles (target, id, weight, feature).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/csv.h"
#include "data/npy.h"
#include "kloom/context.h"
#include "kloom/dataset.h"

namespace kloom::data {

enum class Format { table, svmlight, npy, npz, mat };

struct FileKind {
  Format format = Format::table;
  char delimiter = ',';  // of a table; 0: look into it
};

// By the name's ending, ".gz" apart. Throws InvalidArgument listing the endings.
[[nodiscard]] FileKind kind_of_file(const std::string& path);

struct Source {
  std::string path;
  std::string view;  // name of the file-view; empty for the main table
  std::vector<std::string> notes;
  std::optional<TextTable> table;  // CSV and TSV: columns still to be given roles
  std::optional<Dataset> ready;    // other formats, where the format itself says what is a label

  // Bytes of memory that it takes.
  [[nodiscard]] std::size_t bytes() const;
  // Names of all columns, for messages.
  [[nodiscard]] std::vector<std::string> column_names() const;
};

struct SvmlightData;
[[nodiscard]] Dataset svmlight_to_dataset(const SvmlightData& raw, const std::string& view,
                                          const Context& context);

[[nodiscard]] Source read_source(const std::string& path, const std::string& view,
                                 const DatasetRequest& request, const Context& context);

// The arrays of an NPY, NPZ or MAT file; the one of an NPY file has no name.
[[nodiscard]] std::vector<Array> read_arrays(const std::string& path, Format format, const Context& context);
[[nodiscard]] TextTable read_table(const std::string& path, FileKind kind, bool header, const Context& context);

// Names under which a target is found without being asked for: label, target, class, y (in any case).
[[nodiscard]] bool is_target_name(std::string_view name);
// Names of arrays that hold labels: these and labels, targets.
[[nodiscard]] bool is_label_array(std::string_view name);
[[nodiscard]] bool is_id_name(std::string_view name);   // id, sample
[[nodiscard]] bool is_id_array(std::string_view name);  // these and ids, samples

// A vector (n, n × 1 or 1 × n) as texts: integers without decimals, "" for NaN.
[[nodiscard]] std::vector<std::string> array_texts(const Array& array, const std::string& source);

// Gives the columns of a table their roles. `target`: name of the target column, or empty.
[[nodiscard]] Dataset table_to_dataset(const Source& source, const DatasetRequest& request,
                                       const std::string& target, const Context& context);
// Drops the features that `request.ignore` names.
void drop_ignored(Dataset& data, const DatasetRequest& request);
// `name` is one of `patterns` or matches one as a glob.
[[nodiscard]] bool named_by(const std::vector<std::string>& patterns, const std::string& name);

}  // namespace kloom::data
