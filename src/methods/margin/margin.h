// SPDX-License-Identifier: BSD-3-Clause
//
// The margin methods of the registry: uniform weights, the best single kernel, SimpleMKL (ℓ1), ℓp-norm MKL, weights in
// groups, and weights by a rule before the machine (EasyMKL, GRAM, PWMK, alignment). They differ in how kernel weights are
// found (mkl.h, methods/twostep/rules.h); tasks, choice of C and probabilities are the same for all.
//
//   two classes       one output
//   several classes   one output per class (one-versus-rest) or per pair (one-versus-one), each with its own
//                     kernel weights
//   regression        ε-insensitive loss on the standardised target
#pragma once

#include <string>
#include <string_view>

#include "kloom/learner.h"
#include "methods/margin/mkl.h"
#include "methods/seam/option_table.h"

namespace kloom::methods {

struct MarginOptions {
  double C = 0.0;                              // price of a violation of the margin; 0: choose it from C_grid
  std::string C_grid = "10^-2..10^3";          // values to choose C from by cross-validation
  Index folds = 3;                             // of that cross-validation and of probabilities
  double norm = 2.0;                           // p (lp-mkl), within a group
  std::string groups = "views";                // kernels that count together (group-mkl)
  std::string simple_groups = "none";          // the same (simplemkl)
  std::string lp_groups = "all";               // and (lp-mkl)
  double mix = 1.0;                            // v: 1 selects groups, 0 keeps them all
  double lambda = 0.1;                         // share of ‖γ‖² (easymkl), of the ridge (gram)
  double threshold = 0.5;                      // accuracy that is worth nothing (pwmk)
  double single_C = 1.0;                       // C of the machines on single kernels (pwmk)
  double epsilon = 0.1;                        // half width of the tube, in standard deviations of the target
  double tolerance = 1e-3;                     // relative duality gap
  Index iterations = 500;                      // updates of the kernel weights, at most
  std::string algorithm = "second-order";      // or "reduced-gradient", "silp", "level" (simplemkl)
  std::string multiclass = "one-versus-rest";  // or "one-versus-one"
  std::string class_weight = "none";           // or "balanced"
  Index candidates = 5;                        // kernels that are cross-validated (single); 0: all
  bool probability = true;                     // fit probabilities on held-out folds
};

// Those from easymkl on find their weights by a rule before the machine.
enum class MarginMethod {
  uniform,
  single,
  simplemkl,
  lp_mkl,
  group_mkl,
  easymkl,
  gram,
  align,
  alignf,
  fheuristic,
  pwmk
};

[[nodiscard]] const char* name_of(MarginMethod method);
// What --algorithm says.
[[nodiscard]] WeightRule l1_rule(std::string_view algorithm);
[[nodiscard]] const OptionTable<MarginOptions>& margin_option_table(MarginMethod method);
[[nodiscard]] Learner margin_learner(MarginMethod method);
[[nodiscard]] FitResult fit_margin(MarginMethod method, const KernelBank& bank, const Targets& targets,
                                   const MarginOptions& options, const Context& context);

}  // namespace kloom::methods
