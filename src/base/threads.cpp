// SPDX-License-Identifier: BSD-3-Clause
#include "base/threads.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "kloom/error.h"

namespace kloom::base {
namespace {

std::atomic<bool> is_forked_child{false};

void watch_forks() {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, [] { is_forked_child = true; }); });
}

}  // namespace

int available_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  // Fails on machines with more cores than the fixed mask holds; then the standard library knows.
  if (sched_getaffinity(0, sizeof(mask), &mask) == 0) return std::max(1, CPU_COUNT(&mask));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int resolve_threads(const Context& context) {
  watch_forks();
  if (context.threads < 0) {
    throw InvalidArgument(
        fmt::format("threads must be 0 (every core) or a positive number, got {}", context.threads));
  }
  if (context.threads > Context::most_threads) {
    throw InvalidArgument(fmt::format("threads must be at most {}, got {}; this machine has {} cores",
                                      Context::most_threads, context.threads, available_cores()));
  }
  if (forked_child()) return 1;
  return context.threads == 0 ? available_cores() : context.threads;
}

bool forked_child() {
  return is_forked_child;
}

}  // namespace kloom::base
