// SPDX-License-Identifier: BSD-3-Clause
//
// From scores to probabilities: P(positive | f) = 1/(1 + exp(A f + B)) [Platt2000], fitted by Newton's method
// on smoothed targets as in [LinLinWeng2007].
#pragma once

#include <span>

namespace kloom::solvers {

struct Sigmoid {
  double a = -1.0;
  double b = 0.0;
  [[nodiscard]] double operator()(double score) const;
};

// `positive[i]` says whether sample i, of score scores[i], is of the positive class. The scores must come from
// models that did not see the sample.
[[nodiscard]] Sigmoid fit_sigmoid(std::span<const double> scores, std::span<const double> positive);

}  // namespace kloom::solvers
