// SPDX-License-Identifier: BSD-3-Clause
//
// Sample-adaptive MKL as a method of the registry: what is minimised is in solver.h. Two classes, or one output
// per class (one-versus-rest), each with its own kernel weights and switches.
//
// The switches of a sample are chosen with its label, so the published algorithm can collapse: all samples of a
// class switch off the same kernels, and the bias tells the classes apart in training and nowhere else.
// Therefore C, m₀ and the number of updates are chosen together by cross-validation, with m₀ = 0 (ℓ1 MKL) among
// the candidates, and the report warns of the signs.
#pragma once

#include <string>

#include "kloom/learner.h"
#include "methods/seam/option_table.h"

namespace kloom::methods {

struct SamklOptions {
  double C = 0.0;                      // price of a violation; 0: choose it from C_grid
  std::string C_grid = "10^-1..10^4";  // [Liu2014] section 5
  std::string m0 = "0..3";             // kernels that a sample may switch; several: chosen
  std::string updates = "auto";        // "one", "stop", "literal", or "auto": one or stop, chosen
  Index update_limit = 10;             // of the switches
  std::string h0 = "all";              // where the switches begin: "all", "l1", or 0s and 1s
  std::string margins = "updated";     // τ: "updated" (eq. 16) or "one"
  double least_margin = 0.01;          // floor of τ
  Index folds = 5;                     // of the cross-validation
  double tolerance = 1e-3;             // relative duality gap of each inner problem
  Index iterations = 500;              // updates of the kernel weights in each
  std::string class_weight = "none";
  bool probability = true;
};

[[nodiscard]] const OptionTable<SamklOptions>& samkl_option_table();
[[nodiscard]] Learner samkl_learner();
[[nodiscard]] FitResult fit_samkl(const KernelBank& bank, const Targets& targets, const SamklOptions& options,
                                  const Context& context);

}  // namespace kloom::methods
