// SPDX-License-Identifier: BSD-3-Clause
//
// How sure BEMKL may be. A variational posterior is narrower than the true one and the margin ν sharpens
// probabilities further, so on noisy data they promise too much, and on clean data of many classes too
// little. Samples that a fit has not seen tell by how much: three fits go on from the one that is kept, each
// without a third of the labelled samples.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "kloom/error.h"
#include "methods/bemkl/bemkl.h"
#include "methods/seam/calibration.h"
#include "methods/seam/prepared_targets.h"

namespace kloom::methods {
namespace {

constexpr int kFolds = 3;

bool has_classes(const Targets& targets) {
  return targets.task == Task::binary || targets.task == Task::multiclass;
}

// The fold of every sample, −1 for those that have no label or are absent; empty if a class has fewer samples than
// there are folds. The samples of a class take turns from the most typical to the least, by the sum of all kernels
// with all samples: an order that does not depend on that in which they came.
std::vector<int> folds_of(const KernelBank& bank, const Targets& targets) {
  Matrix present(bank.rows(), 1);
  for (Index i = 0; i < bank.rows(); ++i) present(i, 0) = weight_of(targets, i) > 0.0 ? 1.0 : 0.0;
  const Matrix similar = bank.apply(present.view());
  Vector typical(at(bank.rows()));
  for (Index k = 0; k < similar.rows(); ++k) typical[at(k % bank.rows())] += similar(k, 0);
  std::vector<Index> order(typical.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::sort(order, std::greater(), [&](Index i) { return typical[at(i)]; });
  std::vector<int> folds(order.size(), -1);
  std::vector<int> seen(has_classes(targets) ? targets.classes.size() : 1);
  for (const Index i : order) {
    const int code = has_classes(targets) ? targets.codes[at(i)] : 0;
    if (code != Targets::unlabelled && present(i, 0) > 0.0) folds[at(i)] = seen[at(code)]++ % kFolds;
  }
  if (std::ranges::any_of(seen, [](int count) { return count < kFolds; })) folds.clear();
  return folds;
}

void add_held_out(const Targets& targets, const Predictions& predictions, Index i, HeldOut& held_out) {
  const auto safe_log = [](double probability) { return std::log(std::max(probability, 1e-300)); };
  const double weight = weight_of(targets, i);
  const Matrix& p = predictions.probabilities;
  if (has_classes(targets)) {
    Vector log_chances;
    for (Index c = 0; c < p.cols(); ++c) log_chances.push_back(safe_log(p(i, c)));
    return held_out.add_class(std::move(log_chances), targets.codes[at(i)], weight);
  }
  for (Index c = 0; c < targets.values.cols(); ++c) {
    const double y = targets.values(i, c);
    if (targets.task != Task::multilabel) {
      held_out.add_number(y, predictions.scores(i, c), predictions.deviation(i, c), weight);
    } else if (!std::isnan(y)) {  // every label is a question of its own
      held_out.add_class({safe_log(1.0 - p(i, c)), safe_log(p(i, c))}, y > 0.5 ? 1 : 0, weight);
    }
  }
}

// Lets the factors go on without these samples; false if they lost a matrix.
bool refit(std::vector<BemklFactors>& factors, std::span<const Index> gone, const BemklOptions& options,
           const Context& context) {
  for (BemklFactors& one : factors) {
    one.leave_out(gone);
    if (!one.iterate_from_intermediate()) return false;
    const Status status = run_bemkl(one, options, context).status;
    if (status == Status::numerical_trouble) return false;
    if (status == Status::stopped) throw Interrupted("stopped in a fold");
  }
  return true;
}

}  // namespace

double calibrated_temperature(const KernelBank& bank, const Targets& targets, const BemklPlan& plan,
                              const std::vector<BemklFactors>& factors, const BemklOptions& options,
                              const Context& context, Report& report) {
  BemklOptions rough = options;  // fits of folds settle less exactly
  rough.tolerance = std::max(options.tolerance, 1e-4);
  const std::vector<int> folds = folds_of(bank, targets);
  if (folds.empty()) return 1.0;
  HeldOut held_out;
  try {
    for (int fold = 0; fold < kFolds; ++fold) {
      std::vector<Index> gone;
      for (Index i = 0; i < targets.samples(); ++i) {
        if (folds[at(i)] == fold) gone.push_back(i);
      }
      std::vector<BemklFactors> rest = factors;
      if (!refit(rest, gone, rough, context)) return 1.0;
      const Model model = bemkl_model(bank, targets, plan, rest, rough);
      const Predictions predictions = predict(model, bank, {}, context);
      for (const Index i : gone) add_held_out(targets, predictions, i, held_out);
    }
  } catch (const Interrupted&) {
    report.status = Status::stopped;
    report.message = "stopped on request before probabilities were calibrated; the model is usable";
    return 1.0;
  }
  const double temperature = held_out.temperature();
  report.tables.push_back({"calibration on held-out samples",
                           {"temperature", "log loss before", "after"},
                           {{temperature, held_out.loss(1.0), held_out.loss(temperature)}}});
  return temperature;
}

}  // namespace kloom::methods
