// SPDX-License-Identifier: BSD-3-Clause
//
// Files of several views that do not all have the same samples.
#pragma once

#include <vector>

#include "kloom/dataset.h"

namespace kloom::data {

// Every part with the same samples in the same order: those of the first part, then those that later parts add. Where a
// part lacks a sample, its numbers are NaN and its texts empty. All parts have ids, and each id once.
// In training, samples without a label or without a value anywhere are left out; `notes` says which.
[[nodiscard]] std::vector<Dataset> with_all_samples(std::vector<Dataset> parts, bool training,
                                                    std::vector<std::string>& notes);

}  // namespace kloom::data
