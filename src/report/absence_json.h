// SPDX-License-Identifier: BSD-3-Clause
//
// Which samples have which views, and how well those are predicted that have so many.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "kloom/compare.h"
#include "kloom/dataset.h"
#include "kloom/targets.h"

namespace kloom::report {

// Samples × views: 1 where a sample has the view. Empty where nothing is absent.
struct ViewsThere {
  std::vector<std::string> names;
  Matrix there;
  [[nodiscard]] Index count(Index sample) const;
};
[[nodiscard]] ViewsThere views_there(const Dataset& data, const PreprocessingOptions& options);

// Names of the views, and how many samples have which of them, the most frequent first.
[[nodiscard]] nlohmann::ordered_json absence_json(const ViewsThere& views);
// For each number of views: how many samples were held out in the first repeat, and the share of right classes (numbers:
// the root of the mean squared error). Empty for several labels or numbers.
[[nodiscard]] nlohmann::ordered_json by_views_json(const Comparison& comparison, Index candidate,
                                                   const Targets& targets, const ViewsThere& views);

}  // namespace kloom::report
