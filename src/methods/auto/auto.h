// SPDX-License-Identifier: BSD-3-Clause
//
// auto: which kernels, how strong, and how much of each answer, by what is held out.
//
//   screen      every kernel alone, by the leave-one-out loss of ridge regression on some samples
//   candidates  weights over kernels: the best of each kind, sums of the best, the best of every group (view, column),
//               the mean of all, and weights of greatest evidence (gpmkl)
//   machines    for each, kernel logistic regression and ridge regression with their best strengths (machine.h)
//   blend       f(x) = Σ_c s_c f_c(x) + b with s ≥ 0 of least held-out loss; candidates without a share are dropped
//
// A margin or a training objective cannot choose the width of a kernel: the narrowest separates everything. Losses on
// samples that were held out can. Everything here uses training samples only.
#pragma once

#include <string>

#include "kloom/learner.h"
#include "methods/seam/option_table.h"

namespace kloom::methods {

struct AutoOptions {
  double time = 0.0;      // seconds, about; 0: 60, of few samples 20
  Index folds = 0;        // of the held-out losses of logistic regression; 0: 5, of few samples 10
  Index landmarks = 0;    // samples that carry a coefficient, at most; 0: 1,500
  Index screen_on = 350;  // samples on which single kernels are compared
  std::string machines;   // what to fit without choosing (chosen.h); empty: choose
};

[[nodiscard]] const OptionTable<AutoOptions>& auto_option_table();
[[nodiscard]] Learner auto_learner();
[[nodiscard]] FitResult fit_auto(const KernelBank& bank, const Targets& targets, const AutoOptions& options,
                                 const Context& context);

}  // namespace kloom::methods
