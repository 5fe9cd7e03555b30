// SPDX-License-Identifier: BSD-3-Clause
//
// From outcomes to a table: means, ranks, tests.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "kloom/compare.h"
#include "kloom/error.h"
#include "kloom/evaluate.h"
#include "select/paired_tests.h"

namespace kloom {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Outcomes of one candidate on the splits that count, in their order.
using Column = std::vector<const Outcome*>;

struct Table {
  std::vector<Index> candidates;
  std::map<Index, Column> columns;
};

Table complete_table(const ValidationRequest& request, const Validation& validation, Comparison& comparison) {
  Table table;
  std::map<Index, std::string> failed;
  std::map<Index, std::map<Index, const Outcome*>> by_split;
  for (const Outcome& outcome : validation.outcomes) {
    if (!outcome.failure.empty()) failed.emplace(outcome.candidate, outcome.failure);
    by_split[outcome.split][outcome.candidate] = &outcome;
  }
  for (Index c = 0; c < std::ssize(request.candidates); ++c) {
    if (!failed.contains(c)) table.candidates.push_back(c);
  }
  for (const auto& [candidate, why] : failed)
    comparison.left_out.emplace_back(name_of(request.candidates[static_cast<std::size_t>(candidate)]), why);
  // If no split has a result of every method, the methods without a result on the first split are left out.
  const auto whole = [&](const auto& outcomes) {
    return std::ranges::all_of(table.candidates, [&](Index c) { return outcomes.contains(c); });
  };
  if (std::ranges::none_of(by_split, [&](const auto& entry) { return whole(entry.second); })) {
    std::set<Index> seen;
    if (!by_split.empty()) {
      for (const auto& [candidate, outcome] : by_split.begin()->second) seen.insert(candidate);
    }
    for (const Index c : table.candidates) {
      if (!seen.contains(c)) {
        comparison.left_out.emplace_back(name_of(request.candidates[static_cast<std::size_t>(c)]),
                                         "was not finished in the time that there was");
      }
    }
    std::erase_if(table.candidates, [&](Index c) { return !seen.contains(c); });
  }
  for (const auto& [split, outcomes] : by_split) {
    if (!whole(outcomes)) continue;
    ++comparison.complete_splits;
    for (const Index c : table.candidates) table.columns[c].push_back(outcomes.at(c));
  }
  return table;
}

Vector values_of(const Column& column, const std::string& metric) {
  Vector values;
  for (const Outcome* outcome : column) values.push_back(metric_value(outcome->evaluation, metric));
  return values;
}

double mean_of(const Vector& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return values.empty() ? kNaN : sum / static_cast<double>(values.size());
}

double deviation_of(const Vector& values) {
  if (values.size() < 2) return kNaN;
  const double mean = mean_of(values);
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (static_cast<double>(values.size()) - 1.0));
}

// Metrics that every split has.
std::vector<MetricSummary> metrics_of(const Column& column) {
  std::vector<MetricSummary> metrics;
  if (column.empty()) return metrics;
  for (const auto& [name, value] : column.front()->evaluation.values) {
    const Vector values = values_of(column, name);
    if (std::ranges::any_of(values, [](double v) { return std::isnan(v); })) continue;
    metrics.push_back({name, mean_of(values), deviation_of(values)});
  }
  return metrics;
}

OptionValues most_frequent(const Column& column) {
  std::map<OptionValues, Index> counts;
  for (const Outcome* outcome : column) ++counts[outcome->chosen];
  if (counts.empty()) return {};
  return std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; })->first;
}

MethodSummary summary_of(const Candidate& candidate, const Column& column) {
  MethodSummary summary;
  summary.candidate = candidate;
  summary.splits = std::ssize(column);
  summary.metrics = metrics_of(column);
  summary.chosen = most_frequent(column);
  const auto count = static_cast<double>(column.size());
  for (const Outcome* outcome : column) {
    summary.kernel_seconds += outcome->kernel_seconds / count;
    summary.train_seconds += outcome->train_seconds / count;
    summary.predict_seconds += outcome->predict_seconds / count;
    summary.kernels_used += static_cast<double>(outcome->kernels_used) / count;
    summary.kernels += static_cast<double>(outcome->kernels) / count;
    summary.memory_bytes = std::max(summary.memory_bytes, outcome->memory_bytes);
  }
  return summary;
}

