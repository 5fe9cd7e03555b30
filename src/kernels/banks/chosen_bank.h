// SPDX-License-Identifier: BSD-3-Clause
//
// Some kernels of another bank, in an order of one's own. Entries are those of the other bank; `store_bank`
// makes a bank of its own of it where passes should cost no more than the chosen kernels do.
#pragma once

#include <vector>

#include "kloom/bank.h"

namespace kloom::kernels {

class ChosenBank final : public KernelBank {
 public:
  // It must not outlive `bank`.
  ChosenBank(const KernelBank& bank, std::vector<Index> chosen);

  [[nodiscard]] std::string_view kind() const override { return bank_.kind(); }
  [[nodiscard]] std::size_t bytes() const override { return 0; }
  void panels(Range kernels, Range rows, double* out) const override;
  [[nodiscard]] const KernelBank& bank() const { return bank_; }
  [[nodiscard]] Index kernel(Index p) const { return chosen_[at(p)]; }

 private:
  const KernelBank& bank_;
  std::vector<Index> chosen_;
};

}  // namespace kloom::kernels
