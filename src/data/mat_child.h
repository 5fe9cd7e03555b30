// SPDX-License-Identifier: BSD-3-Clause
//
// matio and HDF5 in a process of their own: whatever they do to it (crash, endless loop, memory eaten up), the
// caller gets an answer or a sentence. The child is forked, not executed: nothing has to be found on disk.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data/mat.h"
#include "data/mat_v5.h"

namespace kloom::data {

struct ChildLimits {
  double seconds = 60.0;
  std::size_t bytes = 0;  // memory that reading may take
};

// What the reader in the child produces, array by array. Throwing FileError there becomes the sentence here.
using ArraySink = std::function<void(const MatArray&)>;
using ChildWork = std::function<void(const ArraySink&)>;

// Runs `work` in a child and returns the arrays that it gave to its sink. Every other outcome (signal, time
// limit, broken answer, exception) is thrown as FileError naming `source`.
[[nodiscard]] std::vector<MatArray> run_in_child(const ChildWork& work, const std::string& source,
                                                 const ChildLimits& limits);

// Reads every array that read_mat returns with matio, and refuses if matio logs an error or a warning or sees
// other arrays than `expected`. For the child only.
void read_with_matio(const std::string& path, const std::vector<MatEntry>& expected, const ArraySink& sink);

}  // namespace kloom::data
