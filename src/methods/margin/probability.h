// SPDX-License-Identifier: BSD-3-Clause
//
// Class probabilities and votes of margin models.
#pragma once

#include <span>
#include <vector>

#include "kloom/parts.h"
#include "methods/margin/mkl.h"

namespace kloom::methods {

// Row c of `platt`: Platt's sigmoid of an output from scores of machines that have not seen the samples.
void fit_sigmoid_of_output(const MarginTask& task, std::span<const double> held_out, Index c, Matrix& platt);

// samples × classes. Two classes: Platt's sigmoid. One-versus-rest: the sigmoids, normalised. One-versus-one:
// the probabilities that agree best with all pairs [WuLinWeng2004, second method].
[[nodiscard]] Matrix margin_probabilities(const Model& model, const Matrix& scores);

// Class of each sample by one-versus-one votes; a tie goes to the class with the larger sum of scores.
[[nodiscard]] std::vector<int> pairwise_votes(const Model& model, const Matrix& scores);

}  // namespace kloom::methods
