// SPDX-License-Identifier: BSD-3-Clause
#include "report/held_out_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "models/scores.h"
#include "select/metrics.h"

namespace kloom::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kCurvePoints = 120;
constexpr std::size_t kMostCurves = 12;
constexpr std::size_t kMostResiduals = 1500;

Vector row_of(const Matrix& matrix, Index row) {
  Vector values;
  for (Index c = 0; c < matrix.cols(); ++c) values.push_back(matrix(row, c));
  return values;
}

Json curve_json(const std::string& name, const Vector& scores, const std::vector<int>& positive) {
  if (!std::ranges::all_of(scores, [](double s) { return std::isfinite(s); })) return nullptr;
  const auto curve = select::roc_curve(scores, positive);
  if (curve.empty()) return nullptr;
  Json points = Json::array();
  for (const auto& point : select::thinned(curve, kCurvePoints))
    points.push_back({point.false_positive, point.true_positive});
  return {{"class", name}, {"auc", select::area_under(curve)}, {"points", points}};
}

Json roc_json(const HeldOut& all, const Targets& targets) {
  Json curves = Json::array();
  const std::size_t classes = targets.classes.size();
  const bool binary = targets.task == Task::binary;
  if (all.truth.empty() || classes > kMostCurves) return curves;
  const bool chances = all.chances.size() == all.truth.size();
  for (std::size_t c = binary ? 1 : 0; c < classes; ++c) {
    Vector scores;
    std::vector<int> positive;
    for (std::size_t i = 0; i < all.truth.size(); ++i) {
      const Vector& row = chances ? all.chances[i] : all.scores[i];
      const std::size_t column = !chances && binary ? 0 : c;
      if (column >= row.size() || (!chances && !binary && row.size() != classes)) return curves;
      scores.push_back(row[column]);
      positive.push_back(all.truth[i] == static_cast<int>(c) ? 1 : 0);
    }
    Json curve = curve_json(targets.classes[c], scores, positive);
    if (!curve.is_null()) curves.push_back(std::move(curve));
  }
  return curves;
}

// Two classes: the positive one. Several: the likeliest, right or wrong.
Json reliability_json(const HeldOut& all, const Targets& targets) {
  Json bins = Json::array();
  if (all.chances.empty() || all.chances.size() != all.truth.size()) return bins;
  Vector probability;
  std::vector<int> came_true;
  for (std::size_t i = 0; i < all.truth.size(); ++i) {
    const Vector& row = all.chances[i];
    const std::size_t c = targets.task == Task::binary
                              ? 1
                              : static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
    probability.push_back(row[c]);
    came_true.push_back(all.truth[i] == static_cast<int>(c) ? 1 : 0);
  }
  for (const auto& bin : select::reliability(probability, came_true)) {
    bins.push_back({{"low", bin.low},
                    {"high", bin.high},
                    {"probability", bin.mean_probability},
                    {"frequency", bin.frequency},
                    {"count", bin.count}});
  }
  return bins;
}

// For every level, how many true values lie in the interval that a normal density with the predicted deviation gives it.
// The level of the interval that just reaches a value is P(|Z| <= |error|/deviation) = erf(|error|/(deviation sqrt 2)).
Json coverage_json(const HeldOut& all) {
  Vector levels;
  for (const auto& [truth, guess, deviation] : all.values) {
    if (std::isfinite(deviation) && deviation > 0.0)
      levels.push_back(std::erf(std::abs(truth - guess) / (deviation * std::numbers::sqrt2)));
  }
  Json points = Json::array();
  if (levels.size() < all.values.size() || levels.empty()) return points;
  for (int percent = 10; percent <= 90; percent += 10) {
    const double level = 0.01 * percent;
    const auto inside = std::ranges::count_if(levels, [&](double reached) { return reached <= level; });
    points.push_back(
        {{"level", level}, {"frequency", static_cast<double>(inside) / static_cast<double>(levels.size())}});
  }
  return points;
}

}  // namespace

void add_samples(HeldOut& all, const Predictions& predictions, const Targets& targets,
                 const std::vector<Index>& samples) {
  const Predictions& p = predictions;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto row = static_cast<Index>(i);
    const auto sample = static_cast<std::size_t>(samples[i]);
    if (models::has_codes(targets.task)) {
      if (targets.codes[sample] == Targets::unlabelled) continue;
      all.truth.push_back(targets.codes[sample]);
      all.guess.push_back(p.codes[i]);
      all.scores.push_back(row_of(p.scores, row));
      if (!p.probabilities.empty()) all.chances.push_back(row_of(p.probabilities, row));
    } else if (targets.task == Task::regression && std::isfinite(targets.values(samples[i], 0))) {
      all.values.push_back({targets.values(samples[i], 0), p.scores(row, 0),
                            p.deviation.empty() ? std::nan("") : p.deviation(row, 0)});
    }
  }
}

void add_held_out(Json& json, const HeldOut& all, const Targets& targets) {
  if (!all.truth.empty()) {
    const std::size_t classes = targets.classes.size();
    select::Confusion confusion(classes, std::vector<Index>(classes, 0));
    for (std::size_t i = 0; i < all.truth.size(); ++i)
      ++confusion[static_cast<std::size_t>(all.truth[i])][static_cast<std::size_t>(all.guess[i])];
    json["confusion"] = confusion;
    json["roc"] = roc_json(all, targets);
    json["reliability"] = reliability_json(all, targets);
  }
  if (all.values.empty()) return;
  Json points = Json::array();
  const std::size_t stride = (all.values.size() + kMostResiduals - 1) / kMostResiduals;
  for (std::size_t i = 0; i < all.values.size(); i += stride)
    points.push_back({all.values[i][0], all.values[i][1], all.values[i][2]});
  json["residuals"] = points;
  const Json levels = coverage_json(all);
  if (!levels.empty()) json["coverage"] = levels;
}

}  // namespace kloom::report
