// SPDX-License-Identifier: BSD-3-Clause
//
// For one class of an m-SVM, the samples whose variable is below its bound, and the least difference between
// their gradients and those of another class. That is needed for all pairs of classes after every move, so it
// is made fast: few samples have their gradients packed in a list; with many it is faster to read whole
// columns, and the gradients of all samples are kept, ∞ for those at their bound.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "kloom/matrix.h"

namespace kloom::solvers {

struct Raisable {
  std::vector<Index> samples;

  // Takes over the gradients of the class, after they or the samples changed.
  void renew(std::span<const double> gradient);
  // min over the samples of the class's gradient less `other`; ∞ if there are none.
  [[nodiscard]] double least_difference(std::span<const double> other) const;
  // The same for two other classes at once, and for two classes against one other: a move changes two classes,
  // and reading the gradients is most of the cost.
  [[nodiscard]] std::array<double, 2> least_differences(std::span<const double> a,
                                                        std::span<const double> b) const;
  [[nodiscard]] static std::array<double, 2> least_differences(const Raisable& a, const Raisable& b,
                                                               std::span<const double> other);

 private:
  Vector gradients_;
  bool whole_ = false;
};

}  // namespace kloom::solvers
