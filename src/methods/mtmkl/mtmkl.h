// SPDX-License-Identifier: BSD-3-Clause
//
// mtmkl: several numbers that share one random function per kernel, with weights that a spike at 0 switches off
// (solver.h).
#pragma once

#include <memory>

#include "kloom/learner.h"
#include "methods/seam/option_table.h"

namespace kloom::methods {

struct MtmklOptions {
  Index iterations = 1000;
  double tolerance = 1e-7;
  double least_noise = 1e-6;
  bool rescale = true;
  bool variance = true;  // keep what deviations of predictions need
};

[[nodiscard]] const OptionTable<MtmklOptions>& mtmkl_option_table();
[[nodiscard]] Learner mtmkl_learner();
[[nodiscard]] FitResult fit_mtmkl(const KernelBank& bank, const Targets& targets, const MtmklOptions& options,
                                  const Context& context);
[[nodiscard]] std::shared_ptr<const ModelPart> load_mtmkl(PartReader& file, const Model& model);

}  // namespace kloom::methods
