// SPDX-License-Identifier: BSD-3-Clause
//
// How sure BEMKL may be. A variational posterior is narrower than the true one and the margin ν sharpens
// probabilities further, so on noisy data they promise too much, and on clean data of many classes too
// little. Samples that a fit has not seen tell by how much.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "kloom/bank.h"
#include "kloom/model.h"
#include "kloom/targets.h"

namespace kloom::methods {

struct BemklCalibration {
  double temperature = 1.0;  // BemklPosterior::temperature
  double before = 0.0;       // mean −log p of held-out samples without it
  double after = 0.0;
};

// The model without these samples.
using BemklFit = std::function<std::optional<Model>(std::span<const Index> gone)>;

// `fit` is asked for three models, each without a third of the labelled samples. Empty if a class has too few
// samples for that, or a model is.
[[nodiscard]] std::optional<BemklCalibration> calibrate_bemkl(const KernelBank& bank, const Targets& targets,
                                                              const BemklFit& fit, const Context& context);

}  // namespace kloom::methods
