// SPDX-License-Identifier: BSD-3-Clause
#include "methods/seam/fit_report.h"

namespace kloom::methods {

void describe_fit(Report& report, const std::string& method, const KernelBank& bank, const Targets& targets,
                  int threads, const Context& context) {
  report.method = method;
  report.bank = std::string(bank.kind());
  report.task = std::string(to_string(targets.task));
  report.samples = bank.rows();
  report.kernels = bank.kernels();
  report.threads = threads;
  report.seed = context.seed;
}

}  // namespace kloom::methods
