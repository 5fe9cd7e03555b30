// SPDX-License-Identifier: BSD-3-Clause
//
// The files that a command writes: looked at together before the work, written at its end, what matters most
// first. One that cannot be written costs no other.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kloom/output_file.h"
#include "session.h"

namespace kloom::cli {

class Outputs {
 public:
  // Throws, before any work is done, what `require_outputs` throws.
  Outputs(const std::vector<Output>& outputs, const std::vector<std::string>& inputs);

  // Calls `write`. What goes wrong is kept for `finish`.
  void attempt(const std::function<void()>& write);
  void text(const std::string& path, std::string_view content, Session& session);
  // Says in the messages of `finish` what was written, though something else was not.
  void keep(const std::string& path) { kept_.push_back(path); }
  // Throws if an attempt failed.
  void finish() const;

 private:
  std::string failure_;  // the first
  bool interrupted_ = false;
  std::vector<std::string> kept_;
};

}  // namespace kloom::cli
