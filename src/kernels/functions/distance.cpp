// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/functions/distance.h"

#include <algorithm>
#include <array>

#include "kernels/functions/simd.h"

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
    total += __builtin_bit_cast(
        Real, (__builtin_bit_cast(Whole, row) & below) | (__builtin_bit_cast(Whole, z) & ~below));
  } else if constexpr (sum == PairSum::agreement) {
    const Whole equal = row == z;
    const Real one = 1.0 - Real{};
    total += __builtin_bit_cast(Real, __builtin_bit_cast(Whole, one) & equal);
  } else {
    const Real difference = row - z;
    if constexpr (sum == PairSum::squared) {
      total += difference * difference;
    } else if constexpr (sum == PairSum::absolute) {
      total += __builtin_bit_cast(Real, __builtin_bit_cast(Whole, difference) & 0x7fffffffffffffffL);
    } else {
      const Real both = row + z;
      const Whole positive = both > 0.0;
      // Where both are 0 the quotient would be 0/0: divide by 1 there; the numerator is 0 as well.
      const Real one = 1.0 - Real{};
      const Real divisor = __builtin_bit_cast(
          Real, (__builtin_bit_cast(Whole, both) & positive) | (__builtin_bit_cast(Whole, one) & ~positive));
      total += difference * difference / divisor;
    }
  }
}

// A stretch of features, and whether it begins or continues the sums in `out`.
struct Stretch {
  Range features;
  [[nodiscard]] bool first() const { return features.begin == 0; }
};

// `Rows` row samples against the sixteen samples of one block.
template <PairSum sum, int Bytes, int Rows>
KLOOM_INLINE void block_sums(const double* const* x, const double* z, const Stretch& stretch, double* out,
                             Index stride) {
  using Real = typename Lanes<Bytes>::Real;
  constexpr Index lanes = Lanes<Bytes>::count;
  constexpr Index vectors = kBlock / lanes;
  Real total[Rows][vectors] = {};
  if (!stretch.first()) {
    KLOOM_UNROLL
    for (int r = 0; r < Rows; ++r) {
      KLOOM_UNROLL
      for (Index v = 0; v < vectors; ++v) load(out + r * stride + v * lanes, total[r][v]);
    }
  }
  for (Index d = stretch.features.begin; d < stretch.features.end; ++d) {
    Real column[vectors];
    KLOOM_UNROLL
    for (Index v = 0; v < vectors; ++v) load(z + d * kBlock + v * lanes, column[v]);
    KLOOM_UNROLL
    for (int r = 0; r < Rows; ++r) {
      KLOOM_UNROLL
      for (Index v = 0; v < vectors; ++v) step<sum, Bytes>(x[r][d * kBlock], column[v], total[r][v]);
    }
  }
  KLOOM_UNROLL
  for (int r = 0; r < Rows; ++r) {
    KLOOM_UNROLL
    for (Index v = 0; v < vectors; ++v) store(total[r][v], out + r * stride + v * lanes);
  }
}

template <PairSum sum, int Bytes, int Rows>
KLOOM_INLINE void row_group(const PairBlock& t, Index i, Index j, const Stretch& stretch) {
  std::array<const double*, static_cast<std::size_t>(Rows)> x{};
  for (int r = 0; r < Rows; ++r)
    x[static_cast<std::size_t>(r)] =
        t.row_samples->sample(t.chosen.empty() ? i + r : t.chosen[static_cast<std::size_t>(i + r)]);
  block_sums<sum, Bytes, Rows>(x.data(), t.column_samples->sample(j), stretch,
                               t.out + (i - t.rows.begin) * t.stride + (j - t.cols.begin), t.stride);
}

