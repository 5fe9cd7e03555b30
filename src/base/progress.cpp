// SPDX-License-Identifier: BSD-3-Clause
#include "base/progress.h"

#include <utility>

#include "kloom/error.h"

namespace kloom {

ProgressMeter::ProgressMeter(const Context& context, std::string stage)
    : context_(context), stage_(std::move(stage)) {}

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
  return clock_.seconds();
}

void log(const Context& context, LogLevel level, const std::string& message) {
  if (context.log) context.log(level, message);
}

}  // namespace kloom
