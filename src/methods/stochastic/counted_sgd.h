// SPDX-License-Identifier: BSD-3-Clause
//
// Stochastic gradient descent on the multiclass hinge loss with one combined kernel per class.
//
//   w_mf ← (1 − 1/t) w_mf − (1/(γ_mf t)) (1[m = m_t] − 1[m = y]) Φ_f(x_t)   where the loss of x_t is positive
//
// keeps the form w_mf = (1/(γ_mf t)) Σ_n c_nm Φ_f(x_n), with counts c that all kernels share: +1 for the
// sample's own class, −1 for the class m_t that came too near. So a score needs one combined kernel K̄_m = Σ_f
// k_f/γ_mf per class, and the scores of a block of samples against all earlier support vectors are found
// together; inside the block everything happens one sample after the other, exactly as written above.
//
// With two classes c_n0 = −c_n1, so one output, g(1, x) − g(0, x) with the kernel K̄_0 + K̄_1, says everything.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kloom/bank.h"
#include "kloom/targets.h"

namespace kloom::methods {

struct ClassLabels {
  std::span<const int> codes;       // of every sample of the bank
  std::span<const double> weights;  // price of each sample's loss; empty: all 1
  Index classes = 2;

  [[nodiscard]] Index outputs() const { return classes == 2 ? 1 : classes; }
  [[nodiscard]] double weight(Index n) const {
    return weights.empty() ? 1.0 : weights[static_cast<std::size_t>(n)];
  }
};

// What a violation of the margin does to the counts: up the own class, down the one that came too near.
struct Violation {
  bool happened = false;
  int truth = 0;
  int near = 0;  // the other class with the highest score
};
// `scores`: of one sample, one per output.
[[nodiscard]] Violation find_violation(std::span<const double> scores, int code, Index classes);
// The same with one score per class, however many classes there are; one class alone is never violated.
[[nodiscard]] Violation find_class_violation(std::span<const double> scores, int code);
// Calls change(output, step) for the outputs that a violation moves.
template <typename Change>
void apply_violation(const Violation& v, Index classes, double weight, Change change) {
  if (classes == 2) {
    change(Index{0}, v.truth == 1 ? weight : -weight);
  } else {
    change(static_cast<Index>(v.truth), weight);
    change(static_cast<Index>(v.near), -weight);
  }
}

struct SweepPlan {
  std::span<const Index> order;     // sample of each step
  Vector scales;                    // per output: the combination times this is K̄
  bool average = true;              // mean of the iterates of the second half instead of the last one
  Vector first_scores;              // scores of the first step's sample; empty: 0
  std::function<void()> look = {};  // called between blocks of steps; may throw to end the sweep
};

struct SweepResult {
  Matrix counts;    // N × outputs, c (or its average): scores are scale/T · Σ_n c_n K(x_n, ·)
  Index steps = 0;  // T
  Index violations = 0;
  Index evaluations = 0;  // entries of combined kernels that were computed
};

[[nodiscard]] SweepResult run_sweep(const Combination& kernel, const ClassLabels& labels, Index samples,
                                    const SweepPlan& plan);

// Σ_n c_nk K̄_k(x_n, ·)·scales[k]/T of the given rows, rows × outputs.
[[nodiscard]] Matrix sweep_scores(const Combination& kernel, const SweepResult& sweep, const Vector& scales,
                                  std::span<const Index> rows);

// What a violation at step t adds to the average of the iterates of steps T₀ … T, T₀ = ⌊T/2⌋ + 1. In units in which
// it adds 1 to the last iterate, as the counts of SweepResult do.
class SuffixAverage {
 public:
  explicit SuffixAverage(Index steps);
  [[nodiscard]] double operator()(Index t) const;

 private:
  Index first_;
  Vector tails_;  // (H_T − H_{t−1})·T/(T − T₀ + 1) for t = T₀ … T
};

}  // namespace kloom::methods
