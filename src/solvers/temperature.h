// SPDX-License-Identifier: BSD-3-Clause
//
// Probabilities that are too sure, or not sure enough: p^(1/τ), normalised, has the same largest class and,
// with the right temperature τ, the frequencies that it promises [GuoEtAl2017].
#pragma once

#include <cstddef>
#include <vector>

#include "kloom/matrix.h"

namespace kloom::solvers {

// One sample that the model has not seen: log probabilities of its alternatives, and which one was true.
struct Foretold {
  Vector log_chance;
  std::size_t truth = 0;
  double weight = 1.0;
};

// Mean of −log p of the truth at temperature τ.
[[nodiscard]] double log_loss(const std::vector<Foretold>& samples, double temperature);

struct TemperatureRange {
  double coldest = 0.25;
  double hottest = 20.0;
};

// The temperature of least log loss in the range. Truths are smoothed as Platt's are, so that samples
// which are all foretold right do not ask for certainty.
[[nodiscard]] double fit_temperature(const std::vector<Foretold>& samples, TemperatureRange range = {});

}  // namespace kloom::solvers
