// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/kept_rows.h"

#include <utility>

namespace kloom::solvers {

void KeptRows::reset(Vector diagonal, std::function<void(Index, double*)> compute) {
  diagonal_ = std::move(diagonal);
  compute_ = std::move(compute);
  for (Row& row : rows_) row.known = false;
}

const double* KeptRows::row(Index i) {
  Row& row = rows_[static_cast<std::size_t>(i)];
  if (row.known) return row.values.get();
  // Not initialised: compute_ writes every number.
  if (row.values == nullptr) row.values.reset(new double[rows_.size()]);
  compute_(i, row.values.get());
  row.known = true;
  return row.values.get();
}

}  // namespace kloom::solvers
