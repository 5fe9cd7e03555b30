// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "base/progress.h"
#include "methods/bemkl/bemkl.h"
#include "methods/bemkl/factors.h"

namespace kloom::methods {

// One run of updates with its report: bound, trace, status.
class BemklRun {
 public:
  BemklRun(BemklFactors& factors, const BemklOptions& options, const Context& context)
      : factors_(factors), options_(options), meter_(context, "bemkl") {}

  // Iterates until the bound has settled; fills status, message, trace and iterations of the report.
  void go(Report& report);

 private:
  // One pass over the factors has been made. False: the run has ended.
  bool goes_on(bool sound, Report& report);
  [[nodiscard]] bool accelerated_pass();
  [[nodiscard]] std::optional<Vector> extrapolated() const;

  BemklFactors& factors_;
  const BemklOptions& options_;
  ProgressMeter meter_;
  double bound_ = -std::numeric_limits<double>::infinity();
  Index iteration_ = 0;
  Index quiet_ = 0;                     // passes in a row that hardly raised the bound
  std::vector<Vector> before_, after_;  // states before and after the last passes
  std::optional<BemklFactors> spare_;   // where passes from extrapolated states are tried
};

}  // namespace kloom::methods
