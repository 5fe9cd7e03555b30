// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include "kloom/error.h"
#include "methods/bemkl/passes.h"
#include "methods/bemkl_tasks/bemkl_tasks.h"

namespace kloom::methods {
namespace {

using Folds = std::vector<std::vector<Index>>;

// The factors when they have gone on without fold `k` of every task that has folds; false if they lost a matrix.
bool refit_without(JointFactors& factors, const std::vector<Folds>& folds, std::size_t k,
                   const BemklOptions& options, const Context& context) {
  for (std::size_t t = 0; t < folds.size(); ++t) {
    if (!folds[t].empty()) factors.leave_out(t, folds[t][k]);
  }
  if (!factors.iterate_from_intermediate()) return false;
  const Status status = run_passes(factors, options, context).status;
  if (status == Status::stopped) throw Interrupted("stopped in a fold");
  return status != Status::numerical_trouble;
}

}  // namespace

std::vector<HeldOut> joint_held_out(std::span<const PlannedTask> tasks, const JointFactors& factors,
                                    const BemklOptions& options, const Context& context) {
  BemklOptions rough = options;  // fits of folds settle less exactly
  rough.tolerance = std::max(options.tolerance, 1e-4);
  std::vector<Folds> folds;
  std::size_t count = 0;
  for (const PlannedTask& task : tasks) {
    folds.push_back(bemkl_folds(*task.data->bank, task.data->targets));
    count = std::max(count, folds.back().size());
  }
  std::vector<HeldOut> held_out(tasks.size());
  for (std::size_t k = 0; k < count; ++k) {
    JointFactors rest = factors;
    if (!refit_without(rest, folds, k, rough, context)) return std::vector<HeldOut>(tasks.size());
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      if (folds[t].empty()) continue;
      const auto& [data, plan, own] = tasks[t];
      const Model model = bemkl_model(*data->bank, data->targets, plan, {rest.tasks()[t]}, own);
      const Predictions predictions = predict(model, *data->bank, {}, context);
      for (const Index i : folds[t][k]) held_out[t].add(data->targets, i, predictions, i);
    }
  }
  return held_out;
}

}  // namespace kloom::methods
