// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/banks/dense_bank.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "algebra/blas.h"
#include "base/clones.h"
#include "kloom/error.h"

namespace kloom::kernels {

using algebra::Op;

DenseBank::DenseBank(DenseStore store, Index rows, Index cols, bool symmetric, std::vector<std::string> names)
    : KernelBank(rows, cols, symmetric, std::move(names)), store_(std::move(store)) {
  if ((store_.f64 == nullptr) == (store_.f32 == nullptr)) {
    throw InternalError("a dense bank needs exactly one of float64 and float32 storage");
  }
}

// Kernels that are apart may happen to be neighbours in memory, as those of one file are. BLAS adds up in another order
// where there are more of them, so they are taken one by one: where they are must not show in the last bits of a model.
std::vector<DenseBank::Stack> DenseBank::stacks() const {
  if (store_.apart.empty()) return {{{store_.f64, cols(), rows() * kernels(), cols()}, 0, 1.0}};
  std::vector<Stack> result;
  for (Index p = 0; p < kernels(); ++p)
    result.push_back({{f64(p), cols(), rows(), cols()}, p * rows(), scale(p)});
  return result;
}

void DenseBank::verify(Range kernels) const {
  if (!store_.verify) return;
  for (Index p = kernels.begin; p < kernels.end; ++p) store_.verify(p);
}

void DenseBank::panels(Range kernels, Range rows, double* out) const {
  verify(kernels);
  const Index block = rows.size() * cols();
  for (Index p = kernels.begin; p < kernels.end; ++p, out += block) {
    const Index start = rows.begin * cols();
    if (store_.f64 != nullptr) {
      std::copy_n(f64(p) + start, block, out);
      if (scale(p) != 1.0) algebra::scale(scale(p), {out, at(block)});
    } else {
      std::copy_n(f32(p) + start, block, out);
    }
  }
}

Matrix DenseBank::diagonal() const {
  verify({0, kernels()});
  Matrix result(rows(), kernels());
  for (Index p = 0; p < kernels(); ++p) {
    for (Index i = 0; i < rows(); ++i) {
      const Index place = i * cols() + i;
      result(i, p) = store_.f64 != nullptr ? scale(p) * f64(p)[place] : static_cast<double>(f32(p)[place]);
    }
  }
  return result;
}

namespace {

// sum += Σ_m w_m rows_m: as many rows in flight as the memory system likes.
KLOOM_CLONES void add_rows(const std::array<const double*, 4>& rows, const std::array<double, 4>& w, Index n,
                           double* sum) {
  const double* a = rows[0];
  const double* b = rows[1];
  const double* c = rows[2];
  const double* d = rows[3];
#pragma omp simd
  for (Index j = 0; j < n; ++j) sum[j] += (w[0] * a[j] + w[1] * b[j]) + (w[2] * c[j] + w[3] * d[j]);
}

}  // namespace

std::vector<Index> DenseBank::used(std::span<const double> w) const {
  std::vector<Index> result;
  for (Index p = 0; p < kernels(); ++p) {
    if (w[static_cast<std::size_t>(p)] == 0.0) continue;
    verify({p, p + 1});
    result.push_back(p);
  }
  return result;
}

void DenseBank::add_combined_row(std::span<const double> w, const std::vector<Index>& used, Index i,
                                 std::span<double> out) const {
  for (std::size_t k = 0; k < used.size(); k += 4) {
    std::array<const double*, 4> in{};
    std::array<double, 4> weights{};
    for (std::size_t l = 0; l < 4; ++l) {
      const Index p = used[std::min(k + l, used.size() - 1)];
      in[l] = f64(p) + i * cols();
      weights[l] = k + l < used.size() ? scale(p) * w[static_cast<std::size_t>(p)] : 0.0;
    }
    add_rows(in, weights, cols(), out.data());
  }
}

void DenseBank::combine_rows(std::span<const double> w, std::span<const Index> rows, MatrixView out) const {
  if (store_.f64 == nullptr) return KernelBank::combine_rows(w, rows, out);
  const std::vector<Index> kernels = used(w);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const auto row = out.column(static_cast<Index>(k));
    std::ranges::fill(row, 0.0);
    add_combined_row(w, kernels, rows[k], row);
  }
}

