// SPDX-License-Identifier: BSD-3-Clause
//
// Many kernels that are exponentials of one quantity, K_f(i,j) = s_f exp(−γ_f t(i,j)): Gaussian widths on one
// distance (t = d²), or exp(−γ d/s) on a given distance (t = d/s).
//
// Any combination Σ_f w_f K_f is one function of t, so `combine` costs one table look-up per pair however many
// kernels there are; and all quadratic forms follow from one histogram of t by the transpose of that look-up.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/functions/exponential_table.h"
#include "kloom/bank.h"

namespace kloom::kernels {

struct ExponentialFamily;

class RbfFamilyBank final : public KernelBank {
 public:
  // `t`: cols × rows, column i holds t(i, ·).
  RbfFamilyBank(std::shared_ptr<const Matrix> t, std::vector<double> gammas, std::vector<double> scales,
                std::vector<std::string> names, bool symmetric);

  [[nodiscard]] std::string_view kind() const override { return "rbf-family"; }
  [[nodiscard]] std::size_t bytes() const override;
  void panels(Range kernels, Range rows, double* out) const override;
  void combine_rows(std::span<const double> w, std::span<const Index> rows, MatrixView out) const override;
  void add_combination(std::span<const double> w, MatrixView out) const override;
  [[nodiscard]] Matrix quadratic_forms(ConstMatrixView c) const override;
  [[nodiscard]] std::unique_ptr<Combination> combination(ConstMatrixView w, std::size_t memory) const override;
  [[nodiscard]] bool combines_cheaply() const override { return true; }
  void entries(std::span<const Index> rows, std::span<const Index> cols, double* out) const override;
  [[nodiscard]] Matrix apply_chosen(std::span<const Index> rows, std::span<const Index> cols,
                                    ConstMatrixView c) const override;

 private:
  [[nodiscard]] std::vector<ExponentialFamily> family() const;
  [[nodiscard]] Vector scaled(std::span<const double> w) const;

  std::shared_ptr<const Matrix> t_;
  std::vector<double> gammas_;
  std::vector<double> scales_;
  ExponentialTable table_;
};

}  // namespace kloom::kernels
