// SPDX-License-Identifier: BSD-3-Clause
//
// The results of a comparison, a cross-validation or a training, and a model, as text, as JSON, and as one HTML page.
//
// The page is made from the JSON and from nothing else, and contains it, so every number on it can be traced.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kloom/compare.h"
#include "kloom/dataset.h"
#include "kloom/learner.h"
#include "kloom/model.h"
#include "kloom/targets.h"

namespace kloom {

// About the run itself.
struct RunFacts {
  std::string kind = "compare";  // "compare", "cv", "train" or "view"
  std::string command;           // to type again
  std::string source = {};       // "view": the model's file
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

// What a model says of some samples, for its page.
struct ViewedSamples {
  std::string source;                // where they come from, in words
  bool seen = false;                 // the model learned from them: what it says of them shows little
  std::vector<std::string> ids;      // empty, or one per sample
  Predictions predictions;           // with contributions where the method has them
  std::optional<Targets> targets;    // their labels in the model's coding, where they are known
  std::optional<Evaluation> judged;  // predictions against labels
};
// A model as its file holds it; `samples` may be null.
[[nodiscard]] std::string to_json(const Model& model, const ViewedSamples* samples, const RunFacts& facts);

// One HTML page that needs no network: works from disk, on a phone, in print, in light and dark. `json` is one
// of the texts above; throws InvalidArgument for anything else.
[[nodiscard]] std::string report_page(const std::string& json);

}  // namespace kloom