void DenseBank::add_combination(std::span<const double> w, MatrixView out) const {
  if (store_.f64 == nullptr) return KernelBank::add_combination(w, out);
  const std::vector<Index> kernels = used(w);
#pragma omp parallel for schedule(static)
  for (Index i = 0; i < rows(); ++i) add_combined_row(w, kernels, i, out.column(i));
}

namespace {

// y += K v for a symmetric K of which only the rows' parts right of the diagonal are read. Four rows at a time
// share the passes over v and y. The pass over the matrix is what it costs, and this halves it.
template <typename Real>
[[gnu::always_inline]] inline void add_symmetric(const Real* k, Index n, const double* v, double* y) {
  Index i = 0;
  for (; i + 4 <= n; i += 4) {
    const Real* r0 = k + i * n;
    const Real* r1 = r0 + n;
    const Real* r2 = r1 + n;
    const Real* r3 = r2 + n;
    for (Index a = i; a < i + 4; ++a) {
      for (Index b = i; b < i + 4; ++b) y[a] += static_cast<double>(k[a * n + b]) * v[b];
    }
    const double v0 = v[i], v1 = v[i + 1], v2 = v[i + 2], v3 = v[i + 3];
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
    for (Index j = i + 4; j < n; ++j) {
      const double a = r0[j], b = r1[j], c = r2[j], d = r3[j], w = v[j];
      y[j] += (v0 * a + v1 * b) + (v2 * c + v3 * d);
      s0 += a * w;
      s1 += b * w;
      s2 += c * w;
      s3 += d * w;
    }
    y[i] += s0;
    y[i + 1] += s1;
    y[i + 2] += s2;
    y[i + 3] += s3;
  }
  for (Index a = i; a < n; ++a) {
    for (Index b = i; b < n; ++b) y[a] += static_cast<double>(k[a * n + b]) * v[b];
  }
}
KLOOM_CLONES void symmetric_product(const double* k, Index n, const double* v, double* y) {
  add_symmetric(k, n, v, y);
}
KLOOM_CLONES void symmetric_product(const float* k, Index n, const double* v, double* y) {
  add_symmetric(k, n, v, y);
}

// sums[4·row + k] = the row times column k, for two rows and four columns of v, n apart.
template <typename Real>
[[gnu::always_inline]] inline void dot_two_by_four(const Real* a, const Real* b, Index n, const double* v,
                                                   double* sums) {
  const double* v1 = v + n;
  const double* v2 = v1 + n;
  const double* v3 = v2 + n;
  double a0 = 0.0, a1 = 0.0, a2 = 0.0, a3 = 0.0, b0 = 0.0, b1 = 0.0, b2 = 0.0, b3 = 0.0;
#pragma omp simd reduction(+ : a0, a1, a2, a3, b0, b1, b2, b3)
  for (Index j = 0; j < n; ++j) {
    const double x = a[j], y = b[j];
    a0 += x * v[j];
    a1 += x * v1[j];
    a2 += x * v2[j];
    a3 += x * v3[j];
    b0 += y * v[j];
    b1 += y * v1[j];
    b2 += y * v2[j];
    b3 += y * v3[j];
  }
  sums[0] = a0, sums[1] = a1, sums[2] = a2, sums[3] = a3;
  sums[4] = b0, sums[5] = b1, sums[6] = b2, sums[7] = b3;
}
KLOOM_CLONES void two_rows_by_four(const double* a, const double* b, Index n, const double* v, double* sums) {
  dot_two_by_four(a, b, n, v, sums);
}
KLOOM_CLONES void two_rows_by_four(const float* a, const float* b, Index n, const double* v, double* sums) {
  dot_two_by_four(a, b, n, v, sums);
}

// Two rows of a symmetric n × n matrix, from column `first` on.
template <typename Real>
struct TwoRows {
  const Real* a;
  const Real* b;
  Index first;
  Index n;
};

// Two columns of v and y, n apart: v at the two rows, and rows · v.
struct TwoColumns {
  const double* v;
  double* y;
  std::array<double, 4> at_rows{};
  std::array<double, 4> sums{};
};

// Each number for both of its places: sums = rows · v, and y += what they give to the rows below.
template <typename Real>
[[gnu::always_inline]] inline void add_both_sides(const TwoRows<Real>& rows, TwoColumns& columns) {
  const Real* a = rows.a;
  const Real* b = rows.b;
  const double* v = columns.v;
  const double* v1 = v + rows.n;
  double* y = columns.y;
  double* y1 = y + rows.n;
  const double at_rows0 = columns.at_rows[0], at_rows1 = columns.at_rows[1], at_rows2 = columns.at_rows[2],
               at_rows3 = columns.at_rows[3];
  double a0 = 0.0, a1 = 0.0, b0 = 0.0, b1 = 0.0;
#pragma omp simd reduction(+ : a0, a1, b0, b1)
  for (Index j = rows.first; j < rows.n; ++j) {
    const double r = a[j], s = b[j];
    a0 += r * v[j];
    a1 += r * v1[j];
    b0 += s * v[j];
    b1 += s * v1[j];
    y[j] += r * at_rows0 + s * at_rows2;
    y1[j] += r * at_rows1 + s * at_rows3;
  }
  columns.sums = {a0, a1, b0, b1};
}
KLOOM_CLONES void two_rows_both_sides(const TwoRows<double>& rows, TwoColumns& columns) {
  add_both_sides(rows, columns);
}
KLOOM_CLONES void two_rows_both_sides(const TwoRows<float>& rows, TwoColumns& columns) {
  add_both_sides(rows, columns);
}

// K(rows, rows) · v(rows) for a symmetric K with rows in order, of which only the parts right of the diagonal
// are read. v is 0 elsewhere; two columns of it and of y, which is 0 before.
template <typename Real>
void add_chosen_symmetric(const Real* k, Index n, std::span<const Index> rows, const double* v, double* y) {
  for (std::size_t place = 0; place < rows.size(); place += 2) {
    const Index i = rows[place];
    const bool pair = place + 1 < rows.size();
    const Index j = pair ? rows[place + 1] : i;
    const Real* a = k + i * n;
    const Real* b = k + j * n;
    TwoColumns columns{v, y};
    columns.at_rows = {v[i], v[n + i], pair ? v[j] : 0.0, pair ? v[n + j] : 0.0};
    two_rows_both_sides(TwoRows<Real>{a, b, j + 1, n}, columns);
    for (std::size_t c = 0; c < 2; ++c) {
      double* out = y + static_cast<Index>(c) * n;
      out[i] += columns.sums[c] + a[i] * columns.at_rows[c];
      if (!pair) continue;
      out[i] += a[j] * columns.at_rows[2 + c];
      out[j] += columns.sums[2 + c] + a[j] * columns.at_rows[c] + b[j] * columns.at_rows[2 + c];
    }
  }
}

constexpr Index kFewColumns = 8;

bool all_zero(std::span<const double> v) {
  return std::ranges::all_of(v, [](double value) { return value == 0.0; });
}

}  // namespace

