// SPDX-License-Identifier: BSD-3-Clause
#include "base/progress.h"

#include <utility>

#include "kloom/error.h"

namespace kloom {

ProgressMeter::ProgressMeter(const Context& context, std::string stage)
    : context_(context), stage_(std::move(stage)), start_(std::chrono::steady_clock::now()) {}

bool ProgressMeter::step(Index done, Index planned, double objective) {
  if (!context_.progress) return false;
  switch (context_.progress({stage_, done, planned, objective, seconds()})) {
    case Signal::go_on:
      return false;
    case Signal::stop:
      return true;
    case Signal::abort:
      break;
  }
  throw Interrupted("interrupted during " + stage_);
}

double ProgressMeter::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void log(const Context& context, LogLevel level, const std::string& message) {
  if (context.log) context.log(level, message);
}

}  // namespace kloom
