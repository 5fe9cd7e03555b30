// SPDX-License-Identifier: BSD-3-Clause
//
// Temperature scaling of probabilities that are over- or under-confident: p^(1/τ), normalised, has the same
// most probable class and, with the right temperature τ, is calibrated [GuoEtAl2017].
#pragma once

#include <cstddef>
#include <vector>

#include "kloom/matrix.h"

namespace kloom::solvers {

// One sample that the model was not trained on: log probabilities of the classes, and the true class.
struct HeldOutSample {
  Vector log_chance;
  std::size_t truth = 0;
  double weight = 1.0;
};

// Mean of −log p of the truth at temperature τ.
[[nodiscard]] double log_loss(const std::vector<HeldOutSample>& samples, double temperature);

struct TemperatureRange {
  double coldest = 0.25;
  double hottest = 20.0;
};

// The temperature of least log loss in the range. True classes are smoothed as in [Platt2000], so that samples which
// are all predicted right do not push the probabilities to 1.
[[nodiscard]] double fit_temperature(const std::vector<HeldOutSample>& samples, TemperatureRange range = {});

}  // namespace kloom::solvers