// Mean rank of every column; equal values share their ranks.
Vector mean_ranks(const std::vector<Vector>& values, bool larger) {
  Vector ranks(values.size(), 0.0);
  const std::size_t splits = values.empty() ? 0 : values.front().size();
  for (std::size_t s = 0; s < splits; ++s) {
    for (std::size_t m = 0; m < values.size(); ++m) {
      double rank = 1.0;
      for (std::size_t other = 0; other < values.size(); ++other) {
        if (other == m) continue;
        const bool better = larger ? values[other][s] > values[m][s] : values[other][s] < values[m][s];
        rank += better ? 1.0 : (values[other][s] == values[m][s] ? 0.5 : 0.0);
      }
      ranks[m] += rank / static_cast<double>(splits);
    }
  }
  return ranks;
}

// Mean n_test / n_train of the splits.
double test_per_train(const ValidationRequest& request) {
  double sum = 0.0;
  for (const Split& split : request.splits)
    sum += static_cast<double>(split.test.size()) / static_cast<double>(split.train.size());
  return sum / static_cast<double>(request.splits.size());
}

void test_against(MethodSummary& method, const Vector& values, const Vector& best, double share) {
  Vector differences;
  // Differences of rates that are equal in truth differ in their last bits; ranks should not see that.
  constexpr double kGrain = 1e-12;
  for (std::size_t s = 0; s < values.size(); ++s)
    differences.push_back(std::round((values[s] - best[s]) / kGrain) * kGrain);
  if (differences.size() < 2) return;
  const select::TestResult t = select::corrected_t_test(differences, share);
  const select::TestResult w = select::wilcoxon_test(differences);
  method.t_statistic = t.statistic;
  method.t_p = t.p;
  method.wilcoxon_statistic = w.statistic;
  method.wilcoxon_p = w.p;
}

// The one that evaluations name first is the default one.
std::string first_metric(const Validation& validation) {
  for (const Outcome& outcome : validation.outcomes) {
    if (!outcome.evaluation.values.empty()) return outcome.evaluation.values.front().first;
  }
  return "accuracy";
}

}  // namespace

const MetricSummary* MethodSummary::find(const std::string& metric) const {
  const auto place = std::ranges::find(metrics, metric, &MetricSummary::name);
  return place == metrics.end() ? nullptr : &*place;
}

Comparison summarise(const ValidationRequest& asked, Validation validation) {
  Comparison comparison;
  comparison.request = asked;
  comparison.validation = std::move(validation);
  ValidationRequest& request = comparison.request;
  if (request.metric.empty()) request.metric = first_metric(comparison.validation);
  Table table = complete_table(request, comparison.validation, comparison);
  std::erase_if(table.candidates, [&](Index c) {
    const Column& column = table.columns[c];
    if (column.empty() || !std::isnan(mean_of(values_of(column, request.metric)))) return false;
    comparison.left_out.emplace_back(name_of(request.candidates[static_cast<std::size_t>(c)]),
                                     fmt::format("gives no {}", request.metric));
    return true;
  });
  if (table.candidates.empty() || comparison.complete_splits == 0) return comparison;
  const bool larger = larger_is_better(request.metric);
  std::ranges::stable_sort(table.candidates, [&](Index a, Index b) {
    const double left = mean_of(values_of(table.columns[a], request.metric));
    const double right = mean_of(values_of(table.columns[b], request.metric));
    return larger ? left > right : left < right;
  });
  std::vector<Vector> values;
  for (const Index c : table.candidates) values.push_back(values_of(table.columns[c], request.metric));
  const Vector ranks = mean_ranks(values, larger);
  for (std::size_t m = 0; m < values.size(); ++m) {
    const Index c = table.candidates[m];
    comparison.methods.push_back(summary_of(request.candidates[static_cast<std::size_t>(c)], table.columns[c]));
    MethodSummary& method = comparison.methods.back();
    method.rank = ranks[m];
    method.t_statistic = method.t_p = method.wilcoxon_statistic = method.wilcoxon_p = kNaN;
    if (m > 0) test_against(method, values[m], values.front(), test_per_train(request));
  }
  return comparison;
}

}  // namespace kloom
