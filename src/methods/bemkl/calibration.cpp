// SPDX-License-Identifier: BSD-3-Clause
#include "methods/bemkl/calibration.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

#include "solvers/temperature.h"

namespace kloom::methods {
namespace {

constexpr int kFolds = 3;
constexpr int kNever = -1;  // is not held out: no label, or absent

double weight_of(const Targets& targets, Index i) {
  return targets.weights.empty() ? 1.0 : targets.weights[at(i)];
}

bool has_classes(const Targets& targets) {
  return targets.task == Task::binary || targets.task == Task::multiclass;
}

// Samples from the most typical to the least, by the sum of all kernels with all samples: an order that does
// not depend on that in which they came.
std::vector<Index> by_typicality(const KernelBank& bank, const Targets& targets) {
  Matrix present(bank.rows(), 1);
  for (Index i = 0; i < bank.rows(); ++i) present(i, 0) = weight_of(targets, i) > 0.0 ? 1.0 : 0.0;
  const Matrix similar = bank.apply(present.view());
  Vector sums(at(bank.rows()));
  for (Index k = 0; k < similar.rows(); ++k) sums[at(k % bank.rows())] += similar(k, 0);
  std::vector<Index> order(sums.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::sort(order, std::greater(), [&](Index i) { return sums[at(i)]; });
  return order;
}

// The samples of every class in turn; empty if a class has fewer samples than there are folds.
std::vector<int> folds_of(const KernelBank& bank, const Targets& targets) {
  std::vector<int> folds(at(targets.samples()), kNever);
  std::vector<int> seen(has_classes(targets) ? targets.classes.size() : 1);
  for (const Index i : by_typicality(bank, targets)) {
    const int code = has_classes(targets) ? targets.codes[at(i)] : 0;
    if (code != Targets::unlabelled && weight_of(targets, i) > 0.0)
      folds[at(i)] = seen[static_cast<std::size_t>(code)]++ % kFolds;
  }
  if (std::ranges::any_of(seen, [](int count) { return count < kFolds; })) folds.clear();
  return folds;
}

double safe_log(double probability) {
  return std::log(std::max(probability, 1e-300));
}

// What `predictions` say about sample i: one question, or one for each label.
void add_held_out(const Targets& targets, const Predictions& predictions, Index i,
                  std::vector<solvers::HeldOutSample>& all) {
  const double weight = weight_of(targets, i);
  const Matrix& p = predictions.probabilities;
  if (has_classes(targets)) {
    solvers::HeldOutSample one{{}, static_cast<std::size_t>(targets.codes[at(i)]), weight};
    for (Index c = 0; c < p.cols(); ++c) one.log_chance.push_back(safe_log(p(i, c)));
    all.push_back(std::move(one));
    return;
  }
  for (Index c = 0; c < p.cols(); ++c) {
    const double label = targets.values(i, c);
    if (std::isnan(label)) continue;
    all.push_back({{safe_log(1.0 - p(i, c)), safe_log(p(i, c))}, label > 0.5 ? 1U : 0U, weight});
  }
}

// Regression: sums over held-out numbers.
struct Residuals {
  double weight = 0.0;
  double square = 0.0;         // of (y − mean)/deviation
  double log_deviation = 0.0;  // of the deviation
};

void add_residuals(const Targets& targets, const Predictions& predictions, Index i, Residuals& sums) {
  for (Index c = 0; c < predictions.scores.cols(); ++c) {
    const double deviation = predictions.deviation(i, c);
    const double z = (targets.values(i, c) - predictions.scores(i, c)) / deviation;
    sums.weight += weight_of(targets, i);
    sums.square += weight_of(targets, i) * z * z;
    sums.log_deviation += weight_of(targets, i) * std::log(deviation);
  }
}

BemklCalibration calibration_of(const Residuals& sums) {
  BemklCalibration result;
  result.temperature = std::clamp(std::sqrt(sums.square / sums.weight), 0.25, 20.0);
  const auto loss = [&](double t) {
    return 0.5 * std::log(2.0 * std::numbers::pi) + std::log(t) +
           (sums.log_deviation + 0.5 * sums.square / (t * t)) / sums.weight;
  };
  result.before = loss(1.0);
  result.after = loss(result.temperature);
  return result;
}

BemklCalibration calibration_of(const std::vector<solvers::HeldOutSample>& held_out) {
  BemklCalibration result;
  result.temperature = solvers::fit_temperature(held_out);
  result.before = solvers::log_loss(held_out, 1.0);
  result.after = solvers::log_loss(held_out, result.temperature);
  return result;
}

}  // namespace

std::optional<BemklCalibration> calibrate_bemkl(const KernelBank& bank, const Targets& targets,
                                                const BemklFit& fit, const Context& context) {
  const std::vector<int> folds = folds_of(bank, targets);
  if (folds.empty()) return std::nullopt;
  const bool numbers = targets.task == Task::regression || targets.task == Task::multi_regression;
  std::vector<solvers::HeldOutSample> held_out;
  Residuals residuals;
  for (int fold = 0; fold < kFolds; ++fold) {
    std::vector<Index> gone;
    for (Index i = 0; i < targets.samples(); ++i) {
      if (folds[at(i)] == fold) gone.push_back(i);
    }
    const std::optional<Model> model = fit(gone);
    if (!model) return std::nullopt;
    const Predictions predictions = predict(*model, bank, {}, context);
    for (const Index i : gone) {
      if (numbers) {
        add_residuals(targets, predictions, i, residuals);
      } else {
        add_held_out(targets, predictions, i, held_out);
      }
    }
  }
  return numbers ? calibration_of(residuals) : calibration_of(held_out);
}

}  // namespace kloom::methods
