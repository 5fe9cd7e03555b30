// SPDX-License-Identifier: BSD-3-Clause
//
// Every entry of every kernel, stored as float64 or float32, owned or mapped from a file.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kloom/bank.h"

namespace kloom::kernels {

// Memory with an owner: whatever keeps the entries alive (a vector, a mapped file, a NumPy array).
// Kernel p starts at p·rows·cols; each kernel row is contiguous.
struct DenseStore {
  std::shared_ptr<const void> owner;
  const double* f64 = nullptr;  // exactly one of the two is set
  const float* f32 = nullptr;
  std::function<void(Index kernel)>
      verify;  // may be empty; throws FileError if that kernel's bytes are damaged
  std::size_t bytes = 0;
};

class DenseBank final : public KernelBank {
 public:
  DenseBank(DenseStore store, Index rows, Index cols, bool symmetric, std::vector<std::string> names);

  [[nodiscard]] std::string_view kind() const override { return store_.f64 != nullptr ? "dense" : "dense32"; }
  [[nodiscard]] std::size_t bytes() const override { return store_.bytes; }
  void panels(Range kernels, Range rows, double* out) const override;
  [[nodiscard]] Matrix diagonal() const override;
  void combine_rows(std::span<const double> w, std::span<const Index> rows, MatrixView out) const override;
  void add_combination(std::span<const double> w, MatrixView out) const override;
  [[nodiscard]] Matrix apply_chosen(std::span<const Index> rows, std::span<const Index> cols,
                                    ConstMatrixView c) const override;
  [[nodiscard]] Matrix apply(ConstMatrixView v) const override;
  [[nodiscard]] Matrix apply_each(ConstMatrixView v) const override;
  [[nodiscard]] Matrix apply_adjoint(ConstMatrixView g) const override;
  [[nodiscard]] Matrix gram() const override;

 private:
  void verify(Range kernels) const;
  // Kernels with a weight.
  [[nodiscard]] std::vector<Index> used(std::span<const double> w) const;
  // out += Σ_p w_p K_p(i, ·) over the kernels `used`; float64 only.
  void add_combined_row(std::span<const double> w, const std::vector<Index>& used, Index i,
                        std::span<double> out) const;
  [[nodiscard]] Matrix gathered_products(std::span<const Index> rows, std::span<const Index> cols,
                                         ConstMatrixView c) const;
  [[nodiscard]] Matrix symmetric_row_products(std::span<const Index> rows, ConstMatrixView v) const;
  [[nodiscard]] Matrix row_products(std::span<const Index> rows, ConstMatrixView v) const;
  template <typename VectorOf>
  void symmetric_products(VectorOf vector, double* out) const;
  // All kernels as one cols × (rows·P) matrix: the passes over the bank are single BLAS calls on it.
  [[nodiscard]] ConstMatrixView stack() const { return {store_.f64, cols(), rows() * kernels(), cols()}; }

  DenseStore store_;
};

// Evaluates every entry of `source` into float64 or float32 memory.
[[nodiscard]] std::unique_ptr<DenseBank> materialise(const KernelBank& source, Range kernels, bool float32,
                                                     const Context& context);

}  // namespace kloom::kernels