// K_p v_p, with `vector(p)` the vector of kernel p.
template <typename VectorOf>
void DenseBank::symmetric_products(VectorOf vector, double* out) const {
  const Index n = rows();
#pragma omp parallel for schedule(dynamic)
  for (Index p = 0; p < kernels(); ++p) {
    const std::span<const double> v = vector(p);
    if (all_zero(v)) continue;
    if (store_.f64 != nullptr) {
      symmetric_product(f64(p), n, v.data(), out + p * n);
      if (scale(p) != 1.0) algebra::scale(scale(p), {out + p * n, at(n)});
    } else {
      symmetric_product(f32(p), n, v.data(), out + p * n);
    }
  }
}

Matrix DenseBank::apply_each(ConstMatrixView v) const {
  if (!symmetric()) return KernelBank::apply_each(v);
  verify({0, kernels()});
  Matrix result(rows(), kernels());
  symmetric_products([&](Index p) { return v.column(p); }, result.data());
  return result;
}

Matrix DenseBank::apply(ConstMatrixView v) const {
  verify({0, kernels()});
  Matrix result(rows() * kernels(), v.cols);
  if (symmetric() && v.cols == 1) {
    symmetric_products([&](Index) { return v.column(0); }, result.data());
    return result;
  }
  if (v.cols > 1 && v.cols <= kFewColumns) {
    std::vector<Index> all(static_cast<std::size_t>(rows()));
    std::iota(all.begin(), all.end(), Index{0});
    return row_products(all, v);
  }
  if (store_.f64 == nullptr) return KernelBank::apply(v);
  for (const Stack& part : stacks()) {
    const MatrixView out{result.data() + part.first_row, part.entries.cols, v.cols, result.rows()};
    if (v.cols == 1) {
      algebra::gemv(Op::transpose, part.scale, part.entries, v.column(0), 0.0, out.column(0));
    } else {
      algebra::gemm(Op::transpose, Op::none, part.scale, part.entries, v, 0.0, out);
    }
  }
  return result;
}

