// SPDX-License-Identifier: BSD-3-Clause
//
// The multiclass support vector machine with one kernel on pairs (sample, class):
//
//   minimise  ½ αᵀKα − Σ_i α_iy_i          α is N × M, y_i the class of sample i
//   subject   0 ≤ α_iy_i ≤ C_i,  α_iu ≤ 0 for u ≠ y_i,  Σ_u α_iu = 0 for every sample,
//             Σ_i α_iu = 0 for every class (that is what the biases b_u do; left out without bias)
//
// which is [ZienOng2007] (9) with one kernel; minus its value is that of the primal
//
//   ½‖w‖² + Σ_i C_i max(0, 1 − margin_i),   margin_i = s_iy_i − max_{u≠y_i} s_iu,   s_iu = F_iu + b_u,   F = Kα.
//
// With another loss of the margin the worth of α_iy_i changes (margin_loss.h), and its bound.
//
// Raising (i,u) and lowering (i,v) is allowed iff α_iu is below its bound; it changes the objective at the rate
// g_iu − g_iv, g the gradient. d(u,v) is the least of these over samples. Moves that keep all sums are cycles
// of classes, and α is optimal iff no cycle has a negative sum of d; potentials of that graph are the biases. A
// cycle of two classes is the usual move of four variables. These alone stall for three classes and more, so
// where none is left a longer negative cycle is looked for by Bellman–Ford.
//
// The logistic loss is infinitely steep where α_iy_i is 0 or C_i. Its moves start between them, at the best
// multiple of C_i (e_y − π), π the shares of the classes, which keeps all sums; their length is a root that
// safeguarded Newton steps find. For two classes these are the moves of [Keerthi2005].
#pragma once

#include <functional>
#include <vector>

#include "kloom/matrix.h"
#include "solvers/joint_kernel.h"
#include "solvers/margin_loss.h"

namespace kloom::solvers {

struct MsvmProblem {
  std::vector<int> labels;
  Index classes = 0;
  Vector box;  // C_i; 0: as if the sample were absent
  MarginLoss loss = MarginLoss::hinge;
  bool bias = true;
};

struct MsvmOptions {
  double tolerance = 1e-3;         // on the violation, in units of the margin
  Index iterations = 100'000'000;  // moves at most
  bool longer_cycles = true;       // off: four-variable moves alone, to show that they stall
  std::function<bool()> stop;      // asked now and then; true: stop with what there is
};

struct MsvmSolution {
  Matrix alpha;            // N × M
  Matrix scores;           // F, N × M, without bias; compact form: relative to the sample's own class
  Vector bias;             // M, mean 0
  double objective = 0.0;  // of the minimisation
  double violation = 0.0;
  Index iterations = 0;
  Index longer = 0;  // moves along cycles of three classes and more
  bool converged = false;
};

// `start` is empty or feasible, with the logistic loss inside the bounds of α_iy_i. Deterministic.
[[nodiscard]] MsvmSolution solve_msvm(const MsvmProblem& problem, JointKernel& kernel,
                                      const MsvmOptions& options, const Matrix& start = {});

}  // namespace kloom::solvers
