// SPDX-License-Identifier: BSD-3-Clause
#include "learners/bemkl.h"

#include <fmt/format.h>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <utility>

#include "algebra/threads.h"
#include "base/progress.h"
#include "kloom/error.h"
#include "learners/bemkl_factors.h"

namespace kloom::learners {
namespace {

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

void check_problem(const KernelBank& bank, const Targets& targets) {
  if (targets.task != Task::binary) {
    throw InvalidArgument(
        fmt::format("method bemkl learns two classes; the target has task '{}' with {} classes",
                    to_string(targets.task), targets.classes.size()));
  }
  if (!bank.symmetric() || bank.rows() != targets.samples()) {
    throw InvalidArgument(
        fmt::format("the kernels cover {} x {} samples, the target {}; all three must be equal", bank.rows(),
                    bank.cols(), targets.samples()));
  }
  for (std::size_t i = 0; i < targets.codes.size(); ++i) {
    if (targets.codes[i] == Targets::unlabelled) {
      throw InvalidArgument(
          fmt::format("sample {} has no label; method bemkl needs a label for every sample", i + 1));
    }
  }
  for (double weight : targets.weights) {
    if (weight != 1.0)
      throw InvalidArgument("method bemkl takes no sample weights; leave out the weight column");
  }
}

BemklHyper hyper_of(const BemklOptions& options) {
  BemklHyper hyper{options.sigma_g,
                   options.margin,
                   {options.alpha_lambda, options.beta_lambda},
                   {options.alpha_gamma, options.beta_gamma},
                   {options.alpha_omega, options.beta_omega}};
  if (options.sparse) hyper.omega = {1e-10, 1e+10};
  return hyper;
}

// The author starts from a ~ N(0,1) and G, f = (|N(0,1)| + ν)·sign(y). The default takes expectations of these
// instead, E a² = 1 and E|z| = √(2/π): no seed, and permuted samples give the permuted answer.
BemklStart start_of(const BemklOptions& options, const Vector& signs, Index kernels, std::uint64_t seed) {
  const auto n = static_cast<Index>(signs.size());
  BemklStart start{Vector(signs.size(), 1.0), Matrix(n, kernels), Vector(signs.size()), 0.0,
                   Vector(at(kernels), 1.0)};
  boost::random::mt19937_64 engine(seed);
  boost::random::normal_distribution<double> normal;
  const bool random = options.literal || options.start == "random";
  const double typical = std::sqrt(2.0 / std::numbers::pi);
  const auto magnitude = [&] { return (random ? std::abs(normal(engine)) : typical) + options.margin; };
  if (random) {
    for (double& a : start.a) a = normal(engine);
  }
  for (Index m = 0; m < kernels; ++m) {
    for (Index i = 0; i < n; ++i) start.intermediate(i, m) = magnitude() * signs[at(i)];
  }
  for (std::size_t i = 0; i < signs.size(); ++i) start.f[i] = magnitude() * signs[i];
  return start;
}

// Iterates until the bound has settled; fills status, message, trace and iterations of the report.
void run(BemklFactors& factors, const BemklOptions& options, const Context& context, Report& report) {
  ProgressMeter meter(context, "bemkl");
  double bound = -std::numeric_limits<double>::infinity();
  double rise = 0.0;
  for (Index iteration = 1; iteration <= options.iterations; ++iteration) {
    const bool sound = factors.iterate();
    const double now = sound ? factors.lower_bound() : std::numeric_limits<double>::quiet_NaN();
    report.iterations = iteration;
    if (!std::isfinite(now)) {
      report.status = Status::numerical_trouble;
      report.message = fmt::format(
          "iteration {} lost a positive definite matrix; kernels of very different or huge scale do that: "
          "normalise them",
          iteration);
      return;
    }
    rise = now - bound;
    bound = now;
    report.trace.push_back({iteration, bound, meter.seconds()});
    if (!options.literal && rise <= options.tolerance * std::abs(bound)) {
      report.status = Status::converged;
      report.message = fmt::format("the lower bound rose by less than {} of itself in iteration {}",
                                   options.tolerance, iteration);
      return;
    }
    if (meter.step(iteration, options.iterations, bound)) {
      report.status = Status::stopped;
      report.message = fmt::format("stopped on request after iteration {}; the model is usable", iteration);
      return;
    }
  }
  report.status = Status::iteration_limit;
  report.message = fmt::format("{} iterations done; the lower bound still rose by {:.2g} in the last one",
                               options.iterations, rise);
}

BemklPosterior posterior_of(const BemklFactors& factors, const BemklOptions& options) {
  const BemklHyper hyper = hyper_of(options);
  BemklPosterior posterior;
  posterior.sigma_g = hyper.sigma_g;
  posterior.margin = hyper.margin;
  posterior.alpha_lambda = hyper.lambda.shape;
  posterior.beta_lambda = hyper.lambda.scale;
  posterior.alpha_gamma = hyper.gamma.shape;
  posterior.beta_gamma = hyper.gamma.scale;
  posterior.alpha_omega = hyper.omega.shape;
  posterior.beta_omega = hyper.omega.scale;
  posterior.literal = options.literal;
  posterior.lambda = factors.lambda();
  posterior.omega = factors.omega();
  posterior.gamma = factors.gamma();
  posterior.be_covariance = factors.be_covariance();
  posterior.f_location = factors.f_location();
  if (options.variance) posterior.a_covariance = factors.a_covariance();
  return posterior;
}

std::size_t working_memory(Index n, Index p, Index /*outputs*/) {
  // S, the factor of Σ(a)'s precision and Σ(a); G, its linear term and [K_p μ_a]; Σ_g, Σ_(b,e), moments, work.
  const auto entries = 4 * n * n + 4 * n * p + 5 * (p + 1) * (p + 1);
  return static_cast<std::size_t>(entries) * sizeof(double);
}

}  // namespace

const OptionTable<BemklOptions>& bemkl_option_table() {
  static const OptionTable<BemklOptions> table = {
      {"sigma_g",
       &BemklOptions::sigma_g,
       kPositive,
       {},
       "standard deviation of each kernel's output; smaller values trust the kernels more and are "
       "over-confident"},
      {"margin", &BemklOptions::margin, kNonNegative, {}, "width of the region between the classes"},
      {"iterations", &BemklOptions::iterations, kAtLeastOne, {}, "at most this many passes over all factors"},
      {"tolerance",
       &BemklOptions::tolerance,
       kNonNegative,
       {},
       "stop when the lower bound rises by less than this part of itself; 0 runs all iterations"},
      {"sparse",
       &BemklOptions::sparse,
       {},
       {},
       "switch most kernels off (gamma prior 1e-10, 1e+10 on kernel weights)"},
      {"alpha_lambda", &BemklOptions::alpha_lambda, kPositive, {}, "shape of the prior on sample precisions"},
      {"beta_lambda", &BemklOptions::beta_lambda, kPositive, {}, "scale of the prior on sample precisions"},
      {"alpha_gamma", &BemklOptions::alpha_gamma, kPositive, {}, "shape of the prior on the bias precision"},
      {"beta_gamma", &BemklOptions::beta_gamma, kPositive, {}, "scale of the prior on the bias precision"},
      {"alpha_omega", &BemklOptions::alpha_omega, kPositive, {}, "shape of the prior on kernel precisions"},
      {"beta_omega", &BemklOptions::beta_omega, kPositive, {}, "scale of the prior on kernel precisions"},
      {"start",
       &BemklOptions::start,
       {},
       {"mean", "random"},
       "where the iteration starts: the expected starting point, or a random one from the seed"},
      {"variance",
       &BemklOptions::variance,
       {},
       {},
       "keep the N x N posterior covariance, which full predictive variances need"},
      {"literal",
       &BemklOptions::literal,
       {},
       {},
       "as published: random start, all iterations, probabilities divided by the variance"},
  };
  return table;
}

Model bemkl_model(const KernelBank& bank, const Targets& targets, const BemklFactors& factors,
                  const BemklOptions& options) {
  const Index p = bank.kernels();
  Model model;
  model.method = "bemkl";
  model.task = targets.task;
  model.classes = targets.classes;
  model.options_json = nlohmann::json(option_texts(bemkl_option_table(), options)).dump();
  model.kernel_names = bank.names();
  model.weights.values = Matrix(1, p);
  model.weights.deviation = Matrix(1, p);
  for (Index m = 0; m < p; ++m) {
    model.weights.values(0, m) = factors.be()[at(m + 1)];
    model.weights.deviation(0, m) = std::sqrt(factors.be_covariance()(m + 1, m + 1));
  }
  model.coefficients = Matrix(bank.rows(), 1);
  std::ranges::copy(factors.a(), model.coefficients.values().begin());
  model.bias = {factors.be()[0]};
  model.bemkl = posterior_of(factors, options);
  return model;
}

FitResult fit_bemkl(const KernelBank& bank, const Targets& targets, const BemklOptions& options,
                    const Context& context) {
  check_problem(bank, targets);
  const auto n = static_cast<double>(bank.rows());
  const auto p = static_cast<double>(bank.kernels());
  const algebra::ThreadScope threads(context, n * n * n + p * p * p + n * p * p);
  const Vector signs = targets.signs();
  FitResult result;
  Report& report = result.report;
  report.method = "bemkl";
  report.bank = std::string(bank.kind());
  report.task = std::string(to_string(targets.task));
  report.samples = bank.rows();
  report.kernels = bank.kernels();
  report.objective_name = "lower bound";
  report.options = option_texts(bemkl_option_table(), options);
  report.memory_bytes = bank.bytes() + working_memory(bank.rows(), bank.kernels(), 1);
  report.threads = threads.threads();
  report.seed = context.seed;

  ProgressMeter clock(context, "bemkl");
  BemklFactors factors(bank, signs, hyper_of(options), start_of(options, signs, bank.kernels(), context.seed));
  report.seconds.emplace_back("preparation", clock.seconds());
  run(factors, options, context, report);
  report.seconds.emplace_back("iterations", clock.seconds() - report.seconds.back().second);
  if (report.status != Status::numerical_trouble) {
    // One more q(G): a step that cannot lower the bound, after which every factor follows from those in the
    // model.
    if (!factors.update_intermediate()) throw InternalError("BEMKL lost q(G) after its last iteration");
    report.objective = factors.lower_bound();
  }
  result.model = bemkl_model(bank, targets, factors, options);
  return result;
}

Learner bemkl_learner() {
  Learner learner;
  learner.name = "bemkl";
  learner.summary = "Bayesian efficient MKL: kernel weights with uncertainty, calibrated probabilities";
  learner.doc_page = "docs/methods/bemkl.md";
  learner.tasks = {Task::binary};
  learner.options = describe_options(bemkl_option_table());
  learner.fit = [](const KernelBank& bank, const Targets& targets, const OptionValues& values,
                   const Context& context) {
    return fit_bemkl(bank, targets, parse_options(bemkl_option_table(), values, "bemkl"), context);
  };
  learner.working_memory = working_memory;
  return learner;
}

}  // namespace kloom::learners
