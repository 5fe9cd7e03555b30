// SPDX-License-Identifier: BSD-3-Clause
//
// BEMKL, Bayesian efficient multiple kernel learning [Gonen2012], and its family.
//
//   given        P kernels over N samples, and classes (two or several, some samples without), labels or numbers
//   maximise     a lower bound on log p(y) over factorised posteriors (factors.h)
//   returns      posterior means and covariances of sample weights a, kernel weights e and biases b; predictions
//                with variance and probability
//
// Departures from the paper, each with its reason, are in docs/methods/bemkl.md. `literal` keeps the published
// choices: random start, plain updates for a fixed number of iterations, probabilities divided by the variance.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kloom/learner.h"
#include "methods/bemkl/factors.h"
#include "methods/seam/calibration.h"
#include "methods/seam/option_table.h"

namespace kloom::methods {

struct BemklOptions {
  double sigma_g = 0.0;                   // standard deviation of the intermediate outputs; 0: chosen
  double margin = 0.5;                    // ν: |f| > ν; the paper has 1
  std::string multiclass = "shared";      // kernel weights of all classes; or "one-versus-all"
  std::string likelihood = "probit";      // or "multinomial" (several classes, shared weights)
  Index iterations = 1000;                // at most
  double tolerance = 1e-5;                // stop when the bound rises by less than this part of itself
  std::string acceleration = "anderson";  // or "none"
  bool sparse = false;                    // (1e-10, 1e+10) on ω instead of (alpha_omega, beta_omega)
  bool sparse_samples = false;            // the same on λ
  bool non_negative = false;              // kernel weights ≥ 0
  double alpha_lambda = 1.0, beta_lambda = 1.0;
  double alpha_gamma = 1.0, beta_gamma = 1.0;
  double alpha_omega = 1.0, beta_omega = 1.0;
  double alpha_upsilon = 1.0, beta_upsilon = 1.0;
  double alpha_epsilon = 1.0, beta_epsilon = 1.0;
  std::string class_weight = "none";     // or "balanced"
  std::string start = "mean";            // or "random"
  Index restarts = 1;                    // the best of so many starts, the first as above, the others random
  bool variance = true;                  // keep Σ(a), which the full predictive variance needs
  std::string calibration = "held-out";  // temperature of the probabilities; or "none"
  bool literal = false;
};

[[nodiscard]] const OptionTable<BemklOptions>& bemkl_option_table();
[[nodiscard]] BemklPrior bemkl_prior(const BemklOptions& options);
[[nodiscard]] Learner bemkl_learner();
[[nodiscard]] FitResult fit_bemkl(const KernelBank& bank, const Targets& targets, const BemklOptions& options,
                                  const Context& context);
[[nodiscard]] std::shared_ptr<const ModelPart> load_bemkl(PartReader& file, const Model& model);

// How the targets fall into joint fits: one, or one per class (one-versus-all).
struct BemklPlan {
  std::vector<BemklProblem> problems;
  Vector target_centre, target_scale;  // regression
};
[[nodiscard]] BemklPlan bemkl_plan(const Targets& targets, const BemklOptions& options);

// The factors that an iteration starts from (run.cpp): the expected ones, or random ones by a seed.
[[nodiscard]] BemklFactors bemkl_start(const KernelBank& bank, const BemklProblem& problem,
                                       const BemklOptions& options, std::optional<std::uint64_t> seed);
// Iterates until the bound has settled (passes.h): status, message, trace and iterations.
[[nodiscard]] Report run_bemkl(BemklFactors& factors, const BemklOptions& options, const Context& context);
// True if there is something to go on from.
[[nodiscard]] inline bool is_usable(const Report& report) {
  return report.status == Status::converged || report.status == Status::iteration_limit;
}

// One joint fit: of all its starts, the best by the bound.
struct BemklFit {
  BemklFactors factors;
  Report report;
};
[[nodiscard]] BemklFit fit_problem(const KernelBank& bank, const BemklProblem& problem,
                                   const BemklOptions& options, const Context& context);

// The σ_g that held-out samples of several classes prefer; 1 where it is not looked for.
[[nodiscard]] double chosen_sigma_g(const KernelBank& bank, const Targets& targets, BemklOptions options,
                                    const Context& context);

// The model that the factors of all joint fits amount to.
[[nodiscard]] Model bemkl_model(const KernelBank& bank, const Targets& targets, const BemklPlan& plan,
                                const std::vector<BemklFactors>& factors, const BemklOptions& options,
                                double temperature = 1.0);

// The labelled samples in three folds; none if a class has fewer samples than that.
[[nodiscard]] std::vector<std::vector<Index>> bemkl_folds(const KernelBank& bank, const Targets& targets);
// What fits that go on from these factors say of samples that they have not seen (calibration.cpp); nothing if there are
// too few of them. Throws Interrupted if told to stop.
[[nodiscard]] HeldOut bemkl_held_out(const KernelBank& bank, const Targets& targets, const BemklPlan& plan,
                                     const std::vector<BemklFactors>& factors, const BemklOptions& options,
                                     const Context& context);

}  // namespace kloom::methods
