// SPDX-License-Identifier: BSD-3-Clause
//
// Symmetric kernels in float32 for passes that read memory and do little else, each in one stream from its
// first number to its last: several streams at a time are what the processor does not foresee. Sums are in
// double, so that the error is that of the rounded numbers, about 3e-8 of each with a sign of its own.
#pragma once

#include <string>
#include <vector>

#include "kloom/bank.h"

namespace kloom::kernels {

// What both kinds have in common: products with single vectors.
class RoundedBank : public KernelBank {
 public:
  [[nodiscard]] std::size_t bytes() const override { return numbers_.size() * sizeof(float); }
  [[nodiscard]] Matrix apply(ConstMatrixView v) const override;
  [[nodiscard]] Matrix apply_adjoint(ConstMatrixView g) const override;

 protected:
  RoundedBank(Index rows, std::vector<std::string> names)
      : KernelBank(rows, rows, true, std::move(names)), offsets_{0} {}
  // y += K_p v.
  virtual void add_product(Index kernel, const double* v, double* y) const = 0;
  [[nodiscard]] const float* numbers(Index kernel) const {
    return numbers_.data() + offsets_[static_cast<std::size_t>(kernel)];
  }

  std::vector<float> numbers_;
  std::vector<Index> offsets_;  // kernel p has numbers [offsets[p], offsets[p+1])
};

// K_p ≈ L_p L_pᵀ.
class RoundedFactorsBank final : public RoundedBank {
 public:
  // N × Σ r_p factors side by side, kernel p in columns [first[p], first[p+1]) in the order of pivoted
  // Cholesky: the last columns of each that are nothing beside the rounding of the others are left away.
  RoundedFactorsBank(const Matrix& factors, const std::vector<Index>& first, std::vector<std::string> names);

  [[nodiscard]] std::string_view kind() const override { return "low-rank32"; }
  void panels(Range kernels, Range rows, double* out) const override;

 private:
  void add_product(Index kernel, const double* v, double* y) const override;
  [[nodiscard]] Index rank(Index kernel) const;
};

// Whole kernels, of which the rows right of the diagonal are kept: a quarter of a dense bank.
class RoundedTrianglesBank final : public RoundedBank {
 public:
  explicit RoundedTrianglesBank(const KernelBank& bank);

  [[nodiscard]] std::string_view kind() const override { return "triangles32"; }
  void panels(Range kernels, Range rows, double* out) const override;

 private:
  void add_product(Index kernel, const double* v, double* y) const override;
};

}  // namespace kloom::kernels
