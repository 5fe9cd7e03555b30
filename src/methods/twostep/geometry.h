// SPDX-License-Identifier: BSD-3-Clause
//
// Distances in the space of a weighted sum of kernels: what separates two classes, and what surrounds all samples.
//
//   Q = Σ_m share_m K_m + diag(ridge)
//
//   nearest points   γ ≥ 0 that sums to 1 over the positives and to 1 over the negatives and minimises γᵀYQYγ
//   smallest ball    α ≥ 0 that sums to 1 and maximises αᵀd − αᵀQα, d the squared lengths of the samples
#pragma once

#include <memory>
#include <span>

#include "kloom/bank.h"
#include "kloom/context.h"
#include "solvers/svm.h"

namespace kloom::methods {

// λ over the weight of each sample; λ where that is 0.
[[nodiscard]] Vector ridges(const Vector& weights, double lambda);

// Q by rows, in memory where it fits the budget, else computed when asked for.
class RidgedSum {
 public:
  RidgedSum(const KernelBank& bank, Vector share, Vector ridge, const Context& context);
  RidgedSum(const RidgedSum&) = delete;
  RidgedSum& operator=(const RidgedSum&) = delete;

  [[nodiscard]] solvers::KernelRows& rows() { return *rows_; }

 private:
  const KernelBank& bank_;
  Vector share_;
  Vector ridge_;
  Matrix whole_;
  std::unique_ptr<solvers::KernelRows> rows_;
};

struct NearestPoints {
  Vector gamma;
  double square = 0.0;  // γᵀYQYγ
};
// `weights`: samples of weight 0 take no part; every ridge is at least `ridge` over the sample's weight, ridge > 0, and
// there are samples on both sides. `violation`: the squares are within twice this part of the best. `start`: a solution
// for a sum that differs, or nothing.
[[nodiscard]] NearestPoints nearest_points(RidgedSum& sum, std::span<const double> y, const Vector& weights,
                                           double ridge, double violation, const NearestPoints& start = {});

struct SmallestBall {
  Vector alpha;
  double square = 0.0;  // of the radius: αᵀd − αᵀQα
};
[[nodiscard]] SmallestBall smallest_ball(RidgedSum& sum, const Vector& squares, const Vector& weights,
                                         double violation, const SmallestBall& start = {});

}  // namespace kloom::methods
