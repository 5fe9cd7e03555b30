// SPDX-License-Identifier: BSD-3-Clause
//
// Which samples are learned from and which are kept aside to be tested on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kloom/context.h"
#include "kloom/matrix.h"
#include "kloom/targets.h"

namespace kloom {

struct Split {
  Index repeat = 0;
  Index fold = 0;
  std::vector<Index> train;  // ascending
  std::vector<Index> test;   // ascending
  friend bool operator==(const Split&, const Split&) = default;
};

struct SplitRequest {
  enum class Kind { folds, holdout, given };
  Kind kind = Kind::folds;
  Index folds = 5;
  Index repeats = 1;                // folds, holdout: so many times, shuffled anew
  double test_share = 0.3;          // holdout
  std::vector<std::string> groups;  // per sample, or empty: samples of one group are never on both sides
  // given: the part that each sample belongs to. Every part is tested once, with all others to learn from;
  // the parts "train" and "" are never tested.
  std::vector<std::string> given;
};

// Classes are spread evenly over folds and holdouts, as far as groups allow. Samples without a label are never
// tested and always learned from. The same request and seed give the same splits on every machine.
//
// Throws InvalidArgument: fewer labelled samples or groups than folds, numbers out of range, a part that leaves
// nothing to learn from. Throws ResourceError, before it takes any memory, where the splits would not fit the budget.
[[nodiscard]] std::vector<Split> make_splits(const Targets& targets, const SplitRequest& request,
                                             const Context& context);
// The same in a default context with this seed.
[[nodiscard]] std::vector<Split> make_splits(const Targets& targets, const SplitRequest& request,
                                             std::uint64_t seed);

}  // namespace kloom
