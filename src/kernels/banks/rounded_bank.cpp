// SPDX-License-Identifier: BSD-3-Clause
//
// Kernels in one stream of float32 from the first number to the last: passes over them read memory and do
// little else, and one stream is what the processor foresees. Sums are in double, so that the error is that of
// the rounded numbers alone.
#include "kernels/banks/rounded_bank.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "algebra/blas.h"
#include "base/clones.h"
#include "kernels/banks/concat_bank.h"
#include "kernels/banks/dense_bank.h"
#include "kernels/banks/low_rank_bank.h"
#include "kernels/banks/thread_sums.h"

namespace kloom::kernels {
namespace {

constexpr Index kTriangle = -1;  // in place of a rank

// How many columns of a factor count: the last ones that hold less than 1e-9 of the kernel's trace together are
// nothing beside the rounding of the others.
Index columns_that_count(ConstMatrixView factor) {
  constexpr double kNothing = 1e-9;
  const auto square = [&](Index k) { return algebra::dot(factor.column(k), factor.column(k)); };
  double trace = 0.0;
  for (Index k = 0; k < factor.cols; ++k) trace += square(k);
  Index count = factor.cols;
  for (double left = 0.0; count > 0; --count) {
    left += square(count - 1);
    if (left > kNothing * trace) break;
  }
  return count;
}

// A line of the cache at a time, of what comes soon.
[[gnu::always_inline]] inline void fetch(const float* from, Index size) {
  for (Index i = 0; i < size; i += 16) __builtin_prefetch(from + i);
}

// u = Lᵀv, column after column.
KLOOM_CLONES void project(const float* l, Index n, Index rank, const double* v, double* u) {
  for (Index k = 0; k < rank; ++k, l += n) {
    if (k + 2 < rank) fetch(l + 2 * n, n);
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (Index i = 0; i < n; ++i) sum += static_cast<double>(l[i]) * v[i];
    u[k] = sum;
  }
}

// y += L u, four columns at a time: they are in cache.
KLOOM_CLONES void expand(const float* l, Index n, Index rank, const double* u, double* y) {
  Index k = 0;
  for (; k + 4 <= rank; k += 4) {
    const float* a = l + k * n;
    const float* b = a + n;
    const float* c = b + n;
    const float* d = c + n;
    const double u0 = u[k], u1 = u[k + 1], u2 = u[k + 2], u3 = u[k + 3];
#pragma omp simd
    for (Index i = 0; i < n; ++i) y[i] += (u0 * a[i] + u1 * b[i]) + (u2 * c[i] + u3 * d[i]);
  }
  for (; k < rank; ++k) {
    const float* a = l + k * n;
    const double u0 = u[k];
#pragma omp simd
    for (Index i = 0; i < n; ++i) y[i] += u0 * a[i];
  }
}

// y += K v, the triangle row after row, each number for both of its places.
KLOOM_CLONES void multiply_triangle(const float* row, Index n, const double* v, double* y) {
  for (Index i = 0; i < n; row += n - i, ++i) {
    if (i + 3 < n) fetch(row + 2 * (n - i), n - i - 3);
    const double own = v[i];
    double sum = row[0] * own;
#pragma omp simd reduction(+ : sum)
    for (Index j = 1; j < n - i; ++j) {
      const double value = row[j];
      y[i + j] += own * value;
      sum += value * v[i + j];
    }
    y[i] += sum;
  }
}

class RoundedBank final : public KernelBank {
 public:
  explicit RoundedBank(const KernelBank& whole)
      : KernelBank(whole.rows(), whole.rows(), true, whole.names()), offsets_{0} {
    numbers_.reserve(whole.bytes() / sizeof(double) + at(whole.rows() * whole.kernels()));
  }

  // Adds kernel p of `bank`; false if it is not stored in one of the two known ways.
  bool add(const KernelBank& bank, Index p) {
    if (const auto* joined = dynamic_cast<const ConcatBank*>(&bank)) {
      const ConcatBank::Place place = joined->place(p);
      return add(joined->part(place.part), place.kernel);
    }
    if (const auto* low = dynamic_cast<const LowRankBank*>(&bank)) {
      const ConstMatrixView factor = low->factor(p);
      const Index columns = columns_that_count(factor);
      for (Index k = 0; k < columns; ++k) append(factor.column(k));
      finish_kernel(columns);
      return true;
    }
    if (dynamic_cast<const DenseBank*>(&bank) == nullptr) return false;
    Matrix square(bank.cols(), bank.rows());
    bank.panels({p, p + 1}, {0, bank.rows()}, square.data());
    for (Index i = 0; i < bank.rows(); ++i) append(square.column(i).subspan(at(i)));  // right of the diagonal
    finish_kernel(kTriangle);
    return true;
  }

  [[nodiscard]] std::string_view kind() const override { return "rounded"; }
  [[nodiscard]] std::size_t bytes() const override { return numbers_.size() * sizeof(float); }

  void panels(Range kernels, Range rows, double* out) const override {
    for (Index p = kernels.begin; p < kernels.end; ++p) {
      for (Index i = rows.begin; i < rows.end; ++i, out += cols()) {
        Vector unit(at(cols()));
        unit[at(i)] = 1.0;
        std::fill_n(out, cols(), 0.0);
        add_product(p, unit.data(), out);
      }
    }
  }

  [[nodiscard]] Matrix apply(ConstMatrixView v) const override {
    Matrix result(rows() * kernels(), v.cols);
#pragma omp parallel for schedule(static, 1)
    for (Index p = 0; p < kernels(); ++p) {
      for (Index j = 0; j < v.cols; ++j)
        add_product(p, v.column(j).data(), result.column(j).data() + p * rows());
    }
    return result;
  }

  [[nodiscard]] Matrix apply_adjoint(ConstMatrixView g) const override {
    return sum_over_kernels(kernels(), cols(), g.cols, [&](Index p, Matrix& sum) {
      for (Index j = 0; j < g.cols; ++j) add_product(p, g.column(j).data() + p * rows(), sum.column(j).data());
    });
  }

 private:
  void append(std::span<const double> values) {
    for (const double value : values) numbers_.push_back(static_cast<float>(value));
  }
  void finish_kernel(Index rank) {
    offsets_.push_back(std::ssize(numbers_));
    ranks_.push_back(rank);
  }

  // y += K_p v. A factor is still in cache when it is read again.
  void add_product(Index p, const double* v, double* y) const {
    const float* from = numbers_.data() + offsets_[at(p)];
    const Index rank = ranks_[at(p)];
    if (rank == kTriangle) return multiply_triangle(from, rows(), v, y);
    Vector projected(at(rank));
    project(from, rows(), rank, v, projected.data());
    expand(from, rows(), rank, projected.data(), y);
  }

  std::vector<float> numbers_;
  std::vector<Index> offsets_;  // kernel p has numbers [offsets[p], offsets[p+1])
  std::vector<Index> ranks_;    // columns of the factor, or kTriangle
};

}  // namespace

std::unique_ptr<KernelBank> rounded_bank(const KernelBank& bank) {
  if (!bank.symmetric()) return nullptr;
  auto rounded = std::make_unique<RoundedBank>(bank);
  for (Index p = 0; p < bank.kernels(); ++p) {
    if (!rounded->add(bank, p)) return nullptr;
  }
  return rounded;
}

}  // namespace kloom::kernels
