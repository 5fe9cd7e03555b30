// SPDX-License-Identifier: BSD-3-Clause
//
// The part of models whose kernel weights a rule found first.
#pragma once

#include <memory>

#include "kloom/part_file.h"
#include "kloom/parts.h"

namespace kloom::methods {

[[nodiscard]] std::shared_ptr<const ModelPart> load_two_step(PartReader& file, const Model& model);

}  // namespace kloom::methods
