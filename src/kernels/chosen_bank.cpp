// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/chosen_bank.h"

#include <utility>

namespace kloom::kernels {
namespace {

std::vector<std::string> names_of(const KernelBank& bank, const std::vector<Index>& chosen) {
  std::vector<std::string> names;
  names.reserve(chosen.size());
  for (const Index p : chosen) names.push_back(bank.names().at(static_cast<std::size_t>(p)));
  return names;
}

}  // namespace

ChosenBank::ChosenBank(const KernelBank& bank, std::vector<Index> chosen)
    : KernelBank(bank.rows(), bank.cols(), bank.symmetric(), names_of(bank, chosen)),
      bank_(bank),
      chosen_(std::move(chosen)) {}

void ChosenBank::panels(Range kernels, Range rows, double* out) const {
  for (Index k = kernels.begin; k < kernels.end; ++k) {
    const Index p = chosen_[static_cast<std::size_t>(k)];
    bank_.panels({p, p + 1}, rows, out);
    out += rows.size() * cols();
  }
}

}  // namespace kloom::kernels
