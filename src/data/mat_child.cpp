// SPDX-License-Identifier: BSD-3-Clause
#include "data/mat_child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <system_error>

#include "base/memory.h"
#include "kloom/error.h"
#include "kloom/machine.h"

namespace kloom::data {
namespace {

using Clock = std::chrono::steady_clock;

// The answer: one byte for what follows, then
//   array  name length, name, rank, dimensions, values
//   error  length, text
//   end    nothing
// and after `end` the CRC-32 of everything before it.
enum class Mark : std::uint8_t { array = 'a', error = 'x', end = 'e' };

constexpr std::uint64_t max_text = 4096;

// Sanitizers reserve terabytes of address space, so a limit on it would end the child at once.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
constexpr bool sanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer);
#else
constexpr bool sanitized = false;
#endif

class AnswerWriter {
 public:
  explicit AnswerWriter(int fd) : fd_(fd) {}

  void array(const MatArray& array) {
    value(Mark::array);
    text(array.name);
    value(static_cast<std::uint64_t>(array.shape.size()));
    for (const Index n : array.shape) value(static_cast<std::int64_t>(n));
    bytes(array.values.data(), array.values.size() * sizeof(double));
  }
  void error(std::string_view message) {
    value(Mark::error);
    text(message);
  }
  void end() {
    value(Mark::end);
    const std::uint32_t sum = crc_;
    value(sum);
  }

 private:
  template <typename T>
  void value(const T& v) {
    bytes(&v, sizeof v);
  }
  void text(std::string_view t) {
    t = t.substr(0, max_text);
    value(static_cast<std::uint64_t>(t.size()));
    bytes(t.data(), t.size());
  }
  void bytes(const void* data, std::size_t size) {
    if (size == 0) return;
    crc_ = static_cast<std::uint32_t>(::crc32_z(crc_, static_cast<const Bytef*>(data), size));
    const char* next = static_cast<const char*>(data);
    while (size > 0) {
      const ssize_t done = ::write(fd_, next, size);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) ::_exit(3);  // the parent is gone or has lost interest
      next += done;
      size -= static_cast<std::size_t>(done);
    }
  }

  int fd_;
  std::uint32_t crc_ = 0;
};

void set_limit(int resource, rlim_t value) {
  struct rlimit limit {};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return;
  limit.rlim_cur = std::min(value, limit.rlim_max);
  (void)::setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

void restrict_child(const ChildLimits& limits, pid_t parent) {
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(3);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPIPE, SIGALRM, SIGCHLD, SIGXCPU})
    (void)::signal(signal, SIG_DFL);
  for (const int signal : {SIGINT, SIGTERM})
    (void)::signal(signal, SIG_IGN);  // Ctrl-C, or a signal for the whole group: the parent decides
  sigset_t none;
  ::sigemptyset(&none);
  (void)::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null >= 0)
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) (void)::dup2(null, fd);
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_CPU, static_cast<rlim_t>(std::ceil(limits.seconds)) + 1);
  if (sanitized || limits.bytes == 0) return;
  if (const std::size_t used = base::address_space(); used > 0) set_limit(RLIMIT_AS, used + limits.bytes);
}

[[noreturn]] void child_main(const ChildWork& work, int fd, const ChildLimits& limits, pid_t parent) {
  restrict_child(limits, parent);
  AnswerWriter answer(fd);
  try {
    work([&](const MatArray& array) { answer.array(array); });
    answer.end();
    ::_exit(0);
  } catch (const std::bad_alloc&) {
    answer.error("there is not enough memory to read it");
  } catch (const std::exception& error) {
    answer.error(error.what());
  }
  ::_exit(1);
}

