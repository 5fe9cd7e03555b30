// SPDX-License-Identifier: BSD-3-Clause
//
// One outcome as JSON, for journals.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "kloom/validate.h"

namespace kloom::select {

[[nodiscard]] nlohmann::ordered_json outcome_json(const Outcome& outcome);

// Throws FileError, naming `source` and `what`, for fields that are missing, of another kind, or too many. Whether the
// numbers suit a request is another question (outcome_check.h).
[[nodiscard]] Outcome outcome_from_json(const nlohmann::json& json, const std::string& source,
                                        const std::string& what);

}  // namespace kloom::select
