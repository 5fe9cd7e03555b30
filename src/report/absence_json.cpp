// SPDX-License-Identifier: BSD-3-Clause
#include "report/absence_json.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "data/absent_views.h"

namespace kloom::report {
namespace {

using Json = nlohmann::ordered_json;

struct Sum {
  Index samples = 0;
  double total = 0.0;
};

}  // namespace

Index ViewsThere::count(Index sample) const {
  Index views = 0;
  for (Index v = 0; v < there.cols(); ++v) views += there(sample, v) > 0.0 ? 1 : 0;
  return views;
}

ViewsThere views_there(const Dataset& data, const PreprocessingOptions& options) {
  const std::vector<ViewBlock> blocks = data::blocks_of(data, options);
  ViewsThere views{{}, data::views_there(blocks, data)};
  for (const ViewBlock& block : blocks) views.names.push_back(block.view);
  return views;
}

Json absence_json(const ViewsThere& views) {
  std::map<std::vector<int>, Index> counts;
  for (Index i = 0; i < views.there.rows(); ++i) {
    std::vector<int> pattern;
    for (Index v = 0; v < views.there.cols(); ++v) pattern.push_back(views.there(i, v) > 0.0 ? 1 : 0);
    ++counts[pattern];
  }
  std::vector<std::pair<std::vector<int>, Index>> patterns(counts.begin(), counts.end());
  std::ranges::stable_sort(patterns, std::greater(), [](const auto& pattern) { return pattern.second; });
  Json list = Json::array();
  for (const auto& [has, samples] : patterns) list.push_back({{"has", has}, {"samples", samples}});
  return {{"views", views.names}, {"patterns", list}};
}

Json by_views_json(const Comparison& comparison, Index candidate, const Targets& targets,
                   const ViewsThere& views) {
  const bool numbers = targets.task == Task::regression;
  if (!numbers && targets.task != Task::binary && targets.task != Task::multiclass) return Json::array();
  std::map<Index, Sum> sums;
  for (const Outcome& outcome : comparison.validation.outcomes) {
    const Split& split = comparison.request.splits[at(outcome.split)];
    if (outcome.candidate != candidate || split.repeat != 0 || !outcome.failure.empty()) continue;
    for (std::size_t k = 0; k < split.test.size(); ++k) {
      const Index i = split.test[k];
      if (!numbers && targets.codes[at(i)] == Targets::unlabelled) continue;
      Sum& sum = sums[views.count(i)];
      ++sum.samples;
      if (numbers) {
        const double away = outcome.predictions.scores(static_cast<Index>(k), 0) - targets.values(i, 0);
        sum.total += away * away;
      } else {
        sum.total += outcome.predictions.codes[k] == targets.codes[at(i)] ? 1.0 : 0.0;
      }
    }
  }
  Json list = Json::array();
  for (const auto& [count, sum] : sums) {
    const double mean = sum.total / static_cast<double>(sum.samples);
    list.push_back({{"views", count}, {"samples", sum.samples}, {"value", numbers ? std::sqrt(mean) : mean}});
  }
  return list;
}

}  // namespace kloom::report
