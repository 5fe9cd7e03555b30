// SPDX-License-Identifier: BSD-3-Clause
//
// K_p ≈ L_p L_pᵀ with thin factors: a pass over the bank costs Σ r_p·N instead of P·N².
//
// Kernels of one feature, the bulk of many kernel families, have numerical rank 2 to 20 whatever N is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kloom/bank.h"

namespace kloom::kernels {

// Pivoted Cholesky of kernel p of a symmetric bank, until what is left of the trace is `tolerance` of it.
// Empty if more than `max_rank` columns would be needed.
[[nodiscard]] std::optional<Matrix> low_rank_factor(const KernelBank& bank, Index kernel,
                                                    std::span<const double> diagonal, double tolerance,
                                                    Index max_rank);

class LowRankBank final : public KernelBank {
 public:
  // One N × r_p factor per kernel.
  LowRankBank(std::vector<Matrix> factors, std::vector<std::string> names);

  [[nodiscard]] std::string_view kind() const override { return "low-rank"; }
  [[nodiscard]] std::size_t bytes() const override {
    return static_cast<std::size_t>(factors_.size()) * sizeof(double);
  }
  void panels(Range kernels, Range rows, double* out) const override;
  [[nodiscard]] Matrix diagonal() const override;
  void add_combination(std::span<const double> w, MatrixView out) const override;
  // A combined kernel as a whole is one product of matrices; row by row every row would pass over all factors.
  [[nodiscard]] bool combines_by_rows() const override { return false; }
  [[nodiscard]] Matrix apply_chosen(std::span<const Index> rows, std::span<const Index> cols,
                                    ConstMatrixView c) const override;
  [[nodiscard]] Matrix apply(ConstMatrixView v) const override;
  [[nodiscard]] Matrix apply_adjoint(ConstMatrixView g) const override;
  [[nodiscard]] Matrix quadratic_forms(ConstMatrixView c) const override;
  [[nodiscard]] Matrix gram() const override { return weighted_gram({}); }
  // Σ_p K_p W K_p, W the diagonal matrix of the weights; none: all 1.
  [[nodiscard]] Matrix weighted_gram(std::span<const double> weights) const;

  [[nodiscard]] Index rank(Index kernel) const { return range(kernel).size(); }
  // N × rank, columns in the order of pivoted Cholesky.
  [[nodiscard]] ConstMatrixView factor(Index kernel) const { return factors_.columns(range(kernel)); }

 private:
  [[nodiscard]] Range range(Index kernel) const {
    return {offsets_[static_cast<std::size_t>(kernel)], offsets_[static_cast<std::size_t>(kernel) + 1]};
  }

  Matrix factors_;              // N × Σ r_p, side by side
  std::vector<Index> offsets_;  // kernel p has columns [offsets[p], offsets[p+1])
};

}  // namespace kloom::kernels
