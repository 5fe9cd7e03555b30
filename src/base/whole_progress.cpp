// SPDX-License-Identifier: BSD-3-Clause
#include "base/whole_progress.h"

#include <limits>
#include <utility>

namespace kloom {

WholeProgress::WholeProgress(const Context& context, std::string stage, Index parts)
    : meter_(context, std::move(stage)), part_(context), parts_(parts) {
  if (context.progress && parts > 1) part_.progress = [this](const Progress&) { return tell(); };
}

// ProgressMeter throws where the answer is to abort.
Signal WholeProgress::tell() {
  stopped_ = stopped_ || meter_.step(done_, parts_, std::numeric_limits<double>::quiet_NaN());
  return stopped_ ? Signal::stop : Signal::go_on;
}

bool WholeProgress::done() {
  ++done_;
  return tell() == Signal::stop;
}

}  // namespace kloom
