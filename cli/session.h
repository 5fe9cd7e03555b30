// SPDX-License-Identifier: BSD-3-Clause
//
// What every command has in common: --json, --quiet, --seed, --threads, --memory, --unpack-ratio, and the Context made of them.
#pragma once

#include <chrono>
#include <limits>
#include <string>

#include "console.h"
#include "kloom/context.h"

namespace CLI {
class App;
}

namespace kloom::cli {

struct CommonOptions {
  bool json = false;
  bool quiet = false;
  std::string seed = "1";
  int threads = 0;
  std::string memory;
  double unpack_ratio = Context().unpack_ratio;
};

void add_common_options(CLI::App& app, CommonOptions& options);

class Session {
 public:
  // Checks the options and starts to watch for Ctrl-C and SIGTERM.
  explicit Session(const CommonOptions& options);

  [[nodiscard]] Console& console() { return console_; }
  // Since the session began.
  [[nodiscard]] double seconds() const;
  // For work that leaves nothing usable when it is cut short: Ctrl-C and SIGTERM throw Interrupted.
  [[nodiscard]] Context context();
  // For training: they stop at the next iteration with what is there.
  [[nodiscard]] Context stoppable_context();
  // After so many seconds since it began, the session stops such work as Ctrl-C would.
  void stop_after(double seconds) { limit_ = seconds; }
  [[nodiscard]] bool out_of_time() const { return seconds() > limit_; }

 private:
  [[nodiscard]] Context make_context(Signal on_interrupt);

  Console console_;
  Context base_;
  double limit_ = std::numeric_limits<double>::infinity();
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace kloom::cli
