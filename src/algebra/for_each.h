// SPDX-License-Identifier: BSD-3-Clause
//
// A loop whose turns may have a thread each.
#pragma once

#include "kloom/matrix.h"

namespace kloom::algebra {

// body(k) for every k < count: beside each other on so many threads, one each; or with one of them after the other, and
// then BLAS has its threads in each. An `if` clause on one loop would not do: in a region of OpenMP, even of a single
// thread, every BLAS call makes threads of its own and ends them again.
template <typename Body>
void for_each(int threads, Index count, Body body) {
  if (threads == 1) {
    for (Index k = 0; k < count; ++k) body(k);
    return;
  }
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (Index k = 0; k < count; ++k) body(k);
}

}  // namespace kloom::algebra
