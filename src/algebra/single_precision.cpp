// SPDX-License-Identifier: BSD-3-Clause
#include "algebra/single_precision.h"

#include <memory>

#include "algebra/blas_size.h"
#include "base/clones.h"

extern "C" {
void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*,
            const int*, const float*, const int*, const float*, float*, const int*);
}

namespace kloom::algebra {
namespace {

// Not value-initialised: every number is written before it is read.
std::unique_ptr<float[]> memory(Index size) {
  return std::unique_ptr<float[]>(new float[static_cast<std::size_t>(size)]);
}

KLOOM_CLONES void round_to(const double* from, Index size, float* to) {
#pragma omp simd
  for (Index i = 0; i < size; ++i) to[i] = static_cast<float>(from[i]);
}

std::unique_ptr<float[]> rounded(ConstMatrixView m) {
  auto result = memory(m.rows * m.cols);
  for (Index j = 0; j < m.cols; ++j) round_to(m.column(j).data(), m.rows, result.get() + j * m.rows);
  return result;
}

KLOOM_CLONES void add_scaled(double alpha, const float* from, Index size, double* to) {
#pragma omp simd
  for (Index i = 0; i < size; ++i) to[i] += alpha * static_cast<double>(from[i]);
}

}  // namespace

void add_product_in_single(double alpha, ConstMatrixView a, ConstMatrixView b, MatrixView c) {
  if (c.rows == 0 || c.cols == 0 || a.cols == 0) return;
  const auto left = rounded(a);
  const auto right = rounded(b);
  const auto product = memory(c.rows * c.cols);
  const int m = narrow(c.rows);
  const int n = narrow(c.cols);
  const int k = narrow(a.cols);
  const char none = 'N';
  const float one = 1.0F;
  const float zero = 0.0F;
  sgemm_(&none, &none, &m, &n, &k, &one, left.get(), &m, right.get(), &k, &zero, product.get(), &m);
  for (Index j = 0; j < c.cols; ++j) add_scaled(alpha, product.get() + j * c.rows, c.rows, c.column(j).data());
}

}  // namespace kloom::algebra
