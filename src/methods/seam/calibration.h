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
#include "kloom/model.h"
#include "kloom/part_file.h"
#include "kloom/targets.h"
#include "solvers/temperature.h"

namespace kloom::methods {

// What fits say of samples that they have not seen: of classes and labels, or of numbers.
class HeldOut {
 public:
  // Logarithms of what is proportional to the probabilities of the classes; one number is that of class 1 against 0.
  void add_class(Vector log_chances, int truth, double weight);
  // A normal distribution of the number y.
  void add_number(double y, double mean, double deviation, double weight);
  // What a row of predictions says of sample i: probabilities of classes or labels, or a number with its deviation.
  void add(const Targets& targets, Index i, const Predictions& predictions, Index row);

  [[nodiscard]] bool empty() const { return classes_.empty() && weight_ == 0.0; }
  [[nodiscard]] const std::vector<solvers::HeldOutSample>& classes() const { return classes_; }
  // The temperature of least loss: probabilities to the power 1/T, or deviations times T.
  [[nodiscard]] double temperature(solvers::TemperatureRange range = {}) const;
  // Mean −log p of the truth at temperature T.
  [[nodiscard]] double loss(double temperature) const;

 private:
  std::vector<solvers::HeldOutSample> classes_;
  // Numbers: sums of weights, of z² with z = (y − mean)/deviation, and of log deviation.
  double weight_ = 0.0, square_ = 0.0, log_deviation_ = 0.0;
};

// The method's own fit on the samples `train`: scores of the samples `held_out`, one row each.
using HeldOutScores =
    std::function<Matrix(const std::vector<Index>& train, const std::vector<Index>& held_out)>;

// T by three folds, or one fifth of the samples held out once where there are more than 5,000. 0 where there is none: no
// fold leaves two classes to learn, or the caller was told to stop before the first one ended.
[[nodiscard]] double held_out_temperature(const Targets& targets, const HeldOutScores& scores,
                                          const Context& context);

// The deviation with which mean ± 1.645 deviations holds nine of ten of these held-out errors of numbers; 0 of none.
[[nodiscard]] double deviation_of_errors(Vector errors);

// The array of a model file that holds a temperature: one number above 0.
[[nodiscard]] double load_temperature(PartReader& file, const std::string& name);

// softmax(scores/T): samples × classes.
[[nodiscard]] Matrix tempered_probabilities(const Matrix& scores, double temperature);

}  // namespace kloom::methods
