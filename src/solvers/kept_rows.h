// SPDX-License-Identifier: BSD-3-Clause
//
// Rows of a kernel matrix computed when first asked for and kept: memory and time for the rows that a solver
// touches, which are often few. Where they may not all fit there is CachedRows.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "solvers/svm.h"

namespace kloom::solvers {

class KeptRows final : public KernelRows {
 public:
  explicit KeptRows(Index size) : rows_(static_cast<std::size_t>(size)) {}
  // Another matrix: every row is computed anew, into the memory of before. compute(i, out): row i into out.
  void reset(Vector diagonal, std::function<void(Index, double*)> compute);
  [[nodiscard]] Index size() const override { return static_cast<Index>(rows_.size()); }
  [[nodiscard]] const double* row(Index i) override;
  [[nodiscard]] double diagonal(Index i) const override { return diagonal_[static_cast<std::size_t>(i)]; }

 private:
  struct Row {
    std::unique_ptr<double[]> values;
    bool known = false;
  };
  Vector diagonal_;
  std::function<void(Index, double*)> compute_;
  std::vector<Row> rows_;
};

}  // namespace kloom::solvers
