// SPDX-License-Identifier: BSD-3-Clause
//
// How good predictions are, one function per number. kloom/evaluate.h gathers them under their names.
#pragma once

#include <span>
#include <vector>

#include "kloom/matrix.h"

namespace kloom::select {

// Counts [true class][predicted class].
using Confusion = std::vector<std::vector<Index>>;

// One class against the rest. A ratio without a denominator is 0, as scikit-learn has it.
struct ClassRates {
  double precision = 0.0;
  double recall = 0.0;
  double specificity = 0.0;
  double f1 = 0.0;
};
[[nodiscard]] ClassRates class_rates(const Confusion& confusion, std::size_t positive);
// Means over the classes that occur, as truth or as prediction.
[[nodiscard]] ClassRates mean_rates(const Confusion& confusion);

[[nodiscard]] double accuracy(const Confusion& confusion);
// Mean recall of the classes that occur as truth.
[[nodiscard]] double balanced_accuracy(const Confusion& confusion);
// Correlation of truth and prediction for any number of classes [Gorodkin2004]; 0 where one of
// the two is constant.
[[nodiscard]] double matthews_correlation(const Confusion& confusion);

struct RocPoint {
  double false_positive = 0.0;  // rate
  double true_positive = 0.0;
};
// From (0, 0) to (1, 1), a point per distinct score; empty unless both classes occur. positive[i] is 0 or 1.
[[nodiscard]] std::vector<RocPoint> roc_curve(std::span<const double> scores, std::span<const int> positive);
// Probability that a positive sample scores above a negative one; ties count half.
[[nodiscard]] double area_under(const std::vector<RocPoint>& curve);
// Where the curve, drawn with straight lines, has as many false positives as false negatives.
[[nodiscard]] double equal_error_rate(const std::vector<RocPoint>& curve);
// At most `most` points: those farthest from the line between their neighbours.
[[nodiscard]] std::vector<RocPoint> thinned(const std::vector<RocPoint>& curve, std::size_t most);

// Predictions whose probability falls into one of ten intervals of equal width, and how many of them came true.
struct ReliabilityBin {
  double low = 0.0;
  double high = 0.0;
  double mean_probability = 0.0;
  double frequency = 0.0;
  Index count = 0;
};
[[nodiscard]] std::vector<ReliabilityBin> reliability(std::span<const double> probability,
                                                      std::span<const int> came_true);
// Mean distance between probability and frequency over those bins, weighted by their counts.
[[nodiscard]] double calibration_error(const std::vector<ReliabilityBin>& bins);

}  // namespace kloom::select
