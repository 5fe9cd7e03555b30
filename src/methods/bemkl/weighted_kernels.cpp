// SPDX-License-Identifier: BSD-3-Clause
#include "methods/bemkl/weighted_kernels.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "algebra/blas.h"

namespace kloom::methods {

using algebra::Op;

namespace {

bool all_one(const Vector& values) {
  return std::ranges::all_of(values, [](double value) { return value == 1.0; });
}

// Σ_p K_p[rest, gone] W K_p[gone, rest], a few of the samples that go at a time.
Matrix gram_of(const KernelBank& bank, std::span<const Index> rest, std::span<const Index> gone,
               const Vector& root) {
  constexpr Index kAtATime = 8;
  const Index n = std::ssize(rest);
  Matrix part(n, n);
  for (Index first = 0; first < std::ssize(gone); first += kAtATime) {
    const auto some = gone.subspan(at(first), at(std::min(kAtATime, std::ssize(gone) - first)));
    Matrix rows(n, bank.kernels() * std::ssize(some));
    bank.entries(some, rest, rows.data());
    for (Index k = 0; k < rows.cols(); ++k)
      algebra::scale(root[at(some[at(k % std::ssize(some))])], rows.column(k));
    algebra::syrk_lower(Op::none, 1.0, rows.view(), 1.0, part.view());
  }
  algebra::symmetrise_from_lower(part.view());
  return part;
}

}  // namespace

WeightedKernels::WeightedKernels(const KernelBank& bank, std::shared_ptr<const KernelBank> rounded,
                                 const Vector& weights)
    : bank_(&bank), rounded_(std::move(rounded)), root_(at(bank.rows()), 1.0) {
  for (std::size_t i = 0; i < weights.size(); ++i) root_[i] = std::sqrt(weights[i]);
  count_samples();
  gram_ = std::make_shared<const Matrix>(gram());
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

Matrix WeightedKernels::gram() const {
  if (all_one(root_)) return bank_->gram();
  const Index n = samples();
  Matrix gram(n, n);
  Matrix panel(n, n);
  for (Index p = 0; p < kernels(); ++p) {
    bank_->panels({p, p + 1}, {0, n}, panel.data());
    for (Index i = 0; i < n; ++i) algebra::scale(root_[at(i)], panel.column(i));
    algebra::syrk_lower(Op::none, 1.0, panel.view(), 1.0, gram.view());
  }
  algebra::symmetrise_from_lower(gram.view());
  return gram;
}

void WeightedKernels::scale_rows(Matrix& stacked) const {
  if (all_one(root_)) return;
  for (Index k = 0; k < stacked.size(); ++k) stacked.data()[k] *= root_[at(k % samples())];
}

Matrix WeightedKernels::apply(const Matrix& v, Purpose purpose) const {
  Matrix result = (rounded_ && purpose == Purpose::correction ? *rounded_ : *bank_).apply(v.view());
  scale_rows(result);
  return result;
}

Matrix WeightedKernels::apply_adjoint(Matrix g, Purpose purpose) const {
  scale_rows(g);
  Matrix sum = (rounded_ && purpose == Purpose::correction ? *rounded_ : *bank_).apply_adjoint(g.view());
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

double WeightedKernels::trace_of_gram() const {
  double trace = 0.0;
  for (Index i = 0; i < samples(); ++i) trace += present(i) ? (*gram_)(i, i) : 0.0;
  return trace;
}

void WeightedKernels::leave_out(std::span<const Index> gone) {
  const Vector before = root_;
  for (const Index i : gone) root_[at(i)] = 0.0;
  count_samples();
  std::vector<Index> rest;
  for (Index i = 0; i < samples(); ++i) {
    if (present(i)) rest.push_back(i);
  }
  const Matrix part = gram_of(*bank_, rest, gone, before);
  Matrix gram = *gram_;
  for (Index j = 0; j < part.cols(); ++j) {
    for (Index i = 0; i < part.rows(); ++i) gram(rest[at(i)], rest[at(j)]) -= part(i, j);
  }
  gram_ = std::make_shared<const Matrix>(std::move(gram));
}

}  // namespace kloom::methods
