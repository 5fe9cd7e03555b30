// SPDX-License-Identifier: BSD-3-Clause
//
// Linear classification with a ridge, by the log loss or by the squared hinge.
//
//   minimise       Σ_i u_i loss_i + ½ λ ‖W‖²   over W (r × outputs) and b (outputs), b free
//   log loss       −log p(y_i | φ_i), p = softmax(Wᵀφ + b); with two classes one output, p(1 | φ) = 1/(1 + exp(−wᵀφ − b))
//   squared hinge  ½ Σ_c max(0, 1 − t_ic (w_cᵀφ_i + b_c))², t_ic = 1 if c is the class of i, else −1; with two classes one
//                  output, for the second class
//
// by L-BFGS in coordinates scaled by the diagonal of the Hessian: with features that are nearly orthogonal,
// such as those of an eigendecomposition, that is close to Newton's method.
#pragma once

#include <span>
#include <vector>

#include "kloom/matrix.h"

namespace kloom::solvers {

enum class ClassLoss { logistic, squared_hinge };

struct ClassifierProblem {
  ConstMatrixView features;     // samples × r
  std::span<const int> labels;  // 0 … classes − 1
  Index classes = 2;
  std::span<const double> weights;  // u_i; 0 leaves a sample out; empty: all 1
  ClassLoss loss = ClassLoss::logistic;
};

struct ClassifierSolution {
  Matrix w;  // r × outputs
  Vector b;
  double objective = 0.0;
  Index iterations = 0;
};

// From `start` where it is given. Stops when a step lowers the objective by less than `tolerance` of it.
[[nodiscard]] ClassifierSolution fit_classifier(const ClassifierProblem& problem, double ridge,
                                                double tolerance, const ClassifierSolution* start);

// Wᵀφ_i + b of every sample: samples × outputs.
[[nodiscard]] Matrix classifier_scores(ConstMatrixView features, const ClassifierSolution& solution);

// Probabilities of the classes from scores, samples × classes: the softmax, or the sigmoid of a single score.
[[nodiscard]] Matrix softmax_probabilities(const Matrix& scores);

// Mean of −log p(truth), weighted; samples of weight 0 do not count. Probabilities below 1e-15 count as that.
[[nodiscard]] double mean_log_loss(const Matrix& probabilities, std::span<const int> labels,
                                   std::span<const double> weights);

}  // namespace kloom::solvers
