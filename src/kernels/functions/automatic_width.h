// SPDX-License-Identifier: BSD-3-Clause
//
// Widths that suit the data: quantiles of the distances between training samples.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/functions/distance.h"
#include "kloom/dataset.h"

namespace kloom::kernels {

class DistanceQuantiles {
 public:
  // Looks at no more than about a thousand samples, drawn by the seed: half a million pairs place a quantile
  // well enough.
  DistanceQuantiles(const Dataset& train, std::uint64_t seed);

  // `count` quantiles (for 5: 10, 30, 50, 70, 90 %) of the distance over the features, ascending and distinct,
  // rounded to six digits so that names of kernels tell them exactly; zeros are left out.
  // `sum` squared: Euclidean distance; else the sum itself.
  [[nodiscard]] std::vector<double> operator()(PairSum sum, const std::vector<Index>& features,
                                               Index count) const;

 private:
  Matrix samples_;
};

}  // namespace kloom::kernels
