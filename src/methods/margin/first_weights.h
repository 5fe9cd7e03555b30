// SPDX-License-Identifier: BSD-3-Clause
//
// Kernel weights of methods that find them before the machine: by a rule, for every output and every fold that a
// cross-validation holds out, from the samples that the machine itself will see.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "kloom/parts.h"
#include "methods/margin/margin.h"
#include "methods/margin/outputs.h"
#include "methods/twostep/rules.h"

namespace kloom::methods {

[[nodiscard]] constexpr bool is_two_step(MarginMethod method) {
  return method >= MarginMethod::easymkl;
}
// Centred alignment looks at all classes at once; the other rules know two sides only, so that every output has weights
// of its own.
[[nodiscard]] constexpr bool shares_weights(MarginMethod method) {
  return method == MarginMethod::align || method == MarginMethod::alignf;
}

// Not for numbers.
[[nodiscard]] constexpr bool knows_classes_only(MarginMethod method) {
  return method == MarginMethod::easymkl || method == MarginMethod::gram || method == MarginMethod::pwmk;
}

class FirstWeights {
 public:
  static constexpr Index kNone = -1;  // no fold is held out

  FirstWeights(MarginMethod method, const KernelBank& bank, const Targets& targets,
               const MarginOptions& options, const Context& context)
      : method_(method), bank_(bank), targets_(targets), options_(options), context_(context) {}

  // Found when they are first asked for; they do not depend on C.
  [[nodiscard]] const RuleWeights& of(const MarginOutput& output, Index number, Index fold,
                                      const std::vector<Index>& folds);

  // The part of a model whose weights were found without holding out a fold.
  [[nodiscard]] std::shared_ptr<const ModelPart> part(MarginPart margin,
                                                      const std::vector<MarginOutput>& outputs);
  // What to know about weights that were looked for step by step.
  void tell(Report& report, const std::vector<MarginOutput>& outputs);

 private:
  [[nodiscard]] const RuleWeights& whole(const std::vector<MarginOutput>& outputs, Index number);
  [[nodiscard]] double gap_of(const std::vector<MarginOutput>& outputs);  // the largest
  [[nodiscard]] RuleWeights found_for(const RuleTask& task, double tolerance) const;
  [[nodiscard]] RuleTask task_of(const MarginOutput& output, Index fold, const std::vector<Index>& folds) const;

  MarginMethod method_;
  const KernelBank& bank_;
  const Targets& targets_;
  const MarginOptions& options_;
  const Context& context_;
  std::map<std::pair<Index, Index>, RuleWeights> known_;  // by output and fold
};

}  // namespace kloom::methods
