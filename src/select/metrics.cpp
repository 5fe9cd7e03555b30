// SPDX-License-Identifier: BSD-3-Clause
#include "select/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>

#include "kloom/error.h"
#include "kloom/evaluate.h"
#include "kloom/words.h"

namespace kloom::select {
namespace {

double ratio(double part, double whole) {
  return whole > 0.0 ? part / whole : 0.0;
}

double row_sum(const Confusion& confusion, std::size_t c) {
  return static_cast<double>(std::accumulate(confusion[c].begin(), confusion[c].end(), Index{0}));
}

double column_sum(const Confusion& confusion, std::size_t c) {
  Index sum = 0;
  for (const auto& row : confusion) sum += row[c];
  return static_cast<double>(sum);
}

double total_of(const Confusion& confusion) {
  double total = 0.0;
  for (std::size_t c = 0; c < confusion.size(); ++c) total += row_sum(confusion, c);
  return total;
}

}  // namespace

ClassRates class_rates(const Confusion& confusion, std::size_t positive) {
  const auto hits = static_cast<double>(confusion[positive][positive]);
  const double truth = row_sum(confusion, positive);
  const double guessed = column_sum(confusion, positive);
  const double others = total_of(confusion) - truth;
  ClassRates rates;
  rates.precision = ratio(hits, guessed);
  rates.recall = ratio(hits, truth);
  rates.specificity = ratio(others - (guessed - hits), others);
  rates.f1 = ratio(2.0 * hits, truth + guessed);
  return rates;
}

ClassRates mean_rates(const Confusion& confusion) {
  ClassRates mean;
  double present = 0.0;
  for (std::size_t c = 0; c < confusion.size(); ++c) {
    if (row_sum(confusion, c) + column_sum(confusion, c) == 0.0) continue;
    const ClassRates one = class_rates(confusion, c);
    mean.precision += one.precision;
    mean.recall += one.recall;
    mean.specificity += one.specificity;
    mean.f1 += one.f1;
    present += 1.0;
  }
  mean.precision = ratio(mean.precision, present);
  mean.recall = ratio(mean.recall, present);
  mean.specificity = ratio(mean.specificity, present);
  mean.f1 = ratio(mean.f1, present);
  return mean;
}

double accuracy(const Confusion& confusion) {
  double right = 0.0;
  for (std::size_t c = 0; c < confusion.size(); ++c) right += static_cast<double>(confusion[c][c]);
  return ratio(right, total_of(confusion));
}

double balanced_accuracy(const Confusion& confusion) {
  double recalls = 0.0;
  double present = 0.0;
  for (std::size_t c = 0; c < confusion.size(); ++c) {
    const double truth = row_sum(confusion, c);
    if (truth == 0.0) continue;
    recalls += static_cast<double>(confusion[c][c]) / truth;
    present += 1.0;
  }
  return ratio(recalls, present);
}

double matthews_correlation(const Confusion& confusion) {
  const double total = total_of(confusion);
  double right = 0.0;
  double agreement = 0.0;
  double truth_squares = 0.0;
  double guess_squares = 0.0;
  for (std::size_t c = 0; c < confusion.size(); ++c) {
    const double truth = row_sum(confusion, c);
    const double guess = column_sum(confusion, c);
    right += static_cast<double>(confusion[c][c]);
    agreement += truth * guess;
    truth_squares += truth * truth;
    guess_squares += guess * guess;
  }
  const double spread = (total * total - truth_squares) * (total * total - guess_squares);
  return spread > 0.0 ? (right * total - agreement) / std::sqrt(spread) : 0.0;
}

std::vector<RocPoint> roc_curve(std::span<const double> scores, std::span<const int> positive) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  const auto positives = static_cast<double>(std::ranges::count(positive, 1));
  const double negatives = static_cast<double>(positive.size()) - positives;
  if (positives == 0.0 || negatives == 0.0) return {};
  std::vector<RocPoint> curve{{0.0, 0.0}};
  double hits = 0.0;
  double alarms = 0.0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    (positive[order[k]] == 1 ? hits : alarms) += 1.0;
    if (k + 1 < order.size() && scores[order[k + 1]] == scores[order[k]]) continue;
    curve.push_back({alarms / negatives, hits / positives});
  }
  return curve;
}

double area_under(const std::vector<RocPoint>& curve) {
  double area = 0.0;
  for (std::size_t k = 1; k < curve.size(); ++k) {
    area += 0.5 * (curve[k].false_positive - curve[k - 1].false_positive) *
            (curve[k].true_positive + curve[k - 1].true_positive);
  }
  return area;
}

