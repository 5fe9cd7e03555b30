// SPDX-License-Identifier: BSD-3-Clause
//
// Multinomial logistic regression with a ridge.
//
//   minimise   −Σ_i u_i log p(y_i | φ_i) + ½ λ ‖W‖²   over W (r × outputs) and b (outputs), b free
//   p(· | φ)   softmax(Wᵀφ + b); with two classes one output, p(1 | φ) = 1/(1 + exp(−wᵀφ − b))
//
// by L-BFGS in coordinates scaled by the diagonal of the Hessian: with features that are nearly orthogonal,
// such as those of an eigendecomposition, that is close to Newton's method.
#pragma once

#include <span>
#include <vector>

#include "kloom/matrix.h"

namespace kloom::solvers {

struct LogisticProblem {
  ConstMatrixView features;     // samples × r
  std::span<const int> labels;  // 0 … classes − 1
  Index classes = 2;
  std::span<const double> weights;  // u_i; 0 leaves a sample out; empty: all 1
};

struct LogisticSolution {
  Matrix w;  // r × outputs
  Vector b;
  double objective = 0.0;
  Index iterations = 0;
};

// From `start` where it is given. Stops when a step lowers the objective by less than `tolerance` of it.
[[nodiscard]] LogisticSolution fit_logistic(const LogisticProblem& problem, double ridge, double tolerance,
                                            const LogisticSolution* start);

// Wᵀφ_i + b of every sample: samples × outputs.
[[nodiscard]] Matrix logistic_scores(ConstMatrixView features, const LogisticSolution& solution);

// Probabilities of the classes from scores, samples × classes: the softmax, or the sigmoid of a single score.
[[nodiscard]] Matrix softmax_probabilities(const Matrix& scores);

// Mean of −log p(truth), weighted; samples of weight 0 do not count. Probabilities below 1e-15 count as that.
[[nodiscard]] double mean_log_loss(const Matrix& probabilities, std::span<const int> labels,
                                   std::span<const double> weights);

}  // namespace kloom::solvers
