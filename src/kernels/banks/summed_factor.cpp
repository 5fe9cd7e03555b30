// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/banks/summed_factor.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "algebra/blas.h"
#include "kernels/banks/concat_bank.h"
#include "kernels/banks/low_rank_bank.h"

namespace kloom::kernels {
namespace {

struct ThinKernel {
  const LowRankBank* bank = nullptr;  // none: kept by its entries
  Index kernel = 0;
};

ThinKernel thin_kernel(const KernelBank& bank, Index p) {
  const auto* joined = dynamic_cast<const ConcatBank*>(&bank);
  if (joined == nullptr) return {dynamic_cast<const LowRankBank*>(&bank), p};
  const ConcatBank::Place& place = joined->place(p);
  return thin_kernel(joined->part(place.part), place.kernel);
}

}  // namespace

Matrix summed_factor(const KernelBank& bank, std::span<const double> w, Index most) {
  std::vector<ThinKernel> used;
  std::vector<double> roots;
  Index columns = 0;
  for (Index p = 0; p < bank.kernels(); ++p) {
    if (w[at(p)] == 0.0) continue;
    const ThinKernel one = thin_kernel(bank, p);
    if (one.bank == nullptr) return {};
    columns += one.bank->rank(one.kernel);
    if (columns > most) return {};
    used.push_back(one);
    roots.push_back(std::sqrt(w[at(p)]));
  }
  Matrix factor(bank.rows(), columns);
  Index to = 0;
  for (std::size_t k = 0; k < used.size(); ++k) {
    const ConstMatrixView own = used[k].bank->factor(used[k].kernel);
    for (Index r = 0; r < own.cols; ++r, ++to) {
      std::ranges::copy(own.column(r), factor.column(to).begin());
      algebra::scale(roots[k], factor.column(to));
    }
  }
  return factor;
}

}  // namespace kloom::kernels
