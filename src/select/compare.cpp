// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/progress.h"
#include "base/stopwatch.h"
#include "kloom/error.h"
#include "kloom/evaluate.h"
#include "select/completion.h"
#include "select/part.h"
#include "select/plan.h"
#include "select/validation.h"

namespace kloom {
namespace {

constexpr double kLevel = 0.05;      // p-values below it count as a real difference
constexpr double kFinalShare = 0.1;  // of the budget, for the fit on all samples
constexpr double kFaster = 3.0;      // a method that is so many times faster is mentioned,
constexpr double kNoticed = 0.5;     // if the slower one takes at least so many seconds

// "97.4 % ± 1.2" for rates, "0.213 ± 0.04" for the rest.
std::string value_text(const MethodSummary& method, const std::string& metric) {
  const MetricSummary* value = method.find(metric);
  if (value == nullptr) return "unknown";
  const bool rate = larger_is_better(metric) && metric != "R²" && metric != "MCC";
  const double scale = rate ? 100.0 : 1.0;
  std::string text = rate ? fmt::format("{:.1f} %", scale * value->mean) : fmt::format("{:.4g}", value->mean);
  if (!std::isnan(value->deviation))
    text +=
        rate ? fmt::format(" ± {:.1f}", scale * value->deviation) : fmt::format(" ± {:.2g}", value->deviation);
  return text;
}

double total_seconds(const MethodSummary& method) {
  return method.train_seconds + method.predict_seconds;
}

std::string joined(const std::vector<std::string>& names) {
  if (names.size() < 2) return names.empty() ? "" : names.front();
  const std::vector<std::string> head(names.begin(), names.end() - 1);
  return fmt::format("{} and {}", fmt::join(head, ", "), names.back());
}

// What the paired tests say about the other methods.
std::string others_text(const Comparison& comparison) {
  std::vector<std::string> equal;
  std::vector<std::string> worse;
  for (std::size_t m = 1; m < comparison.methods.size(); ++m) {
    const MethodSummary& method = comparison.methods[m];
    (method.t_p < kLevel ? worse : equal).push_back(name_of(method.candidate));
  }
  std::string text;
  if (comparison.complete_splits < 2)
    return " One split cannot tell luck from skill: ask for more folds or repeats.";
  if (!worse.empty()) {
    text += fmt::format(" {} {} worse by more than chance explains (corrected t-test, p < {}).", joined(worse),
                        worse.size() == 1 ? "is" : "are", kLevel);
  }
  if (!equal.empty()) text += fmt::format(" On these data {} cannot be told apart from it.", joined(equal));
  return text;
}

// Names the best of the methods that are not significantly worse and much faster.
std::string faster_text(const Comparison& comparison) {
  const MethodSummary& best = comparison.methods.front();
  if (total_seconds(best) < kNoticed) return "";
  const auto faster = std::ranges::find_if(comparison.methods, [&](const MethodSummary& method) {
    return method.candidate.completion == Completion::none && method.t_p >= kLevel &&
           kFaster * total_seconds(method) <= total_seconds(best);
  });
  if (faster == comparison.methods.end()) return "";
  return fmt::format(" If time matters, {} is {:.0f} times faster with {} (p = {:.2f}).",
                     name_of(faster->candidate), total_seconds(best) / total_seconds(*faster),
                     value_text(*faster, comparison.request.metric), faster->t_p);
}

// Says whether learning kernel weights beat the baselines without it.
std::string baseline_text(const Comparison& comparison) {
  const auto& methods = comparison.methods;
  const auto place = std::ranges::find_if(methods, [](const MethodSummary& summary) {
    const Learner* learner = learner_of_model(summary.candidate.method);
    return learner != nullptr && learner->equal_weights && summary.candidate.completion == Completion::none;
  });
  if (place == methods.end()) return "";
  if (place == methods.begin())
    return " That is the plain mean of all kernels: here, learning kernel weights does not pay.";
  if (place->t_p < kLevel) {
    return fmt::format(" Learning kernel weights pays: their plain mean ({}) has {}.", place->candidate.method,
                       value_text(*place, comparison.request.metric));
  }
  return "";
}

// The best method that learns from what samples have; the best of all where only baselines have a result.
const MethodSummary& best_of(const Comparison& comparison) {
  const auto own = std::ranges::find_if(comparison.methods, [](const MethodSummary& summary) {
    return summary.candidate.completion == Completion::none;
  });
  return own == comparison.methods.end() ? comparison.methods.front() : *own;
}

std::string recommendation_of(const Comparison& comparison) {
  const MethodSummary& best = best_of(comparison);
  const MethodSummary& first = comparison.methods.front();
  std::string text = fmt::format("Use {}: over {} held-out part{} it has the best {}{}, {}",
                                 best.candidate.method, comparison.complete_splits,
                                 comparison.complete_splits == 1 ? "" : "s", comparison.request.metric,
                                 &best == &first ? "" : " of those that learn from the views there are",
                                 value_text(best, comparison.request.metric));
  if (best.kernels > 0.0)
    text += fmt::format(", with {:.0f} of {:.0f} kernels in use", best.kernels_used, best.kernels);
  if (&best != &first)
    return text +
           fmt::format(". The baseline '{}' has {} (p = {:.2f}): fill the gaps in yourself if that matters.",
                       name_of(first.candidate), value_text(first, comparison.request.metric), best.t_p);
  text += "." + others_text(comparison) + faster_text(comparison) + baseline_text(comparison);
  return text;
}

ValidationRequest planned(const Dataset& data, const ComparisonRequest& request, const select::Plan& plan,
                          const Targets& targets, const Context& context) {
  ValidationRequest validation = request.validation;
  SplitRequest splits = request.splits;
  splits.folds = plan.folds;
  splits.repeats = plan.repeats;
  validation.splits = make_splits(targets, splits, context);
  validation.candidates.clear();
  for (const std::string& method : plan.methods) {
    const bool plain = std::ranges::count(plan.without_grid, method) > 0;
    const auto grids = plain ? select::GridSize::none : plan.grids;
    const Learner& learner = find_learner(method);
    validation.candidates.push_back(
        {method, select::fixed_options(learner, request), select::default_grid(learner, grids)});
  }
  const std::vector<Candidate> methods = validation.candidates;
  if (!select::lacks_views(data, request)) return validation;
  for (const std::string& name : select::baseline_methods(targets, request, plan.methods)) {
    Candidate baseline = *std::ranges::find(methods, name, &Candidate::method);
    for (const Completion completion : kCompletions) {
      baseline.completion = completion;
      validation.candidates.push_back(baseline);
    }
  }
  return validation;
}

// Everything that decides the plan, in words.
std::string comparison_settings(const ComparisonRequest& request, const Context& context) {
  ValidationRequest plain = request.validation;
  plain.candidates.clear();
  plain.splits.clear();
  const SplitRequest& splits = request.splits;
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}{}", select::settings_text(plain, context),
                     fmt::join(request.methods, ","), static_cast<int>(splits.kind), splits.folds,
                     splits.repeats, splits.test_share, fmt::join(splits.groups, ","),
                     fmt::join(splits.given, ","), request.seconds,
                     request.every_kernel ? "|every kernel" : "") +
         (request.absent_baselines ? fmt::format("|baselines {}", fmt::join(*request.absent_baselines, ","))
                                   : "");
}

