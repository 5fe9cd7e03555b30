// SPDX-License-Identifier: BSD-3-Clause
//
// Precomputed kernels and distances from files: rows are samples, columns the training samples, and the
// third axis of a stack counts the kernels.
#pragma once

#include <string>
#include <vector>

#include "data/npy.h"
#include "kloom/context.h"
#include "kloom/dataset.h"

namespace kloom::data {

struct MatrixFile {
  std::string path;
  std::vector<PrecomputedMatrix> matrices;  // all of one shape
  std::vector<std::string> row_ids;         // empty where the file has none
  std::vector<std::string> column_ids;
  std::string label_name;
  std::vector<std::string> labels;  // MAT and NPZ files may bring them
  std::size_t reading_bytes = 0;    // what reading took besides the matrices
};

// What the rows of matrices are. Columns are training samples, so of training samples matrices are symmetric, and what
// rounding took from that is given back. Rows of new samples are left as they are, also where there are as many as columns.
enum class MatrixRows { training_samples, new_samples };
[[nodiscard]] inline MatrixRows rows_of(const DatasetRequest& request) {
  return request.target_required ? MatrixRows::training_samples : MatrixRows::new_samples;
}

// CSV or TSV (numbers only, or with ids in a first line and a first column), NPY, NPZ, MAT, or a bank (.kloom).
// Throws InvalidArgument naming the entry for anything that is not a finite number.
[[nodiscard]] MatrixFile read_matrix_file(const std::string& path, MatrixRows meaning, const Context& context);

// Two- and three-dimensional arrays as matrices called "name", or "name[1]", "name[2]", … for a stack; an
// array without a name is called after the file.
[[nodiscard]] std::vector<PrecomputedMatrix> matrices_of_arrays(std::vector<Array> arrays,
                                                                const std::string& path, MatrixRows meaning);

enum class MatrixUse { kernel, distance };

// Adds the matrices to the data set. Where both have ids the rows (and the columns, if they are the same
// samples) are brought into the order of the data set; else the numbers of samples must agree.
void attach_matrices(Dataset& data, MatrixFile file, MatrixUse use);

}  // namespace kloom::data
