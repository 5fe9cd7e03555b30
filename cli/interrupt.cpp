// SPDX-License-Identifier: BSD-3-Clause
#include "interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string_view>

#include "exit_code.h"
#include "kloom/error.h"

namespace kloom::cli {
namespace {

std::atomic<bool> was_interrupted{false};
std::atomic<bool> tell{true};
static_assert(std::atomic<bool>::is_always_lock_free, "used in a signal handler");

void on_interrupt(int /*signal*/) {
  if (was_interrupted.exchange(true)) _exit(kInterrupted);
  if (!tell) return;
  constexpr std::string_view kMessage = "\nkloom: stopping at the next step; Ctrl-C again ends at once\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kMessage.data(), kMessage.size());
}

}  // namespace

void watch_for_interrupt(bool message) {
  tell = message;
  struct sigaction current {};
  sigaction(SIGINT, nullptr, &current);
  if (current.sa_handler == SIG_IGN) return;  // started by nohup or in the background: the shell's choice
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
}

bool interrupted() {
  return was_interrupted;
}

void stop_if_interrupted() {
  if (interrupted()) throw Interrupted("interrupted; nothing was written");
}

}  // namespace kloom::cli
