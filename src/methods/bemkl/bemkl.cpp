// SPDX-License-Identifier: BSD-3-Clause
#include "methods/bemkl/bemkl.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "algebra/blas.h"
#include "base/progress.h"
#include "kloom/error.h"
#include "kloom/parts.h"
#include "methods/seam/prepared_targets.h"
#include "methods/seam/some_samples.h"
#include "models/scores.h"

namespace kloom::methods {

namespace {

// ---- from targets to problems

bool is_regression(const Targets& targets) {
  return targets.task == Task::regression || targets.task == Task::multi_regression;
}

BemklLikelihood likelihood_of(const Targets& targets, const BemklOptions& options) {
  if (is_regression(targets)) return BemklLikelihood::gaussian;
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
    column.push_back(is_regression(targets) ? value : std::isnan(value) ? 0.0 : value > 0.5 ? 1.0 : -1.0);
  return column;
}

// ---- from factors to a model

// Samples that were switched off leave the model.
bool is_off(const BemklFactors& q, Index i, Index c, const BemklOptions& options) {
  return options.sparse_samples && q.lambda()(i, c) >= 1e5;
}

BemklPosterior::Group group_of(const BemklFactors& q, const Vector& weights, const BemklOptions& options) {
  BemklPosterior::Group group{q.lambda(),        q.omega(), q.gamma(),      q.upsilon(),    q.epsilon(),
                              q.be_covariance(), {},        q.f_location(), q.e_location(), q.e_precision()};
  if (q.likelihood() == BemklLikelihood::gaussian) group.f_location = {};
  for (Index k = 0; k < group.f_location.size() && !weights.empty(); ++k) {
    const double weight = weights[at(k % q.samples())];  // the factors' scale is √w times that of the model
    group.f_location.data()[k] /= weight > 0.0 ? std::sqrt(weight) : 1.0;
  }
  for (Index c = 0; c < q.outputs() && options.variance; ++c) {
    Matrix& covariance = group.a_covariance.emplace_back(q.a_covariance(c));
    for (Index i = 0; i < covariance.rows(); ++i) {
      for (Index j = 0; j < covariance.rows() && is_off(q, i, c, options); ++j)
        covariance(i, j) = covariance(j, i) = 0.0;
    }
  }
  return group;
}

// ---- the fit

// Switches samples off for good and lets the rest settle. The bound may lose a thousandth of itself by that: it
// has many maxima, and the one with fewer samples is what was asked for.
void settle_samples(BemklFactors& factors, const BemklOptions& options, const Context& context,
                    Report& report) {
  for (int round = 0; round < 10; ++round) {
    if (report.status == Status::numerical_trouble || report.status == Status::stopped) return;
    BemklFactors fewer = factors;
    if (!fewer.switch_off_samples()) return;
    const Report part = run_bemkl(fewer, options, context);
    if (part.status == Status::numerical_trouble ||
        fewer.lower_bound() < factors.lower_bound() - 1e-3 * std::abs(factors.lower_bound()))
      return;
    factors = std::move(fewer);
    report.iterations += part.iterations;
    report.status = part.status;
    report.message = part.message;
  }
}

struct GroupFit {
  BemklFactors factors;
  Report report;
};

// The best of all starts by the bound.
GroupFit fit_group(const KernelBank& bank, const BemklProblem& problem, const BemklOptions& options,
                   const Context& context) {
  std::optional<GroupFit> best;
  for (Index restart = 0; restart < options.restarts; ++restart) {
    std::optional<std::uint64_t> seed;
    if (options.literal || options.start == "random" || restart > 0)
      seed = context.seed + static_cast<std::uint64_t>(restart);
    const BemklStart start = bemkl_start(bank, problem, options.margin, seed);
    GroupFit fit{BemklFactors(bank, problem, bemkl_prior(options), start), {}};
    fit.report = run_bemkl(fit.factors, options, context);
    if (options.sparse_samples) settle_samples(fit.factors, options, context, fit.report);
    const bool sound = fit.report.status != Status::numerical_trouble;
    // One more q(G): a step that cannot lower the bound, after which every factor follows from those in the model.
    if (sound && !fit.factors.update_intermediate())
      throw InternalError("BEMKL lost q(G) after its last iteration");
    if (sound) fit.report.objective = fit.factors.lower_bound();
    if (!best || (sound && fit.report.objective > best->report.objective)) best = std::move(fit);
    if (best->report.status == Status::stopped) break;
  }
  return std::move(*best);
}

std::vector<BemklFactors> fit_groups(const KernelBank& bank, const BemklPlan& plan, const BemklOptions& options,
                                     const Context& context, Report& report) {
  std::vector<BemklFactors> factors;
  for (const BemklProblem& problem : plan.problems) {
    GroupFit fit = fit_group(bank, problem, options, context);
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

// How many kernels are on: clearly not 0 and with a share in the scores; and by the rule of the paper.
Report::Table kernels_in_use(const KernelBank& bank, const Model& model) {
  Report::Table table{"kernels in use", {"output", "on", "with |weight| > 1e-3", "of"}, {}};
  const Matrix applied = bank.apply(model.coefficients.view());
  for (Index row = 0; row < model.weights.values.rows(); ++row) {
    const auto weight = [&](Index m) { return std::abs(model.weights.values(row, m)); };
    Vector share(at(bank.kernels()));
    double total = 0.0;
    for (Index c = 0; c < model.coefficients.cols(); ++c) {
      if (model.weights.shape == KernelWeights::Shape::per_class && c != row) continue;
      const Matrix outputs = models::outputs_of(applied, c, bank.rows(), bank.kernels());
      for (Index m = 0; m < bank.kernels(); ++m)
        share[at(m)] += weight(m) * std::sqrt(algebra::dot(outputs.column(m), outputs.column(m)));
    }
    for (const double value : share) total += value;
    double on = 0.0;
    double published = 0.0;
    for (Index m = 0; m < bank.kernels(); ++m) {
      published += weight(m) > 1e-3 ? 1.0 : 0.0;
      on += weight(m) > 2.0 * model.weights.deviation(row, m) && share[at(m)] > 1e-3 * total ? 1.0 : 0.0;
    }
    table.rows.push_back({static_cast<double>(row + 1), on, published, static_cast<double>(bank.kernels())});
  }
  return table;
}

void learn(const KernelBank& bank, const Targets& targets, const BemklOptions& options, const Context& context,
           FitResult& result) {
  if (options.likelihood == "multinomial" &&
      (targets.task != Task::multiclass || options.multiclass != "shared"))
    throw InvalidArgument(
        "the multinomial likelihood is for three or more classes with shared kernel weights; use --likelihood "
        "probit");
  Report& report = result.report;
  report.objective_name = "lower bound";
  ProgressMeter clock(context, "bemkl");
  const BemklPlan plan = bemkl_plan(targets, options);
  const std::vector<BemklFactors> factors = fit_groups(bank, plan, options, context, report);
  report.seconds.emplace_back("iterations", clock.seconds());
  result.model = bemkl_model(bank, targets, plan, factors, options);
  const bool sound = report.status == Status::converged || report.status == Status::iteration_limit;
  if (options.calibration != "none" && !options.literal && sound) {
    edit_part<BemklPosterior>(result.model).temperature =
        calibrated_temperature(bank, targets, plan, factors, options, context, report);
    report.seconds.emplace_back("calibration", clock.seconds() - report.seconds.back().second);
  }
  report.tables.push_back(kernels_in_use(bank, result.model));
}

// σ_g = 1 underfits several classes with few samples each, and less than 1 overfits elsewhere: of three values, the one
// with the least held-out log loss on some of the samples (the folds of calibration.cpp). With two classes 1 was never
// worse by more than chance; numbers learn υ = 1/σ_g² themselves.
double chosen_sigma_g(const KernelBank& bank, const Targets& targets, BemklOptions options,
                      const Context& context) {
  constexpr Index kMost = 200;
  constexpr Index kLeast = 3;  // of a class: one for each fold
  constexpr double kUsual = 1.0;
  if (targets.task != Task::multiclass || options.literal || options.calibration == "none") return kUsual;
  const SomeSamples some = some_samples(bank, targets, kMost, kLeast, context.seed);
  if (some.targets.task != Task::multiclass) return kUsual;
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

std::size_t working_memory(Index n, Index p, Index outputs) {
  // S, the factor of Σ(a)'s precision, and every Σ(a) in the end; G, its linear term, [K_p μ_a] and a copy of the
  // state; Σ_g, Σ_(b,e) and work. Once more where folds calibrate what the fit has come to. With far more kernels
  // than samples P × P matrices are made at the end only; before, there are about 3N rows for each output.
  const Index square = (p + outputs) * (p + outputs);
  const Index of_kernels =
      thin_pays(n, outputs, p) ? 4 * square + 24 * n * p * outputs : (9 + outputs) * square;
  const Index entries = (7 + 2 * outputs) * n * n + 10 * n * p * outputs + of_kernels;
  return static_cast<std::size_t>(entries) * sizeof(double);
}

}  // namespace

BemklPlan bemkl_plan(const Targets& targets, const BemklOptions& options) {
  const Vector weights = sample_weights(targets, options);
  const Index outputs = outputs_of(targets);
  const bool apart = targets.task == Task::multiclass && options.multiclass == "one-versus-all";
  BemklPlan plan;
  for (Index c = 0; c < outputs; ++c) {
    Standardised column{output_column(targets, c)};
    if (is_regression(targets)) {
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
                  const std::vector<BemklFactors>& factors, const BemklOptions& options) {
  const auto groups = std::ssize(factors);
  Model model;
  model.task = targets.task;
  model.classes = targets.classes;
  model.kernel_names = bank.names();
  model.weights.shape = groups > 1 ? KernelWeights::Shape::per_class : KernelWeights::Shape::shared;
  model.weights.values = model.weights.deviation = Matrix(groups, bank.kernels());
  model.coefficients = Matrix(bank.rows(), outputs_of(targets));
  auto posterior = std::make_shared<BemklPosterior>();
  posterior->likelihood = plan.problems.front().likelihood;
  posterior->prior = bemkl_prior(options);
  posterior->literal = options.literal;
  posterior->sample_weights = plan.problems.front().weights;
  posterior->target_centre = plan.target_centre;
  posterior->target_scale = plan.target_scale;
  Index column = 0;
  for (Index g = 0; g < groups; ++g) {
    const BemklFactors& q = factors[at(g)];
    posterior->groups.push_back(group_of(q, posterior->sample_weights, options));
    for (Index m = 0; m < bank.kernels(); ++m) {
      model.weights.values(g, m) = q.be()[at(q.outputs() + m)];
      model.weights.deviation(g, m) = std::sqrt(q.be_variance()[at(q.outputs() + m)]);
    }
    for (Index c = 0; c < q.outputs(); ++c, ++column) {
      const double scale = plan.target_scale.empty() ? 1.0 : plan.target_scale[at(column)];
      const double centre = plan.target_centre.empty() ? 0.0 : plan.target_centre[at(column)];
      for (Index i = 0; i < bank.rows(); ++i)
        model.coefficients(i, column) = is_off(q, i, c, options) ? 0.0 : scale * q.a()(i, c);
      model.bias.push_back(scale * q.be()[at(c)] + centre);
    }
  }
  model.part = std::move(posterior);
  return model;
}

FitResult fit_bemkl(const KernelBank& bank, const Targets& targets, const BemklOptions& options,
                    const Context& context) {
  return complete_fit(find_learner("bemkl"), bank, targets, option_texts(bemkl_option_table(), options),
                      context, [&](FitResult& result) {
                        BemklOptions settled = options;
                        if (options.sigma_g == 0.0)
                          settled.sigma_g = chosen_sigma_g(bank, targets, options, context);
                        learn(bank, targets, settled, context, result);
                        result.report.options["sigma_g"] = number_text(settled.sigma_g);
                      });
}

Learner bemkl_learner() {
  Learner learner;
  learner.name = "bemkl";
  learner.summary = "Bayesian efficient MKL: kernel weights with uncertainty, calibrated probabilities";
  learner.doc_page = "docs/methods/bemkl.md";
  learner.tasks = {Task::binary, Task::multiclass, Task::multilabel, Task::regression, Task::multi_regression};
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
