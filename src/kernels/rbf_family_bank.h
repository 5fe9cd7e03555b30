// SPDX-License-Identifier: BSD-3-Clause
//
// Many kernels that are exponentials of one quantity, K_f(i,j) = s_f exp(−γ_f t(i,j)): Gaussian widths on one
// distance (t = d²), or exp(−γ d/s) on a given distance (t = d/s).
//
// Any combination Σ_f w_f K_f is one function of t, so `combine` costs one table look-up per pair however many
// kernels there are; and all quadratic forms follow from one histogram of t by the transpose of that look-up.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kloom/bank.h"

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
  // Σ over all added pairs of weight·exp(−γ_f t), one per kernel.
  [[nodiscard]] Vector sums(const double* moments) const;

 private:
  struct Place {
    Index segment;
    double u;  // in [0, 1)
  };
  [[nodiscard]] Place place(double t) const;
  // Values and slopes (times width) of exp(−γ_f t) at the ends of a segment.
  struct Ends {
    double left, right, left_slope, right_slope;
  };
  [[nodiscard]] Ends ends(Index segment, double gamma) const;

  std::vector<double> gammas_;
  std::int64_t first_ = 0;  // top bits of the first segment's left end
  Index segments_ = 0;
};

class RbfFamilyBank final : public KernelBank {
 public:
  // `t`: cols × rows, column i holds t(i, ·).
  RbfFamilyBank(std::shared_ptr<const Matrix> t, std::vector<double> gammas, std::vector<double> scales,
                std::vector<std::string> names, bool symmetric);

  [[nodiscard]] std::string_view kind() const override { return "rbf-family"; }
  [[nodiscard]] std::size_t bytes() const override;
  void panels(Range kernels, Range rows, double* out) const override;
  void combine_rows(std::span<const double> w, std::span<const Index> rows, MatrixView out) const override;
  void add_combination(std::span<const double> w, MatrixView out) const override;
  [[nodiscard]] Matrix quadratic_forms(ConstMatrixView c) const override;

 private:
  [[nodiscard]] Vector scaled(std::span<const double> w) const;

  std::shared_ptr<const Matrix> t_;
  std::vector<double> gammas_;
  std::vector<double> scales_;
  ExponentialTable table_;
};

}  // namespace kloom::kernels
