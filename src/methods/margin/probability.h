// SPDX-License-Identifier: BSD-3-Clause
//
// Class probabilities and votes of margin models.
#pragma once

#include <vector>

#include "kloom/parts.h"

namespace kloom::methods {

// samples × classes. Two classes: Platt's sigmoid. One-versus-rest: the sigmoids, normalised. One-versus-one:
// the probabilities that agree best with all pairs [WuLinWeng2004, second method].
[[nodiscard]] Matrix margin_probabilities(const Model& model, const Matrix& scores);

// Class of each sample by one-versus-one votes; a tie goes to the class with the larger sum of scores.
[[nodiscard]] std::vector<int> pairwise_votes(const Model& model, const Matrix& scores);

}  // namespace kloom::methods
