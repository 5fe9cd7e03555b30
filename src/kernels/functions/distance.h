// SPDX-License-Identifier: BSD-3-Clause
//
// Sums over features of a function of two values: dot products, distances and their relatives, for all
// pairs of two sets of samples.
//
// Distances are summed from differences, never from ‖x‖²+‖z‖²−2x·z: that costs two instructions per value
// instead of one, and in return near-duplicates, offsets and duplicates are exact without further ado. Every
// pair is summed over the features in the same order whichever block it falls into, so f(x, z) and f(z, x)
// have the same bits and no result depends on how the rows were divided.
#pragma once

#include <span>

#include "kernels/functions/simd.h"
#include "kloom/matrix.h"

namespace kloom::kernels {

enum class PairSum {
  dot,         // Σ x z
  squared,     // Σ (x - z)²
  absolute,    // Σ |x - z|
  chi_square,  // Σ (x - z)²/(x + z), 0 where x + z = 0
  minimum,     // Σ min(x, z)
  agreement    // number of features with x = z
};

// Samples in blocks of sixteen: inside a block, the sixteen values of a feature are neighbours.
class PackedSamples {
 public:
  static constexpr Index block = 16;

  // The columns `features` of an N × D matrix.
  PackedSamples(ConstMatrixView samples, std::span<const Index> features);
  // All of a D × N matrix: one sample per column.
  static PackedSamples from_columns(ConstMatrixView samples);
  // Some samples of another pack, in the given order.
  PackedSamples(const PackedSamples& from, std::span<const Index> chosen);
  // For samples that come one after another.
  void append(std::span<const double> sample);

  [[nodiscard]] Index samples() const { return samples_; }
  [[nodiscard]] Index features() const { return features_; }
  // Number of samples, rounded up to whole blocks.
  [[nodiscard]] Index padded() const { return (samples_ + block - 1) / block * block; }
  [[nodiscard]] std::size_t bytes() const { return values_.size() * sizeof(double); }

  // Feature 0 of the sample; feature d follows `block` doubles later each.
  [[nodiscard]] const double* sample(Index i) const {
    return values_.data() + (i / block) * block * features_ + i % block;
  }

  PackedSamples(Index samples, Index features);

 private:
  void set(Index sample, Index feature, double value) {
    values_[static_cast<std::size_t>((sample / block) * block * features_ + feature * block + sample % block)] =
        value;
  }

  Index samples_ = 0;
  Index features_ = 0;
  Vector values_;
};

// out[(i - rows.begin) * stride + (j - cols.begin)] = sum over features for row sample i and column sample
// j. `cols` begins at a multiple of PackedSamples::block and is filled up to whole blocks, so out needs room
// for them.
struct PairBlock {
  const PackedSamples* row_samples;
  Range rows;
  const PackedSamples* column_samples;
  Range cols;
  double* out;
  Index stride;
  std::span<const Index> chosen = {};  // if there are any: row i is the row sample chosen[i]
};
void pair_sums(PairSum sum, const PairBlock& block);
// With instructions other than the widest that the processor has, for tests.
void pair_sums_with(InstructionSet instructions, PairSum sum, const PairBlock& block);

// f(x, x) of every sample, with the same bits as pair_sums gives.
[[nodiscard]] Vector self_sums(PairSum sum, const PackedSamples& samples);

// |x_i - z_j|² into out(j, i): `rows` and `cols` hold one sample per column (D × n), out is
// cols.cols × rows.cols. Uses the calling thread only.
void squared_distances(ConstMatrixView rows, ConstMatrixView cols, MatrixView out);

}  // namespace kloom::kernels
