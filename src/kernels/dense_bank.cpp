// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/dense_bank.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "algebra/blas.h"
#include "base/progress.h"
#include "kloom/error.h"

namespace kloom::kernels {

using algebra::Op;

DenseBank::DenseBank(DenseStore store, Index rows, Index cols, bool symmetric, std::vector<std::string> names)
    : KernelBank(rows, cols, symmetric, std::move(names)), store_(std::move(store)) {
  if ((store_.f64 == nullptr) == (store_.f32 == nullptr)) {
    throw InternalError("a dense bank needs exactly one of float64 and float32 storage");
  }
}

void DenseBank::verify(Range kernels) const {
  if (!store_.verify) return;
  for (Index p = kernels.begin; p < kernels.end; ++p) store_.verify(p);
}

void DenseBank::panels(Range kernels, Range rows, double* out) const {
  verify(kernels);
  const Index block = rows.size() * cols();
  for (Index p = kernels.begin; p < kernels.end; ++p, out += block) {
    const Index start = (p * this->rows() + rows.begin) * cols();
    if (store_.f64 != nullptr) {
      std::copy_n(store_.f64 + start, block, out);
    } else {
      std::copy_n(store_.f32 + start, block, out);
    }
  }
}

Matrix DenseBank::diagonal() const {
  verify({0, kernels()});
  Matrix result(rows(), kernels());
  for (Index p = 0; p < kernels(); ++p) {
    for (Index i = 0; i < rows(); ++i) {
      const Index at = (p * rows() + i) * cols() + i;
      result(i, p) = store_.f64 != nullptr ? store_.f64[at] : static_cast<double>(store_.f32[at]);
    }
  }
  return result;
}

Matrix DenseBank::combine(std::span<const double> w) const {
  if (store_.f64 == nullptr) return KernelBank::combine(w);
  verify({0, kernels()});
  Matrix result(cols(), rows());
  const Index size = rows() * cols();
  // Entries × kernels, as many entries at a time as stay in cache while the kernels go by.
  constexpr Index kChunk = 4096;
#pragma omp parallel for schedule(static)
  for (Index start = 0; start < size; start += kChunk) {
    const Index n = std::min(kChunk, size - start);
    double* out = result.data() + start;
    for (Index p = 0; p < kernels(); ++p) {
      const double weight = w[static_cast<std::size_t>(p)];
      if (weight == 0.0) continue;
      const double* in = store_.f64 + p * size + start;
      for (Index i = 0; i < n; ++i) out[i] += weight * in[i];
    }
  }
  return result;
}

Matrix DenseBank::apply(ConstMatrixView v) const {
  if (store_.f64 == nullptr) return KernelBank::apply(v);
  verify({0, kernels()});
  Matrix result(rows() * kernels(), v.cols);
  if (v.cols == 1) {
    algebra::gemv(Op::transpose, 1.0, stack(), v.column(0), 0.0, result.column(0));
  } else {
    algebra::gemm(Op::transpose, Op::none, 1.0, stack(), v, 0.0, result.view());
  }
  return result;
}

Matrix DenseBank::apply_adjoint(ConstMatrixView g) const {
  if (store_.f64 == nullptr) return KernelBank::apply_adjoint(g);
  verify({0, kernels()});
  Matrix result(cols(), g.cols);
  if (g.cols == 1) {
    algebra::gemv(Op::none, 1.0, stack(), g.column(0), 0.0, result.column(0));
  } else {
    algebra::gemm(Op::none, Op::none, 1.0, stack(), g, 0.0, result.view());
  }
  return result;
}

Matrix DenseBank::gram() const {
  if (store_.f64 == nullptr) return KernelBank::gram();
  verify({0, kernels()});
  Matrix result(cols(), cols());
  algebra::syrk(Op::none, 1.0, stack(), 0.0, result.view());
  return result;
}

namespace {

// Fills `out` row block by row block, so that the temporary is a few megabytes and the caller can stop.
template <typename Real>
void fill(const KernelBank& source, Range kernels, Real* out, ProgressMeter& meter) {
  const Index rows = source.rows();
  const Index cols = source.cols();
  const Index block = std::clamp<Index>((Index{1} << 20) / std::max<Index>(1, cols * kernels.size()), 1, rows);
  Vector buffer(static_cast<std::size_t>(block * cols * kernels.size()));
  for (Index i = 0; i < rows; i += block) {
    const Range part{i, std::min(rows, i + block)};
    source.panels(kernels, part, buffer.data());
    const double* from = buffer.data();
    for (Index p = 0; p < kernels.size(); ++p) {
      Real* to = out + (p * rows + i) * cols;
      for (Index k = 0; k < part.size() * cols; ++k) to[k] = static_cast<Real>(from[k]);
      from += part.size() * cols;
    }
    // Half a bank is of no use: a wish to stop ends the run here.
    if (meter.step(part.end, rows, std::numeric_limits<double>::quiet_NaN())) {
      throw Interrupted("stopped while kernels were being computed");
    }
  }
}

template <typename Real>
DenseStore make_store(const KernelBank& source, Range kernels, const Context& context,
                      const Real* DenseStore::*member) {
  const auto size = static_cast<std::size_t>(kernels.size() * source.rows() * source.cols());
  // Not value-initialised: the pages are touched once, by the fill.
  std::shared_ptr<Real[]> memory(new Real[size]);
  ProgressMeter meter(context, "kernels");
  fill(source, kernels, memory.get(), meter);
  DenseStore store;
  store.*member = memory.get();
  store.owner = std::move(memory);
  store.bytes = size * sizeof(Real);
  return store;
}

}  // namespace

std::unique_ptr<DenseBank> materialise(const KernelBank& source, Range kernels, bool float32,
                                       const Context& context) {
  std::vector<std::string> names(source.names().begin() + kernels.begin, source.names().begin() + kernels.end);
  DenseStore store = float32 ? make_store<float>(source, kernels, context, &DenseStore::f32)
                             : make_store<double>(source, kernels, context, &DenseStore::f64);
  return std::make_unique<DenseBank>(std::move(store), source.rows(), source.cols(), source.symmetric(),
                                     std::move(names));
}

}  // namespace kloom::kernels

