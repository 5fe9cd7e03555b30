// SPDX-License-Identifier: BSD-3-Clause
//
// Predictions compared with the true labels. The metrics:
//
//   classification   accuracy, balanced accuracy (mean recall of the classes that occur), F1 macro (mean over
//                    the classes that occur) and micro; precision, recall and specificity (of the positive
//                    class; means over classes where there are several), MCC; confusion counts
//     by scores        AUC (ties count half) and EER; of several classes, where all occur, means of each
//                      against the rest
//     by probabilities log loss (those below 1e-15 count as 1e-15), Brier score, ECE (ten intervals of the
//                      largest probability)
//   labels           share of labels that are right, of samples with all labels right, log loss per label
//   regression       RMSE, MAE, R² (mean over outputs; only where the values vary); where the model gives
//                    standard deviations, NLL of the normal density and coverage of the 95 % interval
//
// Unlabelled samples and missing values are left out; every other sample counts once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kloom/model.h"
#include "kloom/report.h"
#include "kloom/targets.h"

namespace kloom {

// Throws InvalidArgument if the two differ in the number of samples or no sample is labelled.
[[nodiscard]] Evaluation evaluate(const Predictions& predictions, const Targets& targets);

// √((100 − 100·accuracy)² + 100·seconds/limit): accuracy and time in one number, less is better; the limit is the longest
// time of those that are compared [Nguyen2016, section 5.3].
[[nodiscard]] double quadrant_score(double accuracy, double seconds, double limit);

// Is more of this number better? Throws InvalidArgument that lists the names for an unknown one.
[[nodiscard]] bool larger_is_better(std::string_view metric);

// Labels as written in a file, in the model's own coding: the same names, or the same numbers written
// differently ("1" and "1.0"). Empty labels and names that the model does not know become unlabelled; the
// latter are listed once each in `unknown`, where given. Throws InvalidArgument for a regression label
// that is no number.
[[nodiscard]] Targets targets_for(const Model& model, const std::vector<std::string>& labels,
                                  std::vector<std::string>* unknown = nullptr);

}  // namespace kloom
