// SPDX-License-Identifier: BSD-3-Clause
//
// What scores on held-out samples say: how good a choice is, and how scores become probabilities.
#pragma once

#include <string>
#include <vector>

#include "kloom/targets.h"
#include "methods/margin/outputs.h"

namespace kloom::methods {

// `scores`: samples × outputs, those of each sample from models that have not seen it. Classes:
// share of samples, by weight, that get a wrong class. Regression: mean squared error, in the units
// of the output's task.
[[nodiscard]] double held_out_error(const Targets& targets, const std::vector<MarginOutput>& outputs,
                                    const Matrix& scores);

// Is one choice better than another by more than the samples leave open: is the mean of the paired differences
// of their errors larger than its standard error? `better` and `worse`: scores as above.
[[nodiscard]] bool clearly_better(const Targets& targets, const std::vector<MarginOutput>& outputs,
                                  const Matrix& better, const Matrix& worse);

// Platt's sigmoid of each output, as MarginPart::platt keeps them.
[[nodiscard]] Matrix held_out_sigmoids(const std::vector<MarginOutput>& outputs, const Matrix& scores);

// The numbers of an option that holds a range or a list, in increasing order. Throws InvalidArgument
// if one is too small.
[[nodiscard]] std::vector<double> option_numbers(const std::string& name, const std::string& text, double least,
                                                 bool open);

}  // namespace kloom::methods