namespace kloom {

std::unique_ptr<KernelBank> make_dense_bank(const std::vector<Matrix>& kernels, std::vector<std::string> names,
                                            bool symmetric) {
  if (kernels.empty()) throw InvalidArgument("a kernel bank needs at least one kernel; none was given");
  if (names.size() != kernels.size()) {
    throw InvalidArgument("a kernel bank needs one name per kernel: " + std::to_string(kernels.size()) +
                          " kernels and " + std::to_string(names.size()) + " names were given");
  }
  const Index rows = kernels.front().rows();
  const Index cols = kernels.front().cols();
  auto memory = std::make_shared<Vector>();
  memory->reserve(static_cast<std::size_t>(rows * cols) * kernels.size());
  for (std::size_t p = 0; p < kernels.size(); ++p) {
    const Matrix& k = kernels[p];
    if (k.rows() != rows || k.cols() != cols || (symmetric && rows != cols)) {
      throw InvalidArgument("kernel '" + names[p] + "' is " + std::to_string(k.rows()) + " x " +
                            std::to_string(k.cols()) + "; all kernels of a bank must be " +
                            std::to_string(rows) + " x " + std::to_string(symmetric ? rows : cols));
    }
    double largest = 0.0;
    for (double value : k.values()) {
      if (!std::isfinite(value))
        throw InvalidArgument("kernel '" + names[p] + "' has an entry that is not finite");
      largest = std::max(largest, std::abs(value));
    }
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < cols; ++j) {
        if (symmetric && std::abs(k(i, j) - k(j, i)) > 1e-8 * largest) {
          throw InvalidArgument("kernel '" + names[p] + "' is not symmetric at row " + std::to_string(i + 1) +
                                ", column " + std::to_string(j + 1));
        }
        memory->push_back(k(i, j));
      }
    }
  }
  kernels::DenseStore store;
  store.f64 = memory->data();
  store.bytes = memory->size() * sizeof(double);
  store.owner = std::move(memory);
  return std::make_unique<kernels::DenseBank>(std::move(store), rows, cols, symmetric, std::move(names));
}

}  // namespace kloom