// Takes at most `seconds`: a fit that was stopped still gives a model, and the page says that it was.
void add_final_fit(const Dataset& data, const Targets& targets, double seconds, Comparison& comparison,
                   const Context& context) {
  const Stopwatch clock;
  bool cut = false;
  Context last_fit = context;
  last_fit.progress = [&](const Progress& progress) {
    cut = cut || clock.seconds() > seconds;
    if (cut) return Signal::stop;
    return context.progress ? context.progress(progress) : Signal::go_on;
  };
  try {
    comparison.final_fit = fit_on_all(data, targets, comparison.request, best_of(comparison), last_fit);
    if (cut)
      comparison.notes.emplace_back("The fit on all samples was stopped early, because the time was up.");
  } catch (const Interrupted&) {
    comparison.notes.emplace_back("The fit on all samples was not finished, so its figures are missing.");
  }
}

}  // namespace

FitResult fit_on_all(const Dataset& data, const Targets& targets, const ValidationRequest& request,
                     const MethodSummary& method, const Context& context) {
  const select::Problem problem{data, targets, request.spec, request.recipe, request.bank};
  std::vector<Index> rows;
  for (Index i = 0; i < data.samples; ++i) rows.push_back(i);
  select::Part part(problem, rows, {}, context);
  OptionValues options = method.candidate.options;
  for (const auto& [name, value] : method.chosen) options[name] = value;
  FitResult fit = part.run(find_learner(method.candidate.method), options, context).fit;
  fit.model.recipe = part.recipe();
  fit.model.target_name = data.target_name;
  fit.report.task = to_string(targets.task);
  return fit;
}

