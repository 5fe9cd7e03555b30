// SPDX-License-Identifier: BSD-3-Clause
#include "select/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/stopwatch.h"
#include "base/threads.h"
#include "data/container_json.h"
#include "kloom/error.h"
#include "kloom/machine.h"
#include "select/choice.h"
#include "select/completion.h"
#include "select/part.h"

namespace kloom::select {
namespace {

constexpr Index kPilotSamples = 200;
// Exponents by which the time of a fit grows with the number of samples N: N² (filling matrices) up to kLate
// times the samples of the trial, N³ (factorising them) beyond. Stochastic methods grow between the samples
// that they pass over and the squares of those that they keep.
constexpr double kGrowth = 2.0;
constexpr double kLateGrowth = 3.0;
constexpr double kLate = 4.0;
constexpr double kStochasticGrowth = 1.5;
constexpr double kUse = 0.85;         // share of the budget to plan for; estimates are too low at times
constexpr double kPilotShare = 0.05;  // of the budget, for the trial of one method

std::string seconds_text(double seconds) {
  if (seconds < 90.0) return fmt::format("{:.0f} s", std::max(1.0, seconds));
  return seconds < 5400.0 ? fmt::format("{:.0f} min", seconds / 60.0)
                          : fmt::format("{:.1f} h", seconds / 3600.0);
}

// Seconds of one fit on the pilot's samples without and with its grid.
struct Pilot {
  double plain = 0.0;
  double full = 0.0;
};

class Planner {
 public:
  Planner(const Dataset& data, const Targets& targets, const ComparisonRequest& request, const Context& context)
      : request_(request),
        context_(context),
        problem_{data, targets, request.validation.spec, request.validation.recipe, request.validation.bank} {}

  Plan make() {
    check_splits();
    lacks_views_ = lacks_views(problem_.data, request_);
    plan_.repeats = request_.splits.repeats;
    plan_.folds = request_.splits.folds;
    choose_methods();
    run_pilots();
    shrink();
    return std::move(plan_);
  }

 private:
  void check_splits() const;
  void choose_methods();
  void run_pilots();
  std::optional<Pilot> pilot_of(const Learner& learner, Part& part);
  [[nodiscard]] double seconds_with_grid(const Learner& learner, Part& part, double plain,
                                         const Context& context) const;
  void keep_repeats_that_fit(Index fitting, Index beyond);
  void shrink();
  void leave_out_slow_methods();
  void grow_back(const Plan& asked);
  [[nodiscard]] double cost(const Plan& plan) const;
  [[nodiscard]] double cost(const std::string& method, GridSize grids, double samples) const;
  [[nodiscard]] Index splits_of(const Plan& plan) const;
  [[nodiscard]] bool fits() const { return cost(plan_) <= kUse * request_.seconds; }
  [[nodiscard]] Index training_samples(const Plan& plan) const;

