// SPDX-License-Identifier: BSD-3-Clause
#include "select/choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "kloom/error.h"
#include "kloom/evaluate.h"
#include "kloom/kernels.h"
#include "kloom/words.h"
#include "models/scores.h"

namespace kloom {

OptionGrid::value_type parse_grid_axis(const std::string& text, const Learner& learner) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  if (equals == std::string::npos || name.empty() || equals + 1 == text.size()) {
    throw InvalidArgument(
        fmt::format("a grid is written NAME=VALUES, such as C=1e-1..1e4 or sparse=true,false; got '{}'", text));
  }
  std::vector<std::string> names;
  const OptionInfo* option = nullptr;
  for (const OptionInfo& one : learner.options) {
    names.push_back(one.name);
    if (one.name == name) option = &one;
  }
  if (option == nullptr) {
    throw InvalidArgument(fmt::format("method {} has no option '{}'{}; its options are {}", learner.name, name,
                                      did_you_mean(name, names), fmt::join(names, ", ")));
  }
  const std::string rest = text.substr(equals + 1);
  std::vector<std::string> values;
  if (option->kind == OptionInfo::Kind::real || option->kind == OptionInfo::Kind::integer) {
    for (const double value : parse_range(rest, -1, 0.0)) values.push_back(fmt::format("{}", value));
    return {name, values};
  }
  for (std::size_t start = 0; start <= rest.size();) {
    const std::size_t end = std::min(rest.find(',', start), rest.size());
    values.push_back(rest.substr(start, end - start));
    start = end + 1;
  }
  return {name, values};
}

std::string default_metric(Task task) {
  if (task == Task::multilabel) return "label accuracy";
  return models::has_numbers(task) ? "RMSE" : "accuracy";
}

double metric_value(const Evaluation& evaluation, const std::string& metric) {
  const auto place = std::ranges::find(evaluation.values, metric, [](const auto& pair) { return pair.first; });
  return place == evaluation.values.end() ? std::nan("") : place->second;
}

namespace select {
namespace {

OptionValues with(OptionValues options, const OptionValues& more) {
  for (const auto& [name, value] : more) options[name] = value;
  return options;
}

// Mean of the metric over the inner folds for every point; NaN where a fold failed.
Vector judge_points(const Problem& problem, const std::vector<Index>& train, const Candidate& candidate,
                    const std::vector<OptionValues>& points, const ValidationRequest& request,
                    const Context& context) {
  SplitRequest inner;
  inner.folds = request.inner_folds;
  const Targets targets = select_targets(problem.targets, train);
  const std::vector<Split> splits = make_splits(targets, inner, context.seed + 17);
  const auto in_data = [&](const std::vector<Index>& rows) {
    std::vector<Index> result;
    result.reserve(rows.size());
    for (const Index row : rows) result.push_back(train[static_cast<std::size_t>(row)]);
    return result;
  };
  const Learner& learner = find_learner(candidate.method);
  Vector means(points.size(), 0.0);
  for (const Split& split : splits) {
    Part part(problem, in_data(split.train), in_data(split.test), context);
    for (std::size_t k = 0; k < points.size(); ++k) {
      if (std::isnan(means[k])) continue;
      const Trial trial = part.run(learner, with(candidate.options, points[k]), context, candidate.completion);
      means[k] += metric_value(trial.evaluation, request.metric) / static_cast<double>(splits.size());
    }
  }
  return means;
}

}  // namespace

std::vector<OptionValues> grid_points(const OptionGrid& grid) {
  std::vector<OptionValues> points{{}};
  for (const auto& [name, values] : grid) {
    std::vector<OptionValues> longer;
    for (const OptionValues& point : points) {
      for (const std::string& value : values) {
        longer.push_back(point);
        longer.back()[name] = value;
      }
    }
    points = std::move(longer);
  }
  return points;
}

bool has_option(const Learner& learner, const std::string& name) {
  return std::ranges::any_of(learner.options, [&](const OptionInfo& option) { return option.name == name; });
}

bool walks_grid(const Learner& learner, const OptionGrid& grid, const std::string& metric, Task task) {
  return metric == default_metric(task) &&
         std::ranges::all_of(grid, [&](const auto& axis) { return has_option(learner, axis.first + "_grid"); });
}

Choice choose(const Problem& problem, const std::vector<Index>& train, const Candidate& candidate,
              const ValidationRequest& request, const Context& context) {
  const Learner& learner = find_learner(candidate.method);
  const std::vector<OptionValues> points = grid_points(candidate.grid);
  if (points.size() == 1) return {with(candidate.options, points.front()), false};
  if (walks_grid(learner, candidate.grid, request.metric, problem.targets.task)) {
    Choice choice{candidate.options, true};
    for (const auto& [name, values] : candidate.grid) {
      choice.options[name + "_grid"] = fmt::format("{}", fmt::join(values, ","));
      choice.options.erase(name);  // a value that is named is not chosen
    }
    if (has_option(learner, "folds") && !candidate.options.contains("folds"))
      choice.options["folds"] = fmt::format("{}", request.inner_folds);
    return choice;
  }
  const Vector means = judge_points(problem, train, candidate, points, request, context);
  const bool larger = larger_is_better(request.metric);
  std::optional<std::size_t> best;
  for (std::size_t k = 0; k < means.size(); ++k) {
    if (std::isnan(means[k])) continue;
    if (!best || (larger ? means[k] > means[*best] : means[k] < means[*best])) best = k;
  }
  if (!best) {
    throw InvalidArgument(fmt::format("{} gives no {} to choose from its grid by; name another metric",
                                      name_of(candidate), request.metric));
  }
  return {with(candidate.options, points[*best]), false};
}

}  // namespace select
}  // namespace kloom