Comparison compare(const Dataset& data, const Targets& targets, const ComparisonRequest& request,
                   const Context& context) {
  const Stopwatch clock;
  ComparisonRequest complete = request;
  if (complete.validation.metric.empty()) complete.validation.metric = default_metric(targets.task);
  if (!(complete.seconds > 0.0))
    throw InvalidArgument(fmt::format("the time budget must be positive, got {}", complete.seconds));
  // What is asked for in vain is said before there is a journal.
  if (select::lacks_views(data, complete)) static_cast<void>(select::baseline_methods(targets, complete, {}));
  select::Journal journal(complete.validation.journal,
                          select::fingerprint_of(data, targets, comparison_settings(complete, context)),
                          context);
  if (journal.plan().empty()) journal.write_plan(to_json(select::make_plan(data, targets, complete, context)));
  const select::Plan plan = select::plan_from_json(journal.plan(), complete, targets.task, journal.path());
  log(context, LogLevel::info,
      fmt::format("{} on {} splits, estimated {:.0f} s of {:.0f} s", joined(plan.methods),
                  planned(data, complete, plan, targets, context).splits.size(), plan.estimated_seconds,
                  complete.seconds));
  for (const std::string& note : plan.notes) log(context, LogLevel::info, note);

  ValidationRequest validation = planned(data, complete, plan, targets, context);
  validation.seconds = (1.0 - kFinalShare) * complete.seconds - clock.seconds();
  Comparison comparison =
      summarise(validation, select::run_validation(data, targets, validation, journal, context));
  comparison.left_out.insert(comparison.left_out.begin(), plan.left_out.begin(), plan.left_out.end());
  comparison.notes.insert(comparison.notes.begin(), plan.notes.begin(), plan.notes.end());
  comparison.budget_seconds = complete.seconds;
  comparison.estimated_seconds = plan.estimated_seconds;
  if (comparison.validation.out_of_time) {
    comparison.notes.push_back(fmt::format("The time was up after {} of {} splits; the table is over those.",
                                           comparison.complete_splits, validation.splits.size()));
  }
  if (comparison.methods.empty()) {
    if (comparison.validation.interrupted) return comparison;
    std::string why;
    for (const auto& [method, reason] : comparison.left_out) why += fmt::format("; {}: {}", method, reason);
    throw InvalidArgument("no method has a result" + why);
  }
  comparison.recommended = best_of(comparison).candidate.method;
  comparison.recommendation = recommendation_of(comparison);
  if (!comparison.validation.interrupted) {
    const double left = std::max(complete.seconds - clock.seconds(), kFinalShare * complete.seconds);
    add_final_fit(data, targets, left, comparison, context);
  }
  return comparison;
}

}  // namespace kloom
