// SPDX-License-Identifier: BSD-3-Clause
//
// Decreasing losses of a margin, C ℓ(margin), as Theorem 1 of [ZienOng2007] allows them. What the loss of a sample adds
// to the dual objective depends on one number only, the coefficient a of the sample with its own class. It is
// −(Cℓ)*(−a), (Cℓ)* the convex conjugate of Cℓ; this is called the worth of a:
//
//   hinge          max(0, 1 − m)      worth a                                            0 ≤ a ≤ C
//   squared hinge  max(0, 1 − m)²     worth a − a²/(4C)                                  0 ≤ a
//   logistic       log(1 + exp(−m))   worth −a log(a/C) − (C − a) log(1 − a/C)           0 ≤ a ≤ C
//
// The logistic worth has infinite slope at both ends, so a stays between them.
#pragma once

namespace kloom::solvers {

enum class MarginLoss { hinge, squared_hinge, logistic };

// Loss of a sample of price 1.
[[nodiscard]] double loss_at(MarginLoss loss, double margin);
// A sample of price 0 is absent: it may not have a coefficient, and nothing else about it matters.
[[nodiscard]] double largest_coefficient(MarginLoss loss, double price);
[[nodiscard]] double worth(MarginLoss loss, double price, double a);
[[nodiscard]] double worth_slope(MarginLoss loss, double price, double a);
// Minus the second derivative of the worth, ≥ 0.
[[nodiscard]] double worth_curvature(MarginLoss loss, double price, double a);

}  // namespace kloom::solvers
