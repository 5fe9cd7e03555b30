// SPDX-License-Identifier: BSD-3-Clause
//
// Margin MKL with one output: kernel weights θ and a support vector machine on Σ_m θ_m K_m, learned together.
//
//   minimise     ½ Σ_m ‖w_m‖²/θ_m + Σ_i C_i loss_i     over w, b and θ ≥ 0, ‖θ‖_p ≤ 1
//   equivalently min over θ of J(θ) = max over α of  −pᵀα − ½ Σ_m θ_m q_m,   q_m = (y∘α)ᵀ K_m (y∘α)
//   given        a bank, labels ±1 (hinge loss) or numbers (ε-insensitive loss), C per sample, the norm p
//   returns      θ, coefficients, bias, primal and dual objective
//
// In place of the norm, weights may be in groups (seam/weight_set.h).
// p = 1 selects kernels [Rakotomamonjy2008], p > 1 spreads the weights [Kloft2011], θ fixed is a plain SVM.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "kloom/bank.h"
#include "kloom/context.h"
#include "kloom/report.h"
#include "methods/seam/duality_gap.h"
#include "methods/seam/weight_set.h"
#include "solvers/svm.h"

namespace kloom::methods {

// What is to be learned, for all methods of this family.
struct MarginTask {
  Vector y;    // ±1, or numbers in regression
  Vector box;  // C_i
  bool regression = false;
  double epsilon = 0.1;  // regression: width of the insensitive tube
  Vector margin = {};    // classes: loss_i = max(0, margin_i − y_i f_i); empty: all 1
};

enum class WeightRule {
  fixed,             // θ stays as it starts
  norm,              // ℓp by its closed-form update
  grouped,           // in groups, by a closed-form update, too
  second_order,      // ℓ1 by Newton steps on the simplex (default for p = 1)
  reduced_gradient,  // ℓ1 as SimpleMKL does it
  silp,              // ℓ1 by cutting planes [Sonnenburg2006]
  level              // ℓ1 by cutting planes with a level-stabilised master [Xu2009]
};

struct MarginSettings {
  WeightRule rule = WeightRule::second_order;
  double norm = 1.0;          // p; 0: none (fixed, grouped)
  WeightSet set = {};         // grouped
  double tolerance = 1e-3;    // relative duality gap
  Index iterations = 500;     // updates of θ
  std::string stage = "mkl";  // for progress
  double margin_root = 0.5;   // where samples lack kernels: 1/r of own_margins.h
};

// Where to begin: kernel weights (their norm must be 1 for the rule; usually uniform) and, from a solution of
// the same samples with boxes no larger, the dual variables.
struct MarginStart {
  MarginStart(Vector weights, Vector variables = {})  // NOLINT: weights alone are a start
      : theta(std::move(weights)), alpha(std::move(variables)) {}
  Vector theta;
  Vector alpha;
  Vector margins = {};  // where samples lack kernels: τ to begin with; empty: 1
};

struct MarginSolution {
  Vector theta;
  Vector alpha;                // dual variables, to go on from
  Vector coefficients;         // y_i α_i, or α_i − α_i* in regression
  Vector q;                    // c'K_m c of every kernel; empty where the weights are given
  Vector margins;              // where samples lack kernels: τ of each; else empty
  double margin_change = 0.0;  // how far τ still is from what the solution says
  double bias = 0.0;
  double primal = 0.0;
  double dual = 0.0;
  Index iterations = 0;
  Status status = Status::converged;
  std::vector<TracePoint> trace;
  [[nodiscard]] double gap() const { return relative_gap(primal, dual); }
};

[[nodiscard]] MarginSolution solve_margin_mkl(const KernelBank& bank, const MarginTask& task,
                                              const MarginSettings& settings, MarginStart start,
                                              const Context& context);

// Bytes that a solution needs besides the bank: with the combined kernel in memory, or with rows of it computed
// when they are needed (which is done where the former does not fit the budget).
[[nodiscard]] std::size_t margin_memory(Index n, Index p, bool whole_kernel);

// Weights of equal size with ‖θ‖_p = 1.
[[nodiscard]] Vector uniform_weights(Index kernels, double norm);
// Where each rule begins: with equal weights; second order, which sees at once how every other kernel would
// change the objective, with an eighth of the kernels, since each of them costs a pass over its entries.
[[nodiscard]] Vector start_weights(Index kernels, WeightRule rule, double norm);

}  // namespace kloom::methods
