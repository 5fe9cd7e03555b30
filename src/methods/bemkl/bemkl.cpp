// SPDX-License-Identifier: BSD-3-Clause
#include "methods/bemkl/bemkl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "algebra/blas.h"
#include "algebra/threads.h"
#include "base/progress.h"
#include "kernels/banks/rounded_bank.h"
#include "kloom/error.h"
#include "kloom/machine.h"
#include "kloom/parts.h"
#include "methods/bemkl/calibration.h"
#include "methods/bemkl/factors.h"
#include "methods/bemkl/run.h"
#include "methods/bemkl/start.h"

namespace kloom::methods {
namespace {

void check_likelihood(const Targets& targets, const BemklOptions& options) {
  if (options.likelihood == "multinomial" &&
      (targets.task != Task::multiclass || options.multiclass != "shared")) {
    throw InvalidArgument(
        "the multinomial likelihood is for three or more classes with shared kernel weights; use --likelihood "
        "probit");
  }
}

// Weights of the samples: as given, times what balances the classes if asked for; empty if all are 1.
Vector sample_weights(const Targets& targets, const BemklOptions& options) {
  Vector weights(at(targets.samples()), 1.0);
  if (!targets.weights.empty()) weights = targets.weights;
  if (options.class_weight == "balanced" && !targets.codes.empty()) {
    Vector totals(targets.classes.size());
    double total = 0.0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (targets.codes[i] == Targets::unlabelled) continue;
      totals[at(targets.codes[i])] += weights[i];
      total += weights[i];
    }
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (targets.codes[i] == Targets::unlabelled || weights[i] == 0.0) continue;
      weights[i] *= total / (static_cast<double>(totals.size()) * totals[at(targets.codes[i])]);
    }
  }
  const bool plain = std::ranges::all_of(weights, [](double w) { return w == 1.0; });
  return plain ? Vector() : weights;
}

// +1 for class c, −1 for the others, 0 without a label.
Vector signs_of_class(const Targets& targets, int c) {
  Vector signs;
  for (int code : targets.codes) signs.push_back(code == Targets::unlabelled ? 0.0 : code == c ? 1.0 : -1.0);
  return signs;
}

// Numbers of one target, standardised (literal: as they are).
Vector standardised(std::span<const double> values, const Vector& weights, bool literal, double& centre,
                    double& scale) {
  double total = 0.0;
  double sum = 0.0;
  const auto weight = [&](std::size_t i) { return weights.empty() ? 1.0 : weights[i]; };
  for (std::size_t i = 0; i < values.size(); ++i) {
    total += weight(i);
    sum += weight(i) * values[i];
  }
  centre = literal || total == 0.0 ? 0.0 : sum / total;
  double square = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i)
    square += weight(i) * (values[i] - centre) * (values[i] - centre);
  scale = literal || square == 0.0 ? 1.0 : std::sqrt(square / total);
  Vector result;
  for (double value : values) result.push_back((value - centre) / scale);
  return result;
}

BemklLikelihood likelihood_of(const Targets& targets, const BemklOptions& options) {
  if (targets.task == Task::regression || targets.task == Task::multi_regression)
    return BemklLikelihood::gaussian;
  return options.likelihood == "multinomial" ? BemklLikelihood::multinomial : BemklLikelihood::probit;
}

// Columns of signs or numbers, one per output.
std::vector<Vector> output_columns(const Targets& targets, const BemklOptions& options, const Vector& weights,
                                   BemklPlan& plan) {
  std::vector<Vector> columns;
  if (targets.task == Task::binary) return {targets.signs()};
  if (targets.task == Task::multiclass) {
    for (int c = 0; c < static_cast<int>(targets.classes.size()); ++c)
      columns.push_back(signs_of_class(targets, c));
    return columns;
  }
  for (Index c = 0; c < targets.values.cols(); ++c) {
    const auto values = targets.values.column(c);
    if (targets.task == Task::multilabel) {
      Vector signs;
      for (double value : values) signs.push_back(std::isnan(value) ? 0.0 : value > 0.5 ? 1.0 : -1.0);
      columns.push_back(std::move(signs));
      continue;
    }
    double centre = 0.0;
    double scale = 1.0;
    columns.push_back(standardised(values, weights, options.literal, centre, scale));
    plan.target_centre.push_back(centre);
    plan.target_scale.push_back(scale);
  }
  return columns;
}

Matrix matrix_of(const std::vector<Vector>& columns) {
  Matrix result(static_cast<Index>(columns.front().size()), static_cast<Index>(columns.size()));
  for (std::size_t c = 0; c < columns.size(); ++c)
    std::ranges::copy(columns[c], result.column(static_cast<Index>(c)).begin());
  return result;
}

