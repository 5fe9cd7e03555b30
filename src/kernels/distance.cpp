// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/distance.h"

#include <algorithm>
#include <array>

#include "kernels/simd.h"

namespace kloom::kernels {
namespace {

constexpr Index kBlock = PackedSamples::block;

// One feature of one pair per lane. No lane looks at another one.
template <PairSum sum, int Bytes>
KLOOM_INLINE void step(double x, const typename Lanes<Bytes>::Real& z, typename Lanes<Bytes>::Real& total) {
  using Real = typename Lanes<Bytes>::Real;
  using Whole = typename Lanes<Bytes>::Whole;
  const Real row = x - Real{};
  if constexpr (sum == PairSum::dot) {
    total += row * z;
  } else if constexpr (sum == PairSum::minimum) {
    const Whole below = row < z;
    total += (Real)(((Whole)row & below) | ((Whole)z & ~below));
  } else {
    const Real difference = row - z;
    if constexpr (sum == PairSum::squared) {
      total += difference * difference;
    } else if constexpr (sum == PairSum::absolute) {
      total += (Real)((Whole)difference & 0x7fffffffffffffffL);
    } else {
      const Real both = row + z;
      const Whole positive = both > 0.0;
      // Where both are 0 the quotient would be 0/0: divide by 1 there; the numerator is 0 as well.
      const Real one = 1.0 - Real{};
      const Real divisor = (Real)(((Whole)both & positive) | ((Whole)one & ~positive));
      total += difference * difference / divisor;
    }
  }
}

// `Rows` row samples against the sixteen samples of one block.
template <PairSum sum, int Bytes, int Rows>
KLOOM_INLINE void block_sums(const double* const* x, const double* z, Index features, double* out,
                             Index stride) {
  using Real = typename Lanes<Bytes>::Real;
  constexpr int vectors = static_cast<int>(kBlock) / Lanes<Bytes>::count;
  Real total[Rows][vectors] = {};
  for (Index d = 0; d < features; ++d) {
    Real column[vectors];
    for (int v = 0; v < vectors; ++v) load(z + d * kBlock + v * Lanes<Bytes>::count, column[v]);
    for (int r = 0; r < Rows; ++r)
      for (int v = 0; v < vectors; ++v) step<sum, Bytes>(x[r][d * kBlock], column[v], total[r][v]);
  }
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < vectors; ++v) store(total[r][v], out + r * stride + v * Lanes<Bytes>::count);
}

struct Task {
  const PackedSamples* row_samples;
  Range rows;
  const PackedSamples* column_samples;
  Range cols;
  double* out;
  Index stride;
};

template <PairSum sum, int Bytes, int Rows>
KLOOM_INLINE void all_sums(const Task& t) {
  const Index features = t.row_samples->features();
  std::array<const double*, static_cast<std::size_t>(Rows)> x{};
  Index i = t.rows.begin;
  for (; i + Rows <= t.rows.end; i += Rows) {
    for (int r = 0; r < Rows; ++r) x[static_cast<std::size_t>(r)] = t.row_samples->sample(i + r);
    for (Index j = t.cols.begin; j < t.cols.end; j += kBlock)
      block_sums<sum, Bytes, Rows>(x.data(), t.column_samples->sample(j), features,
                                   t.out + (i - t.rows.begin) * t.stride + (j - t.cols.begin), t.stride);
  }
  for (; i < t.rows.end; ++i) {
    x[0] = t.row_samples->sample(i);
    for (Index j = t.cols.begin; j < t.cols.end; j += kBlock)
      block_sums<sum, Bytes, 1>(x.data(), t.column_samples->sample(j), features,
                                t.out + (i - t.rows.begin) * t.stride + (j - t.cols.begin), t.stride);
  }
}

// Rows per block: as many sums at a time as the registers hold.
template <PairSum sum>
KLOOM_TARGET_AVX512 void sums_avx512(const Task& task) {
  all_sums<sum, 64, 4>(task);
}
template <PairSum sum>
KLOOM_TARGET_AVX2 void sums_avx2(const Task& task) {
  all_sums<sum, 32, 2>(task);
}
template <PairSum sum>
void sums_baseline(const Task& task) {
  all_sums<sum, 16, 1>(task);
}

template <PairSum sum>
void dispatch(const Task& task) {
  switch (instruction_set()) {
    case InstructionSet::avx512:
      return sums_avx512<sum>(task);
    case InstructionSet::avx2:
      return sums_avx2<sum>(task);
    case InstructionSet::baseline:
      return sums_baseline<sum>(task);
  }
}

}  // namespace

