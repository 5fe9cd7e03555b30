// SPDX-License-Identifier: BSD-3-Clause
#include "methods/mcmkl/scores.h"

#include "algebra/blas.h"

namespace kloom::methods {

Matrix class_contributions(const Model& model, const Matrix& applied, Index c, Index rows) {
  const McmklPart& part = part_of<McmklPart>(model);
  const auto classes = static_cast<Index>(model.classes.size());
  const Index kernels = part.class_weights.cols();
  Matrix result(rows, kernels);
  for (Index p = 0; p < kernels; ++p) {
    for (Index v = 0; v < classes; ++v) {
      double mixed = 0.0;
      for (Index j = 0; j < part.class_weights.rows(); ++j) {
        mixed += part.class_weights(j, p) * part.class_kernels(v, j * classes + c);
      }
      if (mixed == 0.0) continue;
      const std::span<const double> output =
          applied.column(v).subspan(static_cast<std::size_t>(p * rows), static_cast<std::size_t>(rows));
      algebra::axpy(mixed, output, result.column(p));
    }
  }
  return result;
}

}  // namespace kloom::methods
