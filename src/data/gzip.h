// SPDX-License-Identifier: BSD-3-Clause
//
// Whole files into memory, unpacked where the name says so.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kloom::data {

// The bytes of a file. Throws InvalidArgument if there is no such file or it is a folder, FileError if it
// cannot be read, ResourceError if it is larger than `limit` bytes.
[[nodiscard]] std::string read_file(const std::string& path, std::size_t limit);

[[nodiscard]] bool has_gz_name(std::string_view path);

// Unpacks gzip data, also of several members one after another. Throws FileError if it is damaged or
// truncated, ResourceError if more than `limit` bytes come out.
[[nodiscard]] std::string gunzip(std::string_view packed, const std::string& source, std::size_t limit);

// read_file, then gunzip where the name ends in ".gz". A file that is packed without saying so is refused.
[[nodiscard]] std::string read_unpacked(const std::string& path, std::size_t limit);

}  // namespace kloom::data
