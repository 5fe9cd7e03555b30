// SPDX-License-Identifier: BSD-3-Clause
//
// Whole files into memory, unpacked where the name says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kloom/context.h"

namespace kloom::data {

// What unpacking may give.
struct UnpackLimits {
  std::size_t bytes = 0;                  // packed and unpacked together
  double ratio = Context().unpack_ratio;  // unpacked over packed
};
[[nodiscard]] UnpackLimits unpack_limits(const Context& context);
// Throws ResourceError if `unpacked` bytes are more than the ratio allows for `packed` ones. Little is always allowed.
void require_ratio(std::uint64_t packed, std::uint64_t unpacked, const UnpackLimits& limits,
                   const std::string& source);

// The bytes of a file. Throws InvalidArgument if there is no such file or it is a folder, FileError if it
// cannot be read, ResourceError if it is larger than `limit` bytes.
[[nodiscard]] std::string read_file(const std::string& path, std::size_t limit);

[[nodiscard]] bool has_gz_name(std::string_view path);

// Unpacks gzip data, also of several members one after another. Throws FileError if it is damaged or
// truncated, ResourceError if more comes out than the limits allow; no more than that is ever held.
[[nodiscard]] std::string gunzip(std::string_view packed, const std::string& source,
                                 const UnpackLimits& limits);

// read_file, then gunzip where the name ends in ".gz". A file that is packed without saying so is refused.
[[nodiscard]] std::string read_unpacked(const std::string& path, const UnpackLimits& limits);

}  // namespace kloom::data
