// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/functions/exponential_family.h"

#include <omp.h>

#include <algorithm>
#include <utility>

#include "algebra/blas.h"
#include "kernels/functions/functions.h"

namespace kloom::kernels {
namespace {

// A block of quantities stays in the second cache, and packing its samples costs little beside its pairs.
constexpr Index kRows = 256;
constexpr Index kCols = 256;

Index size(std::span<const Index> s) {
  return static_cast<Index>(s.size());
}
Index blocks(Index n, Index block) {
  return (n + block - 1) / block;
}
std::span<const Index> part(std::span<const Index> all, Index block, Index length) {
  const Index begin = block * length;
  return all.subspan(at(begin), at(std::min(length, size(all) - begin)));
}

// Positions with a coefficient, and the coefficients, of one output in one block of columns.
struct Used {
  std::vector<int> positions;
  Vector values;
};

Used used_in(ConstMatrixView c, Index output, Index begin, Index count) {
  Used used;
  for (Index j = 0; j < count; ++j) {
    const double value = c(begin + j, output);
    if (value == 0.0) continue;
    used.positions.push_back(static_cast<int>(j));
    used.values.push_back(value);
  }
  return used;
}

class FamilyCombination final : public Combination {
 public:
  FamilyCombination(std::vector<ExponentialFamily> families, ConstMatrixView w)
      : families_(std::move(families)), outputs_(w.cols) {
    for (const ExponentialFamily& family : families_) {
      auto& tables = tables_.emplace_back();
      for (Index k = 0; k < outputs_; ++k) {
        Vector weights(family.kernels.size());
        for (std::size_t f = 0; f < weights.size(); ++f)
          weights[f] = family.scales[f] * w(family.kernels[f], k);
        tables.push_back(family.table.combined(weights));
      }
    }
  }

  void add_entries(std::span<const Index> rows, std::span<const Index> cols, MatrixView out) const override {
    const Index tasks = blocks(size(rows), kRows / 16);
#pragma omp parallel for schedule(static)
    for (Index task = 0; task < tasks; ++task) {
      const auto task_rows = part(rows, task, kRows / 16);
      Vector t(at(kCols) * task_rows.size());
      for (Index b = 0; b < blocks(size(cols), kCols); ++b) {
        add_entry_block(task_rows, part(cols, b, kCols), t.data(),
                        {out.data + task * (kRows / 16) * size(cols) + b * kCols, size(cols), 0, out.stride});
      }
    }
  }

  void add_scores(std::span<const Index> rows, std::span<const Index> cols, ConstMatrixView c,
                  MatrixView out) const override {
    for (Index r = 0; r < blocks(size(rows), kRows); ++r) {
      const auto block_rows = part(rows, r, kRows);
      const Index tasks = blocks(size(cols), kCols);
      // One sum per block of columns, added in their order: the same bits for any number of threads.
      std::vector<Matrix> sums(at(tasks), Matrix(size(block_rows), outputs_));
#pragma omp parallel if (tasks > 1)
      {
        Vector t(at(kCols) * block_rows.size());
#pragma omp for schedule(dynamic)
        for (Index b = 0; b < tasks; ++b) add_score_block(block_rows, cols, b, c, t.data(), sums[at(b)]);
      }
      for (const Matrix& sum : sums) {
        for (Index k = 0; k < outputs_; ++k) {
          for (Index i = 0; i < size(block_rows); ++i) out(r * kRows + i, k) += sum(i, k);
        }
      }
    }
  }

 private:
  // `out`: rows = columns of the whole target; entry (i, j) of output k is out.data[i·rows + j + k·stride].
  void add_entry_block(std::span<const Index> rows, std::span<const Index> cols, double* t,
                       const MatrixView& out) const {
    for (std::size_t g = 0; g < families_.size(); ++g) {
      families_[g].quantities(rows, cols, t, kCols);
      for (Index k = 0; k < outputs_; ++k) {
        for (Index i = 0; i < size(rows); ++i) {
          families_[g].table.add_values(tables_[g][at(k)], t + i * kCols, size(cols),
                                        out.data + i * out.rows + k * out.stride);
        }
      }
    }
  }

