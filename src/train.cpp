// SPDX-License-Identifier: BSD-3-Clause
#include "kloom/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/progress.h"
#include "base/stopwatch.h"
#include "kloom/certify.h"
#include "kloom/error.h"
#include "kloom/evaluate.h"
#include "kloom/machine.h"

namespace kloom {
namespace {

bool does(const Learner& learner, Task task) {
  return std::ranges::find(learner.tasks, task) != learner.tasks.end();
}

// A fit that is cut short leaves a model; what is before and after it leaves nothing, so there "stop" means "abort".
Context without_half_measures(const Context& context) {
  Context strict = context;
  if (context.progress) {
    strict.progress = [ask = context.progress](const Progress& progress) {
      return ask(progress) == Signal::go_on ? Signal::go_on : Signal::abort;
    };
  }
  return strict;
}

void say(const Context& context, const std::string& sentence) {
  log(context, LogLevel::info, sentence);
}

// A budget that the user set is for all of the run, so the data are taken off. The default is a share of the memory that
// is free now, with the data already there.
Context without_data(const Context& context, std::size_t data_bytes) {
  Context rest = context;
  if (context.memory_budget == 0) return rest;
  if (data_bytes >= context.memory_budget) {
    throw ResourceError(
        fmt::format("the data take {} of memory, and {} may be used; use fewer samples, or raise --memory",
                    format_bytes(data_bytes), format_bytes(context.memory_budget)));
  }
  rest.memory_budget -= data_bytes;
  return rest;
}

// Says what the fit takes; the kernels get the rest.
MemoryShare plan_memory(const Learner& learner, Index n, Index p, Index outputs, const Context& context) {
  const MemoryShare share = share_memory(learner, n, p, outputs, context);
  if (share.slower) {
    say(context, fmt::format("memory: {} would be at its fastest with {}, and {} may be used; "
                             "it goes a slower way that needs less",
                             learner.name, format_bytes(learner.working_memory(n, p, outputs)),
                             format_bytes(share.working + share.bank)));
  }
  say(context, fmt::format("memory: {} for {} itself, {} for {} kernels if stored dense, {} may be used",
                           format_bytes(share.working), learner.name,
                           format_bytes(at(n) * at(n) * at(p) * sizeof(double)), p,
                           format_bytes(share.working + share.bank)));
  return share;
}

void describe_environment(Report& report) {
  const MachineInfo machine = machine_info(false);
  report.environment["kloom"] = version();
  report.environment["processor"] = machine.processor;
  report.environment["BLAS core"] = machine.blas_core;
}

void end_in_trouble(Report& report, const std::string& why) {
  report.status = Status::numerical_trouble;
  report.message = why;
}

// A method may believe that it converged when its numbers have left the range of doubles.
void look_for_nonsense(FitResult& fit) {
  Report& report = fit.report;
  if (report.status == Status::numerical_trouble) return;
  if (!std::isfinite(report.objective))
    end_in_trouble(report, fmt::format("its {} is {}", report.objective_name, report.objective));
  const auto finite = [](double v) { return std::isfinite(v); };
  const Model& model = fit.model;
  if (!std::ranges::all_of(model.weights.values.values(), finite) ||
      !std::ranges::all_of(model.coefficients.values(), finite) || !std::ranges::all_of(model.bias, finite))
    end_in_trouble(report, "the model has weights or coefficients that are no finite numbers");
}

// Predicts the training samples; false where that gives no numbers.
bool evaluate_training(FitResult& fit, const KernelBank& bank, const Targets& targets, const Context& context) {
  try {
    const Predictions predictions = predict(fit.model, bank, {}, context);
    fit.report.training_sums = training_sums(predictions);
    Evaluation evaluation = evaluate(predictions, targets);
    evaluation.name = "training data";
    fit.report.evaluations.push_back(std::move(evaluation));
    return true;
  } catch (const InvalidArgument& error) {
    end_in_trouble(fit.report, error.what());
    return false;
  }
}

// Everything about the finished model that can be checked or measured. Whoever stopped the fit is waiting for the model.
void judge(FitResult& fit, const KernelBank& bank, const Targets& targets, const TrainRequest& request,
           const Context& context) {
  Report& report = fit.report;
  if (report.status == Status::numerical_trouble) return;
  try {
    if (report.status == Status::stopped) throw Interrupted("the fit was stopped");
    ProgressMeter(context, "certificate").step(0, 1, std::numeric_limits<double>::quiet_NaN());
    if (request.evaluate && !evaluate_training(fit, bank, targets, context)) return;
    if (request.certificate) report.certificate = certify(bank, targets, fit.model, context);
  } catch (const Interrupted&) {
    if (request.certificate && report.certificate.verdict.empty()) {
      report.certificate.verdict = "not computed, because the fit was stopped; 'kloom check' computes it";
    }
  }
}

FitResult fit_and_judge(const Learner& learner, const KernelBank& bank, const Targets& targets, Recipe recipe,
                        const TrainRequest& request, const Context& context) {
  FitResult fit = learner.fit(bank, targets, request.options, context);
  fit.model.recipe = std::move(recipe);
  describe_environment(fit.report);
  look_for_nonsense(fit);
  judge(fit, bank, targets, request, without_half_measures(context));
  return fit;
}

// How many numbers of a sample an entry of a kernel is made of, on average. Texts count as long.
Index numbers_per_entry(const std::vector<KernelTerm>& terms) {
  constexpr Index of_text = 500;
  Index total = 0;
  for (const KernelTerm& term : terms) {
    total += uses_texts(term.function) ? of_text : std::max(std::ssize(term.features), std::ssize(term.trees));
  }
  return terms.empty() ? 0 : total / std::ssize(terms);
}

}  // namespace

const Learner& choose_learner(std::string_view method, const Targets& targets) {
  const Task task = targets.task;
  const bool unlabelled = std::ranges::count(targets.codes, Targets::unlabelled) > 0;
  std::vector<const Learner*> able;
  std::string list;
  for (const Learner& learner : all_learners()) {
    if (!does(learner, task)) continue;
    able.push_back(&learner);
    list += (list.empty() ? "" : ", ") + learner.name;
  }
  if (!method.empty()) {
    const Learner& learner = find_learner(method);
    if (does(learner, task)) return learner;
    throw InvalidArgument(fmt::format("{} does not do {} tasks; {}", learner.name, to_string(task),
                                      able.empty() ? "no method of this version does" : "these do: " + list));
  }
  if (able.empty()) {
    throw InvalidArgument(fmt::format(
        "the labels make this a {} task, which no method of this version does; --task sets another one",
        to_string(task)));
  }
  const auto suits = [&](const Learner* learner) { return !unlabelled || learner->semi_supervised; };
  const auto best = std::ranges::find_if(able, suits);
  return best == able.end() ? *able.front() : **best;
}

TrainingKernels::TrainingKernels(const Dataset& data, const TrainRequest& request, const Context& context,
                                 const Targets* targets) {
  const Stopwatch watch;
  const Context strict = without_half_measures(context);
  // Without families the recipe chooses kernels that suit its training samples.
  recipe_ = std::make_shared<const Recipe>(
      Recipe::fit(data, request.kernels.value_or(KernelSpec{}), request.recipe, strict, targets));
  raw_bytes_ = sample_bytes(data);
  reading_bytes_ = data.reading_bytes;
  seconds_ += watch.seconds();
  for (const std::string& line : summarise(recipe_->decisions)) say(context, line);
  for (const std::string& line : recipe_->advice) say(context, line);
  say(context,
      fmt::format("{} kernel{}: {}{}", recipe_->terms.size(), recipe_->terms.size() == 1 ? "" : "s",
                  to_string(recipe_->spec),
                  request.kernels ? "" : " (no --kernels given; this suits the kind and size of the data)"));
}

std::size_t TrainingKernels::preparing_bytes() const {
  const std::size_t data = raw_bytes_ + sample_bytes(recipe_->basis) + matrix_bytes(recipe_->basis);
  return std::max(reading_bytes_, data + making_bytes_);
}

std::size_t TrainingKernels::data_bytes() const {
  return raw_bytes_ + 2 * sample_bytes(recipe_->basis) + matrix_bytes(recipe_->basis);
}

std::shared_ptr<const KernelBank> TrainingKernels::stored_for(const Learner& learner, BankKind kind,
                                                              Index outputs, const Context& context) {
  const Index n = samples();
  const auto p = std::ssize(recipe_->terms);
  const std::size_t data = data_bytes();
  const MemoryShare share = plan_memory(learner, n, p, outputs, without_data(context, data));
  BankRequest request = preferred_bank(learner, n, p, share.bank, numbers_per_entry(recipe_->terms));
  if (kind != BankKind::automatic) request.kind = kind;
  auto bank = stored(request, share.bank, context);
  const std::size_t stored_bytes = bank->bytes() - bank->shared_bytes();
  const std::size_t all = data + stored_bytes + share.working;
  const std::size_t before = preparing_bytes();
  say(context,
      fmt::format("memory: {} in all: {} for data, {} more for kernels, {} for {}{}", format_bytes(all),
                  format_bytes(data), format_bytes(stored_bytes), format_bytes(share.working), learner.name,
                  before > all ? fmt::format("; {} until the kernels were there", format_bytes(before)) : ""));
  return bank;
}

std::shared_ptr<const KernelBank> TrainingKernels::stored(const BankRequest& request, std::size_t budget,
                                                          const Context& context) {
  auto& bank = banks_[{request.kind, request.families}];
  if (bank) return bank;
  const Stopwatch watch;
  Context with_less = without_half_measures(context);
  with_less.memory_budget = budget;
  BankPlan plan;
  auto computed = Recipe::training_bank(recipe_);
  const std::size_t helpers = computed->bytes() - computed->shared_bytes();
  bank = store_bank(std::move(computed), request, with_less, &plan);
  making_bytes_ = std::max(making_bytes_, helpers + bank->bytes() - bank->shared_bytes());
  seconds_ += watch.seconds();
  say(context, fmt::format("bank: {}, {}{}{}", bank->kind(), format_bytes(bank->bytes()),
                           plan.why.empty() ? "" : "; ", plan.why));
  return bank;
}

FitResult train(TrainingKernels& kernels, const Targets& targets, const TrainRequest& request,
                const Context& context) {
  const Learner& learner = choose_learner(request.method, targets);
  const auto bank = kernels.stored_for(learner, request.bank, outputs_of(targets), context);
  FitResult fit = fit_and_judge(learner, *bank, targets, kernels.recipe(), request, context);
  fit.bank = bank;
  fit.report.memory_bytes += kernels.data_bytes() - bank->shared_bytes();
  // Reading a large table of texts, or making kernels of many views, may take more than all that comes after it.
  fit.report.memory_bytes = std::max(fit.report.memory_bytes, kernels.preparing_bytes());
  fit.report.seconds.insert(fit.report.seconds.begin(), {"kernels", kernels.seconds()});
  fit.model.report_json = to_json(fit.report);
  return fit;
}

FitResult train(const Dataset& data, const Targets& targets, const TrainRequest& request,
                const Context& context) {
  const Learner& learner = choose_learner(request.method, targets);
  if (request.method.empty()) {
    say(context, fmt::format("method: {} (no --method given; the default for {} tasks): {}", learner.name,
                             to_string(targets.task), learner.summary));
  }
  TrainRequest suited = request;
  suited.recipe.spares_teachers = learner.spares_teachers;
  TrainingKernels kernels(data, suited, context, &targets);
  FitResult fit = train(kernels, targets, request, context);
  fit.model.target_name = data.target_name;
  return fit;
}

FitResult train(const KernelBank& bank, const Targets& targets, const TrainRequest& request,
                const Context& context) {
  const Learner& learner = choose_learner(request.method, targets);
  FitResult fit =
      fit_and_judge(learner, bank, targets, Recipe::for_kernels(bank.names(), bank.cols()), request, context);
  fit.model.report_json = to_json(fit.report);
  return fit;
}

}  // namespace kloom
