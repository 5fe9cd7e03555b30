// SPDX-License-Identifier: BSD-3-Clause
//
// The gates of a model in its file: key "gate" of the document, tensors "gate.*".
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "data/container.h"
#include "kloom/model.h"

namespace kloom::models {

[[nodiscard]] nlohmann::json save_gate(const GatePart& gate, data::SectionList& sections);
[[nodiscard]] GatePart load_gate(const nlohmann::json& document, data::TensorReader& tensors);
// The first rule that the gates break, as the end of a sentence; empty if they are sound.
[[nodiscard]] std::string gate_trouble(const Model& model);

}  // namespace kloom::models
