// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/spec/teachers.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "data/folds.h"
#include "kernels/spec/relevance.h"
#include "kernels/spec/taught_trees.h"

namespace kloom::kernels {
namespace {

constexpr std::string_view kTreesOf = "trees(";
constexpr std::string_view kFoldsOf = ", folds=";
constexpr std::string_view kWithout = ", without=";

bool of_trees(std::string_view name, bool folds) {
  return name.starts_with(kTreesOf) && (name.find(kFoldsOf) != std::string_view::npos) == folds;
}

Index folds_in(std::string_view name) {
  const std::string_view number = name.substr(name.find(kFoldsOf) + kFoldsOf.size());
  Index folds = 0;
  std::from_chars(number.data(), number.data() + number.size(), folds);
  return folds;
}

}  // namespace

std::vector<Index> labelled_samples(const Targets& targets) {
  std::vector<Index> found;
  for (Index i = 0; i < targets.samples(); ++i) {
    const bool weighs = targets.weights.empty() || targets.weights[at(i)] > 0.0;
    if (weighs && (targets.codes.empty() || targets.codes[at(i)] != Targets::unlabelled)) found.push_back(i);
  }
  return found;
}

std::vector<Index> teachers(const Targets& targets, double share, Index most) {
  constexpr std::uint64_t kSeed = 5;
  const std::vector<Index> among = labelled_samples(targets);
  const auto part = static_cast<Index>(share * static_cast<double>(among.size()));
  std::vector<int> codes;
  codes.reserve(among.size());
  for (const Index i : among) codes.push_back(targets.codes.empty() ? 0 : targets.codes[at(i)]);
  return data::spread_samples(among, codes, std::min(most, part), kSeed);
}

std::vector<CrossTaught> cross_taught(const std::vector<std::string>& kernel_names) {
  std::vector<CrossTaught> found;
  for (Index p = 0; p < std::ssize(kernel_names); ++p) {
    const std::string_view name = kernel_names[at(p)];
    if (!of_trees(name, true)) continue;
    // Kernels without a fold follow that of all samples.
    if (name.find(kWithout) == std::string_view::npos) {
      found.push_back({p, folds_in(name), {}});
    } else if (!found.empty()) {
      found.back().without.push_back(p);
    }
  }
  // Kernels may have been picked out of such a family: then nothing judges the one of all samples.
  std::erase_if(found, [](const CrossTaught& kernel) {
    const auto judged = std::ssize(kernel.without);
    return kernel.folds < 2 || (judged != 1 && judged != kernel.folds);
  });
  return found;
}

std::vector<Index> teachers_of(const std::vector<std::string>& kernel_names, const Targets& targets) {
  const auto any = [&](auto&& matches) { return std::ranges::any_of(kernel_names, matches); };
  // The teachers of trees are more than those of relevance, and these are among them.
  if (any([](const std::string& name) { return of_trees(name, false); })) return tree_samples(targets);
  if (any([](const std::string& name) { return name.find("scale=relevance") != std::string::npos; }))
    return relevance_samples(targets);
  return {};
}

}  // namespace kloom::kernels
