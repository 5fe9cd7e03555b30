// SPDX-License-Identifier: BSD-3-Clause
//
// The part of the ZIP format that NPZ files use: stored and deflated entries, also ZIP64. Everything is
// read from the central directory, bounded before memory is taken, and checked against its CRC.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kloom::data {

struct ZipEntry {
  std::string name;
  std::string bytes;
};

// All entries (folders left out). Throws FileError if the archive is damaged, truncated, encrypted or uses
// another method, ResourceError if its entries unpack to more than `limit` bytes in all.
[[nodiscard]] std::vector<ZipEntry> read_zip(std::string_view archive, const std::string& source,
                                             std::size_t limit);

}  // namespace kloom::data