  void add_score_block(std::span<const Index> rows, std::span<const Index> cols, Index block, ConstMatrixView c,
                       double* t, Matrix& sums) const {
    const auto block_cols = part(cols, block, kCols);
    std::vector<Used> used;
    for (Index k = 0; k < outputs_; ++k) used.push_back(used_in(c, k, block * kCols, size(block_cols)));
    for (std::size_t g = 0; g < families_.size(); ++g) {
      families_[g].quantities(rows, block_cols, t, kCols);
      for (Index k = 0; k < outputs_; ++k) {
        const Used& u = used[at(k)];
        if (u.positions.empty()) continue;
        for (Index i = 0; i < size(rows); ++i) {
          sums(i, k) +=
              families_[g].table.weighted_sum(tables_[g][at(k)], t + i * kCols, u.positions, u.values.data());
        }
      }
    }
  }

  std::vector<ExponentialFamily> families_;
  Index outputs_;
  std::vector<std::vector<Vector>> tables_;  // per family and output
};

// Moments of one column of coefficients over all pairs of its samples, the upper triangle of blocks.
Vector pair_moments(const ExponentialFamily& family, const std::vector<Index>& samples, const Vector& c) {
  const Index n = blocks(std::ssize(samples), kRows);
  const Index length = 4 * family.table.segments();
  const int threads = n > 1 ? omp_get_max_threads() : 1;
  std::vector<Vector> moments(at(threads), Vector(at(length)));
#pragma omp parallel num_threads(threads)
  {
    double* thread_moments = moments[at(omp_get_thread_num())].data();
    Vector t(at(kRows * kCols));
    // Dealt out in turn, so that the sums do not depend on which thread was faster.
#pragma omp for schedule(static, 1)
    for (Index b = 0; b < n; ++b) {
      const auto rows = part(samples, b, kRows);
      for (Index d = b; d < n; ++d) {
        const auto cols = part(samples, d, kCols);
        family.quantities(rows, cols, t.data(), kCols);
        for (Index i = 0; i < size(rows); ++i) {
          const double ci = c[at(b * kRows + i)];
          const double* row = t.data() + i * kCols;
          if (d == b) family.table.add_pair(row[i], ci * ci, thread_moments);
          for (Index j = d == b ? i + 1 : 0; j < size(cols); ++j)
            family.table.add_pair(row[j], 2.0 * ci * c[at(d * kCols + j)], thread_moments);
        }
      }
    }
  }
  for (std::size_t k = 1; k < moments.size(); ++k) algebra::axpy(1.0, moments[k], moments[0]);
  return std::move(moments[0]);
}

// Moments of every chosen row and output over the segments that occur, and which segments those are.
struct RowMoments {
  std::vector<Index> segments;
  Matrix values;  // 4·segments × (rows·outputs)
};

RowMoments row_moments(const ExponentialFamily& family, const ChosenPairs& pairs, ConstMatrixView c) {
  const Index n = size(pairs.rows);
  const Index stride = blocks(size(pairs.cols), 16) * 16;
  Vector t(at(n * stride));
#pragma omp parallel for schedule(static)
  for (Index b = 0; b < blocks(size(pairs.cols), kCols); ++b)
    family.quantities(pairs.rows, part(pairs.cols, b, kCols), t.data() + b * kCols, stride);
  RowMoments moments;
  std::vector<int> place(at(family.table.segments()), -1);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < size(pairs.cols); ++j) {
      const Index segment = family.table.place(t[at(i * stride + j)]).segment;
      if (place[at(segment)] >= 0) continue;
      place[at(segment)] = static_cast<int>(moments.segments.size());
      moments.segments.push_back(segment);
    }
  }
  moments.values = Matrix(4 * static_cast<Index>(moments.segments.size()), n * c.cols);
#pragma omp parallel for schedule(static)
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < size(pairs.cols); ++j) {
      const auto [segment, u] = family.table.place(t[at(i * stride + j)]);
      const Index row = Index{4} * place[at(segment)];
      for (Index k = 0; k < c.cols; ++k) {
        const double weight = c(j, k);
        if (weight == 0.0) continue;
        double* m = moments.values.column(k * n + i).data() + row;
        m[0] += weight;
        m[1] += weight * u;
        m[2] += weight * u * u;
        m[3] += weight * u * u * u;
      }
    }
  }
  return moments;
}

}  // namespace

