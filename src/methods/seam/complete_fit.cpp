// SPDX-License-Identifier: BSD-3-Clause
//
// The boundary of every method, once for all: what is refused before a fit, and what model and
// report hold after it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "algebra/threads.h"
#include "base/number_range.h"
#include "kloom/error.h"
#include "kloom/learner.h"
#include "kloom/machine.h"
#include "methods/seam/check_fit.h"
#include "models/scores.h"

namespace kloom {
namespace {

void check_samples(const KernelBank& bank, const Targets& targets) {
  if (bank.symmetric() && bank.rows() == targets.samples()) return;
  throw InvalidArgument(fmt::format("the kernels cover {} x {} samples, the target {}; all three must be equal",
                                    bank.rows(), bank.cols(), targets.samples()));
}

void check_task(const Learner& learner, const Targets& targets) {
  if (std::ranges::find(learner.tasks, targets.task) != learner.tasks.end()) return;
  std::string known;
  for (const Task task : learner.tasks)
    known += fmt::format("{}{}", known.empty() ? "" : ", ", to_string(task));
  throw InvalidArgument(
      fmt::format("method {} learns {} tasks; this one is {}", learner.name, known, to_string(targets.task)));
}

void check_labels(const Learner& learner, const Targets& targets) {
  for (std::size_t i = 0; i < targets.codes.size() && !learner.semi_supervised; ++i) {
    if (targets.codes[i] != Targets::unlabelled) continue;
    throw InvalidArgument(
        fmt::format("sample {} has no label; method {} needs a label for every sample", i + 1, learner.name));
  }
  const bool numbers = models::has_numbers(targets.task);
  for (Index k = 0; k < targets.values.size() && numbers; ++k) {
    const double value = targets.values.data()[k];
    const Index sample = k % targets.values.rows() + 1;
    if (!std::isfinite(value))
      throw InvalidArgument(
          fmt::format("sample {} has no number to learn; fill it in or remove the sample", sample));
    if (base::too_large(value))
      throw InvalidArgument(
          fmt::format("the target of sample {} is {}, beyond {}; divide all of them by the same number", sample,
                      value, base::kLargestInput));
  }
}

void check_weights(const Targets& targets) {
  if (!targets.weights.empty() && std::ssize(targets.weights) != targets.samples()) {
    throw InvalidArgument(
        fmt::format("there are {} sample weights for {} samples", targets.weights.size(), targets.samples()));
  }
  for (std::size_t i = 0; i < targets.weights.size(); ++i) {
    if (targets.weights[i] >= 0.0) continue;
    throw InvalidArgument(
        fmt::format("sample {} has weight {}; weights are numbers >= 0", i + 1, targets.weights[i]));
  }
}

std::string methods_for_absent_views(Task task) {
  std::string names;
  for (const Learner& learner : all_learners()) {
    if (std::ranges::find(learner.absent_tasks, task) == learner.absent_tasks.end()) continue;
    names += (names.empty() ? "" : ", ") + learner.name;
  }
  return names.empty() ? "none" : names;
}

// Samples that lack a view, and so kernels, are for methods that sum over what is there.
void check_presence(const Learner& learner, const KernelBank& bank, const Targets& targets) {
  const Matrix& presence = bank.presence().rows;
  if (presence.empty() || std::ranges::find(learner.absent_tasks, targets.task) != learner.absent_tasks.end())
    return;
  Index lacking = 0;
  for (Index i = 0; i < presence.rows(); ++i) {
    bool complete = true;
    for (Index p = 0; p < presence.cols(); ++p) complete = complete && presence(i, p) > 0.0;
    lacking += complete ? 0 : 1;
  }
  throw InvalidArgument(fmt::format(
      "{} of {} samples lack some of the views, and method {} learns {} tasks from whole samples only; "
      "these methods can: {}; or fill the gaps in (--impute median), or keep whole samples (--join inner)",
      lacking, presence.rows(), learner.name, to_string(targets.task), methods_for_absent_views(targets.task)));
}

}  // namespace

void check_fit(const Learner& learner, const KernelBank& bank, const Targets& targets) {
  check_samples(bank, targets);
  check_task(learner, targets);
  check_labels(learner, targets);
  check_weights(targets);
  check_presence(learner, bank, targets);
}

// A method that may be slower with less memory (least_memory) is so where the faster way exceeds the budget.
static std::size_t working_memory(const Learner& learner, const KernelBank& bank, const Targets& targets,
                                  const Context& context) {
  const Index outputs = outputs_of(targets);
  const std::size_t fastest = learner.working_memory(bank.rows(), bank.kernels(), outputs);
  if (!learner.least_memory || fastest < memory_budget(context)) return fastest;
  return learner.least_memory(bank.rows(), bank.kernels(), outputs);
}

FitResult complete_fit(const Learner& learner, const KernelBank& bank, const Targets& targets,
                       const OptionValues& options, const Context& context,
                       const std::function<void(FitResult&)>& learn) {
  check_fit(learner, bank, targets);
  const auto n = static_cast<double>(bank.rows());
  const auto p = static_cast<double>(bank.kernels());
  const algebra::ThreadScope threads(context, learner.operations ? learner.operations(n, p) : n * n * p);

  FitResult result;
  learn(result);

  Report& report = result.report;
  for (const auto& [name, value] : options) report.options.emplace(name, value);
  report.method = learner.name;
  report.bank = std::string(bank.kind());
  report.task = std::string(to_string(targets.task));
  report.samples = bank.rows();
  report.kernels = bank.kernels();
  report.threads = threads.threads();
  report.seed = context.seed;
  report.memory_bytes += bank.bytes() + working_memory(learner, bank, targets, context);
  Model& model = result.model;
  model.method = learner.name;
  model.task = targets.task;
  model.classes = targets.classes;
  model.kernel_names = bank.names();
  // As they were asked for: a loaded estimator has the parameters that it was made with.
  model.options_json = nlohmann::json(options).dump();
  return result;
}

}  // namespace kloom
