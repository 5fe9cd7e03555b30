// SPDX-License-Identifier: BSD-3-Clause
//
// Support vector machines on one kernel, one for every output, and what they say of samples that they have not seen.
#pragma once

#include <memory>
#include <vector>

#include "kloom/bank.h"
#include "kloom/context.h"
#include "methods/margin/outputs.h"

namespace kloom::methods {

struct AloneSettings {
  Vector prices;  // C to choose from, ascending
  Index folds = 3;
  std::uint64_t seed = 0;
  double tolerance = 1e-3;  // relative duality gap
};

// Machines that were trained without one fold, at the C of least held-out error; of equal ones the smallest.
struct HeldOutMachines {
  double price = 0.0;
  double error = 0.0;          // share of wrong classes
  std::vector<Vector> scores;  // per output: of every sample by the machine that has not seen it
};

// Kernel p of the bank, held by itself.
class AloneKernel {
 public:
  AloneKernel(const KernelBank& bank, Index p);

  [[nodiscard]] HeldOutMachines held_out(const std::vector<MarginOutput>& outputs,
                                         const AloneSettings& settings, const Context& context) const;
  [[nodiscard]] MarginSolution machine(const MarginOutput& output, double price, double tolerance,
                                       const Context& context) const;

 private:
  [[nodiscard]] MarginSolution solved(const MarginTask& task, MarginStart start, double tolerance,
                                      const Context& context) const;
  void score_fold(const MarginSolution& solution, const std::vector<Index>& folds, Index fold,
                  Vector& scores) const;

  std::shared_ptr<const Matrix> entries_;
  std::unique_ptr<KernelBank> bank_;
};

}  // namespace kloom::methods
