// SPDX-License-Identifier: BSD-3-Clause
#include "select/validation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <set>

#include "algebra/for_each.h"
#include "base/stopwatch.h"
#include "base/threads.h"
#include "kloom/error.h"
#include "kloom/evaluate.h"
#include "kloom/machine.h"
#include "select/choice.h"
#include "select/outcome_check.h"
#include "select/part.h"

namespace kloom::select {
namespace {

// The state that workers share: what is done, when to stop, and the calls of the caller's progress callback.
class Run {
 public:
  Run(const ValidationRequest& request, Journal& journal, const Context& context)
      : request_(request), journal_(journal), context_(context) {
    for (const JournalEntry& entry : journal.entries()) {
      result_.outcomes.push_back(entry.outcome);
      done_.insert({entry.outcome.split, entry.outcome.candidate});
    }
    result_.taken_from_journal = std::ssize(result_.outcomes);
  }

  // Candidates that are still to be run on this split.
  [[nodiscard]] std::vector<Index> open_on(Index split) const {
    std::vector<Index> open;
    for (Index c = 0; c < std::ssize(request_.candidates); ++c) {
      if (!done_.contains({split, c})) open.push_back(c);
    }
    return open;
  }

  void add(Outcome outcome) {
    const std::scoped_lock lock(mutex_);
    journal_.write(outcome);
    result_.outcomes.push_back(std::move(outcome));
    tell();
  }

  // The context of one worker: its progress callback says whether to go on, and reports the
  // progress of all workers.
  [[nodiscard]] Context worker_context(int threads, std::size_t memory) {
    Context worker = context_;
    worker.threads = threads;
    worker.memory_budget = memory;
    worker.log = nullptr;
    worker.progress = [this](const Progress&) {
      if (ended()) return Signal::abort;
      const std::scoped_lock lock(mutex_);
      if (clock_.seconds() - last_told_ > 0.1) tell();
      return stop_ ? Signal::abort : Signal::go_on;
    };
    return worker;
  }

  [[nodiscard]] bool ended() {
    if (stop_) return true;
    if (clock_.seconds() < request_.seconds) return false;
    out_of_time_ = true;
    stop_ = true;
    return true;
  }

  void fail(std::exception_ptr error) {
    const std::scoped_lock lock(mutex_);
    if (!error_) error_ = std::move(error);
    stop_ = true;
  }

  [[nodiscard]] Validation take() {
    if (error_) std::rethrow_exception(error_);
    result_.out_of_time = out_of_time_;
    std::ranges::sort(result_.outcomes, {}, [](const Outcome& o) { return std::pair(o.split, o.candidate); });
    return std::move(result_);
  }

 private:
  void tell() {
    last_told_ = clock_.seconds();
    if (!context_.progress || stop_) return;
    const auto steps = static_cast<std::ptrdiff_t>(request_.splits.size() * request_.candidates.size());
    const Progress progress{"validation", std::ssize(result_.outcomes), steps, std::nan(""), clock_.seconds()};
    if (context_.progress(progress) == Signal::go_on) return;
    result_.interrupted = true;
    stop_ = true;
  }

