// SPDX-License-Identifier: BSD-3-Clause
//
// NumPy's array files: NPY versions 1 to 3 (one array) and NPZ (a ZIP of them). Numbers of any usual type
// become doubles; texts (types U and S) become UTF-8 strings. Arrays of Python objects are refused: reading
// them would mean running code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/gzip.h"
#include "kloom/matrix.h"

namespace kloom::data {

struct Array {
  std::string name;          // the entry's name in an NPZ or MAT file
  std::vector<Index> shape;  // 1 to 3 dimensions
  bool is_text = false;
  Vector values;                   // column-major, whatever the file had
  std::vector<std::string> texts;  // the same for texts

  [[nodiscard]] Index dimensions() const { return static_cast<Index>(shape.size()); }
  [[nodiscard]] Index size() const {
    Index n = 1;
    for (const Index extent : shape) {
      n *= extent;
    }
    return n;
  }
  // Bytes of memory that it takes.
  [[nodiscard]] std::size_t bytes() const;
};

// Throws FileError (damaged, truncated), InvalidArgument (a type or shape that kloom has no use for) or
// ResourceError (the array would take more than `limit` bytes).
[[nodiscard]] Array parse_npy(std::string_view bytes, const std::string& source, std::size_t limit);
// The same from a file, piece by piece: nothing but the array is held.
[[nodiscard]] Array read_npy(const std::string& path, const UnpackLimits& limits);
// All entries whose name ends in ".npy", named without it; together they take no more than the limits allow.
[[nodiscard]] std::vector<Array> parse_npz(std::string_view bytes, const std::string& source,
                                           const UnpackLimits& limits);
// The same from a file, one array at a time and each of them piece by piece.
[[nodiscard]] std::vector<Array> read_npz(const std::string& path, const UnpackLimits& limits);

}  // namespace kloom::data