BemklPosterior::Group group_of(const BemklFactors& factors, const Vector& weights,
                               const BemklOptions& options) {
  BemklPosterior::Group group;
  group.lambda = factors.lambda();
  group.omega = factors.omega();
  group.gamma = factors.gamma();
  group.upsilon = factors.upsilon();
  group.epsilon = factors.epsilon();
  group.be_covariance = factors.be_covariance();
  group.e_location = factors.e_location();
  group.e_precision = factors.e_precision();
  if (factors.likelihood() != BemklLikelihood::gaussian) group.f_location = factors.f_location();
  for (std::size_t i = 0; i < weights.size() && !group.f_location.empty(); ++i) {
    // The factors' scale is √w times that of the model.
    for (Index c = 0; c < factors.outputs(); ++c)
      group.f_location(static_cast<Index>(i), c) /= weights[i] > 0.0 ? std::sqrt(weights[i]) : 1.0;
  }
  for (Index c = 0; c < factors.outputs() && options.variance; ++c)
    group.a_covariance.push_back(factors.a_covariance(c));
  return group;
}

BemklPosterior posterior_of(const BemklPlan& plan, const std::vector<BemklFactors>& factors,
                            const BemklOptions& options) {
  const BemklHyper hyper = bemkl_hyper(options);
  BemklPosterior posterior;
  posterior.likelihood = static_cast<BemklPosterior::Likelihood>(plan.problems.front().likelihood);
  posterior.sigma_g = hyper.sigma_g;
  posterior.margin = hyper.margin;
  posterior.alpha_lambda = hyper.lambda.shape;
  posterior.beta_lambda = hyper.lambda.scale;
  posterior.alpha_gamma = hyper.gamma.shape;
  posterior.beta_gamma = hyper.gamma.scale;
  posterior.alpha_omega = hyper.omega.shape;
  posterior.beta_omega = hyper.omega.scale;
  posterior.alpha_upsilon = hyper.upsilon.shape;
  posterior.beta_upsilon = hyper.upsilon.scale;
  posterior.alpha_epsilon = hyper.epsilon.shape;
  posterior.beta_epsilon = hyper.epsilon.scale;
  posterior.literal = options.literal;
  posterior.sample_weights = plan.problems.front().weights;
  posterior.target_centre = plan.target_centre;
  posterior.target_scale = plan.target_scale;
  for (const BemklFactors& fit : factors)
    posterior.groups.push_back(group_of(fit, posterior.sample_weights, options));
  return posterior;
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

// Switches samples off for good and lets the rest settle. The bound may lose a thousandth of itself by that: it
// has many maxima, and the one with fewer samples is what was asked for.
void settle_samples(BemklFactors& factors, const BemklOptions& options, const Context& context,
                    Report& report) {
  for (int round = 0;
       round < 10 && report.status != Status::numerical_trouble && report.status != Status::stopped; ++round) {
    BemklFactors fewer = factors;
    if (!fewer.switch_off_samples()) return;
    Report part;
    BemklRun(fewer, options, context).go(part);
    if (part.status == Status::numerical_trouble ||
        fewer.lower_bound() < factors.lower_bound() - 1e-3 * std::abs(factors.lower_bound()))
      return;
    factors = std::move(fewer);
    report.iterations += part.iterations;
    report.status = part.status;
    report.message = part.message;
  }
}

struct BemklBanks {
  const KernelBank& whole;
  std::shared_ptr<const KernelBank> rounded;  // or none
};

// Rounded kernels are for fits of one output, where passes read memory and do little else, and where there is
// room for them.
BemklBanks banks_of(const KernelBank& bank, const BemklPlan& plan, const BemklOptions& options,
                    const Context& context) {
  BemklBanks banks{bank, nullptr};
  const Index outputs = plan.problems.front().targets.cols();
  if (options.literal || outputs > 1) return banks;
  const std::size_t taken = context.memory_budget != 0 ? bank.bytes() : 0;  // else it is no longer free
  const std::size_t needed = bank.bytes() / 2 + working_memory(bank.rows(), bank.kernels(), outputs);
  if (taken + needed <= memory_budget(context)) banks.rounded = kernels::rounded_bank(bank);
  return banks;
}

// The best of all starts by the bound.
BemklFactors fit_group(const BemklBanks& banks, const BemklProblem& problem, const BemklOptions& options,
                       const Context& context, Report& report) {
  const KernelBank& bank = banks.whole;
  std::optional<BemklFactors> best;
  Report best_report;
  for (Index restart = 0; restart < options.restarts; ++restart) {
    const bool random = options.literal || options.start == "random" || restart > 0;
    const std::uint64_t seed = context.seed + static_cast<std::uint64_t>(restart);
    const BemklStart start = random ? random_start(bank, problem, options.margin, seed)
                                    : expected_start(bank, problem, options.margin);
    BemklFactors factors(bank, problem, bemkl_hyper(options), start, banks.rounded);
    Report part;
    BemklRun(factors, options, context).go(part);
    if (options.sparse_samples) settle_samples(factors, options, context, part);
    if (part.status != Status::numerical_trouble) {
      // One more q(G): a step that cannot lower the bound, after which every factor follows from those in the
      // model.
      if (!factors.update_intermediate()) throw InternalError("BEMKL lost q(G) after its last iteration");
      part.objective = factors.lower_bound();
    }
    if (!best || (part.status != Status::numerical_trouble && part.objective > best_report.objective)) {
      best = std::move(factors);
      best_report = std::move(part);
    }
    if (best_report.status == Status::stopped) break;
  }
  report.status = best_report.status;
  report.message = best_report.message;
  report.iterations += best_report.iterations;
  report.objective += best_report.objective;
  if (report.trace.empty()) report.trace = best_report.trace;
  return std::move(*best);
}

// Which kernels are on, by three rules side by side.
Report::Table kernels_in_use(const KernelBank& bank, const Model& model) {
  Report::Table table{"kernels in use", {"output", "on", "with |weight| > 1e-3", "of"}, {}};
  const Matrix applied = bank.apply(model.coefficients.view());
  for (Index row = 0; row < model.weights.values.rows(); ++row) {
    Vector contribution(model.kernel_names.size());
    double total = 0.0;
    for (Index c = 0; c < model.coefficients.cols(); ++c) {
      if (model.weights.shape == KernelWeights::Shape::per_class && c != row) continue;
      for (Index m = 0; m < bank.kernels(); ++m) {
        double square = 0.0;
        for (Index i = 0; i < bank.rows(); ++i) square += std::pow(applied(m * bank.rows() + i, c), 2);
        contribution[at(m)] += std::abs(model.weights.values(row, m)) * std::sqrt(square);
      }
    }
    for (double value : contribution) total += value;
    double on = 0.0;
    double published = 0.0;
    for (Index m = 0; m < bank.kernels(); ++m) {
      const double weight = std::abs(model.weights.values(row, m));
      published += weight > 1e-3 ? 1.0 : 0.0;
      on += weight > 2.0 * model.weights.deviation(row, m) && contribution[at(m)] > 1e-3 * total ? 1.0 : 0.0;
    }
    table.rows.push_back({static_cast<double>(row + 1), on, published, static_cast<double>(bank.kernels())});
  }
  return table;
}

// Samples that were switched off leave the model.
void drop_samples(const std::vector<BemklFactors>& factors, Model& model) {
  auto& posterior = edit_part<BemklPosterior>(model);
  constexpr double kOff = 1e5;
  Index column = 0;
  for (std::size_t g = 0; g < factors.size(); ++g) {
    for (Index c = 0; c < factors[g].outputs(); ++c, ++column) {
      for (Index i = 0; i < model.coefficients.rows(); ++i) {
        if (factors[g].lambda()(i, c) < kOff) continue;
        model.coefficients(i, column) = 0.0;
        if (posterior.groups[g].a_covariance.empty()) continue;
        Matrix& covariance = posterior.groups[g].a_covariance[at(c)];
        for (Index j = 0; j < covariance.rows(); ++j) covariance(i, j) = covariance(j, i) = 0.0;
      }
    }
  }
}

}  // namespace

