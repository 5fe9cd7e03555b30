// SPDX-License-Identifier: BSD-3-Clause
//
// Sums over kernels by T threads. Each adds up every T-th kernel in a sum of its own, and these are added in the order
// of the threads, so that T threads give the same bits every time.
#pragma once

#include <omp.h>

#include <utility>
#include <vector>

#include "algebra/blas.h"
#include "kloom/matrix.h"

namespace kloom::kernels {

// Σ_p of what `add(p, sum)` adds to a rows × cols matrix.
template <typename Add>
[[nodiscard]] Matrix sum_over_kernels(Index kernels, Index rows, Index cols, Add add) {
  std::vector<Matrix> sums(static_cast<std::size_t>(omp_get_max_threads()));
#pragma omp parallel
  {
    Matrix& sum = sums[static_cast<std::size_t>(omp_get_thread_num())];
    sum = Matrix(rows, cols);
#pragma omp for schedule(static, 1)
    for (Index p = 0; p < kernels; ++p) add(p, sum);
  }
  for (std::size_t t = 1; t < sums.size(); ++t) {
    if (!sums[t].empty()) algebra::axpy(1.0, sums[t].values(), sums.front().values());
  }
  return std::move(sums.front());
}

}  // namespace kloom::kernels
