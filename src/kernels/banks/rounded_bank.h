// SPDX-License-Identifier: BSD-3-Clause
//
// Symmetric kernels in float32 for passes that read memory and do little else, each in one stream from its
// first number to its last: several streams at a time are what the processor does not foresee. Sums are in
// double, so that the error is that of the rounded numbers, about 3e-8 of each with a sign of its own.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kloom/bank.h"

namespace kloom::kernels {

class RoundedBank final : public KernelBank {
 public:
  // K_p ≈ L_p L_pᵀ: N × Σ r_p factors side by side, kernel p in columns [first[p], first[p+1]) in the order of
  // pivoted Cholesky. The last columns of each that are nothing beside the rounding of the others are left
  // away.
  [[nodiscard]] static std::unique_ptr<RoundedBank> of_factors(const Matrix& factors,
                                                               const std::vector<Index>& first,
                                                               std::vector<std::string> names);
  // Whole kernels, of which the rows right of the diagonal are kept: a quarter of a dense bank.
  [[nodiscard]] static std::unique_ptr<RoundedBank> of_triangles(const KernelBank& bank);
  // Kernels of several such banks as one, each at its place in the whole.
  struct Part {
    std::unique_ptr<KernelBank> bank;
    std::vector<Index> places;
  };
  [[nodiscard]] static std::unique_ptr<RoundedBank> joined(const std::vector<Part>& parts,
                                                           std::vector<std::string> names);

  [[nodiscard]] std::string_view kind() const override { return "rounded"; }
  [[nodiscard]] std::size_t bytes() const override { return numbers_.size() * sizeof(float); }
  void panels(Range kernels, Range rows, double* out) const override;
  [[nodiscard]] Matrix apply(ConstMatrixView v) const override;
  [[nodiscard]] Matrix apply_adjoint(ConstMatrixView g) const override;

 private:
  RoundedBank(Index rows, std::vector<std::string> names);
  // y += K_p v.
  void add_product(Index kernel, const double* v, double* y) const;
  [[nodiscard]] std::span<const float> numbers(Index kernel) const;
  // Columns of the factor; −1: a triangle.
  [[nodiscard]] Index rank(Index kernel) const { return ranks_[static_cast<std::size_t>(kernel)]; }

  std::vector<float> numbers_;
  std::vector<Index> offsets_;  // kernel p has numbers [offsets[p], offsets[p+1])
  std::vector<Index> ranks_;
};

}  // namespace kloom::kernels
