// SPDX-License-Identifier: BSD-3-Clause
#include "data/symmetry.h"

#include <algorithm>
#include <cmath>

namespace kloom::data {
namespace {

// Calls visit(i, j) for every place below the diagonal, in blocks, because one of the two triangles is read across.
template <typename Visit>
void for_each_below(Index n, Visit visit) {
  constexpr Index block = 32;
  for (Index left = 0; left < n; left += block) {
    for (Index top = left; top < n; top += block) {
      for (Index j = left; j < std::min(n, left + block); ++j) {
        for (Index i = std::max(top, j + 1); i < std::min(n, top + block); ++i) visit(i, j);
      }
    }
  }
}

}  // namespace

Asymmetry asymmetry(ConstMatrixView matrix) {
  Asymmetry result;
  for (Index i = 0; i < matrix.rows; ++i) result.largest = std::max(result.largest, std::abs(matrix(i, i)));
  for_each_below(matrix.rows, [&](Index i, Index j) {
    const double below = matrix(i, j);
    const double above = matrix(j, i);
    result.largest = std::max({result.largest, std::abs(below), std::abs(above)});
    const double difference = std::abs(below - above);
    if (difference <= result.difference) return;
    result.difference = difference;
    result.row = i;
    result.column = j;
  });
  return result;
}

void average_mirror_images(MatrixView matrix) {
  for_each_below(matrix.rows, [&](Index i, Index j) {
    matrix(i, j) = matrix(j, i) = 0.5 * matrix(i, j) + 0.5 * matrix(j, i);
  });
}

}  // namespace kloom::data
