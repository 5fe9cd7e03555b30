// SPDX-License-Identifier: BSD-3-Clause
//
// "Which method should I use?": all that fit the task and the size, on the same splits,
// within a budget of time.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kloom/learner.h"
#include "kloom/validate.h"

namespace kloom {

struct ComparisonRequest {
  // Kernels, metric, inner folds and journal as for cross_validate; candidates, splits and seconds
  // are set by the plan.
  ValidationRequest validation;
  std::vector<std::string> methods;  // empty: all
  SplitRequest splits;
  double seconds = 600.0;  // budget: grids, repeats, folds and methods shrink until the estimate fits
  // Where samples lack views: the methods that are also run with every Completion. None named: the first of the methods
  // that can learn from such samples, apart from the default one.
  std::optional<std::vector<std::string>> absent_baselines;
  // Methods that judge kernels by themselves (single) judge all of them, not the most promising ones.
  bool every_kernel = false;
};

struct MetricSummary {
  std::string name;
  double mean = 0.0;
  double deviation = 0.0;  // between splits
};

struct MethodSummary {
  Candidate candidate;
  Index splits = 0;  // with a result
  std::vector<MetricSummary> metrics;
  double rank = 1.0;  // mean over the splits, 1 is best, ties share
  // Against the best method, on the same splits, two-sided; NaN for the best itself and for a single split.
  double t_statistic = 0.0, t_p = 0.0;  // corrected for overlapping training parts
  double wilcoxon_statistic = 0.0, wilcoxon_p = 0.0;
  double kernel_seconds = 0.0, train_seconds = 0.0, predict_seconds = 0.0;  // means, one thread
  double kernels_used = 0.0;
  double kernels = 0.0;
  std::size_t memory_bytes = 0;  // largest
  OptionValues chosen;           // the point of the grid that was chosen most often

  [[nodiscard]] const MetricSummary* find(const std::string& metric) const;
};

struct Comparison {
  ValidationRequest request;  // as it was run
  Validation validation;
  std::vector<MethodSummary> methods;  // best first
  Index complete_splits = 0;           // on which every method has a result; the summaries are over these
  std::vector<std::pair<std::string, std::string>> left_out;  // method, why
  std::vector<std::string> notes;                             // how the plan was made to fit
  double budget_seconds = 0.0;
  double estimated_seconds = 0.0;
  std::string recommended;             // method
  std::string recommendation;          // one paragraph
  std::optional<FitResult> final_fit;  // of the recommended method on all samples
};

// Trials on few samples estimate the time, then everything runs. Ctrl-C (the callback's `stop`) and the end of
// the budget leave a comparison over the splits that were finished. Throws InvalidArgument if no method does
// the task or nothing was finished.
[[nodiscard]] Comparison compare(const Dataset& data, const Targets& targets, const ComparisonRequest& request,
                                 const Context& context);

// Means, ranks and tests of outcomes: what compare does after it ran.
[[nodiscard]] Comparison summarise(const ValidationRequest& request, Validation validation);

// Fit on all samples with the options that were chosen most often; the model has its recipe.
[[nodiscard]] FitResult fit_on_all(const Dataset& data, const Targets& targets,
                                   const ValidationRequest& request, const MethodSummary& method,
                                   const Context& context);

}  // namespace kloom
