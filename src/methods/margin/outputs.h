// SPDX-License-Identifier: BSD-3-Clause
//
// What a task is made of for margin methods: problems of one output each, on all samples.
//
//   two classes       one output
//   several classes   one output per class (one-versus-rest) or per pair (one-versus-one)
//   regression        the standardised target
//
// A sample that a problem leaves out (of neither class of a pair, of a held-out fold) has box 0: it cannot
// become a support vector and has no loss, as if it were absent, and is still scored.
#pragma once

#include <string>
#include <vector>

#include "kloom/parts.h"
#include "methods/margin/mkl.h"

namespace kloom::methods {

struct MarginOutput {
  MarginTask task;         // with C = 1: box holds sample weights
  std::vector<int> codes;  // strata for folds
};

// `balanced`: the classes of an output have the same total weight.
[[nodiscard]] std::vector<MarginOutput> class_outputs(const Targets& targets, bool balanced);
// `pairs`: positive and negative class of each output.
[[nodiscard]] std::vector<MarginOutput> pair_outputs(const Targets& targets, bool balanced, Matrix& pairs);
// Centre and scale go into `part`.
[[nodiscard]] MarginOutput regression_output(const Targets& targets, double epsilon, MarginPart& part);

[[nodiscard]] MarginTask with_price(const MarginTask& task, double c);
[[nodiscard]] MarginTask without_fold(const MarginTask& task, const std::vector<Index>& folds, Index fold);
// A solution as the start for another price: the dual variables grow with their boxes, so they stay feasible
// and those at a bound stay there.
[[nodiscard]] MarginStart continued(const MarginSolution& solution, double ratio);

}  // namespace kloom::methods
