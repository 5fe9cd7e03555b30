// SPDX-License-Identifier: BSD-3-Clause
//
// scale=relevance: how much the target depends on each column, learned from some of the training samples.
//
// A Gaussian process with a scale θ_g for every column g of the table (automatic relevance determination,
// [RasmussenWilliams2006, section 5.1]):
//
//   k(x, z) = c₁ Σ_g θ_g² x_g·z_g + c₂ exp(−½ Σ_g θ_g² ‖x_g − z_g‖²) + c₃ exp(−κ Σ_g θ_g ‖x_g − z_g‖₁) + 4
//   maximise  log p(y) = −½ Σ_c y_cᵀ C⁻¹ y_c − ½ O log det C + log prior,   C = k + s I
//
// over θ, c, κ and s, by L-BFGS in their logarithms. y_c are the O columns of the targets: numbers, or codes of classes.
// x_g is one number, or the 0/1 features of a category, which share their scale. The prior draws the scales together, so
// that few samples cannot tell columns apart that are alike. Kernels on features times θ then look where the target does.
//
// Learned scales have seen labels (teachers.h): relevance_samples() says whose.
#pragma once

#include <vector>

#include "kloom/dataset.h"
#include "kloom/matrix.h"
#include "kloom/targets.h"

namespace kloom::kernels {

struct RelevanceProblem {
  Matrix features;             // samples × features, standardised
  std::vector<Index> columns;  // of every feature: the column of the table, 0 … G−1
  Matrix targets;              // samples × O, mean 0 and mean square 1
};

// θ of every column of the table.
[[nodiscard]] Vector learn_relevance(const RelevanceProblem& problem);

// The value that is minimised, −log p(y) − log prior, and its gradient by the logarithms (θ, c₁, c₂, c₃, κ, s), κ in units
// of its start; for tests.
struct RelevanceValue {
  double value = 0.0;
  Vector gradient;
};
[[nodiscard]] RelevanceValue relevance_value(const RelevanceProblem& problem, const Vector& logarithms);

// The samples from which relevance is learned: at most 500 and at most 40 % of those with a label, classes in their
// shares; the same for the same targets.
[[nodiscard]] std::vector<Index> relevance_samples(const Targets& targets);

// Whether there are samples enough for learned scales, and for judging them by others.
[[nodiscard]] bool relevance_pays(const Targets& targets, Index columns);

// Adds the columns `chosen` of the recipe's table once more, times their relevance; returns their places.
[[nodiscard]] std::vector<Index> add_relevant_columns(Preprocessing& preprocessing, const Dataset& standardised,
                                                      const Targets& targets, const std::vector<Index>& chosen);

}  // namespace kloom::kernels
