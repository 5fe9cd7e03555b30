// SPDX-License-Identifier: BSD-3-Clause
//
// The part of stochastic models: a sum of several solutions, each a combination of kernels of its own.
#pragma once

#include <memory>

#include "kloom/part_file.h"
#include "kloom/parts.h"

namespace kloom::methods {

void load_stochastic_part(PartReader& file, StochasticPart& part);
// A model of a stream where the file has one, else the plain part.
[[nodiscard]] std::shared_ptr<const ModelPart> load_stochastic(PartReader& file, const Model& model);

}  // namespace kloom::methods
