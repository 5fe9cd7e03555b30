// SPDX-License-Identifier: BSD-3-Clause
#include "methods/auto/candidates.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace kloom::methods {
namespace {

constexpr std::string_view kByRelevance = " by relevance";
constexpr std::string_view kTrees = "trees";

}  // namespace

KernelLabel label_of(const std::string& kernel_name) {
  const std::size_t on = kernel_name.find(" on ");
  const std::string function = kernel_name.substr(0, on);
  KernelLabel label;
  label.kind = function.substr(0, function.find('('));
  // A degree is no width: squares fit where cubes overfit, and the other way round, whatever their scale. Likewise the
  // leaves of trees.
  if (label.kind == "poly" || label.kind == kTrees) label.kind = function;
  if (function.find("scale=relevance") != std::string::npos) label.kind += kByRelevance;
  label.group = on == std::string::npos ? kernel_name : kernel_name.substr(on + 4);
  return label;
}

namespace {

class Proposals {
 public:
  Proposals(const std::vector<std::string>& names, std::span<const double> losses,
            std::span<const double> diagonals)
      : losses_(losses), diagonals_(diagonals) {
    for (Index p = 0; p < std::ssize(names); ++p) {
      if (std::isfinite(losses[at(p)])) order_.push_back(p);
      labels_.push_back(label_of(names[at(p)]));
    }
    std::ranges::stable_sort(order_, {}, [&](Index p) { return losses_[at(p)]; });
    for (const Index p : order_) {
      ++groups_[labels_[at(p)].group];
      ++kinds_[labels_[at(p)].kind];
    }
  }

  // The sum of these kernels, each divided by its mean diagonal.
  void add(const std::string& name, const std::vector<Index>& kernels) {
    if (kernels.empty()) return;
    Candidate candidate{name, Vector(losses_.size())};
    const auto count = static_cast<double>(kernels.size());
    for (const Index p : kernels)
      candidate.weights[at(p)] = 1.0 / (count * std::max(diagonals_[at(p)], 1e-300));
    const auto same = [&](const Candidate& other) { return other.weights == candidate.weights; };
    if (std::ranges::none_of(found_, same)) found_.push_back(std::move(candidate));
  }

  [[nodiscard]] std::vector<Index> best(Index count) const {
    return {order_.begin(), order_.begin() + std::min(count, std::ssize(order_))};
  }

  // The best `count` kernels of every group (view or column).
  [[nodiscard]] std::vector<Index> best_of_groups(Index count) const {
    std::map<std::string, Index> taken;
    std::vector<Index> kernels;
    for (const Index p : order_) {
      if (taken[labels_[at(p)].group]++ < count) kernels.push_back(p);
    }
    return kernels;
  }

  // The best kernel of every kind that `wanted` names, best kind first.
  template <typename Wanted>
  void add_kinds(Wanted&& wanted) {
    std::map<std::string, bool> seen;
    for (const Index p : order_) {
      const std::string& kind = labels_[at(p)].kind;
      if (!std::exchange(seen[kind], true) && wanted(kind, losses_[at(p)])) add("best " + kind, {p});
    }
  }
  [[nodiscard]] double least_loss() const { return order_.empty() ? 0.0 : losses_[at(order_.front())]; }

  // For every kind the sum over the groups that have it, each with the best parameter for it: an additive model.
  void add_sums_over_groups() {
    for (const auto& [kind, count] : kinds_) {
      std::map<std::string, bool> seen;
      std::vector<Index> kernels;
      for (const Index p : order_) {
        if (labels_[at(p)].kind == kind && !std::exchange(seen[labels_[at(p)].group], true))
          kernels.push_back(p);
      }
      if (kernels.size() > 2) add("sum of " + kind + " over groups", kernels);
    }
  }

  [[nodiscard]] bool several_groups() const { return groups_.size() > 1; }
  [[nodiscard]] const std::vector<Index>& all() const { return order_; }
  [[nodiscard]] std::vector<Candidate> take(Index most) && {
    if (std::ssize(found_) > most) found_.resize(at(most));
    return std::move(found_);
  }

 private:
  std::span<const double> losses_;
  std::span<const double> diagonals_;
  std::vector<KernelLabel> labels_;
  std::vector<Index> order_;  // kernels of use, best first
  std::map<std::string, Index> groups_;
  std::map<std::string, Index> kinds_;
  std::vector<Candidate> found_;
};

}  // namespace

std::vector<Candidate> propose_candidates(const std::vector<std::string>& kernel_names,
                                          std::span<const double> losses, std::span<const double> diagonals,
                                          Index most) {
  Proposals proposals(kernel_names, losses, diagonals);
  proposals.add("sum of the best 5", proposals.best(5));
  // Kernels that learned from labels are worth a try whatever the few samples of the screening say.
  proposals.add_kinds(
      [](const std::string& kind, double) { return kind.ends_with(kByRelevance) || kind.starts_with(kTrees); });
  proposals.add("best kernel", proposals.best(1));
  if (proposals.several_groups()) {
    proposals.add("best of every group", proposals.best_of_groups(1));
    proposals.add("best 3 of every group", proposals.best_of_groups(3));
  }
  // Kinds that are far behind alone come last: there may be no time for them.
  const double near = 1.3 * proposals.least_loss();
  proposals.add_kinds([&](const std::string&, double loss) { return loss <= near; });
  proposals.add("mean of all", proposals.all());
  proposals.add_sums_over_groups();
  proposals.add_kinds([](const std::string&, double) { return true; });
  return std::move(proposals).take(most);
}

}  // namespace kloom::methods
