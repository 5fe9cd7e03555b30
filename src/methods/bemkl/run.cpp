// SPDX-License-Identifier: BSD-3-Clause
//
// One joint fit of BEMKL: where its iteration starts, and the best of several starts.
#include <fmt/format.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <numbers>
#include <utility>

#include "kloom/error.h"
#include "methods/bemkl/bemkl.h"
#include "methods/bemkl/passes.h"

namespace kloom::methods {
namespace {

// ---- the start

// Samples without a label start from labels grown along similarity: again and again the one that is most similar (by the
// mean of all kernels) to a sample with a label takes that label. From f = 0 the bias alone would decide about them.
Matrix grown_labels(const KernelBank& bank, Matrix targets) {
  const Matrix similarity = bank.combine(Vector(at(bank.kernels()), 1.0 / static_cast<double>(bank.kernels())));
  std::vector<Index> labelled, open;
  for (Index i = 0; i < targets.rows(); ++i) {
    bool any = false;
    for (Index c = 0; c < targets.cols(); ++c) any |= targets(i, c) != 0.0;
    (any ? labelled : open).push_back(i);
  }
  if (labelled.empty()) return targets;
  std::vector<Index> nearest(at(targets.rows()), labelled.front());  // of those with a label
  const auto closeness = [&](Index i) { return similarity(i, nearest[at(i)]); };
  const auto spread_from = [&](Index source) {
    for (const Index i : open) {
      if (similarity(i, source) > closeness(i)) nearest[at(i)] = source;
    }
  };
  for (const Index source : labelled) spread_from(source);
  while (!open.empty()) {
    const auto next = std::ranges::max_element(open, {}, closeness);
    const Index i = *next;
    open.erase(next);
    for (Index c = 0; c < targets.cols(); ++c) targets(i, c) = targets(nearest[at(i)], c);
    spread_from(i);
  }
  return targets;
}

// The paper's author draws a ~ N(0,1) and G, f = (|N(0,1)| + ν)·sign(y); in regression G ~ N(0,1). Without a seed,
// expectations of these: a = 1 from E a², E|z| = √(2/π), and G = y in regression. Permuted samples then give the
// permuted answer.
BemklStart start_of(const KernelBank& bank, const BemklProblem& problem, double margin,
                    std::optional<std::uint64_t> seed) {
  const bool gaussian = problem.likelihood == BemklLikelihood::gaussian;
  const bool some_unlabelled =
      !gaussian && std::ranges::any_of(problem.targets.values(), [](double y) { return y == 0.0; });
  const Matrix targets = some_unlabelled ? grown_labels(bank, problem.targets) : problem.targets;
  boost::random::mt19937_64 engine(seed.value_or(0));
  boost::random::normal_distribution<double> normal;
  const auto draw = [&](double expected) { return seed ? normal(engine) : expected; };
  const auto draw_for = [&](double y) {
    return gaussian ? draw(y) : (std::abs(draw(std::sqrt(2.0 / std::numbers::pi))) + margin) * y;
  };
  const Index n = targets.rows();
  const Index outputs = targets.cols();
  BemklStart start{Matrix(n, outputs), Matrix(n * bank.kernels(), outputs), Matrix(n, outputs)};
  for (Index c = 0; c < outputs; ++c) {
    for (double& a : start.a.column(c)) a = draw(1.0);
    for (Index k = 0; k < start.intermediate.rows(); ++k)
      start.intermediate(k, c) = draw_for(targets(k % n, c));
    for (Index i = 0; i < n; ++i) start.f(i, c) = draw_for(targets(i, c));
  }
  return start;
}

// ---- all starts

// Switches samples off for good and lets the rest settle. The bound has many maxima, and may lose by it: one with fewer
// samples is what was asked for.
void settle_samples(BemklFit& fit, const BemklOptions& options, const Context& context) {
  for (int round = 0; round < 10 && is_usable(fit.report) && fit.factors.switch_off_samples(); ++round) {
    Report more = run_bemkl(fit.factors, options, context);
    more.iterations += fit.report.iterations;
    more.trace = std::move(fit.report.trace);
    fit.report = std::move(more);
  }
}

}  // namespace

bool PassLog::end(Status status, std::string message) {
  report_.status = status;
  report_.message = std::move(message);
  return true;
}

bool PassLog::ends(Index pass, double now) {
  report_.iterations = pass;
  if (!std::isfinite(now))
    return end(Status::numerical_trouble,
               fmt::format("iteration {} lost a positive definite matrix; kernels of very different or huge "
                           "scale do that: normalise them",
                           pass));
  const double rise = now - bound_;
  bound_ = now;
  report_.trace.push_back({pass, bound_, meter_.seconds()});
  quiet_ = rise <= options_.tolerance * std::abs(bound_) ? quiet_ + 1 : 0;
  if (quiet_ >= 2 && options_.tolerance > 0.0)
    return end(Status::converged,
               fmt::format("the lower bound rose by less than {} of itself in iterations {} and {}",
                           options_.tolerance, pass - 1, pass));
  if (meter_.step(pass, options_.iterations, bound_))
    return end(Status::stopped,
               fmt::format("stopped on request after iteration {}; the model is usable", pass));
  if (pass < options_.iterations) return false;
  return end(Status::iteration_limit,
             fmt::format("{} iterations done; the lower bound still rose by {:.2g} in the last one",
                         options_.iterations, rise));
}

Report run_bemkl(BemklFactors& factors, const BemklOptions& options, const Context& context) {
  return run_passes(factors, options, context);
}

BemklFactors bemkl_start(const KernelBank& bank, const BemklProblem& problem, const BemklOptions& options,
                         std::optional<std::uint64_t> seed) {
  return {bank, problem, bemkl_prior(options), start_of(bank, problem, options.margin, seed)};
}

BemklFit fit_problem(const KernelBank& bank, const BemklProblem& problem, const BemklOptions& options,
                     const Context& context) {
  std::optional<BemklFit> best;
  for (Index restart = 0; restart < options.restarts; ++restart) {
    std::optional<std::uint64_t> seed;
    if (options.start == "random" || restart > 0) seed = context.seed + static_cast<std::uint64_t>(restart);
    BemklFit fit{bemkl_start(bank, problem, options, seed), {}};
    fit.report = run_bemkl(fit.factors, options, context);
    if (options.sparse_samples) settle_samples(fit, options, context);
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

}  // namespace kloom::methods
