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

std::atomic<int> heard{0};  // the first signal, 0: none
std::atomic<bool> tell{true};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "used in a signal handler");

void on_signal(int signal) {
  int none = 0;
  if (!heard.compare_exchange_strong(none, signal)) {
    if (signal == SIGINT) _exit(kInterrupted);
    return;
  }
  if (!tell) return;
  constexpr std::string_view kMessage = "\nkloom: stopping at the next step; Ctrl-C again ends at once\n";
  constexpr std::string_view kPlain = "\nkloom: SIGTERM: stopping at the next step\n";
  const std::string_view message = signal == SIGINT ? kMessage : kPlain;
  [[maybe_unused]] const auto written = write(STDERR_FILENO, message.data(), message.size());
}

void watch(int signal) {
  struct sigaction current {};
  sigaction(signal, nullptr, &current);
  if (current.sa_handler == SIG_IGN) return;  // started by nohup or in the background: the shell's choice
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

}  // namespace

void watch_for_interrupt(bool message) {
  tell = message;
  watch(SIGINT);
  watch(SIGTERM);
}

bool interrupted() {
  return heard != 0;
}

int interrupted_code() {
  return heard == SIGTERM ? kTerminated : kInterrupted;
}

void stop_if_interrupted() {
  if (interrupted()) throw Interrupted("interrupted; nothing was written");
}

}  // namespace kloom::cli
