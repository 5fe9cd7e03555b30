// SPDX-License-Identifier: BSD-3-Clause
//
// Weights of given scores by the margins that they make: the linear programme of LP-β and LP-B [GehlerNowozin2009], which
// for two classes is that of LPBoost [DemirizBennettShaweTaylor2002]. f_pc(x_i) is what kernel p says for class c of sample
// i, s_i the sample's weight, d_i = s_i/(ν Σ s):
//
//   minimise    −ρ + Σ_i d_i ξ_i   over β, ρ and ξ ≥ 0
//   subject to  Σ_p β_p,y f_p,y(x_i) − Σ_p β_pu f_pu(x_i) + ξ_i ≥ ρ   for every sample i of class y and every rival u ≠ y
//               β ≥ 0, Σ_p β_pu = 1 for every class u;   shared: β_pu = β_p
//   dual        maximise −Σ_u max_p Σ_k v_k a_k,pu   over v ≥ 0, Σ_k v_k = 1, Σ_{k of sample i} v_k ≤ d_i
//
// with a_k the coefficients of β in constraint k = (i, u); shared weights have one such maximum. Two classes may have one
// score, whose sign decides: then the margin is ±Σ_p β_p f_p(x_i), and there is one rival.
//
// The dual is solved, by COIN-OR CLP: it has a row for each weight. Of its columns few matter; it begins with the nearest
// rival of every sample, and gets those that the weights found meanwhile leave nearer than the ρ of that time.
#pragma once

#include <functional>
#include <vector>

#include "kloom/matrix.h"

namespace kloom::solvers {

struct MarginProgramme {
  const Matrix& values;             // N × (P·outputs): f_pc is column p + P·c
  const std::vector<int>& labels;   // 0 …; one output: 1 is its positive class
  Vector weights;                   // s; a sample of weight 0 is as if it were absent
  Index outputs = 1;                // 1, or one for each class
  bool shared = true;               // one weight per kernel; else one per kernel and class
  double nu = 0.5;                  // 0 < ν ≤ 1
  std::function<bool()> stop = {};  // asked between the rounds; true: end with what there is

  [[nodiscard]] Index kernels() const { return values.cols() / outputs; }
};

struct MarginWeights {
  Matrix beta;             // 1 × P, or outputs × P
  Matrix dual;             // N × outputs: v of every sample and rival; one output: of the sample
  double rho = 0.0;        // the best for β
  double primal = 0.0;     // objective of β and ρ
  double bound = 0.0;      // objective of v: no weights have a lower one
  Index rounds = 0;        // of adding rivals
  bool converged = false;  // bound and objective are the same, to rounding

  [[nodiscard]] double gap() const { return primal - bound; }
};

// At least one sample must have weight.
[[nodiscard]] MarginWeights solve_margin_programme(const MarginProgramme& problem);

// Σ_p β_pc f_pc of every sample: N × outputs.
[[nodiscard]] Matrix weighted_scores(const Matrix& values, const Matrix& beta, Index outputs);

}  // namespace kloom::solvers
