// SPDX-License-Identifier: BSD-3-Clause
#include "methods/seam/some_samples.h"

#include <algorithm>
#include <vector>

#include "data/folds.h"
#include "kernels/banks/gated_bank.h"

namespace kloom::methods {
namespace {

// The code that every class has in the small problem; −1 for those that are left out.
std::vector<int> new_codes(const Targets& targets, const std::vector<Index>& chosen, Index least) {
  std::vector<Index> counts(targets.classes.size());
  for (const Index i : chosen) ++counts[at(targets.codes[at(i)])];
  std::vector<int> codes;
  int next = 0;
  codes.reserve(counts.size());
  for (const Index count : counts) codes.push_back(count < least ? -1 : next++);
  return codes;
}

}  // namespace

SomeSamples some_samples(const KernelBank& bank, const Targets& targets, Index most, Index least,
                         std::uint64_t seed) {
  std::vector<Index> labelled;
  std::vector<int> strata;
  for (Index i = 0; i < targets.samples(); ++i) {
    const bool weighs = targets.weights.empty() || targets.weights[at(i)] > 0.0;
    if (!weighs || targets.codes[at(i)] == Targets::unlabelled) continue;
    labelled.push_back(i);
    strata.push_back(targets.codes[at(i)]);
  }
  std::vector<Index> chosen = data::spread_samples(labelled, strata, most, seed);
  const std::vector<int> codes = new_codes(targets, chosen, least);
  std::erase_if(chosen, [&](Index i) { return codes[at(targets.codes[at(i)])] < 0; });

  SomeSamples some;
  for (std::size_t c = 0; c < codes.size(); ++c) {
    if (codes[c] >= 0) some.targets.classes.push_back(targets.classes[c]);
  }
  some.targets.task = some.targets.classes.size() == 2 ? Task::binary : Task::multiclass;
  for (const Index i : chosen) {
    some.targets.codes.push_back(codes[at(targets.codes[at(i)])]);
    if (!targets.weights.empty()) some.targets.weights.push_back(targets.weights[at(i)]);
  }
  if (some.targets.classes.size() < 2) return some;
  const auto n = std::ssize(chosen);
  const auto entries = std::make_shared<Vector>(at(bank.kernels() * n * n));
  bank.entries(chosen, chosen, entries->data());
  some.bank = make_dense_bank(BorrowedKernels{entries->data(), n, n, entries}, bank.names(), true);
  if (bank.presence().complete()) return some;
  Matrix presence(n, bank.kernels());
  for (Index p = 0; p < bank.kernels(); ++p) {
    for (Index i = 0; i < n; ++i) presence(i, p) = bank.presence().rows(chosen[at(i)], p);
  }
  some.bank = std::make_unique<kernels::GatedBank>(std::move(some.bank), Presence{presence, presence});
  return some;
}

}  // namespace kloom::methods
