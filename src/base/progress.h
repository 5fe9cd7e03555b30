// SPDX-License-Identifier: BSD-3-Clause
//
// Reports the steps of one stage through Context::progress and carries the answer back.
#pragma once

#include <string>

#include "base/stopwatch.h"
#include "kloom/context.h"
#include "kloom/matrix.h"

namespace kloom {

class ProgressMeter {
 public:
  ProgressMeter(const Context& context, std::string stage);

  // Tells the callback; returns true if the caller should stop with what it has. Throws Interrupted when
  // the callback says abort.
  bool step(Index done, Index planned, double objective);
  [[nodiscard]] double seconds() const;

 private:
  const Context& context_;
  std::string stage_;
  Stopwatch clock_;
};

void log(const Context& context, LogLevel level, const std::string& message);

}  // namespace kloom