InstructionSet instruction_set() {
#if defined(__x86_64__)
  static const InstructionSet best = [] {
    if (__builtin_cpu_supports("avx512f") != 0) return InstructionSet::avx512;
    if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) return InstructionSet::avx2;
    return InstructionSet::baseline;
  }();
  return best;
#else
  return InstructionSet::baseline;
#endif
}

PackedSamples::PackedSamples(Index samples, Index features) : samples_(samples), features_(features) {
  values_.assign(static_cast<std::size_t>(padded() * features), 0.0);
}

PackedSamples::PackedSamples(ConstMatrixView samples, std::span<const Index> features)
    : PackedSamples(samples.rows, static_cast<Index>(features.size())) {
  for (Index d = 0; d < features_; ++d)
    for (Index i = 0; i < samples_; ++i) set(i, d, samples(i, features[static_cast<std::size_t>(d)]));
}

PackedSamples PackedSamples::from_columns(ConstMatrixView samples) {
  PackedSamples packed(samples.cols, samples.rows);
  for (Index i = 0; i < samples.cols; ++i)
    for (Index d = 0; d < samples.rows; ++d) packed.set(i, d, samples(d, i));
  return packed;
}

void pair_sums(PairSum sum, const PackedSamples& row_samples, Range rows, const PackedSamples& column_samples,
               Range cols, double* out, Index stride) {
  const Task task{&row_samples, rows, &column_samples, cols, out, stride};
  switch (sum) {
    case PairSum::dot:
      return dispatch<PairSum::dot>(task);
    case PairSum::squared:
      return dispatch<PairSum::squared>(task);
    case PairSum::absolute:
      return dispatch<PairSum::absolute>(task);
    case PairSum::chi_square:
      return dispatch<PairSum::chi_square>(task);
    case PairSum::minimum:
      return dispatch<PairSum::minimum>(task);
  }
}

Vector self_sums(PairSum sum, const PackedSamples& samples) {
  Vector result(static_cast<std::size_t>(samples.samples()));
  std::array<double, static_cast<std::size_t>(kBlock)> row{};
  for (Index i = 0; i < samples.samples(); ++i) {
    const Index begin = i / kBlock * kBlock;
    pair_sums(sum, samples, {i, i + 1}, samples, {begin, begin + kBlock}, row.data(), kBlock);
    result[static_cast<std::size_t>(i)] = row[static_cast<std::size_t>(i - begin)];
  }
  return result;
}

void squared_distances(ConstMatrixView rows, ConstMatrixView cols, MatrixView out) {
  const PackedSamples x = PackedSamples::from_columns(rows);
  const PackedSamples z = PackedSamples::from_columns(cols);
  constexpr Index few = 8;
  Vector buffer(static_cast<std::size_t>(few * z.padded()));
  for (Index i = 0; i < x.samples(); i += few) {
    const Range block{i, std::min(x.samples(), i + few)};
    pair_sums(PairSum::squared, x, block, z, {0, z.samples()}, buffer.data(), z.padded());
    for (Index r = 0; r < block.size(); ++r)
      std::copy_n(buffer.data() + r * z.padded(), z.samples(), out.column(i + r).data());
  }
}

}  // namespace kloom::kernels
