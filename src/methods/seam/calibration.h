// SPDX-License-Identifier: BSD-3-Clause
//
// Probabilities for methods that have none of their own: p = softmax(score/T), with two classes and one score the
// sigmoid of score/T. T is the temperature of least log loss on samples that the scores have not seen [GuoEtAl2017]; it
// changes no decision.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kloom/context.h"
#include "kloom/matrix.h"
#include "kloom/part_file.h"
#include "kloom/targets.h"

namespace kloom::methods {

// The method's own fit on the samples `train`: scores of the samples `held_out`, one row each.
using HeldOutScores =
    std::function<Matrix(const std::vector<Index>& train, const std::vector<Index>& held_out)>;

// T by three folds, or one fifth of the samples held out once where there are more than 5,000. 0 where there is none: no
// fold leaves two classes to learn, or the caller was told to stop before the first one ended.
[[nodiscard]] double held_out_temperature(const Targets& targets, const HeldOutScores& scores,
                                          const Context& context);

// The array of a model file that holds a temperature: one number above 0.
[[nodiscard]] double load_temperature(PartReader& file, const std::string& name);

// softmax(scores/T): samples × classes.
[[nodiscard]] Matrix tempered_probabilities(const Matrix& scores, double temperature);

}  // namespace kloom::methods