  const ValidationRequest& request_;
  Journal& journal_;
  const Context& context_;
  Validation result_;
  std::set<std::pair<Index, Index>> done_;
  std::mutex mutex_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> out_of_time_{false};
  std::exception_ptr error_;
  Stopwatch clock_;
  double last_told_ = 0.0;  // seconds of the clock at the last call of the progress callback
};

void fill(Outcome& outcome, const Candidate& candidate, const Choice& choice, Trial trial) {
  outcome.evaluation = std::move(trial.evaluation);
  outcome.predictions = std::move(trial.predictions);
  outcome.predictions.contributions.clear();
  outcome.status = trial.fit.report.status;
  outcome.kernel_seconds = trial.kernel_seconds;
  outcome.predict_seconds = trial.predict_seconds;
  outcome.kernels_used = kernels_used(trial.fit.model);
  outcome.kernels = static_cast<Index>(trial.fit.model.kernel_names.size());
  outcome.memory_bytes = trial.memory_bytes;
  if (outcome.split == 0) {
    outcome.kernel_names = trial.fit.model.kernel_names;
    outcome.kernel_weights = mean_weights(trial.fit.model);
    outcome.errors_alone = trial.fit.report.errors_alone;
  }
  for (const auto& [name, values] : candidate.grid) {
    const auto& from = choice.by_method ? trial.fit.report.options : choice.options;
    const auto place = from.find(name);
    if (place != from.end()) outcome.chosen[name] = place->second;
  }
}

// One candidate on one split; a method that cannot take the data has that as its outcome.
Outcome run_one(const Problem& problem, Part& part, const ValidationRequest& request, Outcome outcome,
                const Context& context) {
  const Candidate& candidate = request.candidates[static_cast<std::size_t>(outcome.candidate)];
  const Split& split = request.splits[static_cast<std::size_t>(outcome.split)];
  const Stopwatch clock;
  try {
    const Choice choice = choose(problem, split.train, candidate, request, context);
    const double chosen = clock.seconds();
    Trial trial = part.run(find_learner(candidate.method), choice.options, context, candidate.completion);
    outcome.train_seconds = chosen + trial.train_seconds;
    fill(outcome, candidate, choice, std::move(trial));
  } catch (const InvalidArgument& error) {
    outcome.failure = error.what();
  } catch (const ResourceError& error) {
    outcome.failure = error.what();
  }
  return outcome;
}

void run_split(const Problem& problem, const ValidationRequest& request, Index split, Run& run,
               const Context& context) {
  const std::vector<Index> open = run.open_on(split);
  if (open.empty() || run.ended()) return;
  const Split& sides = request.splits[static_cast<std::size_t>(split)];
  try {
    Part part(problem, sides.train, sides.test, context);
    for (const Index candidate : open) {
      if (run.ended()) return;
      Outcome outcome;
      outcome.candidate = candidate;
      outcome.split = split;
      run.add(run_one(problem, part, request, std::move(outcome), context));
    }
  } catch (const Interrupted&) {
    // Stopped on the way; what was finished is kept.
  } catch (...) {
    run.fail(std::current_exception());
  }
}

// How many splits are worked on at a time, by the memory that one of them takes.
int workers_for(const Dataset& data, const Targets& targets, const ValidationRequest& request, int threads,
                std::size_t budget) {
  const auto n = static_cast<Index>(request.splits.front().train.size());
  Index outputs = targets.classes.size() > 2 ? static_cast<Index>(targets.classes.size()) : 1;
  outputs = std::max<Index>(outputs, targets.values.cols());
  // The exact number of kernels is known only after fitting; this estimate comes from features and families.
  constexpr std::size_t chosen_by_kloom = 60;  // about as many as a default spec has
  std::size_t kernels = request.spec.families.empty() ? chosen_by_kloom : 0;
  for (const KernelFamily& family : request.spec.families) {
    std::size_t scopes = 1;
    for (const Scope& scope : family.scopes) {
      if (scope.kind == ScopeKind::each) scopes += static_cast<std::size_t>(data.features.cols());
      if (scope.kind == ScopeKind::views || scope.kind == ScopeKind::automatic) scopes += data.views.size();
    }
    kernels += scopes * std::max<std::size_t>(family.values.size(), family.automatic ? 10 : 1);
  }
  std::size_t working = 0;
  for (const Candidate& candidate : request.candidates) {
    const Learner& learner = find_learner(candidate.method);
    working = std::max(working, learner.working_memory(n, static_cast<Index>(kernels), outputs));
  }
  const std::size_t bank = static_cast<std::size_t>(n) * static_cast<std::size_t>(n) * kernels * sizeof(double);
  const std::size_t fit = std::max<std::size_t>(1, budget / std::max<std::size_t>(1, working + bank));
  return static_cast<int>(std::min({fit, static_cast<std::size_t>(threads), request.splits.size()}));
}

void check(const Targets& targets, const ValidationRequest& request) {
  if (request.splits.empty()) throw InvalidArgument("there is no split to validate on");
  if (request.candidates.empty()) throw InvalidArgument("there is no method to validate");
  if (request.inner_folds < 2)
    throw InvalidArgument(fmt::format("inner folds must be at least 2, got {}", request.inner_folds));
  static_cast<void>(larger_is_better(request.metric));
  for (const Candidate& candidate : request.candidates) {
    const Learner& learner = find_learner(candidate.method);
    if (std::ranges::find(learner.tasks, targets.task) == learner.tasks.end())
      throw InvalidArgument(fmt::format("{} does not do {} tasks", learner.name, to_string(targets.task)));
  }
}

// Nothing is believed that a file says: it may be damaged, or made by somebody else.
void check_entries(const Journal& journal, const ValidationRequest& request, const Targets& targets) {
  std::set<std::pair<Index, Index>> seen;
  for (const JournalEntry& entry : journal.entries()) {
    std::string trouble = outcome_trouble(entry.outcome, request, targets);
    if (trouble.empty() && !seen.emplace(entry.outcome.split, entry.outcome.candidate).second)
      trouble = "the same work was done before";
    if (trouble.empty()) continue;
    throw FileError(fmt::format("{}, line {}: damaged: {}. Remove the file to do its work again.",
                                journal.path(), entry.line, trouble));
  }
}

}  // namespace

std::string candidate_text(const Candidate& candidate) {
  std::string text = candidate.method;
  for (const auto& [name, value] : candidate.options) text += fmt::format(" {}={}", name, value);
  for (const auto& [name, values] : candidate.grid)
    text += fmt::format(" {}=[{}]", name, fmt::join(values, ","));
  if (candidate.completion != Completion::none)
    text += fmt::format(" completion={}", static_cast<int>(candidate.completion));
  return text;
}

std::string settings_text(const ValidationRequest& request, const Context& context) {
  const PreprocessingOptions& preparation = request.recipe.preprocessing;
  std::string text =
      fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", to_string(request.spec), preparation.standardise,
                  static_cast<int>(preparation.impute), preparation.onehot,
                  fmt::join(preparation.keep_text, ","), to_string(request.recipe.normalisation),
                  request.recipe.clip_spectrum, request.metric, request.inner_folds, context.seed);
  text += fmt::format("|{}{}{}|{}{}", preparation.indicate ? 1 : 0, preparation.decide ? 1 : 0,
                      preparation.drop_ids ? 1 : 0, fmt::join(preparation.keep, ","),
                      preparation.absent_views ? "|absent views" : "");
  for (const Candidate& candidate : request.candidates) text += "|" + candidate_text(candidate);
  for (const Split& split : request.splits) text += fmt::format("|{}", fmt::join(split.test, ","));
  return text;
}

