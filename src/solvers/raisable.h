// SPDX-License-Identifier: BSD-3-Clause
//
// Of one class of an m-SVM, the samples whose variable is below its bound, and the least difference of their
// gradient and that of another class: asked for all pairs of classes after every move. Short lists keep the
// gradients beside the samples. Where they are many, whole columns are read faster than picked from: then the
// gradients are those of all samples, ∞ for the others.
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
  // The same for two others, and for two classes and one other: a move changes two classes, and
  // reading is what it costs.
  [[nodiscard]] std::array<double, 2> least_differences(std::span<const double> a,
                                                        std::span<const double> b) const;
  [[nodiscard]] static std::array<double, 2> least_differences(const Raisable& a, const Raisable& b,
                                                               std::span<const double> other);

 private:
  Vector gradients_;
  bool whole_ = false;
};

}  // namespace kloom::solvers
