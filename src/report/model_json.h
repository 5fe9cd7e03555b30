// SPDX-License-Identifier: BSD-3-Clause
//
// The parts of a report's JSON that comparisons, trainings and models have in common.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "kloom/page.h"

namespace kloom::report {

[[nodiscard]] nlohmann::ordered_json facts_json(const RunFacts& facts);
[[nodiscard]] nlohmann::ordered_json data_json(const Dataset& data, const Targets& targets,
                                               const std::string& kernels);
// `report`: the JSON of its training's report; what that does not say is as in a report that says nothing.
[[nodiscard]] nlohmann::ordered_json model_json(const Model& model, const std::string& report);
// What was decided about columns and kernels, into the part about the data.
void add_decisions(nlohmann::ordered_json& data, const Model& model);
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& json);

}  // namespace kloom::report
