// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <system_error>
#include <thread>

#include "base/progress.h"
#include "data/file_replacement.h"
#include "kloom/error.h"

namespace kloom {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, int error) {
  throw FileError(fmt::format("Cannot write '{}': {}.", path, std::system_category().message(error)));
}

// Another name of a file that this process has open: it is written as it is, never replaced.
bool names_open_file(const std::string& path) {
  return path == "/dev/stdout" || path == "/dev/stderr" || path.starts_with("/dev/fd/") ||
         (path.starts_with("/proc/") && path.find("/fd/") != std::string::npos);
}

// Two paths lead to one file if these are equal: device and number of a file that is there, else folder and name.
struct Identity {
  dev_t device = 0;
  ino_t number = 0;
  std::string name;  // of a file that is not there yet
  bool operator==(const Identity&) const = default;
};

// Nothing where two may well be one: terminals, /dev/null.
std::optional<Identity> identity_of(const struct stat& status) {
  if (S_ISCHR(status.st_mode)) return std::nullopt;
  return Identity{status.st_dev, status.st_ino, {}};
}

std::optional<Identity> identity_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return identity_of(status);
  const std::string folder = fs::path(path).parent_path().string();
  if (::stat(folder.empty() ? "." : folder.c_str(), &status) != 0) return std::nullopt;
  return Identity{status.st_dev, status.st_ino, fs::path(path).filename().string()};
}

std::optional<Identity> identity_of_open(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return std::nullopt;
  return identity_of(status);
}

void require_not_input(const Output& output, const std::vector<std::string>& inputs) {
  const auto identity = identity_of(output.path);
  if (!identity) return;
  for (const std::string& input : inputs) {
    if (input.empty()) continue;
    if (identity == (input == "-" ? identity_of_open(STDIN_FILENO) : identity_of(input))) {
      throw InvalidArgument(fmt::format("{} {} is also an input{}; writing would destroy it", output.option,
                                        output.path, input == "-" ? " (standard input comes from it)" : ""));
    }
  }
  if (names_open_file(output.path)) return;
  if (identity == identity_of_open(STDOUT_FILENO) || identity == identity_of_open(STDERR_FILENO)) {
    throw InvalidArgument(fmt::format("{} {} is also where the shell sends what is printed; name another file",
                                      output.option, output.path));
  }
}

void require_different(const Output& a, const Output& b) {
  const auto identity = identity_of(a.path);
  if (identity && identity == identity_of(b.path)) {
    throw InvalidArgument(fmt::format("{} {} and {} {} are the same file; one would overwrite the other",
                                      a.option, a.path, b.option, b.path));
  }
}

void require_writable(const Output& output) {
  if (output.kind == OutputKind::text && !is_file_output(output.path)) {
    struct stat status {};
    if (::stat(output.path.c_str(), &status) != 0) fail(output.path, errno);
    if (S_ISDIR(status.st_mode)) throw InvalidArgument(fmt::format("{} is a folder; name a file", output.path));
    if (S_ISSOCK(status.st_mode))
      throw InvalidArgument(fmt::format("{} is a socket; name a file", output.path));
    if (::access(output.path.c_str(), W_OK) != 0) fail(output.path, errno);
    return;
  }
  if (names_open_file(output.path)) {
    throw InvalidArgument(
        fmt::format("{} {} is an open file; give the name of a file to write", output.option, output.path));
  }
  // Permissions alone do not tell (root, read-only file systems), so the first step of writing is taken.
  const data::FileReplacement probe(output.path);
}

void append(const std::string& path, int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path, errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

// A pipe is opened as soon as somebody reads it; until then the progress callback can end the wait.
int open_when_read(const std::string& path, const Context& context) {
  ProgressMeter meter(context, fmt::format("waiting for a reader of {}", path));
  for (Index tries = 1;; ++tries) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 || errno != ENXIO) return fd;
    if (meter.step(tries, 0, std::nan(""))) throw Interrupted(fmt::format("{}: nobody read it", path));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

void write_directly(const std::string& path, std::string_view text, const Context& context) {
  const int fd = open_when_read(path, context);
  if (fd < 0) fail(path, errno);
  const int flags = ::fcntl(fd, F_GETFL);
  try {
    if (flags < 0 || ::fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0) fail(path, errno);
    append(path, fd, text);
  } catch (...) {
    ::close(fd);
    throw;
  }
  if (::close(fd) != 0) fail(path, errno);
}

}  // namespace

bool is_file_output(const std::string& path) {
  if (names_open_file(path)) return false;
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return !fs::exists(status) || fs::is_regular_file(status) || fs::is_directory(status);
}

void require_outputs(const std::vector<Output>& outputs, const std::vector<std::string>& inputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].path.empty()) continue;
    require_not_input(outputs[i], inputs);
    for (std::size_t j = 0; j < i; ++j) {
      if (!outputs[j].path.empty()) require_different(outputs[j], outputs[i]);
    }
    require_writable(outputs[i]);
  }
}

void write_text(const std::string& path, std::string_view text, const Context& context) {
  if (!is_file_output(path)) {
    write_directly(path, text, context);
    return;
  }
  data::FileReplacement file(path);
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace kloom
