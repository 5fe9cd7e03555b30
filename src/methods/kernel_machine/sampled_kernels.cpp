// SPDX-License-Identifier: BSD-3-Clause
#include "methods/kernel_machine/sampled_kernels.h"

#include "algebra/blas.h"

namespace kloom::methods {

SampledKernels::SampledKernels(const KernelBank& bank, std::span<const Index> samples)
    : samples_(std::ssize(samples)),
      kernels_(bank.kernels()),
      entries_(at(bank.kernels() * samples_ * samples_)) {
  bank.entries(samples, samples, entries_.data());
}

std::span<const double> SampledKernels::entries(Index p) const {
  return {entries_.data() + p * samples_ * samples_, at(samples_ * samples_)};
}

double SampledKernels::trace(Index p) const {
  double sum = 0.0;
  for (Index i = 0; i < samples_; ++i) sum += entries(p)[at(i * (samples_ + 1))];
  return sum;
}

Matrix SampledKernels::combine(std::span<const double> weights, double constant) const {
  Matrix sum(samples_, samples_, constant);
  for (Index p = 0; p < kernels_; ++p) {
    if (weights[at(p)] > 0.0) algebra::axpy(weights[at(p)], entries(p), sum.values());
  }
  return sum;
}

double SampledKernels::inner(Index p, const Matrix& m) const {
  return algebra::dot(entries(p), m.values());
}

}  // namespace kloom::methods