  const ComparisonRequest& request_;
  const Context& context_;
  Problem problem_;
  Plan plan_;
  std::map<std::string, Pilot> pilots_;
  double kernel_seconds_ = 0.0;
  Index pilot_samples_ = 1;
  bool lacks_views_ = false;
};

// What make_splits would refuse in the end is refused before the trials; the plan may shrink the repeats, so one is made.
void Planner::check_splits() const {
  constexpr Index kMostRepeats = 1'000'000'000;
  if (request_.splits.repeats > kMostRepeats)
    throw InvalidArgument(
        fmt::format("repeats must be at most {}, got {}", kMostRepeats, request_.splits.repeats));
  SplitRequest once = request_.splits;
  once.repeats = std::min<Index>(1, once.repeats);
  static_cast<void>(make_splits(problem_.targets, once, context_));
}

void Planner::choose_methods() {
  const Task task = problem_.targets.task;
  for (const std::string& name : request_.methods) static_cast<void>(find_learner(name));
  for (const Learner& learner : all_learners()) {
    const bool asked = request_.methods.empty() || std::ranges::count(request_.methods, learner.name) > 0;
    if (!asked) {
      plan_.left_out.emplace_back(learner.name, "not among the methods asked for");
    } else if (std::ranges::find(learner.tasks, task) == learner.tasks.end()) {
      plan_.left_out.emplace_back(learner.name, fmt::format("does not do {} tasks", to_string(task)));
    } else {
      plan_.methods.push_back(learner.name);
    }
  }
  if (plan_.methods.empty())
    throw InvalidArgument(fmt::format("none of the methods does {} tasks", to_string(task)));
}

void Planner::run_pilots() {
  std::vector<Index> rows;
  for (Index i = 0; i < problem_.data.samples; ++i) rows.push_back(i);
  const Index training = training_samples(plan_);
  if (training > kPilotSamples) {
    SplitRequest sample;
    sample.kind = SplitRequest::Kind::holdout;
    sample.test_share = static_cast<double>(kPilotSamples) / static_cast<double>(problem_.data.samples);
    rows = make_splits(problem_.targets, sample, context_).front().test;
  }
  pilot_samples_ = std::min<Index>(std::ssize(rows), training);
  Context quiet = context_;
  quiet.threads = 1;
  quiet.log = nullptr;
  const Stopwatch clock;
  Part part(problem_, rows, {}, quiet);
  kernel_seconds_ = clock.seconds();
  std::vector<std::string> kept;
  for (const std::string& name : plan_.methods) {
    const auto pilot = pilot_of(find_learner(name), part);
    if (!pilot) continue;
    pilots_[name] = *pilot;
    kept.push_back(name);
  }
  plan_.methods = kept;
  if (kept.empty())
    throw InvalidArgument(
        fmt::format("no method would end within {}; give more time", seconds_text(request_.seconds)));
}

// Empty if the method is left out: too slow even on the pilot's samples, or unable to take these data.
std::optional<Pilot> Planner::pilot_of(const Learner& learner, Part& part) {
  const Stopwatch clock;
  const double limit = std::max(1.0, kPilotShare * request_.seconds);
  bool too_slow = false;
  Context quiet = context_;
  quiet.threads = 1;
  quiet.log = nullptr;
  quiet.progress = [&](const Progress&) {
    too_slow = clock.seconds() > limit;
    if (too_slow) return Signal::abort;
    const Progress here{"trials", std::ssize(pilots_), std::ssize(plan_.methods), std::nan(""),
                        clock.seconds()};
    return context_.progress && context_.progress(here) != Signal::go_on ? Signal::abort : Signal::go_on;
  };
  Pilot pilot;
  bool ended = false;  // without a grid
  try {
    pilot.plain = pilot.full = part.run(learner, fixed_options(learner, request_), quiet).train_seconds;
    ended = true;
    pilot.full = seconds_with_grid(learner, part, pilot.plain, quiet);
    return pilot;
  } catch (const Interrupted&) {
    if (!too_slow) throw;
    if (ended) {
      plan_.without_grid.push_back(learner.name);
      return pilot;
    }
    plan_.left_out.emplace_back(
        learner.name, fmt::format("a trial on {} samples took more than {}, too long for {}", pilot_samples_,
                                  seconds_text(limit), seconds_text(request_.seconds)));
  } catch (const ResourceError& error) {
    plan_.left_out.emplace_back(learner.name, error.what());
  } catch (const InvalidArgument& error) {
    plan_.left_out.emplace_back(learner.name, error.what());
  }
  return std::nullopt;
}

double Planner::seconds_with_grid(const Learner& learner, Part& part, double plain,
                                  const Context& context) const {
  const OptionGrid grid = default_grid(learner, GridSize::full);
  if (grid.empty()) return plain;
  if (!walks_grid(learner, grid, request_.validation.metric, problem_.targets.task)) {
    const auto folds = static_cast<double>(request_.validation.inner_folds);
    const double smaller = std::pow((folds - 1.0) / folds, kGrowth);
    return plain * (1.0 + folds * smaller * static_cast<double>(grid_points(grid).size()));
  }
  OptionValues options = fixed_options(learner, request_);
  for (const auto& [name, values] : grid) options[name + "_grid"] = fmt::format("{}", fmt::join(values, ","));
  if (has_option(learner, "folds")) options["folds"] = fmt::format("{}", request_.validation.inner_folds);
  return part.run(learner, options, context).train_seconds;
}

Index Planner::splits_of(const Plan& plan) const {
  switch (request_.splits.kind) {
    case SplitRequest::Kind::folds:
      return plan.folds * plan.repeats;
    case SplitRequest::Kind::holdout:
      return plan.repeats;
    case SplitRequest::Kind::given:
      break;
  }
  return std::ssize(make_splits(problem_.targets, request_.splits, context_));
}

Index Planner::training_samples(const Plan& plan) const {
  const auto n = static_cast<double>(problem_.data.samples);
  switch (request_.splits.kind) {
    case SplitRequest::Kind::folds:
      return static_cast<Index>(n * (1.0 - 1.0 / static_cast<double>(plan.folds)));
    case SplitRequest::Kind::holdout:
      return static_cast<Index>(n * (1.0 - request_.splits.test_share));
    case SplitRequest::Kind::given:
      break;
  }
  return std::ssize(make_splits(problem_.targets, request_.splits, context_).front().train);
}

double Planner::cost(const std::string& method, GridSize grids, double samples) const {
  const Pilot& pilot = pilots_.at(method);
  const double part = grids == GridSize::full ? 1.0 : (grids == GridSize::coarse ? 0.6 : 0.0);
  const double larger = std::max(1.0, samples / static_cast<double>(pilot_samples_));
  const double growth =
      find_learner(method).wants_families
          ? std::pow(larger, kStochasticGrowth)
          : std::pow(std::min(larger, kLate), kGrowth) * std::pow(std::max(1.0, larger / kLate), kLateGrowth);
  return (pilot.plain + part * (pilot.full - pilot.plain)) * growth;
}

double Planner::cost(const Plan& plan) const {
  const auto samples = static_cast<double>(training_samples(plan));
  const double larger = std::max(1.0, samples / static_cast<double>(pilot_samples_));
  double one = kernel_seconds_ * larger * larger;
  double slowest = 0.0;
  const auto baselines =
      lacks_views_ ? baseline_methods(problem_.targets, request_, plan.methods) : std::vector<std::string>();
  for (const std::string& method : plan.methods) {
    const bool repeated = std::ranges::count(baselines, method) > 0;
    one += cost(method, plan.grids, samples) *
           (repeated ? 1.0 + static_cast<double>(std::size(kCompletions)) : 1.0);
    slowest = std::max(slowest, cost(method, GridSize::none, static_cast<double>(problem_.data.samples)));
  }
  const Index splits = splits_of(plan);
  const auto workers = static_cast<double>(std::min<Index>(base::resolve_threads(context_), splits));
  return std::ceil(static_cast<double>(splits) / workers) * one + slowest;
}

// The most repeats below `beyond` that fit, at least `fitting`; by halving, since somebody may ask for a million.
void Planner::keep_repeats_that_fit(Index fitting, Index beyond) {
  while (beyond - fitting > 1) {
    plan_.repeats = fitting + (beyond - fitting) / 2;
    (fits() ? fitting : beyond) = plan_.repeats;
  }
  plan_.repeats = fitting;
}

// What costs least to lose goes first: fine grids, then repeats, then grids, then folds, then slow methods.
void Planner::shrink() {
  const Plan asked = plan_;
  const double whole = cost(plan_);
  if (!fits()) plan_.grids = GridSize::coarse;
  if (!fits()) keep_repeats_that_fit(1, plan_.repeats);
  if (!fits()) plan_.grids = GridSize::none;
  if (!fits() && request_.splits.kind == SplitRequest::Kind::folds && plan_.folds > 3) plan_.folds = 3;
  if (!fits()) {
    leave_out_slow_methods();
    grow_back(asked);
  }
  for (const std::string& name : plan_.without_grid)
    plan_.notes.push_back(
        fmt::format("{} keeps its default options: choosing them would take too long.", name));
  plan_.estimated_seconds = cost(plan_);
  std::string changes;
  const auto add = [&](const std::string& text) { changes += (changes.empty() ? "" : ", ") + text; };
  if (plan_.grids == GridSize::coarse) add("grids were thinned");
  if (plan_.grids == GridSize::none) add("options keep their defaults instead of being chosen from grids");
  if (plan_.repeats < asked.repeats)
    add(fmt::format("{} of {} repeats are done", plan_.repeats, asked.repeats));
  if (plan_.folds < asked.folds) add(fmt::format("{} folds instead of {}", plan_.folds, asked.folds));
  if (plan_.methods.size() < asked.methods.size()) add("slow methods are left out");
  if (!changes.empty()) {
    plan_.notes.push_back(
        fmt::format("All that was asked for would take about {}. To fit the budget of {}: {}. "
                    "'--time' gives more.",
                    seconds_text(whole), seconds_text(request_.seconds), changes));
  }
}

void Planner::leave_out_slow_methods() {
  const auto samples = static_cast<double>(training_samples(plan_));
  while (!fits() && plan_.methods.size() > 1) {
    const auto slowest = std::ranges::max_element(
        plan_.methods, {}, [&](const std::string& method) { return cost(method, plan_.grids, samples); });
    const double all = cost(*slowest, plan_.grids, samples) * static_cast<double>(splits_of(plan_));
    plan_.left_out.emplace_back(*slowest, fmt::format("would take about {} of the budget of {}",
                                                      seconds_text(all), seconds_text(request_.seconds)));
    std::erase(plan_.without_grid, *slowest);
    plan_.methods.erase(slowest);
  }
}

// Folds, repeats and grids may have been cut because of one slow method that was left out in the end: restores
// as much of them as fits the budget now.
void Planner::grow_back(const Plan& asked) {
  const auto try_with = [&](auto change) {
    const Plan before = plan_;
    change();
    if (!fits()) plan_ = before;
  };
  try_with([&] { plan_.folds = asked.folds; });
  keep_repeats_that_fit(plan_.repeats, asked.repeats + 1);
  for (const GridSize size : {GridSize::coarse, GridSize::full}) try_with([&] { plan_.grids = size; });
}

}  // namespace

OptionValues fixed_options(const Learner& learner, const ComparisonRequest& request) {
  if (request.every_kernel && has_option(learner, "candidates")) return {{"candidates", "0"}};
  return {};
}

OptionGrid default_grid(const Learner& learner, GridSize size) {
  if (size == GridSize::none) return {};
  const bool full = size == GridSize::full;
  using Values = std::vector<std::string>;
  OptionGrid grid;
  // Prices of a violation over four decades: with unit diagonals, below 0.1 everything is the mean, above 1000
  // nothing is softened any more.
  if (has_option(learner, "C"))
    grid.emplace_back("C", full ? Values{"0.1", "1", "10", "100", "1000"} : Values{"1", "10", "100"});
  if (has_option(learner, "lambda_grid"))
    grid.emplace_back("lambda",
                      full ? Values{"0.0078125", "0.03125", "0.125", "0.5"} : Values{"0.03125", "0.125"});
  return grid;
}

Plan make_plan(const Dataset& data, const Targets& targets, const ComparisonRequest& request,
               const Context& context) {
  return Planner(data, targets, request, context).make();
}

std::string to_json(const Plan& plan) {
  const nlohmann::json json = {{"methods", plan.methods},
                               {"without_grid", plan.without_grid},
                               {"grids", static_cast<int>(plan.grids)},
                               {"repeats", plan.repeats},
                               {"folds", plan.folds},
                               {"estimated_seconds", plan.estimated_seconds},
                               {"left_out", plan.left_out},
                               {"notes", plan.notes}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

namespace {

void check_methods(const Plan& plan, const ComparisonRequest& request, Task task, data::Fields& fields) {
  for (const std::string& name : plan.methods) {
    const auto& learners = all_learners();
    const auto learner = std::ranges::find(learners, name, &Learner::name);
    const bool asked = request.methods.empty() || std::ranges::count(request.methods, name) > 0;
    if (learner == learners.end() || !asked || std::ranges::count(learner->tasks, task) == 0 ||
        std::ranges::count(plan.methods, name) != 1)
      fields.damaged("methods", "names a method that this comparison does not have");
  }
  for (const std::string& name : plan.without_grid)
    if (std::ranges::count(plan.methods, name) == 0)
      fields.damaged("without_grid", "names a method that is not compared");
}

std::vector<std::pair<std::string, std::string>> pairs_from(data::Fields& fields, std::string_view key) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& pair : fields.array(key)) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_string())
      fields.damaged(key, "has an entry that is not two texts");
    pairs.emplace_back(pair[0].get<std::string>(), pair[1].get<std::string>());
  }
  return pairs;
}

}  // namespace

