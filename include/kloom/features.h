// SPDX-License-Identifier: BSD-3-Clause
//
// Finite features whose inner products approximate kernels: what a stream learns with when it
// may not keep samples.
//
//   rff        φ_p(x) = √(2s/R) cos(√(2γ_p) W x + b), rows of W normal, b uniform on [0, 2π): unbiased, for
//              Gaussian kernels s·exp(−γ‖x − z‖²) [RahimiRecht2007]. All widths share W and b.
//   nystroem   φ_p(x) = K_p(L, L)^(−1/2) K_p(L, x) with R of the first samples as landmarks L: exact between
//              landmarks [WilliamsSeeger2001].
#pragma once

#include <cstdint>
#include <vector>

#include "kloom/kernels.h"
#include "kloom/matrix.h"

namespace kloom {

struct FeatureMap {
  enum class Kind { rff, nystroem };
  Kind kind = Kind::rff;
  Matrix basis;      // R × (features of a sample): directions, or landmarks
  Vector phases;     // rff: R
  Matrix whitening;  // nystroem: the matrices K_p(L, L)^(−1/2), (P·R) × R

  [[nodiscard]] Index count() const { return basis.rows(); }
};

// A map of `count` features per kernel. `samples` (rows, preprocessed) are where landmarks come from. Throws
// InvalidArgument for kernels that are not Gaussian (rff) or not Gaussian or Laplacian (nystroem) over
// features, or centred, and where there are fewer samples than landmarks.
[[nodiscard]] FeatureMap fit_feature_map(FeatureMap::Kind kind, const std::vector<KernelTerm>& terms,
                                         const Matrix& samples, Index count, std::uint64_t seed);

// Features of some rows of `samples`, one column per sample: feature r of kernel p in row p·R + r.
[[nodiscard]] Matrix features_of(const FeatureMap& map, const std::vector<KernelTerm>& terms,
                                 const Matrix& samples, Range rows);

// |k_p(x, z) − φ_p(x)·φ_p(z)| over kernels p and pairs of the samples.
struct FeatureError {
  double mean = 0.0;
  double largest = 0.0;
};
[[nodiscard]] FeatureError feature_error(const FeatureMap& map, const std::vector<KernelTerm>& terms,
                                         const Matrix& samples);

}  // namespace kloom
