// SPDX-License-Identifier: BSD-3-Clause
//
// Kernels and distances between the same samples should be their own mirror images. Those who compute them round, so
// entries may differ a little from their mirror image; then the mean of both is what was meant, and every place where such
// matrices come in takes it from here. Methods may then read either half, and give the same bits wherever a matrix came from.
#pragma once

#include "kloom/matrix.h"

namespace kloom::data {

// What entries may differ from their mirror image, as a part of the largest entry.
constexpr double symmetry_tolerance = 1e-8;

// How far a square matrix is from its mirror image.
struct Asymmetry {
  double largest = 0.0;     // size of the largest entry
  double difference = 0.0;  // the largest between an entry and its mirror image
  Index row = 0;            // that entry, below the diagonal
  Index column = 0;

  [[nodiscard]] bool exact() const { return difference == 0.0; }
  // No more than rounding. False where an entry is no number.
  [[nodiscard]] bool rounding() const { return difference <= symmetry_tolerance * largest; }
};
[[nodiscard]] Asymmetry asymmetry(ConstMatrixView matrix);

// Every entry and its mirror image become the mean of both.
void average_mirror_images(MatrixView matrix);

}  // namespace kloom::data
