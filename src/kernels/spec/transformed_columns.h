// SPDX-License-Identifier: BSD-3-Clause
//
// Columns that kernels see in another way than standardised (scale=raw and so on): they stand behind the columns
// that scopes mean, each only if a kernel looks at it.
#pragma once

#include <string>
#include <vector>

#include "kloom/kernels.h"
#include "kloom/recipe.h"

namespace kloom::kernels {

// Extends preprocessing and basis by what the spec asks for, and tells `options` where it is. Does nothing for a
// spec that uses columns as they are.
void add_transformed_columns(Recipe& recipe, const Dataset& raw, const Targets* targets,
                             ResolveOptions& options);

// Drops text columns that no kernel looks at, unless they were asked for, and with `columns` such features too.
void drop_unused_inputs(Recipe& recipe, const std::vector<std::string>& asked, bool columns);

}  // namespace kloom::kernels