std::unique_ptr<Combination> family_combination(std::vector<ExponentialFamily> families, ConstMatrixView w) {
  return std::make_unique<FamilyCombination>(std::move(families), w);
}

Matrix family_quadratic_forms(const std::vector<ExponentialFamily>& families, ConstMatrixView c,
                              Index kernels) {
  Matrix result(kernels, c.cols);
  for (Index k = 0; k < c.cols; ++k) {
    std::vector<Index> samples;
    Vector values;
    for (Index i = 0; i < c.rows; ++i) {
      if (c(i, k) == 0.0) continue;
      samples.push_back(i);
      values.push_back(c(i, k));
    }
    for (const ExponentialFamily& family : families) {
      const Vector sums = family.table.sums(pair_moments(family, samples, values).data());
      for (std::size_t f = 0; f < sums.size(); ++f) result(family.kernels[f], k) = family.scales[f] * sums[f];
    }
  }
  return result;
}

void family_entries(const std::vector<ExponentialFamily>& families, std::span<const Index> rows,
                    std::span<const Index> cols, double* out) {
  const Index stride = blocks(size(cols), 16) * 16;
  Vector t(at(size(rows) * stride));
  for (const ExponentialFamily& family : families) {
    family.quantities(rows, cols, t.data(), stride);
#pragma omp parallel for schedule(static) if (family.kernels.size() > 8 && t.size() > 64)
    for (std::size_t f = 0; f < family.kernels.size(); ++f) {
      for (Index i = 0; i < size(rows); ++i) {
        double* to = out + (family.kernels[f] * size(rows) + i) * size(cols);
        exp_negative(family.table.gammas()[f], t.data() + i * stride, to, size(cols));
        for (Index j = 0; j < size(cols); ++j) to[j] *= family.scales[f];
      }
    }
  }
}

Matrix family_apply(const std::vector<ExponentialFamily>& families, const ChosenPairs& pairs,
                    ConstMatrixView c) {
  const Index n = size(pairs.rows);
  Matrix result(n * pairs.kernels, c.cols);
  if (pairs.cols.empty()) return result;
  for (const ExponentialFamily& family : families) {
    const RowMoments moments = row_moments(family, pairs, c);
    const auto segments = static_cast<Index>(moments.segments.size());
    const auto count = static_cast<Index>(family.kernels.size());
    Matrix weights(4 * segments, count);
    family.table.moment_weights(0, 0, weights.data());  // tables are made outside of parallel regions
#pragma omp parallel for schedule(static)
    for (Index f = 0; f < count; ++f) {
      for (Index s = 0; s < segments; ++s)
        family.table.moment_weights(moments.segments[at(s)], f, weights.column(f).data() + 4 * s);
    }
    Matrix sums(n * c.cols, count);
    algebra::gemm(algebra::Op::transpose, algebra::Op::none, 1.0, moments.values.view(), weights.view(), 0.0,
                  sums.view());
    for (Index f = 0; f < count; ++f) {
      for (Index k = 0; k < c.cols; ++k) {
        for (Index i = 0; i < n; ++i)
          result(family.kernels[at(f)] * n + i, k) = family.scales[at(f)] * sums(k * n + i, f);
      }
    }
  }
  return result;
}

}  // namespace kloom::kernels
