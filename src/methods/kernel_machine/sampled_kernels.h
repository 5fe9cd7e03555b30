// SPDX-License-Identifier: BSD-3-Clause
//
// The kernels of a bank among some of its samples, held as matrices: for those who combine them again and again.
#pragma once

#include <span>

#include "kloom/bank.h"
#include "kloom/matrix.h"

namespace kloom::methods {

class SampledKernels {
 public:
  SampledKernels(const KernelBank& bank, std::span<const Index> samples);

  [[nodiscard]] Index samples() const { return samples_; }
  [[nodiscard]] Index kernels() const { return kernels_; }
  // All entries of kernel p, n × n.
  [[nodiscard]] std::span<const double> entries(Index p) const;
  [[nodiscard]] double trace(Index p) const;
  // Σ_p w_p K_p + constant 11ᵀ; kernels without a weight cost nothing.
  [[nodiscard]] Matrix combine(std::span<const double> weights, double constant) const;
  // Σ_ij K_p(i, j) m(i, j).
  [[nodiscard]] double inner(Index p, const Matrix& m) const;

 private:
  Index samples_;
  Index kernels_;
  Vector entries_;
};

}  // namespace kloom::methods
