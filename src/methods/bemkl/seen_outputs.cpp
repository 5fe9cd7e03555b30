// SPDX-License-Identifier: BSD-3-Clause
//
// What outputs of kernels are like, for samples that lack the kernel.
//
// A training sample i that lacks kernel m has zeros in the place of k_m,i (bank.h), and with that g_imc ~ N(0, 1/υ_c): a
// variable like all others, integrated out in the bound, and no update is another one. A new sample that lacks the kernel
// is one of whose k_m nothing is known: its output is distributed as those of the training samples that have the kernel.
#include "algebra/blas.h"
#include "methods/bemkl/factors.h"

namespace kloom::methods {

OutputMoments BemklFactors::seen_outputs() const {
  const Matrix& presence = kernels_.presence();
  const Index n = samples();
  const auto has = [&](Index i, Index m) { return presence.empty() || presence(i, m) > 0.0; };
  double pairs = 0.0;  // Σ w over all samples and the kernels that they have
  for (Index m = 0; m < kernels(); ++m) {
    for (Index i = 0; i < n; ++i) pairs += has(i, m) ? kernels_.root()[at(i)] * kernels_.root()[at(i)] : 0.0;
  }
  OutputMoments moments{Matrix(kernels(), outputs()), Matrix(kernels(), outputs())};
  for (Index m = 0; m < kernels(); ++m) {
    Vector root(at(n));
    for (Index i = 0; i < n; ++i) root[at(i)] = has(i, m) ? kernels_.root()[at(i)] : 0.0;
    const double total = algebra::dot(root, root);
    for (Index c = 0; c < outputs(); ++c) {
      const auto own = of_output(kernel_outputs_, c).column(m);  // times √w, and 0 where the kernel is absent
      const double mean = total > 0.0 ? algebra::dot(own, root) / total : 0.0;
      double square = 0.0;
      for (Index i = 0; i < n; ++i)
        square += (own[at(i)] - mean * root[at(i)]) * (own[at(i)] - mean * root[at(i)]);
      moments.mean(m, c) = mean;
      // The uncertainty of a, E[(k_mᵀa)²] − (k_mᵀμ(a))², is known as a sum only and spread evenly.
      moments.variance(m, c) =
          1.0 / upsilon_[at(c)] + (total > 0.0 ? square / total : 0.0) + trace_a_[at(c)] / pairs;
    }
  }
  return moments;
}

}  // namespace kloom::methods
