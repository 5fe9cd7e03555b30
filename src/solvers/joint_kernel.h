// SPDX-License-Identifier: BSD-3-Clause
//
// A kernel on pairs (sample, class): k((x,u),(z,v)) = Σ_t K_t(x,z) L_t(u,v), K_t on samples and L_t on classes.
// The (N·M)² matrix is never made: a column of it is rows of the K_t times numbers of the L_t, and with one
// diagonal L it touches one class only.
#pragma once

#include <span>
#include <vector>

#include "kloom/matrix.h"
#include "solvers/svm.h"

namespace kloom::solvers {

struct JointTerm {
  KernelRows* samples = nullptr;  // K, borrowed
  Matrix classes;                 // L, M × M
};

class JointKernel {
 public:
  // Unfolded: gradients are those of the M variables of a sample, as in [ZienOng2007] (9).
  explicit JointKernel(std::vector<JointTerm> terms);
  // Compact: gradients are relative to that of the sample's own class, as in (7), so every column
  // touches every class.
  JointKernel(std::vector<JointTerm> terms, std::vector<int> labels);

  [[nodiscard]] Index samples() const { return terms_.front().samples->size(); }
  [[nodiscard]] Index classes() const { return terms_.front().classes.rows(); }
  [[nodiscard]] bool compact() const { return !labels_.empty(); }
  // Classes whose gradients change with a variable of class u.
  [[nodiscard]] const std::vector<Index>& touched(Index u) const {
    return touched_[static_cast<std::size_t>(u)];
  }

  // g += step · column of (i, u), compact or not.
  void add_column(Index i, Index u, double step, MatrixView g);
  // g += K α, compact or not.
  void add_product(const Matrix& alpha, MatrixView g);
  [[nodiscard]] double entry(Index i, Index u, Index j, Index v);
  // Curvature along (i,u) + (j,v) − (i,v) − (j,u) for every j of `others`.
  void curvatures(Index i, Index u, Index v, std::span<const Index> others, std::span<double> out);

 private:
  void prepare();
  void add_unfolded_column(Index i, Index u, double step, MatrixView g);
  // g(j, w) += from(j, w) − from(j, y_j).
  void add_relative(const Matrix& from, MatrixView g) const;

  std::vector<JointTerm> terms_;
  std::vector<Vector> diagonals_;  // of their K
  std::vector<int> labels_;        // compact form only
  std::vector<std::vector<Index>> touched_;
  Matrix work_;  // compact form only
};

}  // namespace kloom::solvers
