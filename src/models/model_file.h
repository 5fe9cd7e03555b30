// SPDX-License-Identifier: BSD-3-Clause
//
// Model files: format "kloom-model", version 1. Sections of the container:
//
//   document                    U8        JSON: everything that is not a number (method, task, classes, names, …)
//   weights, weights.deviation  F64       [1 | M | N, P]; the second only where the method has it
//   coefficients, bias          F64       [N, M], [M]
//   bemkl, bemkl.*              F64       the posterior, group by group; Σ_a as lower triangles
//   margin, margin.*            F64       bounds, pairs and probability curves of margin methods
//   mcmkl.*                     F64       prices, dual point and kernels on classes of multiclass MKL
//   gate.*                      F64       gates of samples and kernels, and what they are made from
//   stochastic, stochastic.*    F64       solutions and penalties of stochastic methods
//   stream, stream.*            F64       state of a learner from a stream
//   features.*                  F64       finite features in the place of training samples
//   recipe.*                    F64, I64  numbers of the recipe (kernels/spec/recipe_file.h), where there is one
//
// Which of the middle ones there are is the affair of the method's part (kloom/parts.h); each has a section of the
// document that is called like its arrays.
//
// A reader that does not know a key or tensor refuses the file instead of predicting without it.
#pragma once

#include <string>

#include "data/container.h"
#include "kloom/model.h"

namespace kloom::models {

inline constexpr std::string_view model_format = "kloom-model";
inline constexpr std::string_view model_version = "1";

// The model inside an open container. Throws FileError.
[[nodiscard]] Model read_model(const data::Container& container);

// The first rule that the model breaks, as the end of a sentence; empty if it is sound.
[[nodiscard]] std::string model_trouble(const Model& model);

}  // namespace kloom::models
