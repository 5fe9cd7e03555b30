// SPDX-License-Identifier: BSD-3-Clause
//
// Scores of models whose kernels depend on the sample.
#pragma once

#include <span>
#include <vector>

#include "kloom/parts.h"

namespace kloom::methods {

// θ_p Σ_n c_n g_np K_p(x, x_n): rows of the bank × kernels. Kernels without weight cost nothing.
[[nodiscard]] Matrix gated_outputs(const KernelBank& bank, std::span<const double> weights,
                                   std::span<const double> coefficients, const Matrix& gates);

// One of the known patterns for each sample: with two classes the one whose score has the largest modulus
// ([Liu2014] eq. 17), otherwise the one with the largest score (eq. 18).
struct PatternScores {
  Vector scores;
  std::vector<Index> patterns;
};
[[nodiscard]] PatternScores best_patterns(const Matrix& outputs, const Matrix& patterns, double bias,
                                          bool two_classes);

// z(x) of every row of the bank: rows × R.
[[nodiscard]] Matrix gate_inputs(const Gates& gate, const KernelBank& bank);
// η of every row of `inputs`: rows × P, scaled so that constant gates make the mean of the kernels.
[[nodiscard]] Matrix gate_values(Gates::Kind kind, const Matrix& parameters, const Matrix& inputs);

// Everything of `predict` up to the scores and contributions.
[[nodiscard]] Predictions gated_predictions(const Model& model, const KernelBank& bank, bool contributions);

}  // namespace kloom::methods
