// SPDX-License-Identifier: BSD-3-Clause
//
// Every entry of every kernel, stored as float64 or float32, owned or mapped from a file.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/banks/computed_bank.h"
#include "kloom/bank.h"

namespace kloom::kernels {

// Memory with an owner: whatever keeps the entries alive (a vector, a mapped file, a NumPy array).
// Kernel p starts at p·rows·cols, or where `apart` says; each kernel row is contiguous.
struct DenseStore {
  // A kernel in memory that other things are in as well, times a number.
  struct Kernel {
    const double* entries = nullptr;
    double scale = 1.0;
  };

  std::shared_ptr<const void> owner;
  const double* f64 = nullptr;  // exactly one of the two is set; with kernels apart, f64 to the first of them
  const float* f32 = nullptr;
  std::vector<Kernel> apart;  // empty, or one per kernel
  // May be empty; throws FileError if that kernel's bytes are damaged.
  std::function<void(Index kernel)> verify;
  std::size_t bytes = 0;
  std::size_t shared_bytes = 0;  // of these, what given matrices hold
};

class DenseBank final : public KernelBank {
 public:
  DenseBank(DenseStore store, Index rows, Index cols, bool symmetric, std::vector<std::string> names);

  [[nodiscard]] std::string_view kind() const override { return store_.f64 != nullptr ? "dense" : "dense32"; }
  [[nodiscard]] std::size_t bytes() const override { return store_.bytes; }
  [[nodiscard]] std::size_t shared_bytes() const override { return store_.shared_bytes; }
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

  // Kernels are taken one by one, as those that were given are.
  [[nodiscard]] bool are_apart() const { return !store_.apart.empty(); }
  // Entries of a kernel without its scale.
  [[nodiscard]] const double* f64(Index kernel) const {
    return store_.apart.empty() ? store_.f64 + kernel * rows() * cols() : store_.apart[at(kernel)].entries;
  }

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
  // The parts of the bank that are one cols × (rows·kernels) matrix: passes over the bank are one BLAS call each. All
  // kernels, unless they are apart.
  struct Stack {
    ConstMatrixView entries;
    Index first_row = 0;  // in the order of all kernels' rows
    double scale = 1.0;
  };
  [[nodiscard]] std::vector<Stack> stacks() const;
  [[nodiscard]] const float* f32(Index kernel) const { return store_.f32 + kernel * rows() * cols(); }
  [[nodiscard]] double scale(Index kernel) const {
    return store_.apart.empty() ? 1.0 : store_.apart[at(kernel)].scale;
  }

  DenseStore store_;
};

// Evaluates every entry of `source` into float64 or float32 memory. Given matrices that the source answers with, or
// multiples of them, are not copied into float64 but shared.
[[nodiscard]] std::unique_ptr<DenseBank> materialise(const KernelBank& source, Range kernels, bool float32,
                                                     const Context& context);

// What materialise takes for the kernels that it does not share.
[[nodiscard]] std::size_t materialised_bytes(const KernelBank& source, Range kernels, bool float32);
// The given matrix that kernel p of the bank is a multiple of; empty where it is none.
[[nodiscard]] GivenKernel given_kernel(const KernelBank& bank, Index p);

}  // namespace kloom::kernels
