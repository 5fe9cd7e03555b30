// SPDX-License-Identifier: BSD-3-Clause
//
// Kernel weights in groups: which groups count is one question, how a group divides its weight among its kernels another.
//
//   θ ≥ 0,   v Σ_g β_g + (1 − v) Σ_g β_g² ≤ 1,   β_g = ‖θ_g‖_p
//
// v = 1 selects groups as the group lasso does [Xu2010], v = 0 keeps them all, between is the elastic net on kernels
// [YangEtAl2011]; p is the norm within a group. Every kernel a group of its own, v = 1: SimpleMKL's simplex. One group:
// the ball of ℓp-norm MKL.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "kloom/matrix.h"

namespace kloom::methods {

struct WeightSet {
  std::vector<Index> group;  // of every kernel: 0 … groups − 1
  Index groups = 0;
  double norm = 2.0;  // p
  double mix = 1.0;   // v
};

// `words`: "views" (kernels of the same view or column: what stands behind "on" in their names), "none" (every kernel by
// itself), "all" (a single group) or names or numbers separated by commas, one for each kernel, the same for those of a group. Throws InvalidArgument.
[[nodiscard]] WeightSet weight_set(const std::vector<std::string>& names, const std::string& words, double norm,
                                   double mix);

// max θᵀq over the set, for q ≥ 0: never below it, whatever rounds.
[[nodiscard]] double support(const WeightSet& set, const Vector& q);

// The weights of the set with the least Σ_m lengths_m²/θ_m; where all lengths are 0, those of `otherwise`.
[[nodiscard]] Vector best_weights(const WeightSet& set, const Vector& lengths, const Vector& otherwise);

// From some weights beyond those of an update: each times its own change to the power of `stretch`, brought back to the edge of
// the set. Updates by best_weights are careful, and several of them at once often lower the objective, too.
[[nodiscard]] Vector further_weights(const WeightSet& set, const Vector& theta, const Vector& update,
                                     double stretch);

// How many updates at once to try next, by whether the last ones lowered the objective.
class Stretch {
 public:
  [[nodiscard]] double value() const { return value_; }
  void tell(bool lowered) { value_ = lowered ? std::min(1.5 * value_, kMost) : std::max(1.0, 0.25 * value_); }

 private:
  static constexpr double kMost = 100.0;
  double value_ = 1.0;
};

// The same without groups whose β is less than this share of the largest, stretched to the bound again.
[[nodiscard]] Vector without_small_groups(const WeightSet& set, const Vector& theta, double share);

// Alternating updates make weights small and never 0. Of several shares of the largest, the first one below which groups can
// go: offers such weights to `accept` until it takes some.
void drop_small_groups(const WeightSet& set, const Vector& theta, const std::function<bool(Vector)>& accept);

// Why these numbers of a model's part are no set of weights of so many kernels; empty if they are one.
[[nodiscard]] std::string weight_set_trouble(const Vector& groups, double norm, double mix,
                                             std::size_t kernels);

// Groups of equal weight, each divided equally.
[[nodiscard]] Vector even_weights(const WeightSet& set);

}  // namespace kloom::methods
