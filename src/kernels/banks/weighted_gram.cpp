// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/banks/weighted_gram.h"

#include <algorithm>
#include <cmath>

#include "algebra/blas.h"
#include "kernels/banks/concat_bank.h"
#include "kernels/banks/low_rank_bank.h"

namespace kloom::kernels {
namespace {

// Kernel after kernel, the rows that have a weight times its root.
Matrix gram_of_rows(const KernelBank& bank, std::span<const double> weights) {
  const Index n = bank.rows();
  Matrix sum(n, n);
  Matrix entries(n, n);
  Matrix weighted(n, std::ranges::count_if(weights, [](double weight) { return weight > 0.0; }));
  for (Index p = 0; p < bank.kernels() && weighted.cols() > 0; ++p) {
    bank.panels({p, p + 1}, {0, n}, entries.data());
    for (Index i = 0, to = 0; i < n; ++i) {
      if (!(weights[at(i)] > 0.0)) continue;
      std::ranges::copy(entries.column(i), weighted.column(to).begin());
      algebra::scale(std::sqrt(weights[at(i)]), weighted.column(to++));
    }
    algebra::syrk_lower(algebra::Op::none, 1.0, weighted.view(), 1.0, sum.view());
  }
  algebra::symmetrise_from_lower(sum.view());
  return sum;
}

}  // namespace

Matrix weighted_gram(const KernelBank& bank, std::span<const double> weights) {
  if (weights.empty()) return bank.gram();
  if (const auto* low_rank = dynamic_cast<const LowRankBank*>(&bank)) return low_rank->weighted_gram(weights);
  const auto* joined = dynamic_cast<const ConcatBank*>(&bank);
  if (joined == nullptr) return gram_of_rows(bank, weights);
  Matrix sum(bank.rows(), bank.rows());
  for (Index k = 0; k < joined->parts(); ++k)
    algebra::axpy(1.0, weighted_gram(joined->part(k), weights).values(), sum.values());
  return sum;
}

}  // namespace kloom::kernels
