// SPDX-License-Identifier: BSD-3-Clause
#include "methods/vbpmkl/vbpmkl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "algebra/blas.h"
#include "base/progress.h"
#include "kloom/parts.h"
#include "methods/vbpmkl/solver.h"
#include "models/scores.h"

namespace kloom::methods {
namespace {

constexpr const char* kName = "vbpmkl";

VbpmklTask task_of(const Targets& targets) {
  VbpmklTask task;
  task.classes = std::ssize(targets.classes);
  for (Index i = 0; i < std::ssize(targets.codes); ++i) {
    const double weight = targets.weights.empty() ? 1.0 : targets.weights[at(i)];
    if (weight == 0.0) continue;
    task.samples.push_back(i);
    task.labels.push_back(targets.codes[at(i)]);
    task.roots.push_back(std::sqrt(weight));
  }
  return task;
}

VbpmklSettings settings_of(const VbpmklOptions& options) {
  VbpmklSettings settings;
  settings.tau = options.tau;
  settings.upsilon = options.upsilon;
  settings.literal = options.literal;
  settings.draws = options.draws;
  settings.mu = options.mu;
  settings.lambda = options.lambda;
  settings.iterations = options.iterations;
  settings.tolerance = options.tolerance;
  return settings;
}

// Rows of the samples that count among those of all; the others have `absent`.
Matrix for_all(const Matrix& rows, const VbpmklTask& task, Index samples, double absent) {
  Matrix all(samples, rows.cols(), absent);
  for (Index c = 0; c < rows.cols(); ++c) {
    for (Index i = 0; i < rows.rows(); ++i) all(task.samples[at(i)], c) = rows(i, c);
  }
  return all;
}

// V of every score among all samples: no coefficient of a sample without weight varies.
std::vector<Matrix> covariances_of(const KernelBank& bank, const VbpmklTask& task,
                                   const VbpmklSolution& solution) {
  const Matrix kernel = combined_among(bank, solution.beta, task.samples);
  const Matrix square = weighted_square(kernel, task.roots);
  std::vector<Matrix> result;
  for (Index c = 0; c < task.classes; ++c) {
    const Matrix own = vbpmkl_covariance(square, solution.precision.column(c));
    if (c == 0 || task.classes > 2) result.emplace_back(bank.rows(), bank.rows());
    Matrix& whole = result.back();
    for (Index j = 0; j < own.cols(); ++j) {
      for (Index i = 0; i < own.rows(); ++i) whole(task.samples[at(i)], task.samples[at(j)]) += own(i, j);
    }
  }
  return result;
}

void fill_model(Model& model, const KernelBank& bank, const VbpmklTask& task, const VbpmklSolution& solution,
                const VbpmklOptions& options) {
  VbpmklPart part;
  part.tau = options.tau;
  part.upsilon = options.upsilon;
  part.literal = options.literal;
  part.precision = for_all(solution.precision, task, bank.rows(), 1.0);
  part.location = for_all(solution.location, task, bank.rows(), 0.0);
  part.means = for_all(solution.means, task, bank.rows(), 0.0);
  if (options.variance) part.covariance = covariances_of(bank, task, solution);
  model.weights.values = Matrix(1, bank.kernels());
  std::ranges::copy(solution.beta, model.weights.values.values().begin());
  const Index scores = task.classes == 2 ? 1 : task.classes;
  model.coefficients = Matrix(bank.rows(), scores);
  for (Index c = 0; c < scores; ++c) {
    std::ranges::copy(part.means.column(scores == 1 ? 1 : c), model.coefficients.column(c).begin());
    if (scores == 1) algebra::axpy(-1.0, part.means.column(0), model.coefficients.column(0));
  }
  model.bias.assign(at(scores), 0.0);
  model.part = std::make_shared<VbpmklPart>(std::move(part));
}

void fill_report(Report& report, const VbpmklSolution& solution) {
  report.objective_name = "lower bound";
  report.objective = solution.bound;
  report.iterations = solution.iterations;
  report.status = solution.status;
  report.trace = solution.trace;
  const auto used = std::ranges::count_if(solution.beta, [](double b) { return b > 1e-3; });
  report.message = fmt::format("{} of {} kernels have a weight above 1e-3; lower bound {:.6g}", used,
                               solution.beta.size(), solution.bound);
}

void learn(const KernelBank& bank, const Targets& targets, const VbpmklOptions& options, const Context& context,
           FitResult& result) {
  const VbpmklTask task = task_of(targets);
  ProgressMeter clock(context, kName);
  const VbpmklSolution solution = solve_vbpmkl(bank, task, settings_of(options), context);
  fill_model(result.model, bank, task, solution, options);
  fill_report(result.report, solution);
  result.report.seconds.emplace_back("training", clock.seconds());
}

// K, its square, ΣV, its root and one V; what the covariances take in the model; products with every kernel.
std::size_t working_memory(Index n, Index p, Index outputs) {
  const Index classes = std::max<Index>(2, outputs);
  return at((5 + outputs) * n * n + n * p * (classes + 64) + 10 * n * classes + 2 * p * p) * sizeof(double);
}

}  // namespace

const OptionTable<VbpmklOptions>& vbpmkl_option_table() {
  using O = VbpmklOptions;
  static const OptionTable<O> table = {
      {"tau", &O::tau, kPositive,
       "shape of the prior of every coefficient's precision: with --upsilon towards 0 few samples keep a "
       "coefficient"},
      {"upsilon", &O::upsilon, kPositive, "rate of that prior"},
      {"iterations", &O::iterations, kAtLeastOne, "at most this many sweeps over all factors"},
      {"tolerance", &O::tolerance, kNonNegative,
       "stop when a sweep changes the lower bound by less, relatively"},
      {"variance", &O::variance,
       "keep the covariances of the coefficients: a number per class and pair of samples, for deviations and "
       "probabilities"},
      {"literal", &O::literal,
       "as published: kernel weights by importance sampling from their Dirichlet prior, which is learned too"},
      {"draws", &O::draws, NumberRule{2.0},
       "literal: draws of the kernel weights in every sweep, and of their prior"},
      {"mu", &O::mu, kPositive, "literal: shape of the Gamma prior of the Dirichlet's parameters"},
      {"lambda", &O::lambda, kPositive, "literal: rate of that prior"},
  };
  return table;
}

FitResult fit_vbpmkl(const KernelBank& bank, const Targets& targets, const VbpmklOptions& options,
                     const Context& context) {
  return complete_fit(find_learner(kName), bank, targets, option_texts(vbpmkl_option_table(), options), context,
                      [&](FitResult& result) { learn(bank, targets, options, context, result); });
}

Learner vbpmkl_learner() {
  Learner learner;
  learner.name = kName;
  learner.summary =
      "multinomial probit machine on a convex combination of kernels (VBpMKL), with probabilities";
  learner.doc_page = "docs/methods/vbpmkl.md";
  learner.tasks = {Task::binary, Task::multiclass};
  learner.options = describe_options(vbpmkl_option_table());
  learner.fit = [](const KernelBank& bank, const Targets& targets, const OptionValues& values,
                   const Context& context) {
    return fit_vbpmkl(bank, targets, parse_options(vbpmkl_option_table(), values, kName), context);
  };
  learner.load = load_vbpmkl;
  learner.working_memory = working_memory;
  learner.operations = [](double n, double /*p*/) { return n * n * n; };
  learner.wants_entries = true;
  return learner;
}

}  // namespace kloom::methods