Plan plan_from_json(const std::string& text, const ComparisonRequest& request, Task task,
                    const std::string& source) {
  const nlohmann::json json = data::parse_json(text, source, "its plan");
  data::Fields fields(json, source, "the plan");
  Plan plan;
  plan.methods = fields.texts("methods");
  plan.without_grid = fields.texts("without_grid");
  check_methods(plan, request, task, fields);
  const Index grids = fields.index("grids");
  if (grids > static_cast<Index>(GridSize::full)) fields.damaged("grids", "is unknown");
  plan.grids = static_cast<GridSize>(grids);
  plan.repeats = fields.index("repeats");
  plan.folds = fields.index("folds");
  // The plan shrinks what was asked for and never adds to it.
  if (plan.methods.empty() || plan.repeats < 1 || plan.repeats > request.splits.repeats)
    fields.damaged("repeats", "is not what was asked for");
  if (plan.folds > request.splits.folds) fields.damaged("folds", "is more than was asked for");
  const nlohmann::json& seconds = fields.at("estimated_seconds");
  if (!seconds.is_number() || !(seconds.get<double>() >= 0.0))
    fields.damaged("estimated_seconds", "is no time");
  plan.estimated_seconds = seconds.get<double>();
  plan.left_out = pairs_from(fields, "left_out");
  plan.notes = fields.texts("notes");
  fields.finish();
  return plan;
}

}  // namespace kloom::select
