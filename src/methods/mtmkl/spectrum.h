// SPDX-License-Identifier: BSD-3-Clause
//
// What mtmkl knows of a kernel: its eigenvectors, found once, in which every posterior of its function is diagonal.
#pragma once

#include <span>
#include <vector>

#include "kloom/bank.h"
#include "kloom/context.h"

namespace kloom::methods {

// K̂ = U^½ K U^½ / d = V Λ Vᵀ among the samples that count: U their weights, d the mean diagonal of K among them. Without
// the eigenvectors of eigenvalues that rounding leaves nothing of.
struct KernelSpectrum {
  double size = 1.0;  // d
  Vector values;      // ≥ 0
  Matrix vectors;
};

// `roots`: of the samples' weights. Throws InvalidArgument where a kernel is not positive semidefinite, and Interrupted
// where the caller asks to stop: without all of them there is no model.
[[nodiscard]] std::vector<KernelSpectrum> spectra_of(const KernelBank& bank, const std::vector<Index>& samples,
                                                     const Vector& roots, const Context& context);

// x ← V diag(factors) Vᵀ x.
void filter(const KernelSpectrum& spectrum, std::span<const double> factors, std::span<double> x);

}  // namespace kloom::methods
