// SPDX-License-Identifier: BSD-3-Clause
//
// Files that commands write.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kloom::cli {

// Looks whether `path` can be written before hours of work depend on it. `inputs`: files that it must not be.
// Throws InvalidArgument (no such folder, a folder, one of the inputs) or FileError (no permission).
void require_writable(const std::string& path, const std::vector<std::string>& inputs);

// Writes under a temporary name and renames, so the path holds the old file or the whole new one; devices and
// pipes are written directly. Throws FileError.
void write_file(const std::string& path, std::string_view text);

}  // namespace kloom::cli
