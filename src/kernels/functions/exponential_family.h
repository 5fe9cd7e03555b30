// SPDX-License-Identifier: BSD-3-Clause
//
// What banks do with kernels that are exponentials of one quantity, K_f(i, j) = s_f exp(−γ_f t(i, j)), between
// chosen samples: combinations by table look-up, and sums over pairs for all kernels at once by a histogram of
// t, the transpose of that look-up. Quantities are asked for in blocks; no matrix over all samples is held.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kernels/functions/exponential_table.h"
#include "kloom/bank.h"

namespace kloom::kernels {

struct ExponentialFamily {
  ExponentialTable table;
  std::vector<double> scales;  // s_f
  std::vector<Index> kernels;  // place of each kernel in the bank
  // out[i·stride + j] = t(rows[i], cols[j]); stride has room for whole blocks of sixteen columns.
  std::function<void(std::span<const Index> rows, std::span<const Index> cols, double* out, Index stride)>
      quantities;
};

[[nodiscard]] std::unique_ptr<Combination> family_combination(std::vector<ExponentialFamily> families,
                                                              ConstMatrixView w);
// Samples with coefficient 0 are not looked at. P × columns of c; kernels of no family are left 0.
[[nodiscard]] Matrix family_quadratic_forms(const std::vector<ExponentialFamily>& families, ConstMatrixView c,
                                            Index kernels);
void family_entries(const std::vector<ExponentialFamily>& families, std::span<const Index> rows,
                    std::span<const Index> cols, double* out);

struct ChosenPairs {
  std::span<const Index> rows;
  std::span<const Index> cols;
  Index kernels;  // of the bank
};
[[nodiscard]] Matrix family_apply(const std::vector<ExponentialFamily>& families, const ChosenPairs& pairs,
                                  ConstMatrixView c);

}  // namespace kloom::kernels
