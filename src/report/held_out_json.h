// SPDX-License-Identifier: BSD-3-Clause
//
// Predictions beside the truth as the figures of the report need them: confusion, curves, reliability, residuals, and how
// often intervals hold.
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "kloom/model.h"
#include "kloom/targets.h"

namespace kloom::report {

// Of labelled samples, one after the other.
struct HeldOut {
  std::vector<int> truth, guess;
  std::vector<Vector> chances;  // a row per sample; empty without probabilities
  std::vector<Vector> scores;
  std::vector<std::array<double, 3>> values;  // regression: truth, prediction, deviation (NaN: none)
};

// Adds what was predicted for the samples whose places in `targets` are `samples`; those without a label are passed over.
void add_samples(HeldOut& all, const Predictions& predictions, const Targets& targets,
                 const std::vector<Index>& samples);
// Puts what can be drawn of it into `json`.
void add_held_out(nlohmann::ordered_json& json, const HeldOut& all, const Targets& targets);

}  // namespace kloom::report
