// SPDX-License-Identifier: BSD-3-Clause
//
// Kernel weights of ridge regression by a regulariser of their own: whole groups of kernels are switched on or off, or weights
// lie anywhere between few and all (seam/weight_set.h). For every target and strength α
//
//   minimise  Σ_i s_i (y_i − f_i)² + α Σ_m ‖w_m‖²/θ_m     over w and θ of the set
//
//   c with (Σ_m θ_m K_m + α S⁻¹) c = y,   ‖w_m‖ = θ_m √q_m,   q_m = cᵀK_mc
//   primal = α² cᵀS⁻¹c + α θᵀq      dual(c) = 2α cᵀy − α² cᵀS⁻¹c − α max over the set of θ'ᵀq      gap = α (max θ'ᵀq − θᵀq)
//
// In turn c for these weights and the best weights for its ‖w_m‖. The strength is that of least leave-one-out error, the
// weights being kept.
#pragma once

#include <string>

#include "kloom/bank.h"
#include "kloom/context.h"
#include "methods/mkr/task.h"
#include "methods/seam/weight_set.h"

namespace kloom::methods {

struct GroupedRidge {
  RidgeChoice choice;
  double gap = 0.0;      // relative, the largest of all targets
  Index iterations = 0;  // updates of the weights, of all targets and strengths
  bool stopped = false;
};

struct GroupedSettings {
  WeightSet set;
  double tolerance = 1e-3;  // relative gap
  Index iterations = 500;   // at most so many updates, of every target and strength
};

// Throws InvalidArgument where kernels are so far from semidefinite that there is no solution.
[[nodiscard]] GroupedRidge learn_grouped(const KernelBank& bank, const RidgeTask& task,
                                         const GroupedSettings& settings, const Vector& grid,
                                         const Context& context);

}  // namespace kloom::methods