BemklPlan bemkl_plan(const Targets& targets, const BemklOptions& options) {
  BemklPlan plan;
  const Vector weights = sample_weights(targets, options);
  const std::vector<Vector> columns = output_columns(targets, options, weights, plan);
  const BemklLikelihood likelihood = likelihood_of(targets, options);
  if (targets.task == Task::multiclass && options.multiclass == "one-versus-all") {
    for (const Vector& column : columns) plan.problems.push_back({likelihood, matrix_of({column}), weights});
  } else {
    plan.problems.push_back({likelihood, matrix_of(columns), weights});
  }
  return plan;
}

Model bemkl_model(const KernelBank& bank, const Targets& targets, const BemklPlan& plan,
                  const std::vector<BemklFactors>& factors, const BemklOptions& options) {
  const Index p = bank.kernels();
  const auto groups = static_cast<Index>(factors.size());
  Model model;
  model.task = targets.task;
  model.classes = targets.classes;
  model.kernel_names = bank.names();
  model.weights.shape = groups > 1 ? KernelWeights::Shape::per_class : KernelWeights::Shape::shared;
  model.weights.values = Matrix(groups, p);
  model.weights.deviation = Matrix(groups, p);
  Index outputs = 0;
  for (const BemklFactors& fit : factors) outputs += fit.outputs();
  model.coefficients = Matrix(bank.rows(), outputs);
  Index column = 0;
  for (Index g = 0; g < groups; ++g) {
    const BemklFactors& fit = factors[at(g)];
    for (Index m = 0; m < p; ++m) {
      model.weights.values(g, m) = fit.be()[at(fit.outputs() + m)];
      model.weights.deviation(g, m) = std::sqrt(fit.be_variance()[at(fit.outputs() + m)]);
    }
    for (Index c = 0; c < fit.outputs(); ++c, ++column) {
      const double scale = plan.target_scale.empty() ? 1.0 : plan.target_scale[at(column)];
      const double centre = plan.target_centre.empty() ? 0.0 : plan.target_centre[at(column)];
      for (Index i = 0; i < bank.rows(); ++i) model.coefficients(i, column) = scale * fit.a()(i, c);
      model.bias.push_back(scale * fit.be()[at(c)] + centre);
    }
  }
  model.part = std::make_shared<BemklPosterior>(posterior_of(plan, factors, options));
  if (options.sparse_samples) drop_samples(factors, model);
  return model;
}

