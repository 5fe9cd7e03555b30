// SPDX-License-Identifier: BSD-3-Clause
//
// A recipe as sections of a container file. Text is in the JSON that `save_recipe` returns, numbers are in
// tensors named "recipe.…", so that they come back to the bit. Model files use it; a bank file can hold the
// same sections beside its kernels.
//
// Precomputed matrices of the basis are not kept, only their names: new samples bring their own rows.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "data/container.h"
#include "kloom/recipe.h"

namespace kloom::kernels {

// `recipe` must outlive `sections`.
[[nodiscard]] nlohmann::json save_recipe(const Recipe& recipe, data::SectionList& sections);
// Throws FileError for anything that a recipe cannot be.
[[nodiscard]] Recipe load_recipe(const nlohmann::json& document, data::TensorReader& tensors);

// The first rule that the recipe breaks, as the end of a sentence; empty if it is sound.
[[nodiscard]] std::string recipe_trouble(const Recipe& recipe);

}  // namespace kloom::kernels