double equal_error_rate(const std::vector<RocPoint>& curve) {
  // false positives − false negatives rises from −1 to 1 along the curve.
  const auto excess = [](const RocPoint& p) { return p.false_positive - (1.0 - p.true_positive); };
  for (std::size_t k = 1; k < curve.size(); ++k) {
    const double before = excess(curve[k - 1]);
    const double after = excess(curve[k]);
    if (after < 0.0) continue;
    const double share = after > before ? -before / (after - before) : 0.0;
    return curve[k - 1].false_positive + share * (curve[k].false_positive - curve[k - 1].false_positive);
  }
  return 0.0;
}

std::vector<RocPoint> thinned(const std::vector<RocPoint>& curve, std::size_t most) {
  std::vector<RocPoint> points = curve;
  const auto corner = [&](std::size_t k) {
    const RocPoint& a = points[k - 1];
    const RocPoint& b = points[k];
    const RocPoint& c = points[k + 1];
    return std::abs((b.false_positive - a.false_positive) * (c.true_positive - a.true_positive) -
                    (c.false_positive - a.false_positive) * (b.true_positive - a.true_positive));
  };
  while (points.size() > std::max<std::size_t>(most, 2)) {
    // Half of what is too many at a time, the flattest corners first and never two neighbours.
    std::vector<std::size_t> order;
    for (std::size_t k = 1; k + 1 < points.size(); ++k) order.push_back(k);
    std::vector<double> size(points.size(), 2.0);
    for (const std::size_t k : order) size[k] = corner(k);
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return size[a] < size[b]; });
    std::vector<bool> drop(points.size(), false);
    std::size_t quota = (points.size() - most + 1) / 2;
    for (const std::size_t k : order) {
      if (quota == 0) break;
      if (drop[k - 1] || drop[k + 1]) continue;
      drop[k] = true;
      --quota;
    }
    std::vector<RocPoint> kept;
    for (std::size_t k = 0; k < points.size(); ++k) {
      if (!drop[k]) kept.push_back(points[k]);
    }
    points = std::move(kept);
  }
  return points;
}

std::vector<ReliabilityBin> reliability(std::span<const double> probability, std::span<const int> came_true) {
  constexpr std::size_t kBins = 10;
  std::vector<ReliabilityBin> bins(kBins);
  for (std::size_t b = 0; b < kBins; ++b) {
    bins[b].low = static_cast<double>(b) / kBins;
    bins[b].high = static_cast<double>(b + 1) / kBins;
  }
  for (std::size_t i = 0; i < probability.size(); ++i) {
    const double place = std::floor(probability[i] * kBins);
    const auto b = static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(kBins - 1)));
    bins[b].mean_probability += probability[i];
    bins[b].frequency += came_true[i];
    ++bins[b].count;
  }
  for (ReliabilityBin& bin : bins) {
    if (bin.count == 0) continue;
    bin.mean_probability /= static_cast<double>(bin.count);
    bin.frequency /= static_cast<double>(bin.count);
  }
  return bins;
}

double calibration_error(const std::vector<ReliabilityBin>& bins) {
  double error = 0.0;
  double count = 0.0;
  for (const ReliabilityBin& bin : bins) {
    error += static_cast<double>(bin.count) * std::abs(bin.frequency - bin.mean_probability);
    count += static_cast<double>(bin.count);
  }
  return ratio(error, count);
}

}  // namespace kloom::select

namespace kloom {

double quadrant_score(double accuracy, double seconds, double limit) {
  const double wrong = 100.0 - 100.0 * accuracy;
  return std::sqrt(wrong * wrong + 100.0 * seconds / limit);
}

bool larger_is_better(std::string_view metric) {
  struct Direction {
    std::string_view name;
    bool larger;
  };
  static constexpr std::array<Direction, 21> kAll{{{"accuracy", true},
                                                   {"balanced accuracy", true},
                                                   {"F1 macro", true},
                                                   {"F1 micro", true},
                                                   {"precision", true},
                                                   {"recall", true},
                                                   {"specificity", true},
                                                   {"MCC", true},
                                                   {"AUC", true},
                                                   {"EER", false},
                                                   {"log loss", false},
                                                   {"Brier score", false},
                                                   {"ECE", false},
                                                   {"label accuracy", true},
                                                   {"all labels right", true},
                                                   {"RMSE", false},
                                                   {"MAE", false},
                                                   {"R²", true},
                                                   {"R2", true},
                                                   {"NLL", false},
                                                   {"interval coverage", true}}};
  std::vector<std::string> names;
  std::string list;
  for (const Direction& one : kAll) {
    if (one.name == metric) return one.larger;
    names.emplace_back(one.name);
    list += (list.empty() ? "" : ", ") + std::string(one.name);
  }
  throw InvalidArgument(
      fmt::format("there is no metric '{}'{}; the metrics are {}", metric, did_you_mean(metric, names), list));
}

}  // namespace kloom
