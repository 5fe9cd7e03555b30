// SPDX-License-Identifier: BSD-3-Clause
//
// The referee's view of a margin model: primal, dual and their gap, which is a proof.
#pragma once

#include <vector>

#include "kloom/certify.h"
#include "kloom/parts.h"

namespace kloom::certify_detail {

// Of one output, or of all of them: sums of the objectives, the worst of the rest.
struct MarginFinding {
  double primal = 0.0;
  double dual = 0.0;
  double gap = 0.0;          // relative
  double infeasible = 0.0;   // of the coefficients, relative to their size
  double kkt = 0.0;          // largest violation of complementary slackness, in units of the labels
  double weights = 0.0;      // kernel weights below 0, or with another norm than they must have
  bool own_margins = false;  // some samples lack kernels
  double margins = 0.0;      // distance of their τ from what the weights say
};
[[nodiscard]] MarginFinding examine_margin(const KernelBank& bank, const Targets& targets, const Model& model);
[[nodiscard]] std::vector<Certificate::Item> items_of(const MarginFinding& total);

[[nodiscard]] Certificate certify_margin(const KernelBank& bank, const Targets& targets, const Model& model,
                                         const Context& context);

}  // namespace kloom::certify_detail