namespace {

std::vector<BemklFactors> fit_groups(const BemklBanks& banks, const BemklPlan& plan,
                                     const BemklOptions& options, const Context& context, Report& report) {
  std::vector<BemklFactors> factors;
  for (const BemklProblem& problem : plan.problems) {
    const Status before = report.status;
    factors.push_back(fit_group(banks, problem, options, context, report));
    if (before != Status::converged) report.status = before;  // the worst of all fits is told
    if (report.status == Status::stopped && factors.size() < plan.problems.size())
      throw Interrupted("stopped before every class had its fit");
  }
  return factors;
}

struct Fitted {
  BemklPlan plan;
  std::vector<BemklFactors> factors;
};

// Temperature of the predictions, from fits that go on from the one that is kept and settle less exactly.
double temperature_of(const KernelBank& bank, const Targets& targets, const Fitted& fitted,
                      const BemklOptions& options, const Context& context, Report& report) {
  BemklOptions rough = options;
  rough.tolerance = std::max(options.tolerance, 1e-4);
  const auto fit = [&](std::span<const Index> gone) -> std::optional<Model> {
    std::vector<BemklFactors> rest = fitted.factors;
    for (BemklFactors& one : rest) {
      one.leave_out(gone);
      Report part;
      if (!one.iterate_from_intermediate()) return std::nullopt;
      BemklRun(one, rough, context).go(part);
      if (part.status == Status::numerical_trouble) return std::nullopt;
      if (part.status == Status::stopped) throw Interrupted("stopped in a fold");
    }
    return bemkl_model(bank, targets, fitted.plan, rest, rough);
  };
  std::optional<BemklCalibration> found;
  try {
    found = calibrate_bemkl(bank, targets, fit, context);
  } catch (const Interrupted&) {
    report.status = Status::stopped;
    report.message = "stopped on request before probabilities were calibrated; the model is usable";
  }
  if (!found) return 1.0;
  report.tables.push_back({"calibration on held-out samples",
                           {"temperature", "log loss before", "after"},
                           {{found->temperature, found->before, found->after}}});
  return found->temperature;
}

}  // namespace

namespace {

void learn(const KernelBank& bank, const Targets& targets, const BemklOptions& options, const Context& context,
           FitResult& result) {
  check_likelihood(targets, options);
  Report& report = result.report;
  report.objective_name = "lower bound";
  ProgressMeter clock(context, "bemkl");
  Fitted fitted{bemkl_plan(targets, options), {}};
  const BemklBanks banks = banks_of(bank, fitted.plan, options, context);
  fitted.factors = fit_groups(banks, fitted.plan, options, context, report);
  report.seconds.emplace_back("iterations", clock.seconds());
  result.model = bemkl_model(bank, targets, fitted.plan, fitted.factors, options);
  const bool sound = report.status == Status::converged || report.status == Status::iteration_limit;
  if (options.calibration != "none" && !options.literal && sound) {
    edit_part<BemklPosterior>(result.model).temperature =
        temperature_of(bank, targets, fitted, options, context, report);
    report.seconds.emplace_back("calibration", clock.seconds() - report.seconds.back().second);
  }
  if (banks.rounded) report.memory_bytes = banks.rounded->bytes();
  report.tables.push_back(kernels_in_use(bank, result.model));
}

}  // namespace

FitResult fit_bemkl(const KernelBank& bank, const Targets& targets, const BemklOptions& options,
                    const Context& context) {
  return complete_fit(find_learner("bemkl"), bank, targets, option_texts(bemkl_option_table(), options),
                      context, [&](FitResult& result) { learn(bank, targets, options, context, result); });
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
