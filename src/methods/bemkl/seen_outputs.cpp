// SPDX-License-Identifier: BSD-3-Clause
//
// What outputs of kernels are like, for samples that lack the kernel.
//
// A training sample i that lacks kernel m has zeros in the place of k_m,i (bank.h), and with that g_imc ~ N(0, 1/υ_c): a
// variable like all others, integrated out in the bound, and no update is another one. A new sample that lacks the kernel
// gets the mean 0, as those did on which bias and weights were learned; but how far from it the output may be is
// known from the samples that have the kernel.
#include "algebra/blas.h"
#include "methods/bemkl/factors.h"

namespace kloom::methods {

// 1/υ + E[(k_mᵀa)²], mean over the samples that have kernel m. E[(k_mᵀa)²] − (k_mᵀμ(a))² is known as a sum over all
// samples and kernels only, and spread evenly.
Matrix BemklFactors::seen_outputs() const {
  const Matrix& presence = kernels_.presence();
  Vector totals(at(kernels()));  // Σ w over the samples that have the kernel
  double pairs = 0.0;
  for (Index m = 0; m < kernels(); ++m) {
    for (Index i = 0; i < samples(); ++i) {
      const double root = presence.empty() || presence(i, m) > 0.0 ? kernels_.root()[at(i)] : 0.0;
      totals[at(m)] += root * root;
    }
    pairs += totals[at(m)];
  }
  Matrix squares(kernels(), outputs());
  for (Index c = 0; c < outputs(); ++c) {
    for (Index m = 0; m < kernels(); ++m) {
      const auto own = of_output(kernel_outputs_, c).column(m);  // times √w, and 0 where the kernel is absent
      const double square = totals[at(m)] > 0.0 ? algebra::dot(own, own) / totals[at(m)] : 0.0;
      squares(m, c) = 1.0 / upsilon_[at(c)] + square + trace_a_[at(c)] / pairs;
    }
  }
  return squares;
}

}  // namespace kloom::methods
