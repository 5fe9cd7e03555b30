// SPDX-License-Identifier: BSD-3-Clause
//
// A file that grows by a line for every piece of work that is finished, so that an interrupted run can go on.
//
// Lines are JSON. The first names the request by a fingerprint; a line that was cut off by a crash is ignored.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "kloom/validate.h"

namespace kloom::select {

class Journal {
 public:
  // Without a path nothing is kept. Throws InvalidArgument if the file belongs to another request or is no
  // journal, FileError if it cannot be read or written.
  Journal(const std::string& path, const std::string& fingerprint);

  [[nodiscard]] const std::string& plan() const { return plan_; }  // JSON text; empty: none was written
  [[nodiscard]] const std::vector<Outcome>& outcomes() const { return outcomes_; }
  void write_plan(const std::string& json);
  void write(const Outcome& outcome);

 private:
  // False if nothing but a part of the `first` line is there.
  bool read(const std::string& first, const std::string& fingerprint);
  void append(const std::string& line);

  std::string path_;
  std::ofstream file_;
  std::string plan_;
  std::vector<Outcome> outcomes_;
};

// A name for everything that decides the outcomes: data, targets, kernels, and `settings` in words.
[[nodiscard]] std::string fingerprint_of(const Dataset& data, const Targets& targets,
                                         const std::string& settings);

}  // namespace kloom::select
