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
  total_ = log_weight_ = 0.0;
  presents_.clear();
  for (Index i = 0; i < samples(); ++i) {
    const double root = root_[at(i)];
    if (root == 0.0) continue;
    presents_.push_back(i);
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
  const auto n = std::ssize(presents_);
  Matrix precision(n, n);
  for (Index l = 0; l < n; ++l) {
    const Index j = presents_[at(l)];
    const auto from = gram_->column(j);
    const auto to = precision.column(l);
    for (Index k = 0; k < n; ++k) to[at(k)] = upsilon * from[at(presents_[at(k)])];
    to[at(l)] += lambda[at(j)];
  }
  return precision;
}

Matrix WeightedKernels::of_present(std::span<const double> all) const {
  Matrix some(std::ssize(presents_), 1);
  for (Index k = 0; k < some.rows(); ++k) some(k, 0) = all[at(presents_[at(k)])];
  return some;
}

void WeightedKernels::spread(std::span<const double> of_present, std::span<double> all) const {
  std::ranges::fill(all, 0.0);
  for (std::size_t k = 0; k < presents_.size(); ++k) all[at(presents_[k])] = of_present[k];
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
