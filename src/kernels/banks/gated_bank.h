// SPDX-License-Identifier: BSD-3-Clause
//
// A bank seen through gates: K̃_p(i, j) = g_ip K_p(i, j) g_jp. Gates of 0 and 1 are the switches of SAMKL
// ([Liu2014] eq. 13) or say which kernels a sample has, others are the gating functions of localised MKL
// ([GonenAlpaydin2008] eq. 5). Positive semidefinite if K_p is.
#pragma once

#include <memory>

#include "kloom/bank.h"

namespace kloom::kernels {

// Nothing is copied.
class GatedBank final : public KernelBank {
 public:
  // Of a symmetric bank, which it must not outlive. `gates`: samples × kernels.
  GatedBank(const KernelBank& bank, Matrix gates);
  // The gates are which kernels rows and columns have.
  GatedBank(std::shared_ptr<const KernelBank> bank, Presence presence);

  [[nodiscard]] std::string_view kind() const override { return "gated"; }
  [[nodiscard]] std::size_t bytes() const override;
  void panels(Range kernels, Range rows, double* out) const override;
  [[nodiscard]] Matrix diagonal() const override;
  void add_combination(std::span<const double> w, MatrixView out) const override;
  [[nodiscard]] Matrix apply(ConstMatrixView v) const override;
  [[nodiscard]] Matrix apply_each(ConstMatrixView v) const override;

 private:
  [[nodiscard]] const Matrix& column_gates() const { return symmetric() ? gates_ : presence().cols; }

  std::shared_ptr<const KernelBank> owner_;
  const KernelBank& bank_;
  Matrix gates_;  // of rows
};

}  // namespace kloom::kernels
