// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kloom/validate.h"
#include "select/journal.h"

namespace kloom::select {

// As cross_validate, with a journal that the caller opened.
[[nodiscard]] Validation run_validation(const Dataset& data, const Targets& targets,
                                        const ValidationRequest& request, Journal& journal,
                                        const Context& context);

// Everything that decides the outcomes of the candidates, in words, for the fingerprint.
[[nodiscard]] std::string settings_text(const ValidationRequest& request, const Context& context);
[[nodiscard]] std::string candidate_text(const Candidate& candidate);

}  // namespace kloom::select
