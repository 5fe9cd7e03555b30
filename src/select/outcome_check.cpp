// SPDX-License-Identifier: BSD-3-Clause
#include "select/outcome_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kloom/error.h"
#include "kloom/evaluate.h"
#include "models/scores.h"
#include "select/part.h"

namespace kloom::select {
namespace {

bool all_within(const Matrix& values, double low, double high) {
  return std::ranges::all_of(values.values(), [&](double v) { return v >= low && v <= high; });
}

std::string numbers_trouble(const Outcome& outcome) {
  for (const double seconds : {outcome.kernel_seconds, outcome.train_seconds, outcome.predict_seconds})
    if (!(seconds >= 0.0 && std::isfinite(seconds))) return "a time is no number of 0 or more";
  if (outcome.kernels_used > outcome.kernels) return "more kernels are used than there are";
  if (outcome.kernel_names.empty()) return {};
  if (outcome.split != 0 || std::ssize(outcome.kernel_names) != outcome.kernels ||
      outcome.kernel_weights.size() != outcome.kernel_names.size())
    return "it does not have one weight per kernel";
  if (!std::ranges::all_of(outcome.kernel_weights, [](double w) { return std::isfinite(w); }))
    return "a kernel weight is not finite";
  if (!outcome.errors_alone.empty() && outcome.errors_alone.size() != outcome.kernel_names.size())
    return "it does not have one error per kernel";
  if (!std::ranges::all_of(outcome.errors_alone,
                           [](double e) { return std::isnan(e) || (e >= 0.0 && std::isfinite(e)); }))
    return "the error of a kernel is no number of 0 or more";
  return {};
}

std::string chosen_trouble(const Outcome& outcome, const Candidate& candidate) {
  for (const auto& [name, value] : outcome.chosen) {
    const auto axis = std::ranges::find(candidate.grid, name, [](const auto& pair) { return pair.first; });
    if (axis == candidate.grid.end()) return fmt::format("it chose '{}', which was not to be chosen", name);
  }
  return {};
}

// The shapes that what comes after relies on.
std::string shape_trouble(const Predictions& p, Index samples, const Targets& targets) {
  const bool classes = models::has_codes(targets.task);
  const auto names = static_cast<Index>(targets.classes.size());
  const auto rows_fit = [&](const Matrix& values) { return values.empty() || values.rows() == samples; };
  if (!rows_fit(p.scores) || !rows_fit(p.probabilities) || !rows_fit(p.deviation))
    return "it does not have one prediction per held-out sample";
  if (!classes && p.scores.cols() != targets.values.cols()) return "it does not have one score per target";
  if (classes && p.scores.cols() > names) return "it has more scores than classes";
  if (!p.probabilities.empty() && p.probabilities.cols() != names)
    return "it does not have one probability per class";
  if (!p.deviation.empty() && p.deviation.cols() != p.scores.cols())
    return "it does not have one deviation per score";
  if (classes && std::ssize(p.codes) != samples) return "it does not have one class per held-out sample";
  if (!std::ranges::all_of(p.codes, [&](int code) { return code >= 0 && code < names; }))
    return "a class does not exist";
  return {};
}

std::string value_trouble(const Predictions& p) {
  constexpr double most = std::numeric_limits<double>::max();
  constexpr double rounding = 1e-9;  // of sums of a few probabilities
  if (!all_within(p.scores, -most, most)) return "a score is not finite";
  if (!all_within(p.probabilities, -rounding, 1.0 + rounding)) return "a probability is not between 0 and 1";
  if (!all_within(p.deviation, 0.0, most)) return "a deviation is negative or not finite";
  return {};
}

bool same_number(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  // Another build of kloom may round sums of a thousand terms another way.
  return a == b || std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

std::string evaluation_trouble(const Outcome& outcome, const Targets& truth) {
  Evaluation again;
  try {
    again = evaluate(outcome.predictions, truth);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  const Evaluation& kept = outcome.evaluation;
  const bool same = std::ranges::equal(kept.values, again.values, [](const auto& a, const auto& b) {
    return a.first == b.first && same_number(a.second, b.second);
  });
  if (!same || kept.samples != again.samples || kept.classes != again.classes ||
      kept.confusion != again.confusion)
    return "its metrics are not those of its predictions";
  return {};
}

}  // namespace

std::string outcome_trouble(const Outcome& outcome, const ValidationRequest& request, const Targets& targets) {
  if (outcome.candidate < 0 || outcome.candidate >= std::ssize(request.candidates))
    return "its method does not exist";
  if (outcome.split < 0 || outcome.split >= std::ssize(request.splits)) return "its split does not exist";
  std::string trouble = numbers_trouble(outcome);
  if (trouble.empty()) trouble = chosen_trouble(outcome, request.candidates[at(outcome.candidate)]);
  if (!trouble.empty()) return trouble;
  const Predictions& p = outcome.predictions;
  const std::vector<Index>& test = request.splits[at(outcome.split)].test;
  if (!outcome.failure.empty()) {
    const bool empty = p.codes.empty() && p.scores.empty() && p.probabilities.empty() && p.deviation.empty() &&
                       outcome.evaluation.values.empty() && outcome.kernel_names.empty();
    return empty ? "" : "it failed and has results";
  }
  trouble = shape_trouble(p, std::ssize(test), targets);
  if (trouble.empty()) trouble = value_trouble(p);
  if (trouble.empty()) trouble = evaluation_trouble(outcome, select_targets(targets, test));
  return trouble;
}

}  // namespace kloom::select
