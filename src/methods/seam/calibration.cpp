// SPDX-License-Identifier: BSD-3-Clause
#include "methods/seam/calibration.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>
#include <utility>

#include "algebra/blas.h"
#include "base/progress.h"
#include "data/folds.h"
#include "methods/seam/prepared_targets.h"
#include "models/scores.h"
#include "solvers/linear_classifier.h"

namespace kloom::methods {
namespace {

constexpr Index kManySamples = 5000;

// Something is learned only where two classes are left.
bool has_two_classes(const Targets& targets, const std::vector<Index>& samples) {
  std::set<int> seen;
  for (const Index i : samples) {
    if (weight_of(targets, i) > 0.0) seen.insert(targets.codes[at(i)]);
  }
  return seen.size() > 1;
}

// Root mean square distance of the scores of a sample from their mean: temperatures are looked for around it, because
// scores of different methods and prices differ by powers of ten.
double typical_size(const std::vector<solvers::HeldOutSample>& samples) {
  double square = 0.0;
  double count = 0.0;
  for (const solvers::HeldOutSample& sample : samples) {
    const auto classes = static_cast<double>(sample.log_chance.size());
    double mean = 0.0;
    for (const double score : sample.log_chance) mean += score / classes;
    for (const double score : sample.log_chance) square += (score - mean) * (score - mean);
    count += classes;
  }
  return std::sqrt(square / std::max(count, 1.0));
}

}  // namespace

void HeldOut::add_class(Vector log_chances, int truth, double weight) {
  if (log_chances.size() == 1) log_chances.insert(log_chances.begin(), 0.0);
  classes_.push_back({std::move(log_chances), static_cast<std::size_t>(truth), weight});
}

void HeldOut::add_number(double y, double mean, double deviation, double weight) {
  const double z = (y - mean) / deviation;
  weight_ += weight;
  square_ += weight * z * z;
  log_deviation_ += weight * std::log(deviation);
}

void HeldOut::add(const Targets& targets, Index i, const Predictions& predictions, Index row) {
  const auto safe_log = [](double probability) { return std::log(std::max(probability, 1e-300)); };
  const double weight = weight_of(targets, i);
  const Matrix& p = predictions.probabilities;
  if (models::has_codes(targets.task)) {
    Vector log_chances;
    for (Index c = 0; c < p.cols(); ++c) log_chances.push_back(safe_log(p(row, c)));
    return add_class(std::move(log_chances), targets.codes[at(i)], weight);
  }
  for (Index c = 0; c < targets.values.cols(); ++c) {
    const double y = targets.values(i, c);
    if (models::has_numbers(targets.task)) {
      add_number(y, predictions.scores(row, c), predictions.deviation(row, c), weight);
    } else if (!std::isnan(y)) {  // every label has probabilities of its own
      add_class({safe_log(1.0 - p(row, c)), safe_log(p(row, c))}, y > 0.5 ? 1 : 0, weight);
    }
  }
}

double HeldOut::temperature(solvers::TemperatureRange range) const {
  if (!classes_.empty()) return solvers::fit_temperature(classes_, range);
  return std::clamp(std::sqrt(square_ / weight_), range.coldest, range.hottest);
}

double HeldOut::loss(double temperature) const {
  if (!classes_.empty()) return solvers::log_loss(classes_, temperature);
  return 0.5 * std::log(2.0 * std::numbers::pi) + std::log(temperature) +
         (log_deviation_ + 0.5 * square_ / (temperature * temperature)) / weight_;
}

double held_out_temperature(const Targets& targets, const HeldOutScores& scores, const Context& context) {
  const Index n = targets.samples();
  const Index folds = n > kManySamples ? 5 : std::min<Index>(3, n);
  const Index used = n > kManySamples ? 1 : folds;
  // Not the folds by which a price was chosen: it was chosen for being good on those, and would look better than it is.
  const std::vector<Index> fold_of = data::stratified_folds(targets.codes, folds, context.seed + 1);
  ProgressMeter meter(context, "probabilities");
  HeldOut samples;
  for (Index fold = 0; fold < used; ++fold) {
    std::vector<Index> train;
    std::vector<Index> held_out;
    for (Index i = 0; i < n; ++i) (fold_of[at(i)] == fold ? held_out : train).push_back(i);
    if (held_out.empty() || !has_two_classes(targets, train)) continue;
    const Matrix found = scores(train, held_out);
    for (Index row = 0; row < found.rows(); ++row) {
      const Index i = held_out[at(row)];
      Vector scores_of_sample;
      for (Index c = 0; c < found.cols(); ++c) scores_of_sample.push_back(found(row, c));
      if (weight_of(targets, i) > 0.0)
        samples.add_class(std::move(scores_of_sample), targets.codes[at(i)], weight_of(targets, i));
    }
    if (meter.step(fold + 1, used, std::numeric_limits<double>::quiet_NaN())) break;
  }
  if (samples.empty()) return 0.0;
  const double size = typical_size(samples.classes());
  // Scores that are all alike promise nothing at any temperature.
  if (!(size > 0.0) || !std::isfinite(size)) return 1.0;
  return samples.temperature({1e-3 * size, 1e3 * size});
}

double deviation_of_errors(Vector errors) {
  if (errors.empty()) return 0.0;
  constexpr double kNormal =
      1.6448536269514722;  // a normal variable is within so many deviations nine times out of ten
  const double rank = std::ceil(0.9 * (static_cast<double>(errors.size()) + 1.0));
  const auto place = std::min(errors.size(), static_cast<std::size_t>(rank)) - 1;
  std::ranges::nth_element(errors, errors.begin() + static_cast<std::ptrdiff_t>(place));
  return errors[place] / kNormal;
}

double load_temperature(PartReader& file, const std::string& name) {
  const Vector values = file.vector(name);
  if (values.size() != 1 || !(values[0] > 0.0) || !std::isfinite(values[0]))
    file.damaged("'" + name + "' is not one number above 0");
  return values[0];
}

Matrix tempered_probabilities(const Matrix& scores, double temperature) {
  Matrix scaled = scores;
  algebra::scale(1.0 / temperature, scaled.values());
  return solvers::softmax_probabilities(scaled);
}

}  // namespace kloom::methods
