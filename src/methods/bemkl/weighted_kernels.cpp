// SPDX-License-Identifier: BSD-3-Clause
#include "methods/bemkl/weighted_kernels.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "algebra/blas.h"
#include "kernels/banks/weighted_gram.h"

namespace kloom::methods {

WeightedKernels::WeightedKernels(const KernelBank& bank, const Vector& weights)
    : bank_(&bank),
      root_(at(bank.rows()), 1.0),
      gram_(std::make_shared<const Matrix>(kernels::weighted_gram(bank, weights))) {
  for (std::size_t i = 0; i < weights.size(); ++i) root_[i] = std::sqrt(weights[i]);
  count_samples();
}

void WeightedKernels::count_samples() {
  count_ = total_ = log_weight_ = 0.0;
  for (const double root : root_) {
    if (root == 0.0) continue;
    count_ += 1.0;
    total_ += root * root;
    log_weight_ += 2.0 * std::log(root);
  }
}

void WeightedKernels::scale_rows(Matrix& stacked) const {
  if (std::ranges::all_of(root_, [](double root) { return root == 1.0; })) return;
  const Index n = samples();
  for (double* block = stacked.data(); block != stacked.data() + stacked.size(); block += n) {
    for (Index i = 0; i < n; ++i) block[i] *= root_[at(i)];
  }
}

Matrix WeightedKernels::apply(const Matrix& v) const {
  Matrix result = bank_->apply(v.view());
  scale_rows(result);
  return result;
}

Matrix WeightedKernels::apply_adjoint(Matrix g) const {
  scale_rows(g);
  Matrix sum = bank_->apply_adjoint(g.view());
  for (Index k = 0; k < sum.size(); ++k) {
    if (!present(k % samples())) sum.data()[k] = 0.0;
  }
  return sum;
}

Matrix WeightedKernels::precision_of_a(std::span<const double> lambda, double upsilon) const {
  const Index n = samples();
  Matrix precision = *gram_;
  if (upsilon != 1.0) algebra::scale(upsilon, precision.values());
  for (Index i = 0; i < n; ++i) precision(i, i) += lambda[at(i)];
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n && !present(i); ++j) precision(i, j) = precision(j, i) = i == j ? 1.0 : 0.0;
  }
  return precision;
}

void WeightedKernels::leave_out(std::span<const Index> gone) {
  Vector leaving(root_.size());
  for (const Index i : gone) {
    leaving[at(i)] = root_[at(i)] * root_[at(i)];
    root_[at(i)] = 0.0;
  }
  count_samples();
  Matrix gram = *gram_;
  algebra::axpy(-1.0, kernels::weighted_gram(*bank_, leaving).values(), gram.values());
  gram_ = std::make_shared<const Matrix>(std::move(gram));
}

}  // namespace kloom::methods
