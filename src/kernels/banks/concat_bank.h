// SPDX-License-Identifier: BSD-3-Clause
//
// Several banks over the same samples as one bank.
#pragma once

#include <memory>
#include <vector>

#include "kloom/bank.h"

namespace kloom::kernels {

struct BankPart {
  std::shared_ptr<const KernelBank> bank;
  std::vector<Index> kernels;  // place of each of its kernels in the whole
};

class ConcatBank final : public KernelBank {
 public:
  // The places of all parts together must be 0 … P−1, each once.
  explicit ConcatBank(std::vector<BankPart> parts);

  [[nodiscard]] std::string_view kind() const override { return kind_; }
  [[nodiscard]] std::size_t bytes() const override;
  [[nodiscard]] std::size_t shared_bytes() const override;
  void panels(Range kernels, Range rows, double* out) const override;
  [[nodiscard]] Matrix diagonal() const override;
  void combine_rows(std::span<const double> w, std::span<const Index> rows, MatrixView out) const override;
  void add_combination(std::span<const double> w, MatrixView out) const override;
  [[nodiscard]] Matrix apply(ConstMatrixView v) const override;
  [[nodiscard]] Matrix apply_each(ConstMatrixView v) const override;
  [[nodiscard]] Matrix apply_adjoint(ConstMatrixView g) const override;
  [[nodiscard]] Matrix quadratic_forms(ConstMatrixView c) const override;
  [[nodiscard]] Matrix gram() const override;
  [[nodiscard]] std::unique_ptr<Combination> combination(ConstMatrixView w, std::size_t memory) const override;
  [[nodiscard]] bool combines_cheaply() const override;
  [[nodiscard]] bool combines_by_rows() const override;
  void entries(std::span<const Index> rows, std::span<const Index> cols, double* out) const override;
  [[nodiscard]] Matrix apply_chosen(std::span<const Index> rows, std::span<const Index> cols,
                                    ConstMatrixView c) const override;

  struct Place {
    Index part = 0;
    Index kernel = 0;
  };
  // Where kernel p of the whole lives.
  [[nodiscard]] const Place& place(Index p) const { return places_[at(p)]; }
  [[nodiscard]] Index parts() const { return std::ssize(parts_); }
  [[nodiscard]] const KernelBank& part(Index k) const { return *parts_[at(k)].bank; }

 private:
  [[nodiscard]] static Vector weights_of(const BankPart& part, std::span<const double> w);

  std::vector<BankPart> parts_;
  std::vector<Place> places_;
  std::string kind_;  // "low-rank + dense"
};

}  // namespace kloom::kernels
