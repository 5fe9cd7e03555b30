// SPDX-License-Identifier: BSD-3-Clause
#include "methods/margin/first_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kloom/error.h"
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

RuleWeights FirstWeights::found_for(const RuleTask& task, double tolerance) const {
  RuleWeights found;
  switch (method_) {
    case MarginMethod::easymkl:
      return easymkl_weights(bank_, task, options_.lambda, context_);
    case MarginMethod::gram:
      return gram_weights(bank_, task, {options_.lambda, tolerance, options_.iterations}, context_);
    case MarginMethod::pwmk:
      return pwmk_weights(bank_, task, {options_.threshold, options_.single_C, options_.folds, context_.seed},
                          context_);
    case MarginMethod::align:
      found.theta = align_weights(bank_, task);
      return found;
    case MarginMethod::alignf:
      found.theta = alignf_weights(bank_, task);
      return found;
    case MarginMethod::fheuristic:
      found.theta = fheuristic_weights(bank_, task);
      return found;
    default:
      throw InternalError("this method has no rule for its weights");
  }
}

const RuleWeights& FirstWeights::of(const MarginOutput& output, Index number, Index fold,
                                    const std::vector<Index>& folds) {
  const std::pair key{shares_weights(method_) ? 0 : number, fold};
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  // Folds choose C, for which weights near the best ones are good enough.
  constexpr double kOfFolds = 1e-2;
  const double tolerance = fold == kNone ? options_.tolerance : std::max(options_.tolerance, kOfFolds);
  return known_.emplace(key, found_for(task_of(output, fold, folds), tolerance)).first->second;
}

const RuleWeights& FirstWeights::whole(const std::vector<MarginOutput>& outputs, Index number) {
  return of(outputs[at(number)], number, kNone, {});
}

std::shared_ptr<const ModelPart> FirstWeights::part(MarginPart margin,
                                                    const std::vector<MarginOutput>& outputs) {
  auto part = std::make_shared<TwoStepPart>();
  static_cast<MarginPart&>(*part) = std::move(margin);
  part->sample_weights = targets_.weights;
  const auto columns = [&](Matrix& matrix, Index rows, Vector RuleWeights::*values) {
    matrix = Matrix(rows, std::ssize(outputs));
    for (Index k = 0; k < std::ssize(outputs); ++k)
      std::ranges::copy(whole(outputs, k).*values, matrix.column(k).begin());
  };
  if (method_ == MarginMethod::easymkl || method_ == MarginMethod::gram) {
    part->lambda = options_.lambda;
    columns(part->gamma, bank_.rows(), &RuleWeights::gamma);
  }
  if (method_ == MarginMethod::gram) {
    columns(part->ball, bank_.rows(), &RuleWeights::ball);
    columns(part->bound_gamma, bank_.rows(), &RuleWeights::bound_gamma);
    columns(part->bound_ball, bank_.rows(), &RuleWeights::bound_ball);
    part->ratio_gap = gap_of(outputs);
  }
  if (method_ == MarginMethod::pwmk) {
    part->threshold = options_.threshold;
    columns(part->accuracies, bank_.kernels(), &RuleWeights::accuracies);
  }
  return part;
}

double FirstWeights::gap_of(const std::vector<MarginOutput>& outputs) {
  double gap = 0.0;
  for (Index k = 0; k < std::ssize(outputs); ++k) gap = std::max(gap, whole(outputs, k).gap);
  return gap;
}

void FirstWeights::tell(Report& report, const std::vector<MarginOutput>& outputs) {
  for (Index k = 0; k < std::ssize(outputs); ++k) report.iterations += whole(outputs, k).iterations;
  const double gap = gap_of(outputs);
  report.message += fmt::format("; gap of the ratio of radius and margin {:.1e}", gap);
  if (gap <= options_.tolerance) return;
  if (report.status == Status::converged) report.status = Status::iteration_limit;
  report.warnings.push_back(
      fmt::format("the kernel weights stopped at a gap of {:.1e}, and {:.1e} was asked for: more --iterations, "
                  "a larger --tolerance or a larger --lambda would help",
                  gap, options_.tolerance));
}

}  // namespace kloom::methods
