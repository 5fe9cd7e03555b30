// SPDX-License-Identifier: BSD-3-Clause
//
// Sums of many exponentials exp(−γ_f t) as one table over t, and the transpose of that table.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "kloom/matrix.h"

namespace kloom::kernels {

// Piecewise cubic (Hermite) interpolation of functions of t ≥ 0 on segments that are 1/64 of an octave wide:
// the segment is read off the exponent and the top mantissa bits of t, no logarithm is taken. For
// exp(−γt) the error is at most (γh)⁴/384·e^(−γt) ≤ 4.7/(64⁴·384) = 7.3e-10, h ≤ t/64.
class ExponentialTable {
 public:
  // Covers every t at which some exp(−γ_f t) differs from both 1 and 0.
  explicit ExponentialTable(std::vector<double> gammas);

  [[nodiscard]] Index segments() const { return segments_; }
  // Coefficients (4 per segment) of Σ_f w_f exp(−γ_f t).
  [[nodiscard]] Vector combined(std::span<const double> w) const;
  [[nodiscard]] double evaluate(const Vector& coefficients, double t) const;
  // moments(4 × segments): adds weight·(1, u, u², u³) to t's segment.
  void add_pair(double t, double weight, double* moments) const;
  // out[i] += Σ_f w_f exp(−γ_f t[i]).
  void add_values(const Vector& coefficients, const double* t, Index n, double* out) const;
  // Σ_a c[a]·f(t[chosen[a]]).
  [[nodiscard]] double weighted_sum(const Vector& coefficients, const double* t, std::span<const int> chosen,
                                    const double* c) const;
  // Σ over all added pairs of weight·exp(−γ_f t), one per kernel.
  [[nodiscard]] Vector sums(const double* moments) const;
  struct Place {
    Index segment;
    double u;  // in [0, 1)
  };
  [[nodiscard]] Place place(double t) const;
  // What a segment's moments are multiplied with: out[0 … 3] so that Σ_m out[m]·moment[m] is the kernel's part.
  void moment_weights(Index segment, Index kernel, double* out) const;
  [[nodiscard]] const std::vector<double>& gammas() const { return gammas_; }

 private:
  // exp(−γ_f t) at the ends of all segments, (segments + 1) × F: made when first needed, shared by copies.
  struct Nodes {
    std::once_flag made;
    Matrix values;
  };
  [[nodiscard]] const Matrix& nodes() const;
  [[nodiscard]] double width(Index segment) const;

  std::vector<double> gammas_;
  std::int64_t first_ = 0;  // top bits of the first segment's left end
  Index segments_ = 0;
  std::shared_ptr<Nodes> nodes_ = std::make_shared<Nodes>();
};

}  // namespace kloom::kernels
