// SPDX-License-Identifier: BSD-3-Clause
//
// MAT files of version 7.3 are HDF5 files. Most of HDF5's own records have no checksum, so what they say is
// checked against each other before matio is believed:
//   * the end of the file that the superblock states is the end of the file;
//   * the class that MATLAB wrote beside an array agrees with the stored number type, bit by bit;
//   * an array has as many bytes as its shape says, every chunk of the grid is there (HDF5 answers zeros for a
//     lost one), went through the same filters, and has nothing but zeros outside the array's shape (a shape
//     that was made smaller would cut numbers off).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/mat_v5.h"

namespace kloom::data {

inline constexpr std::size_t mat_v73_head_bytes = 1024;

// `start`: the first mat_v73_head_bytes bytes of the file. Throws FileError.
void check_superblock(std::string_view start, std::uint64_t file_bytes, const std::string& source);

// The arrays that read_mat returns, as HDF5 describes them. Throws FileError with the end of a sentence.
// HDF5 may crash or loop on a damaged file: for the child process only.
[[nodiscard]] std::vector<MatEntry> audit_hdf5(const std::string& path);

}  // namespace kloom::data
