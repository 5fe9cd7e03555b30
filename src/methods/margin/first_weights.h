// SPDX-License-Identifier: BSD-3-Clause
//
// Kernel weights of methods that find them before the machine: by a rule, for every output and every fold that a
// cross-validation holds out, from the samples that the machine itself will see.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "methods/margin/margin.h"
#include "methods/margin/outputs.h"
#include "methods/twostep/rules.h"

namespace kloom::methods {

[[nodiscard]] constexpr bool is_two_step(MarginMethod method) {
  return method == MarginMethod::easymkl || method == MarginMethod::align || method == MarginMethod::alignf;
}
// EasyMKL knows two sides only, so every output has weights of its own; alignment looks at all classes at once.
[[nodiscard]] constexpr bool shares_weights(MarginMethod method) {
  return method == MarginMethod::align || method == MarginMethod::alignf;
}

class FirstWeights {
 public:
  static constexpr Index kNone = -1;  // no fold is held out

  FirstWeights(MarginMethod method, const KernelBank& bank, const Targets& targets,
               const MarginOptions& options, const Context& context)
      : method_(method), bank_(bank), targets_(targets), options_(options), context_(context) {}

  // Found when they are first asked for; they do not depend on C.
  [[nodiscard]] const EasyWeights& of(const MarginOutput& output, Index number, Index fold,
                                      const std::vector<Index>& folds);

 private:
  [[nodiscard]] RuleTask task_of(const MarginOutput& output, Index fold, const std::vector<Index>& folds) const;

  MarginMethod method_;
  const KernelBank& bank_;
  const Targets& targets_;
  const MarginOptions& options_;
  const Context& context_;
  std::map<std::pair<Index, Index>, EasyWeights> known_;  // by output and fold
};

}  // namespace kloom::methods
