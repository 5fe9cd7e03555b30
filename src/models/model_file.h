// SPDX-License-Identifier: BSD-3-Clause
//
// Model files: format "kloom-model", version 1. Sections of the container:
//
//   document                    U8        JSON: everything that is not a number (method, task, classes, names, …)
//   weights, weights.deviation  F64       [1 | M | N, P]; the second only where the method has it
//   coefficients, bias          F64       [N, M], [M]
//   PART, PART.*                F64, U8   the arrays of the method's part, symmetric matrices as lower triangles
//   recipe.*                    F64, I64  numbers of the recipe (kernels/spec/recipe_file.h), where there is one
//
// What a part is called and which arrays it has, its ModelPart::save says (src/methods/FOLDER/part.cpp; the fields are
// explained in kloom/parts.h). The document has a section of the same name for its words and counts.
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
