// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/banks/low_rank_bank.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "algebra/blas.h"
#include "kernels/banks/thread_sums.h"
#include "kloom/error.h"

namespace kloom::kernels {

using algebra::Op;

std::optional<Matrix> low_rank_factor(const KernelBank& bank, Index kernel, std::span<const double> diagonal,
                                      double tolerance, Index max_rank) {
  const Index n = bank.rows();
  Vector left(diagonal.begin(), diagonal.end());  // diagonal of K − L Lᵀ
  const double stop = tolerance * std::accumulate(left.begin(), left.end(), 0.0);
  Matrix factor(n, std::min(max_rank, n));
  Vector pivot_row(static_cast<std::size_t>(factor.cols()));
  for (Index r = 0;; ++r) {
    const double remaining = std::accumulate(left.begin(), left.end(), 0.0);
    const auto largest = std::max_element(left.begin(), left.end());
    if (remaining <= stop || *largest <= 0.0) {
      Matrix result(n, r);
      std::copy_n(factor.data(), n * r, result.data());
      return result;
    }
    if (r == factor.cols()) return std::nullopt;
    const auto pivot = static_cast<Index>(largest - left.begin());
    const auto column = factor.column(r);
    bank.panels({kernel, kernel + 1}, {pivot, pivot + 1}, column.data());
    for (Index k = 0; k < r; ++k) pivot_row[static_cast<std::size_t>(k)] = factor(pivot, k);
    algebra::gemv(Op::none, -1.0, factor.columns({0, r}), {pivot_row.data(), static_cast<std::size_t>(r)}, 1.0,
                  column);
    algebra::scale(1.0 / std::sqrt(*largest), column);
    for (Index i = 0; i < n; ++i) {
      double& d = left[static_cast<std::size_t>(i)];
      d = std::max(0.0, d - column[static_cast<std::size_t>(i)] * column[static_cast<std::size_t>(i)]);
    }
    left[static_cast<std::size_t>(pivot)] = 0.0;
  }
}

LowRankBank::LowRankBank(std::vector<Matrix> factors, std::vector<std::string> names)
    : KernelBank(factors.empty() ? 0 : factors.front().rows(), factors.empty() ? 0 : factors.front().rows(),
                 true, std::move(names)),
      offsets_{0} {
  for (const Matrix& factor : factors) offsets_.push_back(offsets_.back() + factor.cols());
  // Pages of reserved memory are taken when they are first written, and each factor is freed once it is copied: all
  // factors are never in memory twice.
  Vector all;
  all.reserve(at(rows() * offsets_.back()));
  for (Matrix& factor : factors) {
    all.insert(all.end(), factor.values().begin(), factor.values().end());
    factor = Matrix();
  }
  factors_ = Matrix(rows(), offsets_.back(), std::move(all));
}

void LowRankBank::panels(Range kernels, Range rows, double* out) const {
  for (Index p = kernels.begin; p < kernels.end; ++p) {
    const ConstMatrixView l = factor(p);
    const ConstMatrixView some{l.data + rows.begin, rows.size(), l.cols, l.stride};
    const MatrixView block{out, cols(), rows.size(), cols()};
    algebra::gemm(Op::none, Op::transpose, 1.0, l, some, 0.0, block);
    out += cols() * rows.size();
  }
}

Matrix LowRankBank::diagonal() const {
  Matrix result(rows(), kernels());
  for (Index p = 0; p < kernels(); ++p) {
    const ConstMatrixView l = factor(p);
    for (Index k = 0; k < l.cols; ++k) {
      for (Index i = 0; i < rows(); ++i) result(i, p) += l(i, k) * l(i, k);
    }
  }
  return result;
}

void LowRankBank::add_combination(std::span<const double> w, MatrixView out) const {
  // Σ_p w_p L_p L_pᵀ = (L diag(w)) Lᵀ, some kernels at a time: enough columns for a fast product, and few enough that
  // their weighted copy is small.
  constexpr Index kColumns = 512;
  for (Index first = 0, end = 0; first < kernels(); first = end) {
    const Index begin = range(first).begin;
    do {
      ++end;
    } while (end < kernels() && range(end).end - begin <= kColumns);
    const ConstMatrixView part = factors_.columns({begin, range(end - 1).end});
    Matrix weighted(part.rows, part.cols);
    for (Index p = first; p < end; ++p) {
      for (Index c = range(p).begin; c < range(p).end; ++c)
        algebra::axpy(w[at(p)], factors_.column(c), weighted.column(c - begin));
    }
    algebra::gemm(Op::none, Op::transpose, 1.0, part, weighted.view(), 1.0, out);
  }
}

// c = alpha op(L) b + beta c, for one column or many.
static void multiply(Op op, ConstMatrixView l, ConstMatrixView b, double beta, MatrixView c) {
  if (b.cols == 1) {
    algebra::gemv(op, 1.0, l, b.column(0), beta, c.column(0));
  } else {
    algebra::gemm(op, Op::none, 1.0, l, b, beta, c);
  }
}

// Kernel after kernel, L_pᵀV and at once L_p times that: the factor is still in cache when it is read again.
Matrix LowRankBank::apply(ConstMatrixView v) const {
  Matrix result(rows() * kernels(), v.cols);
#pragma omp parallel for schedule(static, 1)
  for (Index p = 0; p < kernels(); ++p) {
    const ConstMatrixView l = factor(p);
    if (l.cols == 0) continue;
    Matrix projected(l.cols, v.cols);
    multiply(Op::transpose, l, v, 0.0, projected.view());
    multiply(Op::none, l, projected.view(), 0.0, {result.data() + p * rows(), rows(), v.cols, result.rows()});
  }
  return result;
}

Matrix LowRankBank::apply_chosen(std::span<const Index> rows, std::span<const Index> cols,
                                 ConstMatrixView c) const {
  const auto n = static_cast<Index>(rows.size());
  Matrix result(n * kernels(), c.cols);
#pragma omp parallel for schedule(static, 1)
  for (Index p = 0; p < kernels(); ++p) {
    const ConstMatrixView l = factor(p);
    if (l.cols == 0) continue;
    const auto chosen = [&l](std::span<const Index> samples) {
      Matrix part(static_cast<Index>(samples.size()), l.cols);
      for (Index k = 0; k < l.cols; ++k) {
        for (Index i = 0; i < part.rows(); ++i) part(i, k) = l(samples[static_cast<std::size_t>(i)], k);
      }
      return part;
    };
    Matrix projected(l.cols, c.cols);
    multiply(Op::transpose, chosen(cols).view(), c, 0.0, projected.view());
    multiply(Op::none, chosen(rows).view(), projected.view(), 0.0,
             {result.data() + p * n, n, c.cols, result.rows()});
  }
  return result;
}

// Σ_p L_p (L_pᵀ g_p), kernel after kernel as in apply.
Matrix LowRankBank::apply_adjoint(ConstMatrixView g) const {
  return sum_over_kernels(kernels(), cols(), g.cols, [&](Index p, Matrix& sum) {
    const ConstMatrixView l = factor(p);
    if (l.cols == 0) return;
    Matrix projected(l.cols, g.cols);
    multiply(Op::transpose, l, {g.data + p * rows(), rows(), g.cols, g.stride}, 0.0, projected.view());
    multiply(Op::none, l, projected.view(), 1.0, sum.view());
  });
}

Matrix LowRankBank::quadratic_forms(ConstMatrixView c) const {
  Matrix projected(factors_.cols(), c.cols);
  algebra::gemm(Op::transpose, Op::none, 1.0, factors_.view(), c, 0.0, projected.view());
  Matrix result(kernels(), c.cols);
  for (Index j = 0; j < c.cols; ++j) {
    for (Index p = 0; p < kernels(); ++p) {
      const Range r = range(p);
      const auto part =
          projected.column(j).subspan(static_cast<std::size_t>(r.begin), static_cast<std::size_t>(r.size()));
      result(p, j) = algebra::dot(part, part);
    }
  }
  return result;
}

Matrix LowRankBank::weighted_gram(std::span<const double> weights) const {
  // K_p W K_p = L_p (L_pᵀ W L_p) L_pᵀ: the middle is small, so the sum is one product of N × Σ r_p matrices.
  Matrix middle(rows(), factors_.cols());
  for (Index p = 0; p < kernels(); ++p) {
    const ConstMatrixView l = factor(p);
    Matrix weighted(rows(), l.cols);  // √W L_p
    for (Index k = 0; k < l.cols; ++k) {
      for (Index i = 0; i < rows(); ++i)
        weighted(i, k) = weights.empty() ? l(i, k) : std::sqrt(weights[at(i)]) * l(i, k);
    }
    Matrix inner(l.cols, l.cols);
    algebra::syrk(Op::transpose, 1.0, weighted.view(), 0.0, inner.view());
    algebra::gemm(Op::none, Op::none, 1.0, l, inner.view(), 0.0, middle.columns(range(p)));
  }
  Matrix result(rows(), rows());
  algebra::gemm(Op::none, Op::transpose, 1.0, middle.view(), factors_.view(), 0.0, result.view());
  algebra::symmetrise_from_lower(result.view());
  return result;
}

}  // namespace kloom::kernels