// The parent's end: the child is killed and reaped whatever happens.
class Child {
 public:
  Child(pid_t pid, int fd, const std::string& source, const ChildLimits& limits)
      : pid_(pid),
        fd_(fd),
        source_(source),
        limits_(limits),
        deadline_(Clock::now() +
                  std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limits.seconds))) {}
  ~Child() {
    ::close(fd_);
    if (!reaped_) {
      ::kill(pid_, SIGKILL);
      (void)reap(0);
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  std::vector<MatArray> answer() {
    std::vector<MatArray> arrays;
    for (;;) {
      const auto mark = value<Mark>();
      if (mark == Mark::end) break;
      if (mark == Mark::error) fail(text());
      if (mark != Mark::array) broken();
      arrays.push_back(array());
    }
    const std::uint32_t expected = crc_;
    if (value<std::uint32_t>() != expected) broken();
    return arrays;
  }

 private:
  [[noreturn]] void fail(const std::string& detail) const {
    throw FileError(fmt::format("'{}' cannot be read as a MAT file: {}.", source_, detail));
  }
  [[noreturn]] void broken() const { fail("the reading process gave a broken answer"); }

  // Returns true if the child has ended.
  bool reap(int options) {
    pid_t got = 0;
    do {
      got = ::waitpid(pid_, &status_, options);
    } while (got < 0 && errno == EINTR);
    reaped_ = reaped_ || got == pid_ || (got < 0 && errno == ECHILD);
    return reaped_;
  }

  [[noreturn]] void ended() {
    if (!reaped_) {
      ::kill(pid_, SIGKILL);  // it has closed the pipe; if it has ended, this changes nothing
      (void)reap(0);
    }
    if (WIFSIGNALED(status_) && WTERMSIG(status_) != SIGKILL)
      fail(fmt::format("the reader crashed on it (signal {}), so the file is damaged", WTERMSIG(status_)));
    fail("the reader gave up on it, so the file is damaged or needs too much memory");
  }

  // Waits until there is something to read, the child is gone, or time is up.
  void wait_readable() {
    for (;;) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
      if (left <= 0)
        fail(fmt::format("the reader was not done after {:.3g} seconds, so the file is probably damaged",
                         limits_.seconds));
      struct pollfd entry {
        fd_, POLLIN, 0
      };
      // Wakes now and then: another process forked meanwhile may hold the pipe open after the child has died.
      const int ready = ::poll(&entry, 1, static_cast<int>(std::min<std::int64_t>(left, 100)));
      if (ready > 0) return;
      if (ready < 0 && errno != EINTR) broken();
      if (ready == 0 && reap(WNOHANG)) {
        entry.revents = 0;
        if (::poll(&entry, 1, 0) <= 0) ended();
        return;
      }
    }
  }

  void bytes(void* out, std::size_t size) {
    auto* next = static_cast<char*>(out);
    std::size_t left = size;
    while (left > 0) {
      wait_readable();
      const ssize_t got = ::read(fd_, next, left);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) broken();
      if (got == 0) ended();
      next += got;
      left -= static_cast<std::size_t>(got);
    }
    if (size > 0) crc_ = static_cast<std::uint32_t>(::crc32_z(crc_, static_cast<const Bytef*>(out), size));
  }
  template <typename T>
  T value() {
    T out{};
    bytes(&out, sizeof out);
    return out;
  }
  std::string text() {
    const auto size = value<std::uint64_t>();
    if (size > max_text) broken();
    std::string out(size, '\0');
    bytes(out.data(), out.size());
    return out;
  }

  MatArray array() {
    MatArray out;
    out.name = text();
    const auto rank = value<std::uint64_t>();
    if (rank < 1 || rank > 3) broken();
    std::size_t count = 1;
    for (std::uint64_t d = 0; d < rank; ++d) {
      const auto n = value<std::int64_t>();
      if (n < 1 || __builtin_mul_overflow(count, static_cast<std::size_t>(n), &count)) broken();
      out.shape.push_back(static_cast<Index>(n));
    }
    if (count > std::vector<double>().max_size()) broken();
    if (limits_.bytes > 0 && count > (limits_.bytes - held_) / sizeof(double))
      throw ResourceError(
          fmt::format("'{}' has an array of {} numbers, and with the arrays before it they take more than "
                      "the memory budget of {} (--memory).",
                      source_, count, format_bytes(limits_.bytes)));
    held_ += count * sizeof(double);
    out.values.resize(count);
    bytes(out.values.data(), count * sizeof(double));
    return out;
  }

  pid_t pid_;
  int fd_;
  const std::string& source_;
  const ChildLimits& limits_;
  Clock::time_point deadline_;
  std::size_t held_ = 0;  // bytes of the arrays so far
  std::uint32_t crc_ = 0;
  int status_ = 0;
  bool reaped_ = false;
};

}  // namespace

std::vector<MatArray> run_in_child(const ChildWork& work, const std::string& source,
                                   const ChildLimits& limits) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw ResourceError(fmt::format("Cannot read '{}': no pipe to a reading process ({}).", source,
                                    std::system_category().message(errno)));
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    const int error = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    throw ResourceError(fmt::format("Cannot read '{}': no reading process ({}).", source,
                                    std::system_category().message(error)));
  }
  if (pid == 0) {
    ::close(ends[0]);
    child_main(work, ends[1], limits, parent);
  }
  ::close(ends[1]);
  return Child(pid, ends[0], source, limits).answer();
}

}  // namespace kloom::data
