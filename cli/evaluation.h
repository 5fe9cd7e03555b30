// SPDX-License-Identifier: BSD-3-Clause
//
// Data that a model is asked about: how to read it, and how the model did where labels are known.
#pragma once

#include <optional>

#include "console.h"
#include "dataset_options.h"
#include "kloom/evaluate.h"
#include "kloom/model.h"

namespace kloom::cli {

// The options' files, read as the model needs them: its target, and its text columns as text.
[[nodiscard]] DatasetRequest request_for_model(const Model& model, const DatasetOptions& options,
                                               bool target_required);

// Nothing if no sample has a label that the model knows; labels it does not know are warned about.
[[nodiscard]] std::optional<Evaluation> evaluate_labelled(const Model& model, const Predictions& predictions,
                                                          const Dataset& data, Console& console);

}  // namespace kloom::cli
