// SPDX-License-Identifier: BSD-3-Clause
#include "data/file_replacement.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "kloom/error.h"

namespace kloom::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".part";

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// Is this PID-NUMBER.part, what follows the dot after the name of the file?
bool is_temporary(std::string_view rest) {
  if (!rest.ends_with(kEnding)) return false;
  rest.remove_suffix(kEnding.size());
  const std::size_t dash = rest.find('-');
  const auto digits = [](std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  };
  return dash != std::string_view::npos && digits(rest.substr(0, dash)) && digits(rest.substr(dash + 1));
}

// Does `name` still lead to the open file?
bool still_there(const std::string& name, int fd) {
  struct stat open {};
  struct stat named {};
  return ::fstat(fd, &open) == 0 && ::lstat(name.c_str(), &named) == 0 && open.st_ino == named.st_ino &&
         open.st_dev == named.st_dev;
}

// A writer holds the lock until it ends, however it ends. Where locks are not to be had, nothing is removed.
void remove_if_dead(const std::string& name) {
  const int fd = ::open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return;
  struct stat status {};
  if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && ::flock(fd, LOCK_EX | LOCK_NB) == 0 &&
      still_there(name, fd))
    (void)::unlink(name.c_str());
  ::close(fd);
}

// The permissions of the file that is replaced. Where its group cannot be had, the group of the new file may
// do no more than everybody else could.
int take_permissions(int fd, const struct stat& old) {
  struct stat fresh {};
  if (::fstat(fd, &fresh) != 0) return errno;
  mode_t mode = old.st_mode & 0777;
  const bool same = fresh.st_uid == old.st_uid && fresh.st_gid == old.st_gid;
  if (!same && ::fchown(fd, old.st_uid, old.st_gid) != 0 && fresh.st_gid != old.st_gid &&
      ::fchown(fd, static_cast<uid_t>(-1), old.st_gid) != 0)
    mode &= ~static_cast<mode_t>(0070) | ((mode & 0007) << 3);
  return ::fchmod(fd, mode) == 0 ? 0 : errno;
}

}  // namespace

std::string resolve_link(const std::string& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return path;
  const fs::path target = fs::canonical(path, error);
  if (error) {
    throw InvalidArgument(
        fmt::format("'{}' is a link that leads nowhere; remove it or choose another name.", path));
  }
  return target.string();
}

void tidy_beside(const std::string& path) {
  const std::string start = fs::path(path).filename().string() + ".";
  std::error_code error;
  fs::directory_iterator entries(folder_of(path), fs::directory_options::skip_permission_denied, error);
  while (!error && entries != fs::directory_iterator()) {
    const std::string name = entries->path().filename().string();
    if (name.starts_with(start) && is_temporary(std::string_view(name).substr(start.size())))
      remove_if_dead(entries->path().string());
    entries.increment(error);
  }
}

FileReplacement::FileReplacement(const std::string& path) : given_(path), path_(resolve_link(path)) {
  struct stat old {};
  const bool replaces = ::stat(path_.c_str(), &old) == 0;
  if (replaces && !S_ISREG(old.st_mode)) {
    throw InvalidArgument(
        S_ISDIR(old.st_mode)
            ? fmt::format("{} is a folder; name a file", path)
            : fmt::format("'{}' is not a regular file; give the name of a file to write.", path));
  }
  // Renaming would go around the protection that its owner chose.
  if (replaces && ::access(path_.c_str(), W_OK) != 0) fail("replace", errno);
  std::error_code ignored;
  if (!fs::is_directory(folder_of(path_), ignored))
    throw InvalidArgument(fmt::format("{}: there is no folder '{}' to write it to", path, folder_of(path_)));
  tidy_beside(path_);
  // What replaces a file is nobody's business until it has that file's permissions.
  create(replaces ? 0600 : 0666);
  const int error = replaces ? take_permissions(fd_, old) : 0;
  if (error != 0) {
    ::close(fd_);
    ::unlink(temporary_.c_str());
    fail("create", error);
  }
}

FileReplacement::~FileReplacement() {
  // First the name, then the lock: nobody finds the file without its writer.
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  if (fd_ >= 0) ::close(fd_);
}

void FileReplacement::create(mode_t mode) {
  static std::atomic<unsigned> counter{0};
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (create_as(fmt::format("{}.{}-{}{}", path_, ::getpid(), counter++, kEnding), mode)) return;
  }
  fail("create", EEXIST);
}

// False if another process was in the way.
bool FileReplacement::create_as(const std::string& name, mode_t mode) {
  fd_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (fd_ < 0 && errno == EEXIST) return false;
  if (fd_ < 0) fail("create", errno);
  // Between the two steps somebody who tidies may have found it without a lock.
  if ((::flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) || !still_there(name, fd_)) {
    ::close(fd_);
    fd_ = -1;
    return false;
  }
  temporary_ = name;
  return true;
}

void FileReplacement::fail(const char* doing, int error) const {
  throw FileError(fmt::format("Cannot {} '{}': {}.", doing, given_, std::system_category().message(error)));
}

void FileReplacement::write(const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t done = ::write(fd_, data, bytes);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) fail("write", done < 0 ? errno : ENOSPC);
    data += done;
    bytes -= static_cast<std::size_t>(done);
  }
}

void FileReplacement::overwrite(std::size_t place, const char* data, std::size_t bytes) {
  if (::pwrite(fd_, data, bytes, static_cast<off_t>(place)) != static_cast<ssize_t>(bytes))
    fail("write", errno);
}

void FileReplacement::commit() {
  if (::fsync(fd_) != 0) fail("write", errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("write", errno);
  temporary_.clear();
  const int closed = ::close(fd_);
  fd_ = -1;
  if (closed != 0) fail("write", errno);

  // The new name is durable once the folder is; a file system that cannot do this has nothing better to offer.
  const int folder = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  (void)::fsync(folder);
  ::close(folder);
}

}  // namespace kloom::data
