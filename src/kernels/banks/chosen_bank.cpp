// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/banks/chosen_bank.h"

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

// Neighbours together: kernels on the same features share what they are computed from.
void ChosenBank::panels(Range kernels, Range rows, double* out) const {
  const auto kernel = [this](Index k) { return chosen_[static_cast<std::size_t>(k)]; };
  for (Index k = kernels.begin; k < kernels.end;) {
    Range run{kernel(k), kernel(k) + 1};
    while (++k < kernels.end && kernel(k) == run.end) ++run.end;
    bank_.panels(run, rows, out);
    out += run.size() * rows.size() * cols();
  }
}

}  // namespace kloom::kernels
