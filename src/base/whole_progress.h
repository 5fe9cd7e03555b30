// SPDX-License-Identifier: BSD-3-Clause
//
// Progress of work in many parts, each of which reports steps of its own: "simplemkl 3/500" again and again would say
// nothing of how long it all takes. The user hears of the whole, as often as the parts report, and is asked as often
// whether to go on.
#pragma once

#include <string>

#include "base/progress.h"

namespace kloom {

class WholeProgress {
 public:
  WholeProgress(const Context& context, std::string stage, Index parts);
  WholeProgress(const WholeProgress&) = delete;
  WholeProgress& operator=(const WholeProgress&) = delete;

  // For the parts; it must not outlive this. A single part is heard as it is.
  [[nodiscard]] const Context& part() const { return part_; }
  // One part more is done. True if the caller should stop with what it has; the part may then be half done.
  bool done();
  // Should the part that is at work stop?
  bool stopped() { return tell() == Signal::stop; }
  [[nodiscard]] double seconds() const { return meter_.seconds(); }

 private:
  Signal tell();

  ProgressMeter meter_;
  Context part_;
  Index parts_ = 0;
  Index done_ = 0;
  bool stopped_ = false;
};

}  // namespace kloom
