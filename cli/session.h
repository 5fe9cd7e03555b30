// SPDX-License-Identifier: BSD-3-Clause
//
// What every command has in common: --json, --quiet, --seed, --threads, --memory, and the Context made of them.
#pragma once

#include <chrono>
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

 private:
  [[nodiscard]] Context make_context(Signal on_interrupt);

  Console console_;
  Context base_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace kloom::cli
