// SPDX-License-Identifier: BSD-3-Clause
//
// The binary support vector machine at the heart of every margin method.
//
//   minimise     ½ Σ_ij α_i α_j y_i y_j K_ij + Σ_i p_i α_i
//   subject to   Σ_i y_i α_i = 0,   0 ≤ α_i ≤ C_i
//   given        K by rows, signs y_i = ±1, linear terms p_i, boxes C_i ≥ 0, a feasible start
//   returns      α, the bias b, and how far from optimal they are
//
// Classification has p = −1. ε-regression has two variables per sample (p = ε ∓ z, y = ±1) that share a kernel
// row. Weighted samples have their own C_i; SAMKL has its own p_i and C_i.
//
// Sequential minimal optimisation with second-order working sets [FanChenLin2005, WSS 2]. Optimality is measured as
// there: with v_i = −y_i times the derivative of the objective by α_i,
//
//   violation = max{v_i : y_i α_i may grow} − min{v_i : y_i α_i may fall}.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kloom/matrix.h"

namespace kloom::solvers {

// Kernel matrix by rows. A row stays valid until the call after the next.
class KernelRows {
 public:
  virtual ~KernelRows() = default;
  // A row costs nothing, so parts of the matrix may be copied together.
  [[nodiscard]] virtual bool in_memory() const { return false; }
  [[nodiscard]] virtual Index size() const = 0;
  [[nodiscard]] virtual const double* row(Index i) = 0;
  [[nodiscard]] virtual double diagonal(Index i) const = 0;
};

// Rows of a symmetric matrix in memory.
class MatrixRows final : public KernelRows {
 public:
  explicit MatrixRows(ConstMatrixView kernel) : kernel_(kernel) {}
  [[nodiscard]] bool in_memory() const override { return true; }
  [[nodiscard]] Index size() const override { return kernel_.rows; }
  [[nodiscard]] const double* row(Index i) override { return kernel_.column(i).data(); }
  [[nodiscard]] double diagonal(Index i) const override { return kernel_(i, i); }

 private:
  ConstMatrixView kernel_;
};

// Rows computed when asked and kept, the least recently used going first, while they fit `bytes`.
class CachedRows final : public KernelRows {
 public:
  // compute(i, out): row i into out (size entries).
  CachedRows(Vector diagonal, std::function<void(Index, double*)> compute, std::size_t bytes);
  [[nodiscard]] Index size() const override { return static_cast<Index>(diagonal_.size()); }
  [[nodiscard]] const double* row(Index i) override;
  [[nodiscard]] double diagonal(Index i) const override { return diagonal_[static_cast<std::size_t>(i)]; }

 private:
  Vector diagonal_;
  std::function<void(Index, double*)> compute_;
  Matrix slots_;
  std::vector<Index> slot_of_;     // −1: not kept
  std::vector<Index> row_in_;      // −1: free
  std::vector<std::size_t> used_;  // last use of each slot
  std::size_t clock_ = 0;
};

struct SvmProblem {
  Vector y;                   // ±1
  Vector linear;              // p
  Vector box;                 // C
  std::vector<Index> sample;  // kernel row of each variable; empty: variable i has row i

  [[nodiscard]] Index variables() const { return static_cast<Index>(y.size()); }
  [[nodiscard]] Index row_of(Index i) const { return sample.empty() ? i : sample[static_cast<std::size_t>(i)]; }
};

struct SvmOptions {
  double tolerance = 1e-3;         // on the violation, in units of the labels
  Index iterations = 100'000'000;  // at most
  bool shrinking = true;           // work on the variables that still matter, in compact storage if in memory
  std::function<bool()> stop;      // asked now and then; true: stop with what there is
};

struct SvmSolution {
  Vector alpha;
  double bias = 0.0;
  double objective = 0.0;  // of the minimisation
  double violation = 0.0;
  Index iterations = 0;
  bool converged = false;
};

// `start` is empty (α = 0) or feasible. Deterministic.
[[nodiscard]] SvmSolution solve_svm(const SvmProblem& problem, KernelRows& kernel, const SvmOptions& options,
                                    std::span<const double> start = {});

}  // namespace kloom::solvers
