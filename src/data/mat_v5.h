// SPDX-License-Identifier: BSD-3-Clause
//
// The structure of MAT files of version 5, checked tag by tag: every element lies inside what contains it,
// fills it exactly, and has the type and size that the class of its array demands. Compressed elements are
// unpacked, so their checksum is verified. Values are left to matio.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kloom/matrix.h"

namespace kloom::data {

// An array that read_mat returns.
struct MatEntry {
  std::string name;
  std::vector<Index> shape;
  friend bool operator==(const MatEntry&, const MatEntry&) = default;
};

enum class MatVersion { v5, v73 };

// By the first 128 bytes. Throws FileError for anything else, also for version 4.
[[nodiscard]] MatVersion mat_version(std::string_view start, const std::string& source);

// The real, full, numeric arrays of up to three dimensions with at least one entry, in the order of the file.
// Throws FileError if the structure is not whole. `limit`: bytes that one unpacked element may have.
[[nodiscard]] std::vector<MatEntry> check_mat_v5(std::string_view file, const std::string& source,
                                                 std::size_t limit);

}  // namespace kloom::data
