// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/functions/functions.h"

#include <algorithm>
#include <array>

#include "kernels/functions/simd.h"
#include "kloom/error.h"

namespace kloom::kernels {
namespace {

constexpr double kLowest = -600.0;
constexpr Index kStride = PackedSamples::block;

// 1/13!, 1/12!, …, 1/1!, 1/0!: on |r| <= ln(2)/2 the first term left out is below 5e-18.
constexpr std::array<double, 14> kTaylor = {1.0 / 6227020800.0,
                                            1.0 / 479001600.0,
                                            1.0 / 39916800.0,
                                            1.0 / 3628800.0,
                                            1.0 / 362880.0,
                                            1.0 / 40320.0,
                                            1.0 / 5040.0,
                                            1.0 / 720.0,
                                            1.0 / 120.0,
                                            1.0 / 24.0,
                                            1.0 / 6.0,
                                            0.5,
                                            1.0,
                                            1.0};

// exp(y) for -600 <= y <= 0 as 2^n exp(r), y = n ln 2 + r.
template <int Bytes>
KLOOM_INLINE void exp_lanes(double minus_rate, const double* x, double* out) {
  using Real = typename Lanes<Bytes>::Real;
  using Whole = typename Lanes<Bytes>::Whole;
  Real y;
  load(x, y);
  y = y * minus_rate;
  const Whole inside = y >= kLowest;
  y = __builtin_bit_cast(
      Real, __builtin_bit_cast(Whole, y) & inside);  // what lies below becomes 0 here and is blanked at the end
  // Adding 1.5·2^52 rounds to the nearest integer and leaves it in the lowest bits.
  constexpr double shift = 0x1.8p52;
  const Real shifted = y * 0x1.71547652b82fep0 + shift;
  const Real n = shifted - shift;
  // ln 2 in two parts: n times the first is exact, so r loses nothing to cancellation.
  const Real r = (y - n * 0x1.62e42fee00000p-1) - n * 0x1.a39ef35793c76p-33;
  Real p = kTaylor[0] - Real{};
  KLOOM_UNROLL
  for (std::size_t k = 1; k < kTaylor.size(); ++k) p = p * r + kTaylor[k];
  const Whole power = __builtin_bit_cast(Whole, shifted) << 52;
  store(__builtin_bit_cast(Real, (__builtin_bit_cast(Whole, p) + power) & inside), out);
}

template <int Bytes>
KLOOM_INLINE void exp_stride(double minus_rate, const double* x, double* out) {
  KLOOM_UNROLL
  for (int v = 0; v < static_cast<int>(kStride); v += Lanes<Bytes>::count)
    exp_lanes<Bytes>(minus_rate, x + v, out + v);
}

template <int Bytes>
KLOOM_INLINE void exp_all(double minus_rate, const double* x, double* out, Index n) {
  Index i = 0;
  for (; i + kStride <= n; i += kStride) exp_stride<Bytes>(minus_rate, x + i, out + i);
  if (i == n) return;
  // The last few go through the same instructions, so that a value never depends on its place.
  std::array<double, static_cast<std::size_t>(kStride)> rest{};
  std::copy(x + i, x + n, rest.begin());
  exp_stride<Bytes>(minus_rate, rest.data(), rest.data());
  std::copy_n(rest.begin(), n - i, out + i);
}

KLOOM_TARGET_AVX512 void exp_avx512(double minus_rate, const double* x, double* out, Index n) {
  exp_all<64>(minus_rate, x, out, n);
}
KLOOM_TARGET_AVX2 void exp_avx2(double minus_rate, const double* x, double* out, Index n) {
  exp_all<32>(minus_rate, x, out, n);
}

}  // namespace

void exp_negative(double rate, const double* x, double* out, Index n) {
  exp_negative_with(instruction_set(), rate, x, out, n);
}

void exp_negative_with(InstructionSet instructions, double rate, const double* x, double* out, Index n) {
  switch (instructions) {
    case InstructionSet::avx512:
      return exp_avx512(-rate, x, out, n);
    case InstructionSet::avx2:
      return exp_avx2(-rate, x, out, n);
    case InstructionSet::baseline:
      return exp_all<16>(-rate, x, out, n);
  }
}

void whole_power(const double* x, int degree, double* out, Index n) {
  for (Index i = 0; i < n; ++i) {
    double square = x[i];
    double result = 1.0;
    for (int q = degree; q > 0; q /= 2) {
      if (q % 2 == 1) result *= square;
      square *= square;
    }
    out[i] = result;
  }
}

PairSum pair_sum_of(KernelFunction function) {
  switch (function) {
    case KernelFunction::rbf:
      return PairSum::squared;
    case KernelFunction::laplacian:
      return PairSum::absolute;
    case KernelFunction::chi2:
      return PairSum::chi_square;
    case KernelFunction::intersection:
      return PairSum::minimum;
    case KernelFunction::overlap:
    case KernelFunction::trees:
      return PairSum::agreement;
    case KernelFunction::polynomial:
    case KernelFunction::linear:
    case KernelFunction::cosine:
      return PairSum::dot;
    default:
      throw InternalError("this kernel is no function of features");
  }
}

bool has_unit_diagonal(KernelFunction function) {
  return function == KernelFunction::rbf || function == KernelFunction::laplacian ||
         function == KernelFunction::chi2 || function == KernelFunction::cosine ||
         function == KernelFunction::expdist || function == KernelFunction::overlap ||
         function == KernelFunction::words || function == KernelFunction::trees ||
         function == KernelFunction::edit;
}

bool uses_features(KernelFunction function) {
  return !uses_texts(function) && function != KernelFunction::precomputed &&
         function != KernelFunction::expdist;
}

bool needs_non_negative(KernelFunction function) {
  return function == KernelFunction::chi2 || function == KernelFunction::intersection;
}

}  // namespace kloom::kernels

namespace kloom {

bool uses_texts(KernelFunction function) {
  return function == KernelFunction::spectrum || function == KernelFunction::words ||
         function == KernelFunction::edit;
}

}  // namespace kloom
