// SPDX-License-Identifier: BSD-3-Clause
#include "methods/mkr/mkr.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "algebra/blas.h"
#include "algebra/threads.h"
#include "base/progress.h"
#include "kloom/error.h"
#include "kloom/parts.h"
#include "methods/mkr/gradient.h"
#include "methods/mkr/grouped.h"
#include "methods/mkr/search.h"
#include "methods/seam/grid.h"
#include "methods/seam/prepared_targets.h"
#include "methods/seam/weight_set.h"

namespace kloom::methods {
namespace {

constexpr const char* kName = "mkr";

// `means`: of every target under the weights.
RidgeTask task_of(const KernelBank& bank, const Targets& targets, Vector& means) {
  RidgeTask task{targets.values, {}, kernel_sizes(bank)};
  for (Index i = 0; i < targets.samples(); ++i) task.weights.push_back(weight_of(targets, i));
  const double total = std::accumulate(task.weights.begin(), task.weights.end(), 0.0);
  for (Index t = 0; t < task.y.cols(); ++t) {
    const double mean = algebra::dot(task.y.column(t), task.weights) / total;
    for (double& value : task.y.column(t)) value -= mean;
    means.push_back(mean);
  }
  return task;
}

// 1 − error / what the mean leaves, when each sample is left out.
Vector explained(const RidgeTask& task, const RidgeChoice& choice) {
  const double total = std::accumulate(task.weights.begin(), task.weights.end(), 0.0);
  Vector result;
  for (Index t = 0; t < task.y.cols(); ++t) {
    double variance = 0.0;
    for (Index i = 0; i < task.y.rows(); ++i)
      variance += task.weights[at(i)] * task.y(i, t) * task.y(i, t) / total;
    result.push_back(variance > 0.0 ? 1.0 - choice.losses[at(t)] / variance : 0.0);
  }
  return result;
}

void tell(const RidgeTask& task, const RidgeChoice& choice, const RidgePart& part, Report& report) {
  constexpr Index kMostRows = 50;
  const Vector shares = explained(task, choice);
  report.objective_name = "sum of leave-one-out errors";
  report.objective = std::accumulate(choice.losses.begin(), choice.losses.end(), 0.0);
  report.status = Status::converged;
  report.iterations = part.points.rows();
  Vector sorted = shares;
  std::ranges::sort(sorted);
  report.message = fmt::format(
      "the best of {} kernel weights and {} strengths by leave-one-out error{}; leave-one-out R2 {}{:.3g}",
      part.points.rows(), part.grid.size(), part.refined ? ", then descent" : "",
      sorted.size() > 1 ? "in the median " : "", sorted[sorted.size() / 2]);
  if (task.y.cols() > kMostRows) return;
  Report::Table table{"targets", {"target", "strength", "leave-one-out R2"}, {}};
  for (std::size_t t = 0; t < shares.size(); ++t)
    table.rows.push_back({static_cast<double>(t + 1), choice.strengths[t], shares[t]});
  report.tables.push_back(std::move(table));
}

void fill(RidgeChoice choice, Vector means, Model& model) {
  const bool several = choice.theta.rows() > 1;
  model.weights.shape = several ? KernelWeights::Shape::per_class : KernelWeights::Shape::shared;
  model.weights.values = std::move(choice.theta);
  model.coefficients = std::move(choice.coefficients);
  model.bias = std::move(means);
}

// Weights of least leave-one-out error among points of the simplex, and from there on.
void search(const KernelBank& bank, const RidgeTask& task, const MkrOptions& options, const Context& context,
            RidgePart& part, RidgeChoice& choice) {
  part.points = simplex_points(bank.names(), options.draws, context.seed);
  choice = search_points(bank, task, part.points, part.grid, context);
  part.refined = options.steps > 0;
  ProgressMeter meter(context, "descent of the leave-one-out error");
  for (Index t = 0; t < task.y.cols() && part.refined; ++t) {
    descend(bank, task, t, options.steps, choice);
    if (meter.step(t + 1, task.y.cols(), choice.losses[at(t)])) break;
  }
}

void learn_in_groups(const KernelBank& bank, const RidgeTask& task, const MkrOptions& options,
                     const Context& context, RidgePart& part, RidgeChoice& choice, Report& report) {
  const GroupedSettings settings{weight_set(bank.names(), options.groups, options.norm, options.mix),
                                 options.tolerance, options.iterations};
  part.groups.assign(settings.set.group.begin(), settings.set.group.end());
  part.group_norm = options.norm;
  part.mix = options.mix;
  part.points = Matrix(1, bank.kernels());
  std::ranges::copy(even_weights(settings.set), part.points.values().begin());
  GroupedRidge learned = learn_grouped(bank, task, settings, part.grid, context);
  choice = std::move(learned.choice);
  tell(task, choice, part, report);
  report.gap = learned.gap;
  report.iterations = learned.iterations;
  report.status = learned.stopped                    ? Status::stopped
                  : learned.gap <= options.tolerance ? Status::converged
                                                     : Status::iteration_limit;
  report.message =
      fmt::format("relative duality gap {:.1e}, asked for {:.1e}; strengths by leave-one-out error",
                  learned.gap, options.tolerance);
}

void refuse_absent(const char* what, const char* option) {
  throw InvalidArgument(fmt::format(
      "some samples lack some of the views, and {} (option {}) is for samples that all have all views; "
      "leave it out, or fill the views in with --impute median",
      what, option));
}

FitResult learned(const KernelBank& bank, const Targets& targets, const MkrOptions& options,
                  const Context& context) {
  FitResult result;
  ProgressMeter clock(context, kName);
  const auto n = static_cast<double>(bank.rows());
  const algebra::ThreadScope threads(context, n * n * n);
  Vector means;
  const RidgeTask task = task_of(bank, targets, means);
  auto part = std::make_shared<RidgePart>();
  const bool grouped = options.weights == "groups";
  if (!task.sizes.empty() && grouped) refuse_absent("learning weights in groups", "weights");
  if (!task.sizes.empty() && options.steps > 0) refuse_absent("descent", "steps");
  part->sizes = task.sizes;
  part->grid = positive_grid("alpha_grid", options.alpha_grid, MkrOptions{}.alpha_grid);
  part->sample_weights = targets.weights;
  RidgeChoice choice;
  if (grouped) {
    learn_in_groups(bank, task, options, context, *part, choice, result.report);
  } else {
    search(bank, task, options, context, *part, choice);
    tell(task, choice, *part, result.report);
  }
  part->strengths = choice.strengths;
  part->losses = choice.losses;
  result.report.seconds.emplace_back("training", clock.seconds());
  fill(std::move(choice), std::move(means), result.model);
  result.model.part = std::move(part);
  return result;
}

}  // namespace

const OptionTable<MkrOptions>& mkr_option_table() {
  using O = MkrOptions;
  static const OptionTable<O> table = {
      {"draws", &O::draws, kAtLeastOne,
       "points of the simplex to choose kernel weights from: more find better ones"},
      {"alpha_grid", &O::alpha_grid, "values to choose the strength of the penalty from, for every target"},
      {"steps", &O::steps, kNonNegative,
       "steps of descent on the logarithms of the weights after that, for every target by itself"},
      {"weights", &O::weights, one_of("draws", "groups"),
       "draws: by leave-one-out error among points of the simplex; groups: learned in groups, with a duality gap"},
      {"groups", &O::groups,
       "weights in groups: kernels that count together: none, views (or columns), all, or a name for each kernel"},
      {"mix", &O::mix, NumberRule{0.0, false, 1.0},
       "weights in groups: 1 selects groups, 0 keeps all of them, between is the elastic net"},
      {"norm", &O::norm, NumberRule{1.0, false, std::numeric_limits<double>::infinity(), true},
       "weights in groups: p within a group: 1 selects kernels there, too, inf makes their weights equal"},
      {"tolerance", &O::tolerance, kPositive, "weights in groups: stop at this relative duality gap"},
      {"iterations", &O::iterations, kAtLeastOne,
       "weights in groups: at most this many updates for a target and a strength"},
  };
  return table;
}

FitResult fit_mkr(const KernelBank& bank, const Targets& targets, const MkrOptions& options,
                  const Context& context) {
  return complete_fit(find_learner(kName), bank, targets, option_texts(mkr_option_table(), options), context,
                      [&](FitResult& result) { result = learned(bank, targets, options, context); });
}

Learner mkr_learner() {
  Learner learner;
  learner.name = kName;
  learner.summary = "ridge regression on kernel weights of least leave-one-out error, for thousands of targets";
  learner.doc_page = "docs/methods/mkr.md";
  learner.tasks = {Task::regression, Task::multi_regression};
  learner.absent_tasks = learner.tasks;
  learner.options = describe_options(mkr_option_table());
  learner.fit = [](const KernelBank& bank, const Targets& targets, const OptionValues& values,
                   const Context& context) {
    return fit_mkr(bank, targets, parse_options(mkr_option_table(), values, kName), context);
  };
  // Kernel, eigenvectors (with the space of their computation), their squares and inverses; targets and coefficients
  // twice, and a block of solutions in three forms.
  learner.working_memory = [](Index n, Index /*p*/, Index m) {
    const auto size = static_cast<std::size_t>(n);
    return (6 * size * size + 3 * size * static_cast<std::size_t>(m) +
            3 * std::min<std::size_t>(size * static_cast<std::size_t>(m), std::size_t{1} << 22)) *
           sizeof(double);
  };
  learner.operations = [](double n, double /*p*/) { return n * n * n; };
  learner.wants_entries = true;
  learner.wants_factors = true;
  learner.load = load_mkr;
  return learner;
}

}  // namespace kloom::methods
