// SPDX-License-Identifier: BSD-3-Clause
//
// The results of a comparison, a cross-validation or a training as text, as JSON, and as one HTML page.
//
// The page is made from the JSON and from nothing else, and contains it, so every number on it can be traced.
#pragma once

#include <cstdint>
#include <string>

#include "kloom/compare.h"
#include "kloom/dataset.h"
#include "kloom/learner.h"
#include "kloom/targets.h"

namespace kloom {

// About the run itself.
struct RunFacts {
  std::string kind = "compare";  // "compare", "cv" or "train"
  std::string command;           // to type again
  double seconds = 0.0;          // from start to end
  std::uint64_t seed = 1;
  int threads = 0;
};

// For a terminal: the table, what was left out, the recommendation.
[[nodiscard]] std::string to_text(const Comparison& comparison);

[[nodiscard]] std::string to_json(const Comparison& comparison, const Dataset& data, const Targets& targets,
                                  const RunFacts& facts);
// A trained model and its report, in the same form.
[[nodiscard]] std::string to_json(const FitResult& fit, const Dataset& data, const Targets& targets,
                                  const RunFacts& facts);

// One HTML page that needs no network: works from disk, on a phone, in print, in light and dark. `json` is one
// of the texts above; throws InvalidArgument for anything else.
[[nodiscard]] std::string report_page(const std::string& json);

}  // namespace kloom
