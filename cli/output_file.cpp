// SPDX-License-Identifier: BSD-3-Clause
#include "output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "kloom/error.h"

namespace kloom::cli {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

bool is_special(const std::string& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return fs::exists(status) && !fs::is_regular_file(status);
}

[[noreturn]] void fail(const std::string& path, int error) {
  throw FileError(fmt::format("{}: could not be written: {}", path, std::strerror(error)));
}

// Returns 0 or the error.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

void write_directly(const std::string& path, std::string_view text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) fail(path, errno);
  int error = write_all(fd, text);
  if (close(fd) != 0 && error == 0) error = errno;
  if (error != 0) fail(path, error);
}

}  // namespace

void require_writable(const std::string& path, const std::vector<std::string>& inputs) {
  std::error_code ignored;
  const fs::path folder = folder_of(path);
  if (!fs::is_directory(folder, ignored)) {
    throw InvalidArgument(fmt::format("{}: there is no folder '{}' to write it to", path, folder.string()));
  }
  if (fs::is_directory(path, ignored)) throw InvalidArgument(fmt::format("{} is a folder; name a file", path));
  for (const std::string& input : inputs) {
    if (!input.empty() && fs::equivalent(path, input, ignored)) {
      throw InvalidArgument(fmt::format("{} is also an input; writing would destroy it", path));
    }
  }
  if (is_special(path)) {
    if (access(path.c_str(), W_OK) != 0) fail(path, errno);
    return;
  }
  // Permissions alone do not tell (root, read-only file systems): try.
  std::string probe = path + ".XXXXXX";
  const int fd = mkstemp(probe.data());
  if (fd < 0) fail(path, errno);
  close(fd);
  unlink(probe.c_str());
}

void write_file(const std::string& path, std::string_view text) {
  if (is_special(path)) {
    write_directly(path, text);
    return;
  }
  std::string temporary = path + ".XXXXXX";
  const int fd = mkstemp(temporary.data());
  if (fd < 0) fail(path, errno);
  int error = write_all(fd, text);
  // mkstemp makes files that only the owner can read; give the usual permissions.
  const mode_t mask = umask(0);
  umask(mask);
  if (error == 0 && fchmod(fd, 0666 & ~mask) != 0) error = errno;
  if (error == 0 && fsync(fd) != 0) error = errno;
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    unlink(temporary.c_str());
    fail(path, error);
  }
}

}  // namespace kloom::cli
