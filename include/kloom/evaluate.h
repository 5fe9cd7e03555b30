// SPDX-License-Identifier: BSD-3-Clause
//
// Predictions held against the truth.
//
//   classification   accuracy, balanced accuracy (mean recall of the classes that occur), and where the model
//                    gives probabilities log loss (probabilities below 1e-15 count as 1e-15) and Brier score;
//                    AUC for two classes that both occur (ties count half); confusion counts
//   labels           share of labels that are right, of samples with all labels right, log loss per label
//   regression       RMSE, MAE, R² (mean over outputs; only where the values vary)
//
// Unlabelled samples and missing values are left out; every other sample counts once.
#pragma once

#include <string>
#include <vector>

#include "kloom/model.h"
#include "kloom/report.h"
#include "kloom/targets.h"

namespace kloom {

// Throws InvalidArgument if the two differ in the number of samples or no sample is labelled.
[[nodiscard]] Evaluation evaluate(const Predictions& predictions, const Targets& targets);

// Labels as written in a file, in the model's own coding: the same names, or the same numbers written
// differently ("1" and "1.0"). Empty labels and names that the model does not know become unlabelled; the
// latter are listed once each in `unknown`, where given. Throws InvalidArgument for a regression label that is
// no number.
[[nodiscard]] Targets targets_for(const Model& model, const std::vector<std::string>& labels,
                                  std::vector<std::string>* unknown = nullptr);

}  // namespace kloom
