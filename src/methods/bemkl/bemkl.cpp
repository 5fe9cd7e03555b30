// SPDX-License-Identifier: BSD-3-Clause
#include "methods/bemkl/bemkl.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/progress.h"
#include "kloom/error.h"
#include "kloom/parts.h"
#include "methods/seam/prepared_targets.h"
#include "methods/seam/some_samples.h"
#include "models/scores.h"

namespace kloom::methods {

namespace {

// ---- from targets to problems

BemklLikelihood likelihood_of(const Targets& targets, const BemklOptions& options) {
  if (models::has_numbers(targets.task)) return BemklLikelihood::gaussian;
  return options.likelihood == "multinomial" ? BemklLikelihood::multinomial : BemklLikelihood::probit;
}

// Weights of the samples: as given, times what balances the classes if asked for; empty if all are 1.
Vector sample_weights(const Targets& targets, const BemklOptions& options) {
  Vector weights = targets.weights.empty() ? Vector(at(targets.samples()), 1.0) : targets.weights;
  if (options.class_weight == "balanced") balance_classes(targets.codes, targets.classes.size(), weights);
  return std::ranges::all_of(weights, [](double w) { return w == 1.0; }) ? Vector() : weights;
}

// Output c: +1 and −1 of a class against the others or of a label, 0 where there is none; or numbers.
Vector output_column(const Targets& targets, Index c) {
  if (targets.task == Task::binary) return targets.signs();
  Vector column;
  for (const int code : targets.codes)
    column.push_back(code == Targets::unlabelled ? 0.0 : code == c ? 1.0 : -1.0);
  if (targets.task == Task::multiclass) return column;
  for (const double value : targets.values.column(c))
    column.push_back(models::has_numbers(targets.task) ? value
                     : std::isnan(value)               ? 0.0
                                                       : (value > 0.5 ? 1.0 : -1.0));
  return column;
}

// ---- the fit

std::vector<BemklFactors> fit_groups(const KernelBank& bank, const BemklPlan& plan, const BemklOptions& options,
                                     const Context& context, Report& report) {
  std::vector<BemklFactors> factors;
  for (const BemklProblem& problem : plan.problems) {
    BemklFit fit = fit_problem(bank, problem, options, context);
    if (report.status == Status::converged) report.status = fit.report.status;  // the worst of all fits is told
    report.message = fit.report.message;
    report.iterations += fit.report.iterations;
    report.objective += fit.report.objective;
    if (factors.empty()) report.trace = std::move(fit.report.trace);
    factors.push_back(std::move(fit.factors));
    if (report.status == Status::stopped && factors.size() < plan.problems.size())
      throw Interrupted("stopped before every class had its fit");
  }
  return factors;
}

// How many kernels are on: clearly not 0; and by the rule of the paper.
Report::Table kernels_in_use(const KernelWeights& weights) {
  Report::Table table{"kernels in use", {"output", "on", "with |weight| > 1e-3", "of"}, {}};
  const Index kernels = weights.values.cols();
  for (Index row = 0; row < weights.values.rows(); ++row) {
    Index on = 0;
    Index published = 0;
    for (Index m = 0; m < kernels; ++m) {
      const double weight = std::abs(weights.values(row, m));
      on += weight > 2.0 * weights.deviation(row, m) ? 1 : 0;
      published += weight > 1e-3 ? 1 : 0;
    }
    table.rows.push_back({static_cast<double>(row + 1), static_cast<double>(on), static_cast<double>(published),
                          static_cast<double>(kernels)});
  }
  return table;
}

void learn(const KernelBank& bank, const Targets& targets, const BemklOptions& options, const Context& context,
           FitResult& result) {
  if (options.likelihood == "multinomial" &&
      (targets.task != Task::multiclass || options.multiclass != "shared"))
    throw InvalidArgument(
        "the multinomial likelihood is for three or more classes "
        "with shared kernel weights; use --likelihood probit");
  Report& report = result.report;
  report.objective_name = "lower bound";
  ProgressMeter clock(context, "bemkl");
  const BemklPlan plan = bemkl_plan(targets, options);
  const std::vector<BemklFactors> factors = fit_groups(bank, plan, options, context, report);
  report.seconds.emplace_back("iterations", clock.seconds());
  double temperature = 1.0;
  if (options.calibration != "none" && is_usable(report)) {
    try {
      const HeldOut held_out = bemkl_held_out(bank, targets, plan, factors, options, context);
      if (!held_out.empty()) {
        temperature = held_out.temperature();
        report.tables.push_back({"calibration on held-out samples",
                                 {"temperature", "log loss before", "after"},
                                 {{temperature, held_out.loss(1.0), held_out.loss(temperature)}}});
      }
    } catch (const Interrupted&) {
      report.status = Status::stopped;
      report.message = "stopped on request before probabilities were calibrated; the model is usable";
    }
    report.seconds.emplace_back("calibration", clock.seconds() - report.seconds.back().second);
  }
  // Not before the folds: N × N covariances of the whole fit and of a fold need not be there together.
  result.model = bemkl_model(bank, targets, plan, factors, options, temperature);
  report.tables.push_back(kernels_in_use(result.model.weights));
}

std::size_t working_memory(Index n, Index p, Index outputs) {
  // N × N: what was measured at the peak (bench/memory/run), 3.5 and another two for each output: S, the factor of
  // Σ(a)'s precision and its work, and in the end every Σ(a), in the model and where it is checked. N × P: G, its linear
  // term, [K_p μ_a] and a copy of the state. P × P: Σ_g, Σ_(b,e) and work; with far more kernels than samples these are
  // made at the end only, and before there are about 3N rows for each output.
  const Index square = (p + outputs) * (p + outputs);
  const Index of_kernels =
      thin_pays(n, outputs, p) ? 4 * square + 24 * n * p * outputs : (9 + outputs) * square;
  const Index entries = (7 + 4 * outputs) * n * n / 2 + 10 * n * p * outputs + of_kernels;
  return static_cast<std::size_t>(entries) * sizeof(double);
}

}  // namespace

// σ_g = 1 underfits several classes with few samples each, and less than 1 overfits elsewhere: of three values, the one
// with the least held-out log loss on some of the samples (the folds of calibration.cpp). With two classes 1 was never
// worse by more than chance; numbers learn υ = 1/σ_g² themselves.
double chosen_sigma_g(const KernelBank& bank, const Targets& targets, BemklOptions options,
                      const Context& context) {
  constexpr Index kMost = 200;
  constexpr Index kLeast = 3;  // of a class: one for each fold
  constexpr double kUsual = 1.0;
  if (targets.task != Task::multiclass || options.calibration == "none") return kUsual;
  const SomeSamples some = some_samples(bank, targets, kMost, kLeast, context.seed);
  if (some.bank == nullptr || some.targets.task != Task::multiclass) return kUsual;
  options.tolerance = std::max(options.tolerance, 1e-4);
  double best = kUsual;
  double least = std::numeric_limits<double>::infinity();
  for (const double sigma_g : {kUsual, 0.3, 0.1}) {
    options.sigma_g = sigma_g;
    FitResult trial;
    learn(*some.bank, some.targets, options, context, trial);
    const auto& calibration = trial.report.tables.front();
    if (trial.report.tables.size() < 2 || !(calibration.rows.front()[2] < least)) break;
    best = sigma_g;
    least = calibration.rows.front()[2];
  }
  return best;
}

const OptionTable<BemklOptions>& bemkl_option_table() {
  using O = BemklOptions;
  static const OptionTable<O> table = {
      {"sigma_g", &O::sigma_g, kNonNegative,
       "standard deviation of each kernel's output; smaller values trust the kernels more and are "
       "over-confident; 0: of 1, 0.3 and 0.1 what held-out samples of several classes prefer, else 1"},
      {"margin", &O::margin, kNonNegative, "width of the region between the classes; the paper has 1",
       kForClasses},
      {"multiclass", &O::multiclass, one_of("shared", "one-versus-all"),
       "several classes: one set of kernel weights for all, or one fit per class", kForClasses},
      {"likelihood", &O::likelihood, one_of("probit", "multinomial"),
       "several classes: a threshold for each, or the largest score wins", kForClasses},
      {"iterations", &O::iterations, kAtLeastOne, "at most this many passes over all factors"},
      {"tolerance", &O::tolerance, kNonNegative,
       "stop when the lower bound rises by less than this part of itself; 0 runs all iterations"},
      {"acceleration", &O::acceleration, one_of("anderson", "none"),
       "extrapolate between updates where that raises the lower bound"},
      {"sparse", &O::sparse, "switch most kernels off (gamma prior 1e-10, 1e+10 on kernel weights)"},
      {"sparse_samples", &O::sparse_samples,
       "switch most training samples off (gamma prior 1e-10, 1e+10 on sample weights): a smaller model"},
      {"non_negative", &O::non_negative, "kernel weights cannot be negative; cheaper with many kernels"},
      {"alpha_lambda", &O::alpha_lambda, kPositive, "shape of the prior on sample precisions"},
      {"beta_lambda", &O::beta_lambda, kPositive, "scale of the prior on sample precisions"},
      {"alpha_gamma", &O::alpha_gamma, kPositive, "shape of the prior on the bias precision"},
      {"beta_gamma", &O::beta_gamma, kPositive, "scale of the prior on the bias precision"},
      {"alpha_omega", &O::alpha_omega, kPositive, "shape of the prior on kernel precisions"},
      {"beta_omega", &O::beta_omega, kPositive, "scale of the prior on kernel precisions"},
      {"alpha_upsilon", &O::alpha_upsilon, kPositive,
       "regression: shape of the prior on the precision of kernel outputs", kForNumbers},
      {"beta_upsilon", &O::beta_upsilon, kPositive,
       "regression: scale of the prior on the precision of kernel outputs", kForNumbers},
      {"alpha_epsilon", &O::alpha_epsilon, kPositive,
       "regression: shape of the prior on the precision of the noise", kForNumbers},
      {"beta_epsilon", &O::beta_epsilon, kPositive,
       "regression: scale of the prior on the precision of the noise", kForNumbers},
      {"class_weight", &O::class_weight, one_of("none", "balanced"),
       "balanced: weights of a class inversely to its size", kForClasses},
      {"start", &O::start, one_of("mean", "random"),
       "where the iteration starts: the expected starting point, or a random one from the seed"},
      {"restarts", &O::restarts, kAtLeastOne,
       "keep the best of so many starts; those after the first are random"},
      {"variance", &O::variance, "keep the N x N posterior covariance, which full predictive variances need"},
      {"calibration", &O::calibration, one_of("held-out", "none"),
       "learn from three folds how sure probabilities and intervals may be"},
      {"literal", &O::literal,
       "as published: random start, 200 iterations, margin 1 and sigma_g 1 "
       "where nothing else is said, probabilities divided by the variance"},
  };
  return table;
}

BemklPrior bemkl_prior(const BemklOptions& options) {
  BemklPrior hyper{options.sigma_g > 0.0 ? options.sigma_g : 1.0, options.margin,
                   {options.alpha_lambda, options.beta_lambda},   {options.alpha_gamma, options.beta_gamma},
                   {options.alpha_omega, options.beta_omega},     {options.alpha_upsilon, options.beta_upsilon},
                   {options.alpha_epsilon, options.beta_epsilon}, options.non_negative};
  if (options.sparse) hyper.omega = {1e-10, 1e+10};
  if (options.sparse_samples) hyper.lambda = {1e-10, 1e+10};
  return hyper;
}

BemklPlan bemkl_plan(const Targets& targets, const BemklOptions& options) {
  const Vector weights = sample_weights(targets, options);
  const Index outputs = outputs_of(targets);
  const bool apart = targets.task == Task::multiclass && options.multiclass == "one-versus-all";
  BemklPlan plan;
  for (Index c = 0; c < outputs; ++c) {
    Standardised column{output_column(targets, c)};
    if (models::has_numbers(targets.task)) {
      if (!options.literal) column = standardised(column.values, weights);
      plan.target_centre.push_back(column.centre);
      plan.target_scale.push_back(column.scale);
    }
    if (c == 0 || apart)
      plan.problems.push_back(
          {likelihood_of(targets, options), Matrix(targets.samples(), apart ? 1 : outputs), weights});
    std::ranges::copy(column.values, plan.problems.back().targets.column(apart ? 0 : c).begin());
  }
  return plan;
}

Model bemkl_model(const KernelBank& bank, const Targets& targets, const BemklPlan& plan,
                  const std::vector<BemklFactors>& factors, const BemklOptions& options, double temperature) {
  const auto groups = std::ssize(factors);
  Model model;
  model.method = "bemkl";
  model.task = targets.task;
  model.classes = targets.classes;
  model.kernel_names = bank.names();
  model.weights.shape = groups > 1 ? KernelWeights::Shape::per_class : KernelWeights::Shape::shared;
  model.weights.values = model.weights.deviation = Matrix(groups, bank.kernels());
  model.coefficients = Matrix(bank.rows(), outputs_of(targets));
  auto posterior = std::make_shared<BemklPosterior>();
  posterior->likelihood = plan.problems.front().likelihood;
  posterior->prior = bemkl_prior(options);
  posterior->temperature = temperature;
  posterior->literal = options.literal;
  posterior->sample_weights = plan.problems.front().weights;
  posterior->target_centre = plan.target_centre;
  posterior->target_scale = plan.target_scale;
  Index column = 0;
  for (Index g = 0; g < groups; ++g) {
    const BemklFactors& q = factors[at(g)];
    posterior->groups.push_back(q.posterior(options.variance));
    const Matrix& covariance = posterior->groups.back().be_covariance;
    for (Index m = 0; m < bank.kernels(); ++m) {
      model.weights.values(g, m) = q.be()[at(q.outputs() + m)];
      model.weights.deviation(g, m) = std::sqrt(covariance(q.outputs() + m, q.outputs() + m));
    }
    for (Index c = 0; c < q.outputs(); ++c, ++column) {
      const double scale = plan.target_scale.empty() ? 1.0 : plan.target_scale[at(column)];
      const double centre = plan.target_centre.empty() ? 0.0 : plan.target_centre[at(column)];
      for (Index i = 0; i < bank.rows(); ++i)
        model.coefficients(i, column) = options.sparse_samples && q.is_off(i, c) ? 0.0 : scale * q.a()(i, c);
      model.bias.push_back(scale * q.be()[at(c)] + centre);
    }
  }
  model.part = std::move(posterior);
  return model;
}

// The settings of the paper, in place of defaults.
static BemklOptions as_published(BemklOptions options) {
  const BemklOptions defaults;
  options.start = "random";
  options.acceleration = options.calibration = "none";
  options.tolerance = 0.0;
  if (options.margin == defaults.margin) options.margin = 1.0;
  if (options.iterations == defaults.iterations) options.iterations = 200;
  if (options.sigma_g == defaults.sigma_g) options.sigma_g = 1.0;
  return options;
}

FitResult fit_bemkl(const KernelBank& bank, const Targets& targets, const BemklOptions& options,
                    const Context& context) {
  return complete_fit(find_learner("bemkl"), bank, targets, option_texts(bemkl_option_table(), options),
                      context, [&](FitResult& result) {
                        BemklOptions settled = options.literal ? as_published(options) : options;
                        if (settled.sigma_g == 0.0)
                          settled.sigma_g = chosen_sigma_g(bank, targets, settled, context);
                        learn(bank, targets, settled, context, result);
                        for (const auto& [name, text] : option_texts(bemkl_option_table(), settled))
                          result.report.options[name] = text;
                      });
}

Learner bemkl_learner() {
  Learner learner;
  learner.name = "bemkl";
  learner.summary = "Bayesian efficient MKL: kernel weights with uncertainty, calibrated probabilities";
  learner.doc_page = "docs/methods/bemkl.md";
  learner.tasks = {Task::binary, Task::multiclass, Task::multilabel, Task::regression, Task::multi_regression};
  learner.absent_tasks = learner.tasks;
  learner.semi_supervised = true;
  learner.operations = [](double n, double p) { return n * n * n + p * p * p + n * p * p; };
  learner.load = load_bemkl;
  learner.options = describe_options(bemkl_option_table());
  learner.fit = [](const KernelBank& bank, const Targets& targets, const OptionValues& values,
                   const Context& context) {
    return fit_bemkl(bank, targets, parse_options(bemkl_option_table(), values, "bemkl"), context);
  };
  learner.working_memory = working_memory;
  return learner;
}

}  // namespace kloom::methods
