// SPDX-License-Identifier: BSD-3-Clause
#include "algebra/blas.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "algebra/blas_buffers.h"
#include "algebra/blas_size.h"
#include "algebra/threads.h"
#include "kloom/error.h"

// Fortran names of the routines used; OpenBLAS's archive holds BLAS and LAPACK under these.
extern "C" {
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
            const int*, const double*, const int*, const double*, double*, const int*);
void dgemv_(const char*, const int*, const int*, const double*, const double*, const int*, const double*,
            const int*, const double*, double*, const int*);
void dsyrk_(const char*, const char*, const int*, const int*, const double*, const double*, const int*,
            const double*, double*, const int*);
void dsyr_(const char*, const int*, const double*, const double*, const int*, double*, const int*);
double ddot_(const int*, const double*, const int*, const double*, const int*);
void daxpy_(const int*, const double*, const double*, const int*, double*, const int*);
void dscal_(const int*, const double*, double*, const int*);
void dpotrf_(const char*, const int*, double*, const int*, int*);
void dpotrs_(const char*, const int*, const int*, const double*, const int*, double*, const int*, int*);
void dtrtri_(const char*, const char*, const int*, double*, const int*, int*);
void dtrsm_(const char*, const char*, const char*, const char*, const int*, const int*, const double*,
            const double*, const int*, double*, const int*);
void dtrmm_(const char*, const char*, const char*, const char*, const int*, const int*, const double*,
            const double*, const int*, double*, const int*);
void dlauum_(const char*, const int*, double*, const int*, int*);
void dsyevd_(const char*, const char*, const int*, double*, const int*, double*, double*, const int*, int*,
             const int*, int*);
}

