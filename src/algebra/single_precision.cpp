// SPDX-License-Identifier: BSD-3-Clause
#include "algebra/single_precision.h"

#include <cmath>
#include <memory>

#include "algebra/blas.h"
#include "algebra/blas_size.h"
#include "base/clones.h"

extern "C" {
void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*,
            const int*, const float*, const int*, const float*, float*, const int*);
void ssyrk_(const char*, const char*, const int*, const int*, const float*, const float*, const int*,
            const float*, float*, const int*);
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

KLOOM_CLONES void round_scaled(double scale, const double* from, Index size, float* to) {
#pragma omp simd
  for (Index i = 0; i < size; ++i) to[i] = static_cast<float>(scale * from[i]);
}

// The lower triangle of B Bᵀ, times alpha, added to beta times what is there.
void square_lower(float alpha, const float* b, Index rows, Index cols, float beta, float* out) {
  const char lower = 'L';
  const char none = 'N';
  const int n = narrow(rows);
  const int k = narrow(cols);
  ssyrk_(&lower, &none, &n, &k, &alpha, b, &n, &beta, out, &n);
}

struct ColumnOfSandwich {
  const double* a;      // from the diagonal down
  const float* m;       // the same
  const double* delta;  // from that row on
  const double* twice;  // 2δ − δ₁
  Index size;
};

// What the numbers of column j, from the diagonal down, give to rows j and i > j.
KLOOM_CLONES void add_column(const ColumnOfSandwich& column, double* second, double* third, double* size) {
  const double* a = column.a;
  const float* m = column.m;
  const double* delta = column.delta;
  const double* twice = column.twice;
  const double own_twice = twice[0];
  const double own_delta = delta[0];
  const double own_size = std::abs(own_delta);
  const double corner = m[0];
  double sum_second = own_twice * a[0] * corner;
  double sum_third = own_delta * corner * corner;
  double sum_size = own_size * corner * corner;
#pragma omp simd reduction(+ : sum_second, sum_third, sum_size)
  for (Index i = 1; i < column.size; ++i) {
    const double value = m[i];
    const double product = a[i] * value;
    const double square = value * value;
    sum_second += twice[i] * product;
    sum_third += delta[i] * square;
    sum_size += std::abs(delta[i]) * square;
    second[i] += own_twice * product;
    third[i] += own_delta * square;
    size[i] += own_size * square;
  }
  second[0] += sum_second;
  third[0] += sum_third;
  size[0] += sum_size;
}

// What the entries below the diagonal of column j contribute to rows j and i > j of the sums Σ_j T_ij
// U_ij and Σ_j U_ij².
KLOOM_CLONES void add_column(const double* t, const float* u, Index size, double* third, double* fourth) {
  const double corner = u[0];
  double own_third = t[0] * corner;
  double own_fourth = corner * corner;
#pragma omp simd reduction(+ : own_third, own_fourth)
  for (Index i = 1; i < size; ++i) {
    const double value = u[i];
    const double product = t[i] * value;
    own_third += product;
    own_fourth += value * value;
    third[i] += product;
    fourth[i] += value * value;
  }
  third[0] += own_third;
  fourth[0] += own_fourth;
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

DiagonalPowers diagonal_powers(ConstMatrixView a) {
  const auto size = static_cast<std::size_t>(a.rows);
  DiagonalPowers powers{Vector(size), Vector(size), Vector(size)};
  if (a.rows == 0) return powers;
  const auto single = rounded(a);
  const auto square = memory(a.rows * a.rows);
  square_lower(1.0F, single.get(), a.rows, a.rows, 0.0F, square.get());
  for (Index j = 0; j < a.rows; ++j) {
    powers.second[static_cast<std::size_t>(j)] = dot(a.column(j), a.column(j));
    add_column(a.column(j).data() + j, square.get() + j * a.rows + j, a.rows - j, powers.third.data() + j,
               powers.fourth.data() + j);
  }
  return powers;
}

SandwichSums sandwich_sums(ConstMatrixView a, const Vector& delta, std::span<const Index> kept) {
  const Index n = a.rows;
  const auto size = static_cast<std::size_t>(n);
  SandwichSums sums{Vector(size), Vector(size), Vector(size)};
  Vector twice(size);
  for (std::size_t j = 0; j < size; ++j) twice[j] = 2.0 * delta[j];
  // Columns times √|δ|, those with δ > 0 from the left and the others from the right.
  const auto columns = memory(n * std::ssize(kept));
  Index left = 0;
  Index right = std::ssize(kept);
  for (const Index j : kept) {
    const double d = delta[static_cast<std::size_t>(j)];
    twice[static_cast<std::size_t>(j)] -= d;
    round_scaled(std::sqrt(std::abs(d)), a.column(j).data(), n,
                 columns.get() + n * (d > 0.0 ? left++ : --right));
  }
  const auto m = memory(n * n);
  square_lower(1.0F, columns.get(), n, left, 0.0F, m.get());
  square_lower(-1.0F, columns.get() + n * left, n, std::ssize(kept) - left, 1.0F, m.get());
  for (Index j = 0; j < n; ++j) {
    add_column({a.column(j).data() + j, m.get() + j * n + j, delta.data() + j, twice.data() + j, n - j},
               sums.second.data() + j, sums.third.data() + j, sums.third_size.data() + j);
  }
  return sums;
}

}  // namespace kloom::algebra
