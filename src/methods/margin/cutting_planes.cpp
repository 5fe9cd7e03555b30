// SPDX-License-Identifier: BSD-3-Clause
#include "methods/margin/cutting_planes.h"

#include <utility>

#include "algebra/blas.h"

namespace kloom::methods {

void MarginCuts::add(Cut cut) {
  Vector slope = cut.q;
  algebra::scale(-0.5, slope);
  cuts_.add(cut.linear, slope);
  alphas_.push_back(cut.alpha);
  if (cut.primal < best_.primal) best_ = std::move(cut);
  minimum_ = cuts_.minimise();
}

Vector MarginCuts::next() const {
  constexpr double kLevel = 0.3;  // between the least value of the cuts (0) and the best objective (1)
  const double room = best_.primal - minimum_.value;
  if (!level_ || room <= 0.0) return minimum_.point;
  return cuts_.project(best_.theta, minimum_.value + kLevel * room);
}

Vector MarginCuts::mixture() const {
  Vector mixed(best_.alpha.size());
  for (std::size_t t = 0; t < alphas_.size(); ++t) {
    if (minimum_.multipliers[t] > 0.0) algebra::axpy(minimum_.multipliers[t], alphas_[t], mixed);
  }
  return mixed;
}

}  // namespace kloom::methods
