// SPDX-License-Identifier: BSD-3-Clause
//
// The inverse of a Hessian as the last steps of a descent show it: the two-loop recursion of L-BFGS.
#pragma once

#include <deque>

#include "kloom/matrix.h"

namespace kloom::solvers {

class InverseHessian {
 public:
  // `diagonal`: what the diagonal of the Hessian is taken to be before the first step.
  explicit InverseHessian(Vector diagonal);

  // One step more is known: x and the gradient changed by these. Steps along which the gradient falls are left out, since
  // the inverse has to stay positive definite.
  void learn(Vector step, Vector change);
  // −H⁻¹ gradient.
  [[nodiscard]] Vector direction(const Vector& gradient) const;

 private:
  struct Pair {
    Vector step;
    Vector change;
    double scale = 0.0;
  };
  Vector diagonal_;
  std::deque<Pair> pairs_;
};

}  // namespace kloom::solvers
