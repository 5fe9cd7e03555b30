// SPDX-License-Identifier: BSD-3-Clause
//
// How sure BEMKL may be. A variational posterior is narrower than the true one and the margin ν sharpens
// probabilities further, so on noisy data they promise too much, and on clean data of many classes too
// little. Samples that a fit has not seen tell by how much: three fits go on from the one that is kept, each
// without a third of the labelled samples.
#include <algorithm>
#include <functional>

#include "kloom/error.h"
#include "methods/bemkl/bemkl.h"
#include "methods/seam/prepared_targets.h"
#include "models/scores.h"

namespace kloom::methods {
namespace {

constexpr std::size_t kFolds = 3;

// Lets the factors go on without these samples; false if they lost a matrix.
bool refit(std::vector<BemklFactors>& factors, std::span<const Index> gone, const BemklOptions& options,
           const Context& context) {
  for (BemklFactors& one : factors) {
    one.leave_out(gone);
    if (!one.iterate_from_intermediate()) return false;
    const Status status = run_bemkl(one, options, context).status;
    if (status == Status::numerical_trouble) return false;
    if (status == Status::stopped) throw Interrupted("stopped in a fold");
  }
  return true;
}

}  // namespace

// The samples of a class take turns from the most typical to the least, by the sum of all kernels with all samples: an
// order that does not depend on that in which they came.
std::vector<std::vector<Index>> bemkl_folds(const KernelBank& bank, const Targets& targets) {
  const Index n = bank.rows();
  const bool classes = models::has_codes(targets.task);
  Matrix present(n, 1);
  for (Index i = 0; i < n; ++i) present(i, 0) = weight_of(targets, i) > 0.0 ? 1.0 : 0.0;
  const Matrix similar = bank.apply(present.view());
  Vector typical(at(n));
  for (Index k = 0; k < similar.rows(); ++k) typical[at(k % n)] += similar(k, 0);
  std::vector<Index> order = models::all_of(n);
  std::ranges::sort(order, std::greater(), [&](Index i) { return typical[at(i)]; });
  std::vector<std::vector<Index>> folds(kFolds);
  std::vector<std::size_t> seen(classes ? targets.classes.size() : 1);
  for (const Index i : order) {
    const int code = classes ? targets.codes[at(i)] : 0;
    if (code != Targets::unlabelled && present(i, 0) > 0.0) folds[seen[at(code)]++ % kFolds].push_back(i);
  }
  if (std::ranges::any_of(seen, [](std::size_t count) { return count < kFolds; })) folds.clear();
  return folds;
}

HeldOut bemkl_held_out(const KernelBank& bank, const Targets& targets, const BemklPlan& plan,
                       const std::vector<BemklFactors>& factors, const BemklOptions& options,
                       const Context& context) {
  BemklOptions rough = options;  // fits of folds settle less exactly
  rough.tolerance = std::max(options.tolerance, 1e-4);
  HeldOut held_out;
  for (const std::vector<Index>& gone : bemkl_folds(bank, targets)) {
    std::vector<BemklFactors> rest = factors;
    if (!refit(rest, gone, rough, context)) return {};
    const Model model = bemkl_model(bank, targets, plan, rest, rough);
    const Predictions predictions = predict(model, bank, {}, context);
    for (const Index i : gone) held_out.add(targets, i, predictions, i);
  }
  return held_out;
}

}  // namespace kloom::methods
