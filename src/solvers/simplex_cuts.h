// SPDX-License-Identifier: BSD-3-Clause
//
// A convex function on the simplex, known from below by cuts: value(β) ≥ constant_t + slope_tᵀβ. Two questions
// are answered about the largest of the cuts: where it is least (a linear programme, by COIN-OR CLP, which
// starts from the last answer), and which point is nearest to a given one among those where it is at most some
// level (a small quadratic programme, by interior points). The first alone makes the cutting-plane method, both
// together the level method [LemarechalNemirovskiiNesterov1995].
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "kloom/matrix.h"

namespace kloom::solvers {

// Weights as a linear programme leaves them: those that are next to nothing become 0, the sum 1.
void to_simplex(std::span<double> point);

class SimplexCuts {
 public:
  explicit SimplexCuts(Index variables);
  ~SimplexCuts();
  SimplexCuts(const SimplexCuts&) = delete;
  SimplexCuts& operator=(const SimplexCuts&) = delete;

  [[nodiscard]] Index variables() const { return variables_; }
  [[nodiscard]] Index cuts() const { return static_cast<Index>(constants_.size()); }
  void add(double constant, std::span<const double> slope);
  // Forgets the cuts where keep is false.
  void keep(const std::vector<bool>& keep);

  struct Minimum {
    Vector point;
    // A lower bound on the least value, exact for the multipliers whatever the programme's own rounding.
    double value = 0.0;
    Vector multipliers;  // of the cuts, ≥ 0, sum 1
  };
  [[nodiscard]] Minimum minimise();
  // Level must be above the least value.
  [[nodiscard]] Vector project(std::span<const double> centre, double level) const;

 private:
  struct Programme;
  void load();
  void bound(Minimum& minimum) const;

  Index variables_;
  Vector constants_;
  std::vector<Vector> slopes_;
  std::unique_ptr<Programme> programme_;
};

}  // namespace kloom::solvers
