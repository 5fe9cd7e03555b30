// SPDX-License-Identifier: BSD-3-Clause
#include "methods/bemkl/bemkl.h"

namespace kloom::methods {

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
       "regression: shape of the prior on the precision of kernel outputs"},
      {"beta_upsilon", &O::beta_upsilon, kPositive,
       "regression: scale of the prior on the precision of kernel outputs"},
      {"alpha_epsilon", &O::alpha_epsilon, kPositive,
       "regression: shape of the prior on the precision of the noise"},
      {"beta_epsilon", &O::beta_epsilon, kPositive,
       "regression: scale of the prior on the precision of the noise"},
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
       "as published: random start, all iterations, probabilities divided by the variance"},
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

}  // namespace kloom::methods
