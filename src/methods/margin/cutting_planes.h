// SPDX-License-Identifier: BSD-3-Clause
//
// ℓ1 kernel weights by cutting planes. Every SVM solution α_t bounds J from below on all of the simplex,
//
//   J(θ) ≥ −pᵀα_t − ½ Σ_m θ_m q_m(α_t),
//
// and J of any θ looked at is an upper bound. The next θ is
//
//   silp    where the largest of the cuts is least: the semi-infinite linear programme of [Sonnenburg2006], eq. 13
//   level   of the θ where the cuts are below a level between the two bounds, the nearest to the best θ [Xu2009]
#pragma once

#include <limits>
#include <vector>

#include "kloom/matrix.h"
#include "methods/seam/duality_gap.h"
#include "solvers/simplex_cuts.h"

namespace kloom::methods {

class MarginCuts {
 public:
  // An SVM solution: its θ and α, q_m(α), bias, −pᵀα and the primal objective.
  struct Cut {
    Vector theta;
    Vector alpha;
    Vector q;
    double bias = 0.0;
    double linear = 0.0;
    double primal = std::numeric_limits<double>::infinity();
  };

  MarginCuts(Index kernels, bool level) : cuts_(kernels), level_(level) {}

  void add(Cut cut);
  [[nodiscard]] Vector next() const;
  // The cut with the least primal objective.
  [[nodiscard]] const Cut& best() const { return best_; }
  // Relative distance of the best objective from the least value of the cuts.
  [[nodiscard]] double gap() const { return relative_gap(best_.primal, minimum_.value); }
  // Σ_t μ_t α_t, μ the multipliers of the cuts where they are least.
  [[nodiscard]] Vector mixture() const;

 private:
  solvers::SimplexCuts cuts_;
  bool level_;
  std::vector<Vector> alphas_;  // of the cuts
  Cut best_;
  solvers::SimplexCuts::Minimum minimum_;
};

}  // namespace kloom::methods
