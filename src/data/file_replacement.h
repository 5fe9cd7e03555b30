// SPDX-License-Identifier: BSD-3-Clause
//
// A file that takes the place of another, whole or not at all.
//
// It is written beside its place as NAME.PID-NUMBER.part, and locked as long as its writer lives, on whatever
// machine that is. The next writer of the same file removes those that nobody holds: their writers were killed.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace kloom::data {

// Where a file of this name shall be: links are followed. Throws InvalidArgument if a link leads nowhere.
[[nodiscard]] std::string resolve_link(const std::string& path);

class FileReplacement {
 public:
  // Throws InvalidArgument (no such folder, not a regular file, a link that leads nowhere) or FileError.
  explicit FileReplacement(const std::string& path);
  // Without a commit everything stays as it was.
  ~FileReplacement();
  FileReplacement(const FileReplacement&) = delete;
  FileReplacement& operator=(const FileReplacement&) = delete;

  void write(const char* data, std::size_t bytes);
  // Over what is already written.
  void overwrite(std::size_t place, const char* data, std::size_t bytes);
  // Makes the file durable and gives it its name.
  void commit();

 private:
  void create(mode_t mode);
  bool create_as(const std::string& name, mode_t mode);
  [[noreturn]] void fail(const char* doing, int error) const;

  std::string given_;      // for messages
  std::string path_;       // after links
  std::string temporary_;  // empty: there is none
  int fd_ = -1;
};

// Removes the temporary files that killed writers of `path` (after links) have left.
void tidy_beside(const std::string& path);

}  // namespace kloom::data
