// SPDX-License-Identifier: BSD-3-Clause
//
// The part of margin models, for the methods that build on it.
#pragma once

#include <memory>

#include "kloom/part_file.h"
#include "kloom/parts.h"

namespace kloom::methods {

// Fills the margin part of a file's model into `part`.
void load_margin_part(PartReader& file, MarginPart& part);
[[nodiscard]] std::shared_ptr<const ModelPart> load_margin(PartReader& file, const Model& model);

// Scores and contributions of samples that lack kernels, in units of their own margins.
void divide_by_own_margins(const MarginPart& part, const KernelBank& bank, Predictions& result);

// Classes from the scores and, where the model has curves, their probabilities.
void add_margin_classes(const Model& model, const PredictOptions& options, Predictions& result);

}  // namespace kloom::methods