Validation run_validation(const Dataset& data, const Targets& targets, const ValidationRequest& request,
                          Journal& journal, const Context& context) {
  check(targets, request);
  check_entries(journal, request, targets);
  const Problem problem{data, targets, request.spec, request.recipe, request.bank};
  const int threads = base::resolve_threads(context);
  const std::size_t budget = memory_budget(context);
  const int workers = workers_for(data, targets, request, threads, budget);
  Run run(request, journal, context);
  const Index splits = std::ssize(request.splits);
  // With several splits always one thread each, so that the results are the same to the bit
  // however many splits a resumed run has left.
  const Context worker = run.worker_context(
      splits > 1 ? 1 : threads, std::max<std::size_t>(1, budget / static_cast<std::size_t>(workers)));
  algebra::for_each(workers, splits, [&](Index split) { run_split(problem, request, split, run, worker); });
  return run.take();
}

}  // namespace kloom::select

namespace kloom {

Validation cross_validate(const Dataset& data, const Targets& targets, const ValidationRequest& request,
                          const Context& context) {
  ValidationRequest complete = request;
  if (complete.metric.empty()) complete.metric = default_metric(targets.task);
  select::Journal journal(complete.journal,
                          select::fingerprint_of(data, targets, select::settings_text(complete, context)),
                          context);
  return select::run_validation(data, targets, complete, journal, context);
}

}  // namespace kloom
