// SPDX-License-Identifier: BSD-3-Clause
//
// Sample-adaptive MKL with one output [Liu2014]: kernels are switched off sample by sample.
//
//   minimise     ½ Σ_p ‖w_p‖²/γ_p + C Σ_i ξ_i                                                    (eq. 11)
//   subject to   y_i (Σ_p h_ip w_pᵀφ_p(x_i) + b)/τ_i ≥ 1 − ξ_i,  ξ ≥ 0,  γ ≥ 0,  Σ γ_p = 1
//   with         h_i the fewest kernels that keep sample i's constraint, ‖h_i − h⁰‖₁ ≤ m₀        (eq. 15)
//                τ_i = Σ_p h_ip ‖w_p‖ / Σ_p ‖w_p‖                                                (eq. 16)
//   given        a bank, labels ±1, C_i per sample, h⁰, m₀
//   returns      γ, coefficients, b, h, τ
//
// Alternates as Algorithm 1 does. For fixed h and τ the problem is ℓ1 MKL on the kernels K̃_p(i, j) = h_ip h_jp
// K_p(i, j) with box C_i/τ_i and margin τ_i (substitute α' = α/τ in eq. 13), so solve_margin_mkl solves it. The
// problem is not convex in all variables together: there is no proof of optimality.
//
//   paper         here
//   h, τ          switches, margins
//   α_i y_i/τ_i   coefficients of `inner`
//   γ             theta of `inner`
//   m₀            changes
#pragma once

#include <set>
#include <vector>

#include "methods/margin/mkl.h"

namespace kloom::methods {

struct SwitchSettings {
  MarginSettings inner;
  Index changes = 3;           // m₀
  Index updates = 10;          // of the switches, at most
  bool update_margins = true;  // τ by eq. 16; else it stays 1, and the objective never rises
  double least_margin = 0.01;  // floor of τ: a sample whose kernels are all off has τ = 0, and C/τ
  // Algorithm 1 to its end: it stops where the objective rises too, not where switches come back, and updates the
  // switches once more after the last solution.
  bool literal = false;
};

// A solution of eq. 13 with the switches and margins that it was solved for.
struct SwitchedSolution {
  MarginSolution inner;
  Matrix switches;  // h: N × P
  Vector margins;   // τ
  Index updates = 0;
  Matrix last = {};  // literal: h after the update that follows the last solution
  // What prediction takes for the switches of the samples.
  [[nodiscard]] const Matrix& in_prediction() const { return last.empty() ? switches : last; }
};

// What the report says about every solution on the way.
struct SwitchRound {
  double objective = 0.0;
  Index kernels = 0;          // with weight
  Index patterns = 0;         // distinct, among kernels with weight
  double off = 0.0;           // share of samples × kernels with weight that is off
  double least_margin = 0.0;  // smallest τ
};

enum class SwitchEnding { settled, small_change, rise, repeat, update_limit, stopped };

class SwitchedMkl {
 public:
  // `start`: h⁰.
  SwitchedMkl(const KernelBank& bank, const MarginTask& task, SwitchSettings settings, Vector start,
              const Context& context)
      : bank_(bank), task_(task), settings_(std::move(settings)), start_(std::move(start)), context_(context) {}

  // Every sample has h⁰ and τ = 1.
  [[nodiscard]] SwitchedSolution first(MarginStart from) const;
  // One update of switches and margins, and the solution for them.
  [[nodiscard]] SwitchedSolution next(const SwitchedSolution& solution) const;
  // From a solution to the stop.
  [[nodiscard]] SwitchedSolution run(SwitchedSolution solution);

  [[nodiscard]] SwitchEnding ending() const { return ending_; }
  [[nodiscard]] const std::vector<SwitchRound>& rounds() const { return rounds_; }

 private:
  struct Update {
    Matrix switches;
    Vector margins;
  };
  [[nodiscard]] Update update(const SwitchedSolution& solution) const;
  [[nodiscard]] SwitchedSolution solve(Matrix switches, Vector margins, MarginStart from) const;
  [[nodiscard]] Vector new_margins(const Matrix& switches, const Vector& norms) const;
  // True if the run ends with `after`.
  [[nodiscard]] bool ends(const SwitchedSolution& before, const SwitchedSolution& after);

  const KernelBank& bank_;
  const MarginTask& task_;
  SwitchSettings settings_;
  Vector start_;
  const Context& context_;
  SwitchEnding ending_ = SwitchEnding::settled;
  std::vector<SwitchRound> rounds_;
  std::set<std::vector<bool>> seen_;
};

// The distinct rows of the switches among samples with a box, H × P, the most frequent first.
[[nodiscard]] Matrix distinct_patterns(const Matrix& switches, const Vector& box);

}  // namespace kloom::methods
