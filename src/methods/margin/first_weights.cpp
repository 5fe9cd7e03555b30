// SPDX-License-Identifier: BSD-3-Clause
#include "methods/margin/first_weights.h"

#include <algorithm>

#include "methods/seam/prepared_targets.h"

namespace kloom::methods {

// The balance of classes is the machine's: rules see the weights of the samples alone.
RuleTask FirstWeights::task_of(const MarginOutput& output, Index fold, const std::vector<Index>& folds) const {
  RuleTask task;
  const auto n = std::ssize(output.task.y);
  const bool all_classes = shares_weights(method_) && targets_.task == Task::multiclass;
  task.labels = Matrix(n, all_classes ? std::ssize(targets_.classes) : 1);
  for (Index i = 0; i < n; ++i) {
    if (all_classes) {
      task.labels(i, targets_.codes[at(i)]) = 1.0;
    } else {
      task.labels(i, 0) = output.task.y[at(i)];
    }
    const bool in = all_classes || output.task.box[at(i)] > 0.0;
    const bool held_out = fold != kNone && folds[at(i)] == fold;
    task.weights.push_back(in && !held_out ? weight_of(targets_, i) : 0.0);
  }
  return task;
}

const EasyWeights& FirstWeights::of(const MarginOutput& output, Index number, Index fold,
                                    const std::vector<Index>& folds) {
  const std::pair key{shares_weights(method_) ? 0 : number, fold};
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  const RuleTask task = task_of(output, fold, folds);
  EasyWeights found;
  if (method_ == MarginMethod::easymkl) {
    found = easymkl_weights(bank_, task, options_.lambda, context_);
  } else {
    found.theta = method_ == MarginMethod::align ? align_weights(bank_, task) : alignf_weights(bank_, task);
  }
  return known_.emplace(key, std::move(found)).first->second;
}

}  // namespace kloom::methods