// The chosen entries of one kernel after the other, gathered and multiplied.
Matrix DenseBank::gathered_products(std::span<const Index> rows, std::span<const Index> cols,
                                    ConstMatrixView c) const {
  const auto n = static_cast<Index>(rows.size());
  Matrix result(n * kernels(), c.cols);
#pragma omp parallel
  {
    Matrix chosen(static_cast<Index>(cols.size()), n);
#pragma omp for schedule(static)
    for (Index p = 0; p < kernels(); ++p) {
      double* to = chosen.data();
      for (const Index i : rows) {
        const Index start = i * this->cols();
        for (const Index j : cols) {
          *to++ = store_.f64 != nullptr ? f64(p)[start + j] : static_cast<double>(f32(p)[start + j]);
        }
      }
      algebra::gemm(Op::transpose, Op::none, scale(p), chosen.view(), c, 0.0,
                    {result.data() + p * n, n, c.cols, result.rows()});
    }
  }
  return result;
}

// Whole rows times V. BLAS would first copy the matrix into blocks, which costs more than few columns do.
Matrix DenseBank::row_products(std::span<const Index> rows, ConstMatrixView v) const {
  const auto n = static_cast<Index>(rows.size());
  const Index pairs = (n + 1) / 2;
  Matrix result(n * kernels(), v.cols);
  // Groups of four columns; the last is filled up with columns of 0.
  const Index groups = (v.cols + 3) / 4;
  Matrix wide(cols(), 4 * groups);
  for (Index k = 0; k < v.cols; ++k) std::ranges::copy(v.column(k), wide.column(k).begin());
#pragma omp parallel for schedule(static)
  for (Index part = 0; part < kernels() * pairs; ++part) {
    const Index p = part / pairs;
    const Index first = 2 * (part % pairs);
    const Index second = std::min(first + 1, n - 1);
    const Index a = rows[static_cast<std::size_t>(first)] * cols();
    const Index b = rows[static_cast<std::size_t>(second)] * cols();
    for (Index g = 0; g < groups; ++g) {
      std::array<double, 8> sums{};
      if (store_.f64 != nullptr) {
        two_rows_by_four(f64(p) + a, f64(p) + b, cols(), wide.column(4 * g).data(), sums.data());
      } else {
        two_rows_by_four(f32(p) + a, f32(p) + b, cols(), wide.column(4 * g).data(), sums.data());
      }
      for (Index k = 4 * g; k < std::min(v.cols, 4 * g + 4); ++k) {
        result(p * n + second, k) = scale(p) * sums[static_cast<std::size_t>(4 + k - 4 * g)];
        result(p * n + first, k) = scale(p) * sums[static_cast<std::size_t>(k - 4 * g)];
      }
    }
  }
  return result;
}