namespace kloom::algebra {
namespace {

const char kNone = 'N';
const char kTranspose = 'T';
const char kLower = 'L';
const int kOne = 1;

const char* letter(Op op) {
  return op == Op::none ? &kNone : &kTranspose;
}
int leading(Index stride) {
  return std::max(1, narrow(stride));
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): the arguments that BLAS has
void gemm(Op op_a, Op op_b, double alpha, ConstMatrixView a, ConstMatrixView b, double beta, MatrixView c) {
  const int m = narrow(c.rows);
  const int n = narrow(c.cols);
  const int k = narrow(op_a == Op::none ? a.cols : a.rows);
  if (m == 0 || n == 0) return;
  const int lda = leading(a.stride);
  const int ldb = leading(b.stride);
  const int ldc = leading(c.stride);
  hold_blas_buffers();
  dgemm_(letter(op_a), letter(op_b), &m, &n, &k, &alpha, a.data, &lda, b.data, &ldb, &beta, c.data, &ldc);
}

void gemv(Op op, double alpha, ConstMatrixView a, std::span<const double> x, double beta, std::span<double> y) {
  const int m = narrow(a.rows);
  const int n = narrow(a.cols);
  const int lda = leading(a.stride);
  if (m == 0 || n == 0) {
    scale(beta, y);
    return;
  }
  hold_blas_buffers();
  dgemv_(letter(op), &m, &n, &alpha, a.data, &lda, x.data(), &kOne, &beta, y.data(), &kOne);
}

void syrk_lower(Op op, double alpha, ConstMatrixView a, double beta, MatrixView c) {
  const int n = narrow(c.rows);
  const int k = narrow(op == Op::none ? a.cols : a.rows);
  if (n == 0) return;
  const int lda = leading(a.stride);
  const int ldc = leading(c.stride);
  hold_blas_buffers();
  dsyrk_(&kLower, letter(op), &n, &k, &alpha, a.data, &lda, &beta, c.data, &ldc);
}

void syrk(Op op, double alpha, ConstMatrixView a, double beta, MatrixView c) {
  syrk_lower(op, alpha, a, beta, c);
  symmetrise_from_lower(c);
}

// Vectors longer than 32-bit BLAS can count go through in pieces.
template <typename Piece>
static void in_pieces(std::size_t size, Piece piece) {
  constexpr std::size_t kPiece = std::size_t{1} << 30;
  constexpr std::size_t kShort = 10000;  // OpenBLAS does up to this in one thread, without a buffer
  if (size > kShort) hold_blas_buffers();
  for (std::size_t start = 0; start < size; start += kPiece) {
    piece(start, static_cast<int>(std::min(kPiece, size - start)));
  }
}

double dot(std::span<const double> x, std::span<const double> y) {
  double sum = 0.0;
  in_pieces(x.size(),
            [&](std::size_t at, int n) { sum += ddot_(&n, x.data() + at, &kOne, y.data() + at, &kOne); });
  return sum;
}

void axpy(double alpha, std::span<const double> x, std::span<double> y) {
  in_pieces(x.size(),
            [&](std::size_t at, int n) { daxpy_(&n, &alpha, x.data() + at, &kOne, y.data() + at, &kOne); });
}

void scale(double alpha, std::span<double> x) {
  if (alpha == 0.0) {
    std::fill(x.begin(), x.end(), 0.0);
    return;
  }
  in_pieces(x.size(), [&](std::size_t at, int n) { dscal_(&n, &alpha, x.data() + at, &kOne); });
}

void rank_one_lower(double alpha, std::span<const double> x, MatrixView a) {
  const int n = narrow(a.rows);
  const int lda = leading(a.stride);
  hold_blas_buffers();
  dsyr_(&kLower, &n, &alpha, x.data(), &kOne, a.data, &lda);
}

void rank_one(double alpha, std::span<const double> x, MatrixView a) {
  rank_one_lower(alpha, x, a);
  symmetrise_from_lower(a);
}

void symmetrise_from_lower(MatrixView a) {
  // Blocks keep both the read and the written tile in cache.
  constexpr Index kTile = 64;
  for (Index jb = 0; jb < a.cols; jb += kTile) {
    const Index je = std::min(jb + kTile, a.cols);
    for (Index ib = jb; ib < a.rows; ib += kTile) {
      const Index ie = std::min(ib + kTile, a.rows);
      for (Index j = jb; j < je; ++j) {
        for (Index i = std::max(ib, j + 1); i < ie; ++i) a(j, i) = a(i, j);
      }
    }
  }
}

Index cholesky(MatrixView a) {
  const int n = narrow(a.rows);
  const int lda = leading(a.stride);
  int info = 0;
  hold_blas_buffers();
  if (n > 0) dpotrf_(&kLower, &n, a.data, &lda, &info);
  return info;
}

void cholesky_solve(ConstMatrixView l, MatrixView x) {
  const int n = narrow(l.rows);
  const int k = narrow(x.cols);
  const int lda = leading(l.stride);
  const int ldb = leading(x.stride);
  int info = 0;
  hold_blas_buffers();
  if (n > 0 && k > 0) dpotrs_(&kLower, &n, &k, l.data, &lda, x.data, &ldb, &info);
}

void lower_solve(ConstMatrixView l, MatrixView x) {
  const int n = narrow(l.rows);
  const int k = narrow(x.cols);
  const int lda = leading(l.stride);
  const int ldb = leading(x.stride);
  const char left = 'L';
  const char diagonal = 'N';
  const double one = 1.0;
  hold_blas_buffers();
  if (n > 0 && k > 0) {
    dtrsm_(&left, &kLower, &kNone, &diagonal, &n, &k, &one, l.data, &lda, x.data, &ldb);
  }
}

namespace {

// B ← alpha op(L) B (left) or alpha B op(L) (right), L lower triangular.
void trmm(char side, Op op, double alpha, ConstMatrixView l, MatrixView b) {
  const char diagonal = 'N';
  const int m = narrow(b.rows);
  const int n = narrow(b.cols);
  const int lda = leading(l.stride);
  const int ldb = leading(b.stride);
  hold_blas_buffers();
  if (m > 0 && n > 0) {
    dtrmm_(&side, &kLower, letter(op), &diagonal, &m, &n, &alpha, l.data, &lda, b.data, &ldb);
  }
}

// A lower triangle in quarters, [A 0; B C]. Below `leaf` LAPACK's own routines are as fast.
struct Quarters {
  MatrixView a, b, c;
};
constexpr Index kLeaf = 64;
constexpr Index kSmall = 256;  // rows for which one thread is as quick as many

Quarters quarters(MatrixView l) {
  const Index n = l.rows;
  const Index h = (n / 2 + kLeaf - 1) / kLeaf * kLeaf;
  return {{l.data, h, h, l.stride},
          {l.data + h, n - h, h, l.stride},
          {l.data + h + h * l.stride, n - h, n - h, l.stride}};
}

void invert_leaf(MatrixView l) {
  const int size = narrow(l.rows);
  const int lda = leading(l.stride);
  int info = 0;
  const char diagonal = 'N';
  hold_blas_buffers();
  if (size > 0) dtrtri_(&kLower, &diagonal, &size, l.data, &lda, &info);
}

void clear_above_diagonal(MatrixView l) {
  for (Index j = 1; j < l.cols; ++j) std::fill_n(l.data + j * l.stride, std::min(j, l.rows), 0.0);
}

// [A 0; B C]⁻¹ = [A⁻¹ 0; −C⁻¹BA⁻¹ C⁻¹]. With X = L_A⁻¹ known, L_B = B Xᵀ is a product instead of a triangular
// solve, so nearly all the work is dtrmm and dsyrk on large blocks; dpotrf and dtrtri reach half that rate at
// the sizes of this product (n = 300…800).
Index inverse_factor_recursive(MatrixView m) {
  const OneThread alone(m.rows <= kSmall);
  if (m.rows <= kLeaf) {
    const Index minor = cholesky(m);
    if (minor == 0) invert_leaf(m);
    return minor;
  }
  const auto [a, b, c] = quarters(m);
  if (const Index minor = inverse_factor_recursive(a); minor != 0) return minor;
  trmm('R', Op::transpose, 1.0, a, b);
  syrk_lower(Op::none, -1.0, b, 1.0, c);
  if (const Index minor = inverse_factor_recursive(c); minor != 0) return a.rows + minor;
  trmm('L', Op::none, -1.0, c, b);
  trmm('R', Op::none, 1.0, a, b);
  return 0;
}

// [A 0; B C]ᵀ[A 0; B C] = [AᵀA + BᵀB, ·; CᵀB, CᵀC], lower triangle, in place.
void square_lower_recursive(MatrixView l) {
  const OneThread alone(l.rows <= kSmall);
  if (l.rows <= kLeaf) {
    const int size = narrow(l.rows);
    const int lda = leading(l.stride);
    int info = 0;
    hold_blas_buffers();
    if (size > 0) dlauum_(&kLower, &size, l.data, &lda, &info);
    return;
  }
  const auto [a, b, c] = quarters(l);
  square_lower_recursive(a);
  syrk_lower(Op::transpose, 1.0, b, 1.0, a);
  trmm('L', Op::transpose, 1.0, c, b);
  square_lower_recursive(c);
}

}  // namespace

void lower_multiply(ConstMatrixView l, MatrixView x) {
  trmm('L', Op::none, 1.0, l, x);
}

Index cholesky_inverse_factor(MatrixView a) {
  clear_above_diagonal(a);
  return inverse_factor_recursive(a);
}

void solve_from_inverse_factor(ConstMatrixView l_inverse, MatrixView x) {
  trmm('L', Op::none, 1.0, l_inverse, x);
  trmm('L', Op::transpose, 1.0, l_inverse, x);
}

void inverse_from_factor(MatrixView l_inverse) {
  square_lower_recursive(l_inverse);
  symmetrise_from_lower(l_inverse);
}

bool invert_positive(MatrixView a, double& log_det) {
  if (cholesky_inverse_factor(a) != 0) return false;
  log_det = cholesky_log_det(a);
  if (!std::isfinite(log_det)) return false;
  inverse_from_factor(a);
  return true;
}

double cholesky_log_det(ConstMatrixView l) {
  double sum = 0.0;
  for (Index i = 0; i < l.rows; ++i) sum += std::log(l(i, i));
  return 2.0 * sum;
}

Vector inverse_diagonal(ConstMatrixView l_inverse) {
  Vector diagonal(static_cast<std::size_t>(l_inverse.cols));
  for (Index j = 0; j < l_inverse.cols; ++j) {
    const auto below = l_inverse.column(j).subspan(static_cast<std::size_t>(j));
    diagonal[static_cast<std::size_t>(j)] = dot(below, below);
  }
  return diagonal;
}

Eigen symmetric_eigen(ConstMatrixView a, bool vectors) {
  Eigen result{Vector(static_cast<std::size_t>(a.rows)), Matrix(a.rows, a.rows)};
  for (Index j = 0; j < a.cols; ++j) std::copy_n(a.column(j).data(), a.rows, result.vectors.column(j).data());
  const int n = narrow(a.rows);
  if (n == 0) return result;
  const char job = vectors ? 'V' : 'N';
  int info = 0;
  double work_size = 0.0;
  int integer_size = 0;
  const int query = -1;
  hold_blas_buffers();
  dsyevd_(&job, &kLower, &n, result.vectors.data(), &n, result.values.data(), &work_size, &query, &integer_size,
          &query, &info);
  const int lwork = static_cast<int>(work_size);
  Vector work(static_cast<std::size_t>(lwork));
  std::vector<int> integer_work(static_cast<std::size_t>(integer_size));
  dsyevd_(&job, &kLower, &n, result.vectors.data(), &n, result.values.data(), work.data(), &lwork,
          integer_work.data(), &integer_size, &info);
  if (info != 0) throw InternalError("symmetric eigenvalue iteration did not converge");
  if (!vectors) result.vectors = Matrix();
  return result;
}

}  // namespace kloom::algebra
