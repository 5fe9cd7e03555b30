// SPDX-License-Identifier: BSD-3-Clause
//
// MAT files of version 5 (to 7) and 7.3.
//
// The libraries that read them (matio, HDF5) return zeros for some truncated files and crash or loop on some
// damaged ones. So kloom
//   * checks the structure of the file itself first (mat_v5.h, mat_v73.h),
//   * lets matio read in a child process with limits on time and memory, where any message that matio logs
//     counts as failure (mat_child.h),
//   * compares what comes back with what the structure promised.
//
// What no reader can notice, because the formats have no checksum there:
//   * a changed letter in the name of an array;
//   * changed numbers that are stored neither compressed nor with a checksum, or whose place in the file is
//     changed: arrays saved with -v6 or -nocompression, and small arrays of version 7.3;
//   * arrays missing at the end: a file does not say how many it holds, so one of version 5 that is cut exactly
//     between two arrays is a whole file with fewer of them.
#pragma once

#include <string>
#include <vector>

#include "kloom/context.h"
#include "kloom/matrix.h"

namespace kloom::data {

struct MatArray {
  std::string name;
  std::vector<Index> shape;  // two or three dimensions; a vector is n × 1 or 1 × n
  Vector values;             // column-major
};

struct MatFile {
  std::vector<MatArray> arrays;
};

struct MatOptions {
  double seconds = 60.0;       // time limit, plus a tenth of a second per megabyte
  bool allow_missing = false;  // NaN stands for a missing value; else it is refused, as infinity always is
};

// The real, full, numeric arrays (double, single, integers, logical) of up to three dimensions; others are
// passed over. Throws InvalidArgument (no such file) or FileError (damaged, of another kind, no such array).
[[nodiscard]] MatFile read_mat(const std::string& path, const Context& context, const MatOptions& options);
[[nodiscard]] MatFile read_mat(const std::string& path, const Context& context);

}  // namespace kloom::data
