// SPDX-License-Identifier: BSD-3-Clause
//
// Margin MKL with one output: kernel weights θ and a support vector machine on Σ_m θ_m K_m, learned together.
//
//   minimise     ½ Σ_m ‖w_m‖²/θ_m + Σ_i C_i loss_i     over w, b and θ ≥ 0, ‖θ‖_p ≤ 1
//   equivalently min over θ of J(θ) = max over α of  −pᵀα − ½ Σ_m θ_m q_m,   q_m = (y∘α)ᵀ K_m (y∘α)
//   given        a bank, labels ±1 (hinge loss) or numbers (ε-insensitive loss), C per sample, the norm p
//   returns      θ, coefficients, bias, primal and dual objective
//
// p = 1 selects kernels [Rakotomamonjy2008], p > 1 spreads the weights [Kloft2011], θ fixed is a plain SVM.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "kloom/bank.h"
#include "kloom/context.h"
#include "kloom/report.h"
#include "solvers/svm.h"

namespace kloom::learners {

// What is to be learned, for all methods of this family.
struct MarginTask {
  Vector y;    // ±1, or numbers in regression
  Vector box;  // C_i
  bool regression = false;
  double epsilon = 0.1;  // regression: width of the insensitive tube
};

enum class WeightRule {
  fixed,            // θ stays as it starts
  norm,             // ℓp by its closed-form update
  second_order,     // ℓ1 by Newton steps on the simplex (default for p = 1)
  reduced_gradient  // ℓ1 as SimpleMKL does it
};

struct MarginSettings {
  WeightRule rule = WeightRule::second_order;
  double norm = 1.0;          // p
  double tolerance = 1e-3;    // relative duality gap
  Index iterations = 500;     // updates of θ
  std::string stage = "mkl";  // for progress
};

struct MarginSolution {
  Vector theta;
  Vector coefficients;  // y_i α_i, or α_i − α_i* in regression
  double bias = 0.0;
  double primal = 0.0;
  double dual = 0.0;
  Index iterations = 0;
  Status status = Status::converged;
  std::vector<TracePoint> trace;
  [[nodiscard]] double gap() const { return (primal - dual) / std::max(std::abs(primal), 1e-300); }
};

// `start`: kernel weights to begin with (their norm must be 1 for the rule), usually uniform.
[[nodiscard]] MarginSolution solve_margin_mkl(const KernelBank& bank, const MarginTask& task,
                                              const MarginSettings& settings, Vector start,
                                              const Context& context);

// Weights of equal size with ‖θ‖_p = 1.
[[nodiscard]] Vector uniform_weights(Index kernels, double norm);

}  // namespace kloom::learners
