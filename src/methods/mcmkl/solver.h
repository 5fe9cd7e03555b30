// SPDX-License-Identifier: BSD-3-Clause
//
// Multiclass MKL [ZienOng2007]: one set of weights β for products of kernels K_p on samples and L_j on classes.
//
//   primal (4)  minimise  ½ Σ_k ‖v_k‖²/β_k + Σ_i C_i max(0, 1 − margin_i)  over v, b, β ≥ 0, Σ β_k = 1
//   dual (9)    maximise  Σ_i α_iy_i − ½ max_k q_k(α)  over the polytope of solvers/msvm.h
//   (11)        minimise  J(β) = max over α of  Σ_i α_iy_i − ½ Σ_k β_k q_k(α)  over β
//
//   q_k = ‖w_k‖² = tr(αᵀ K_p α L_j) for k = (j, p);  F = Σ_k β_k K_p α L_j are the scores without bias
//
// Every α gives a cut J(β) ≥ Σ α_iy_i − ½ β·q(α). The least value of the largest cut is a lower bound, and the
// mixture α̂ = Σ_t μ_t α_t by the multipliers of the cuts is a point of (9) that proves it; every β gives an
// upper bound, the primal at its m-SVM. The ways to choose the next β:
//
//   level         nearest to the best β among those where the cuts are below a level between the bounds,
//                 after cheaper guesses
//   silp          where the cuts are least: the paper's column generation, unfolded (11)
//   silp-compact  the same with the m-SVM in the variables of (7)
//   qcqp          none: (9) by interior points (qcqp.h)
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kloom/bank.h"
#include "kloom/context.h"
#include "kloom/report.h"
#include "methods/seam/duality_gap.h"
#include "solvers/margin_loss.h"

namespace kloom::methods {

struct McmklTask {
  std::vector<int> labels;
  Index classes = 0;
  Vector box;                         // C_i
  std::vector<Matrix> class_kernels;  // L_j, M × M, at least one
  solvers::MarginLoss loss = solvers::MarginLoss::hinge;
  bool bias = true;
};

enum class McmklAlgorithm { level, silp, silp_compact, qcqp };

struct McmklSettings {
  McmklAlgorithm algorithm = McmklAlgorithm::level;
  double tolerance = 1e-3;  // relative duality gap
  Index iterations = 500;   // m-SVMs, or interior-point steps
};

struct McmklSolution {
  Matrix beta;        // weights of the products, class kernels × kernels
  Matrix alpha;       // N × M: with beta and bias, the classifier
  Matrix dual_alpha;  // N × M: the point of (9) that proves the dual value
  Vector bias;        // M
  double primal = 0.0;
  double dual = 0.0;
  Index iterations = 0;
  Index moves = 0;  // of the m-SVMs, in all
  Status status = Status::converged;
  std::vector<TracePoint> trace;
  [[nodiscard]] double gap() const { return relative_gap(primal, dual); }
};

// K_p α of every kernel at the samples that have a coefficient: all that q_k and second-order models need.
struct SupportOutputs {
  std::vector<Index> samples;
  Matrix alpha;   // samples × M
  Matrix values;  // (samples · P) × M, as the bank's `apply` lays it out
};

[[nodiscard]] McmklSolution solve_mcmkl(const KernelBank& bank, const McmklTask& task,
                                        const McmklSettings& settings, const Context& context);

[[nodiscard]] bool is_identity(const Matrix& class_kernel);
// q_k(α) of all products, class kernels × kernels.
[[nodiscard]] Matrix product_forms(const KernelBank& bank, const McmklTask& task, const Matrix& alpha);
// Σ_i α_iy_i, or what α_iy_i is worth with another loss (solvers/margin_loss.h).
[[nodiscard]] double worth_part(const McmklTask& task, const Matrix& alpha);
// Σ_i of the loss at scores F and biases.
[[nodiscard]] double total_loss(const McmklTask& task, const Matrix& scores, const Vector& bias);
// Bytes besides the bank: with the combined kernel in memory, or with rows of it computed when they are needed
// (which is done where the former does not fit the budget; not with several kernels on classes).
[[nodiscard]] std::size_t mcmkl_memory(Index n, Index p, Index classes, Index class_kernels, bool whole_kernel);

}  // namespace kloom::methods
