// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/banks/rounded_bank.h"

#include <algorithm>
#include <utility>

#include "algebra/blas.h"
#include "base/clones.h"
#include "kernels/banks/thread_sums.h"

namespace kloom::kernels {
namespace {

constexpr double kNothing = 1e-9;  // of the trace of a kernel

// Columns [first, result) are kept.
Index last_after_rounding(const Matrix& factors, Index first, Index last) {
  const auto square = [&](Index k) { return algebra::dot(factors.column(k), factors.column(k)); };
  double trace = 0.0;
  for (Index k = first; k < last; ++k) trace += square(k);
  for (double left = 0.0; last > first; --last) {
    left += square(last - 1);
    if (left > kNothing * trace) break;
  }
  return last;
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

}  // namespace

RoundedBank::RoundedBank(Index rows, std::vector<std::string> names)
    : KernelBank(rows, rows, true, std::move(names)), offsets_{0} {}

std::span<const float> RoundedBank::numbers(Index kernel) const {
  return std::span(numbers_).subspan(at(offsets_[at(kernel)]),
                                     at(offsets_[at(kernel) + 1] - offsets_[at(kernel)]));
}

std::unique_ptr<RoundedBank> RoundedBank::of_factors(const Matrix& factors, const std::vector<Index>& first,
                                                     std::vector<std::string> names) {
  std::unique_ptr<RoundedBank> bank(new RoundedBank(factors.rows(), std::move(names)));
  for (Index p = 0; p < bank->kernels(); ++p) {
    const Index last = last_after_rounding(factors, first[at(p)], first[at(p) + 1]);
    for (Index k = first[at(p)]; k < last; ++k) {
      for (const double value : factors.column(k)) bank->numbers_.push_back(static_cast<float>(value));
    }
    bank->offsets_.push_back(std::ssize(bank->numbers_));
    bank->ranks_.push_back(last - first[at(p)]);
  }
  return bank;
}

std::unique_ptr<RoundedBank> RoundedBank::of_triangles(const KernelBank& whole) {
  const Index n = whole.rows();
  std::unique_ptr<RoundedBank> bank(new RoundedBank(n, whole.names()));
  const Index size = n * (n + 1) / 2;
  bank->numbers_.resize(at(size * bank->kernels()));
  bank->ranks_.assign(at(bank->kernels()), -1);
  for (Index p = 0; p < bank->kernels(); ++p) bank->offsets_.push_back((p + 1) * size);
#pragma omp parallel
  {
    Vector row(at(n));
#pragma omp for schedule(static)
    for (Index p = 0; p < bank->kernels(); ++p) {
      float* to = bank->numbers_.data() + bank->offsets_[at(p)];
      for (Index i = 0; i < n; ++i) {
        whole.panels({p, p + 1}, {i, i + 1}, row.data());
        for (Index j = i; j < n; ++j) *to++ = static_cast<float>(row[at(j)]);
      }
    }
  }
  return bank;
}

std::unique_ptr<RoundedBank> RoundedBank::joined(const std::vector<Part>& parts,
                                                 std::vector<std::string> names) {
  struct Place {
    const RoundedBank* bank = nullptr;
    Index kernel = 0;
  };
  std::vector<Place> places(names.size());
  for (const Part& part : parts) {
    const auto* bank = dynamic_cast<const RoundedBank*>(part.bank.get());
    if (bank == nullptr) return nullptr;
    for (Index k = 0; k < bank->kernels(); ++k) places[at(part.places[at(k)])] = {bank, k};
  }
  std::unique_ptr<RoundedBank> whole(new RoundedBank(parts.front().bank->rows(), std::move(names)));
  for (const auto& [bank, kernel] : places) {
    const auto numbers = bank->numbers(kernel);
    whole->numbers_.insert(whole->numbers_.end(), numbers.begin(), numbers.end());
    whole->offsets_.push_back(std::ssize(whole->numbers_));
    whole->ranks_.push_back(bank->rank(kernel));
  }
  return whole;
}

// A factor is still in cache when it is read again.
void RoundedBank::add_product(Index kernel, const double* v, double* y) const {
  const float* from = numbers(kernel).data();
  if (rank(kernel) < 0) {
    multiply_triangle(from, rows(), v, y);
    return;
  }
  Vector projected(at(rank(kernel)));
  project(from, rows(), rank(kernel), v, projected.data());
  expand(from, rows(), rank(kernel), projected.data(), y);
}

void RoundedBank::panels(Range kernels, Range rows, double* out) const {
  for (Index p = kernels.begin; p < kernels.end; ++p) {
    for (Index i = rows.begin; i < rows.end; ++i, out += cols()) {
      Vector unit(at(cols()));
      unit[at(i)] = 1.0;
      std::fill_n(out, cols(), 0.0);
      add_product(p, unit.data(), out);
    }
  }
}

Matrix RoundedBank::apply(ConstMatrixView v) const {
  Matrix result(rows() * kernels(), v.cols);
#pragma omp parallel for schedule(static, 1)
  for (Index p = 0; p < kernels(); ++p) {
    for (Index j = 0; j < v.cols; ++j) add_product(p, v.column(j).data(), result.column(j).data() + p * rows());
  }
  return result;
}

Matrix RoundedBank::apply_adjoint(ConstMatrixView g) const {
  return sum_over_kernels(kernels(), cols(), g.cols, [&](Index p, Matrix& sum) {
    for (Index j = 0; j < g.cols; ++j) add_product(p, g.column(j).data() + p * rows(), sum.column(j).data());
  });
}

}  // namespace kloom::kernels
