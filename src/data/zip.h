// SPDX-License-Identifier: BSD-3-Clause
//
// The part of the ZIP format that NPZ files use: stored and deflated entries, also ZIP64. Everything is
// read from the central directory, bounded before memory is taken, and checked against its CRC. Entries are unpacked
// as they are asked for, so that a large archive is never held whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "data/gzip.h"

namespace kloom::data {

// An archive, wherever it is.
struct ZipBytes {
  std::uint64_t size = 0;
  // `count` bytes from `offset` on, all of them inside.
  std::function<void(std::uint64_t offset, char* out, std::size_t count)> read;
};

// Bytes in memory, which must outlive what is returned.
[[nodiscard]] ZipBytes zip_in_memory(std::string_view bytes);

// The next `count` bytes of something that is read from its beginning to its end.
using NextBytes = std::function<void(char* out, std::size_t count)>;

// An entry while it is visited. The visitor need not take all of its bytes.
struct ZipEntry {
  std::string name;
  std::size_t size = 0;
  NextBytes next;
};

// Visits all entries (folders left out). Throws FileError if the archive is damaged, truncated, encrypted or uses
// another method, ResourceError if its entries unpack to more in all than the limits allow.
void read_zip(const ZipBytes& archive, const std::string& source, const UnpackLimits& limits,
              const std::function<void(const ZipEntry&)>& visit);

}  // namespace kloom::data
