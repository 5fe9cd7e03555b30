// SPDX-License-Identifier: BSD-3-Clause
#include "algebra/blas_buffers.h"

#include <fmt/format.h>
#include <omp.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <mutex>
#include <set>
#include <vector>

#include "kloom/error.h"
#include "kloom/machine.h"

extern "C" {
int openblas_get_num_threads();
void openblas_set_num_threads(int);
// Internal to OpenBLAS, hence weak: without them there is nothing to hold.
[[gnu::weak]] void* blas_memory_alloc(int);
[[gnu::weak]] void blas_memory_free(void*);

// The linker puts this in the place of what OpenBLAS calls when it is loaded (src/CMakeLists.txt), which would take the
// buffers of all cores before anybody could ask whether there is room. They are taken with the first call that needs them.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the name that the linker asks for
[[gnu::visibility("hidden")]] int __wrap_blas_thread_init() {
  return 0;
}
}

namespace kloom::algebra {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{128} << 20;  // BUFFER_SIZE of OpenBLAS on x86-64
constexpr int kMostBuffers = 128;                             // beyond this OpenBLAS prints a warning
constexpr std::size_t kStackBytes = std::size_t{8} << 20;     // of a thread, where no limit says otherwise
constexpr std::size_t kArenaBytes = std::size_t{128} << 20;   // libc reserves for what a thread allocates

struct Pool {
  std::mutex mutex;
  std::set<void*> buffers;  // OpenBLAS keeps what it has once
  int threads = 0;          // of BLAS, that have buffers
  int callers = 0;
};

Pool& pool() {
  static Pool all;
  return all;
}

// Threads that call BLAS on behalf of this one, itself included; they are counted as long as it lives.
struct Callers {
  int count = 0;
  Callers() = default;
  Callers(const Callers&) = delete;
  Callers& operator=(const Callers&) = delete;
  ~Callers() {
    const std::scoped_lock lock(pool().mutex);
    pool().callers -= count;
  }
};
thread_local Callers own_callers;
thread_local bool holds_buffers = false;

bool limited_address_space() {
  rlimit space{};
  rlimit data{};
  return (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) ||
         (getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur != RLIM_INFINITY);
}

std::size_t stack_bytes() {
  rlimit stack{};
  const bool limited = getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY;
  return limited ? std::size_t{stack.rlim_cur} : kStackBytes;
}

bool there_is_room_for(std::size_t bytes) {
  void* room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return false;
  munmap(room, bytes);
  return true;
}

// libgomp ends the process where it cannot start a thread; so they are started while there is room.
void start_threads(int threads) {
#pragma omp parallel num_threads(threads)
  {}
}

// Takes buffers until OpenBLAS has `needed` of them, and gives them back to it.
bool grow(Pool& all, int needed, int threads) {
  const int missing = std::min(needed, kMostBuffers) - static_cast<int>(all.buffers.size());
  if (missing <= 0) return true;
  const bool limited = limited_address_space();
  const std::size_t stacks =
      limited ? static_cast<std::size_t>(threads - 1) * (stack_bytes() + kArenaBytes) : 0;
  if (!there_is_room_for(static_cast<std::size_t>(missing) * kBufferBytes + stacks)) return false;
  if (limited && threads > 1) start_threads(threads);
  std::vector<void*> taken;
  for (int fresh = 0; fresh < missing;) {
    taken.push_back(blas_memory_alloc(0));
    fresh += all.buffers.insert(taken.back()).second ? 1 : 0;
  }
  for (void* buffer : taken) blas_memory_free(buffer);
  return true;
}

int threads_with_buffers() {
  const std::scoped_lock lock(pool().mutex);
  return pool().threads;
}

}  // namespace

int hold_blas_buffers(int threads) {
  if (blas_memory_alloc == nullptr || blas_memory_free == nullptr) return threads;
  Pool& all = pool();
  const std::scoped_lock lock(all.mutex);
  for (int fitting = threads; fitting > 0; --fitting) {
    const int more_callers = std::max(0, fitting - own_callers.count);
    if (!grow(all, std::max(all.threads, fitting) + all.callers + more_callers, fitting)) continue;
    all.threads = std::max(all.threads, fitting);
    all.callers += more_callers;
    own_callers.count += more_callers;
    holds_buffers = true;
    return fitting;
  }
  throw ResourceError(
      fmt::format("the library of linear algebra needs {} of address space for its buffers, and a limit on it "
                  "(ulimit -v) leaves "
                  "less; raise that limit, or limit kloom by its memory budget (--memory) instead",
                  format_bytes(2 * kBufferBytes)));
}

void hold_blas_buffers() {
  // Inside of a parallel region the thread that opened it has counted its helpers.
  if (holds_buffers || omp_in_parallel() != 0) return;
  const int wanted = limited_address_space() ? 1 : openblas_get_num_threads();
  openblas_set_num_threads(hold_blas_buffers(wanted));
}

int blas_threads() {
  return openblas_get_num_threads();
}

void set_blas_threads(int threads) {
  int fitting = 1;
  try {
    fitting = limited_address_space() ? std::min(threads, threads_with_buffers()) : hold_blas_buffers(threads);
  } catch (
      const std::exception&) {  // the end of a computation does not fail for want of threads of the next one
  }
  openblas_set_num_threads(std::max(1, fitting));
}

}  // namespace kloom::algebra
