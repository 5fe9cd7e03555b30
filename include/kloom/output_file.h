// SPDX-License-Identifier: BSD-3-Clause
//
// Files that are written, and the one rule for all of them (docs/guide/file-formats.md):
//
//  * a path holds the old file or the whole new one, never a part;
//  * a link is followed and stays a link; one that leads nowhere is refused;
//  * a file that takes the place of another has its permissions, a new one those of the umask;
//  * what dead runs have left beside it under a temporary name is removed.
//
// Looking at all outputs before hours of work depend on them is `require_outputs`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kloom/context.h"

namespace kloom {

// `text` may go to a device, a pipe or standard output as well; `file` (models, banks) must be a regular file;
// `journal` is one that grows.
enum class OutputKind { text, file, journal };

struct Output {
  std::string option;  // how the user asked for it, for messages: "--report"
  std::string path;    // empty: not asked for
  OutputKind kind = OutputKind::file;
};

// Looks whether every output can be written, by the steps that will write it, and that no two of them are one
// file. `inputs`: files that no output may be; "-" is standard input. Throws InvalidArgument (no such folder, a
// folder, a link that leads nowhere, a pipe for a model, a file that is used twice) or FileError (no permission,
// read-only file system).
void require_outputs(const std::vector<Output>& outputs, const std::vector<std::string>& inputs);

// Is `path` a file, there or not, rather than a device, a pipe or a name of an open file such as /dev/stdout?
[[nodiscard]] bool is_file_output(const std::string& path);

// Writes `text` to `path`: replaces a file, appends to devices, pipes and open files. Throws FileError or
// InvalidArgument; Interrupted when the progress callback stops the wait for somebody who reads a pipe.
void write_text(const std::string& path, std::string_view text, const Context& context);

}  // namespace kloom
