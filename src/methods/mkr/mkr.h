// SPDX-License-Identifier: BSD-3-Clause
//
// Multiple-kernel ridge regression: numbers, one or thousands of them, each with kernel weights of its own.
#pragma once

#include <memory>
#include <string>

#include "kloom/learner.h"
#include "kloom/part_file.h"
#include "methods/seam/option_table.h"

namespace kloom::methods {

struct MkrOptions {
  Index draws = 100;                       // points of the simplex that are tried
  std::string alpha_grid = "10^-4..10^4";  // α to choose from
  Index steps = 0;                         // of descent from the best point, for every target
  std::string weights = "draws";           // or "groups": learned in groups, with a duality gap
  std::string groups = "views";            // kernels that count together
  double mix = 1.0;                        // v of seam/weight_set.h: 1 selects groups, 0 keeps them all
  double norm = 2.0;                       // p within a group
  double tolerance = 1e-3;                 // relative duality gap
  Index iterations = 500;                  // updates of the weights of a target for a strength, at most
};

[[nodiscard]] const OptionTable<MkrOptions>& mkr_option_table();
[[nodiscard]] Learner mkr_learner();
[[nodiscard]] FitResult fit_mkr(const KernelBank& bank, const Targets& targets, const MkrOptions& options,
                                const Context& context);
[[nodiscard]] std::shared_ptr<const ModelPart> load_mkr(PartReader& file, const Model& model);

}  // namespace kloom::methods