// Features in stretches that let sixteen columns stay in the first cache while all the rows pass by.
template <PairSum sum, int Bytes, int Rows>
KLOOM_INLINE void all_sums(const PairBlock& t) {
  constexpr Index stretch_length = 192;
  const Index features = t.row_samples->features();
  for (Index d = 0; d < features; d += stretch_length) {
    const Stretch stretch{{d, std::min(features, d + stretch_length)}};
    for (Index j = t.cols.begin; j < t.cols.end; j += kBlock) {
      Index i = t.rows.begin;
      for (; i + Rows <= t.rows.end; i += Rows) row_group<sum, Bytes, Rows>(t, i, j, stretch);
      for (; i < t.rows.end; ++i) row_group<sum, Bytes, 1>(t, i, j, stretch);
    }
  }
}

// Rows per block: as many sums at a time as the registers hold.
template <PairSum sum>
KLOOM_TARGET_AVX512 void sums_avx512(const PairBlock& task) {
  all_sums<sum, 64, 4>(task);
}
template <PairSum sum>
KLOOM_TARGET_AVX2 void sums_avx2(const PairBlock& task) {
  all_sums<sum, 32, 2>(task);
}
template <PairSum sum>
void sums_baseline(const PairBlock& task) {
  all_sums<sum, 16, 1>(task);
}

template <PairSum sum>
void dispatch(InstructionSet instructions, const PairBlock& task) {
  switch (instructions) {
    case InstructionSet::avx512:
      return sums_avx512<sum>(task);
    case InstructionSet::avx2:
      return sums_avx2<sum>(task);
    case InstructionSet::baseline:
      return sums_baseline<sum>(task);
  }
}

}  // namespace

std::vector<InstructionSet> instruction_sets() {
  std::vector<InstructionSet> sets = {InstructionSet::baseline};
  if (instruction_set() != InstructionSet::baseline) sets.push_back(InstructionSet::avx2);
  if (instruction_set() == InstructionSet::avx512) sets.push_back(InstructionSet::avx512);
  return sets;
}

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

PackedSamples::PackedSamples(const PackedSamples& from, std::span<const Index> chosen)
    : PackedSamples(static_cast<Index>(chosen.size()), from.features()) {
  for (Index i = 0; i < samples_; ++i) {
    const double* source = from.sample(chosen[static_cast<std::size_t>(i)]);
    double* target = values_.data() + (i / block) * block * features_ + i % block;
    for (Index d = 0; d < features_; ++d) target[d * block] = source[d * block];
  }
}

void PackedSamples::append(std::span<const double> sample) {
  if (samples_ % block == 0) values_.resize(values_.size() + static_cast<std::size_t>(block * features_), 0.0);
  ++samples_;
  for (Index d = 0; d < features_; ++d) set(samples_ - 1, d, sample[static_cast<std::size_t>(d)]);
}

void pair_sums_with(InstructionSet instructions, PairSum sum, const PairBlock& task) {
  switch (sum) {
    case PairSum::dot:
      return dispatch<PairSum::dot>(instructions, task);
    case PairSum::squared:
      return dispatch<PairSum::squared>(instructions, task);
    case PairSum::absolute:
      return dispatch<PairSum::absolute>(instructions, task);
    case PairSum::chi_square:
      return dispatch<PairSum::chi_square>(instructions, task);
    case PairSum::minimum:
      return dispatch<PairSum::minimum>(instructions, task);
    case PairSum::agreement:
      return dispatch<PairSum::agreement>(instructions, task);
  }
}

void pair_sums(PairSum sum, const PairBlock& block) {
  pair_sums_with(instruction_set(), sum, block);
}

Vector self_sums(PairSum sum, const PackedSamples& samples) {
  Vector result(static_cast<std::size_t>(samples.samples()));
  std::array<double, static_cast<std::size_t>(kBlock)> row{};
  for (Index i = 0; i < samples.samples(); ++i) {
    const Index begin = i / kBlock * kBlock;
    pair_sums(sum, {&samples, {i, i + 1}, &samples, {begin, begin + kBlock}, row.data(), kBlock});
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
    pair_sums(PairSum::squared, {&x, block, &z, {0, z.samples()}, buffer.data(), z.padded()});
    for (Index r = 0; r < block.size(); ++r)
      std::copy_n(buffer.data() + r * z.padded(), z.samples(), out.column(i + r).data());
  }
}

}  // namespace kloom::kernels