// The same products at rows where V has numbers, for symmetric kernels: half of the reading.
Matrix DenseBank::symmetric_row_products(std::span<const Index> rows, ConstMatrixView v) const {
  const auto chosen = static_cast<Index>(rows.size());
  const Index n = cols();
  const Index groups = (v.cols + 1) / 2;
  Matrix result(chosen * kernels(), v.cols);
  Matrix wide(n, 2 * groups);
  for (Index k = 0; k < v.cols; ++k) std::ranges::copy(v.column(k), wide.column(k).begin());
#pragma omp parallel
  {
    Matrix y(n, 2);
#pragma omp for schedule(static)
    for (Index part = 0; part < kernels() * groups; ++part) {
      const Index p = part / groups;
      const Index g = part % groups;
      std::ranges::fill(y.values(), 0.0);
      if (store_.f64 != nullptr) {
        add_chosen_symmetric(f64(p), n, rows, wide.column(2 * g).data(), y.data());
      } else {
        add_chosen_symmetric(f32(p), n, rows, wide.column(2 * g).data(), y.data());
      }
      for (Index k = 2 * g; k < std::min(v.cols, 2 * g + 2); ++k) {
        for (Index r = 0; r < chosen; ++r) {
          result(p * chosen + r, k) = scale(p) * y(rows[static_cast<std::size_t>(r)], k - 2 * g);
        }
      }
    }
  }
  return result;
}

Matrix DenseBank::apply_chosen(std::span<const Index> rows, std::span<const Index> cols,
                               ConstMatrixView c) const {
  verify({0, kernels()});
  const auto chosen = static_cast<Index>(cols.size());
  // Few columns, and enough entries of each row wanted: reading all of them in order is faster than picking.
  if (c.cols > kFewColumns || 8 * chosen < this->cols()) return gathered_products(rows, cols, c);
  Matrix whole(this->cols(), c.cols);
  for (Index k = 0; k < c.cols; ++k) {
    for (Index j = 0; j < chosen; ++j) whole(cols[static_cast<std::size_t>(j)], k) += c(j, k);
  }
  const bool square = symmetric() && std::ranges::equal(rows, cols) &&
                      std::ranges::adjacent_find(rows, std::greater_equal<>{}) == rows.end();
  return square ? symmetric_row_products(rows, whole.view()) : row_products(rows, whole.view());
}

Matrix DenseBank::apply_adjoint(ConstMatrixView g) const {
  verify({0, kernels()});
  if (symmetric() && g.cols == 1) {
    // Half of the reading. The kernels are added up afterwards, so that any number of threads gives the same bits.
    const Matrix each = apply_each({g.data, rows(), kernels(), rows()});
    Matrix result(cols(), 1);
    for (Index p = 0; p < kernels(); ++p) algebra::axpy(1.0, each.column(p), result.values());
    return result;
  }
  if (store_.f64 == nullptr) return KernelBank::apply_adjoint(g);
  Matrix result(cols(), g.cols);
  for (const Stack& part : stacks()) {
    const ConstMatrixView rows{g.data + part.first_row, part.entries.cols, g.cols, g.stride};
    if (g.cols == 1) {
      algebra::gemv(Op::none, part.scale, part.entries, rows.column(0), 1.0, result.column(0));
    } else {
      algebra::gemm(Op::none, Op::none, part.scale, part.entries, rows, 1.0, result.view());
    }
  }
  return result;
}

Matrix DenseBank::gram() const {
  if (store_.f64 == nullptr) return KernelBank::gram();
  verify({0, kernels()});
  Matrix result(cols(), cols());
  for (const Stack& part : stacks()) {
    algebra::syrk(Op::none, part.scale * part.scale, part.entries, 1.0, result.view());
  }
  return result;
}

}  // namespace kloom::kernels
