// SPDX-License-Identifier: BSD-3-Clause
#include "select/part.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "kloom/error.h"
#include "kloom/evaluate.h"
#include "kloom/machine.h"

namespace kloom {

Dataset select_part(const Dataset& data, const std::vector<Index>& rows, const std::vector<Index>& train) {
  Dataset part = select_samples(data, rows);
  for (auto* matrices : {&part.kernels, &part.distances}) {
    for (PrecomputedMatrix& matrix : *matrices) {
      Matrix cut(matrix.values.rows(), static_cast<Index>(train.size()));
      for (std::size_t j = 0; j < train.size(); ++j)
        std::ranges::copy(matrix.values.column(train[j]), cut.column(static_cast<Index>(j)).begin());
      matrix.values = std::move(cut);
    }
  }
  return part;
}

Index kernels_used(const Model& model) {
  const Matrix& weights = model.weights.values;
  Vector size;
  for (Index p = 0; p < weights.cols(); ++p) {
    double largest = 0.0;
    for (const double w : weights.column(p)) largest = std::max(largest, std::abs(w));
    size.push_back(largest);
  }
  const double top = size.empty() ? 0.0 : *std::ranges::max_element(size);
  return std::ranges::count_if(size, [&](double w) { return w > 1e-3 * top; });
}

namespace select {
namespace {

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

bool has_codes(Task task) {
  return task == Task::binary || task == Task::multiclass;
}

Matrix select_rows(const Matrix& from, const std::vector<Index>& rows) {
  Matrix result(static_cast<Index>(rows.size()), from.cols());
  for (Index j = 0; j < from.cols(); ++j) {
    for (std::size_t i = 0; i < rows.size(); ++i) result(static_cast<Index>(i), j) = from(rows[i], j);
  }
  return result;
}

Index outputs_of(const Targets& targets) {
  if (targets.task == Task::binary) return 1;
  return targets.classes.empty() ? std::max<Index>(1, targets.values.cols())
                                 : static_cast<Index>(targets.classes.size());
}

// Samples without a label help only methods that can use them.
std::vector<Index> labelled(const Targets& targets, const std::vector<Index>& rows) {
  std::vector<Index> kept;
  for (const Index row : rows) {
    if (has_codes(targets.task) && targets.codes[static_cast<std::size_t>(row)] == Targets::unlabelled)
      continue;
    kept.push_back(row);
  }
  return kept;
}

}  // namespace

Targets select_targets(const Targets& targets, const std::vector<Index>& rows) {
  Targets part;
  part.task = targets.task;
  part.classes = targets.classes;
  if (!targets.values.empty()) part.values = select_rows(targets.values, rows);
  for (const Index row : rows) {
    const auto i = static_cast<std::size_t>(row);
    if (!targets.codes.empty()) part.codes.push_back(targets.codes[i]);
    if (!targets.weights.empty()) part.weights.push_back(targets.weights[i]);
  }
  return part;
}

Part::Part(const Problem& problem, const std::vector<Index>& train, const std::vector<Index>& test,
           const Context& context)
    : problem_(problem), train_rows_(train), test_rows_(test) {
  const Stopwatch watch;
  recipe_ = Recipe::fit(select_part(problem.data, train, train), problem.spec, problem.recipe, context);
  test_ = select_part(problem.data, test, train);
  restrict_targets(train);
  test_targets_ = select_targets(problem.targets, test);
  kernel_seconds_ = watch.seconds();
}

// A rare class may be missing from the training part; methods then learn the classes that are there.
void Part::restrict_targets(const std::vector<Index>& train) {
  train_targets_ = select_targets(problem_.targets, train);
  if (!has_codes(train_targets_.task)) return;
  std::vector<int> place(train_targets_.classes.size(), -1);
  std::vector<std::string> names;
  for (std::size_t c = 0; c < place.size(); ++c) {
    if (std::ranges::count(train_targets_.codes, static_cast<int>(c)) == 0) continue;
    place[c] = static_cast<int>(classes_.size());
    classes_.push_back(static_cast<int>(c));
    names.push_back(train_targets_.classes[c]);
  }
  if (classes_.size() < 2) throw InvalidArgument("the training part of this split holds one class only");
  if (classes_.size() == place.size()) return;
  for (int& code : train_targets_.codes) {
    if (code >= 0) code = place[static_cast<std::size_t>(code)];
  }
  train_targets_.classes = names;
  train_targets_.task = names.size() == 2 ? Task::binary : Task::multiclass;
}

void Part::restore_classes(Predictions& predictions) const {
  const std::size_t all = problem_.targets.classes.size();
  if (!has_codes(problem_.targets.task) || classes_.size() == all) return;
  for (int& code : predictions.codes) code = classes_[static_cast<std::size_t>(code)];
  const auto widen = [&](Matrix& values, double absent) {
    if (values.cols() != static_cast<Index>(classes_.size())) {
      values = Matrix();
      return;
    }
    Matrix wide(values.rows(), static_cast<Index>(all), absent);
    for (std::size_t c = 0; c < classes_.size(); ++c)
      std::ranges::copy(values.column(static_cast<Index>(c)), wide.column(classes_[c]).begin());
    values = std::move(wide);
  };
  widen(predictions.probabilities, 0.0);
  widen(predictions.scores, -1e300);
  predictions.deviation = Matrix();
}

const KernelBank& Part::bank_for(const Learner& learner, std::size_t budget, const Context& context) {
  BankRequest request =
      preferred_bank(learner, static_cast<Index>(train_rows_.size()), std::ssize(recipe_.terms), budget);
  if (problem_.bank != BankKind::automatic) request.kind = problem_.bank;
  auto& bank = banks_[{request.kind, request.families}];
  if (bank) return *bank;
  const Stopwatch watch;
  Context own = context;
  own.memory_budget = budget;
  bank = store_bank(recipe_.training_bank(), request, own);
  kernel_seconds_ += watch.seconds();
  return *bank;
}

Trial Part::run(const Learner& learner, const OptionValues& options, const Context& context) {
  if (!learner.semi_supervised && has_codes(problem_.targets.task) &&
      std::ranges::count(train_targets_.codes, Targets::unlabelled) > 0) {
    Part without(problem_, labelled(problem_.targets, train_rows_), test_rows_, context);
    return without.run(learner, options, context);
  }
  const auto n = static_cast<Index>(train_rows_.size());
  const auto p = static_cast<Index>(recipe_.terms.size());
  const std::size_t budget = memory_budget(context);
  std::size_t working = learner.working_memory(n, p, outputs_of(train_targets_));
  if (working >= budget && learner.least_memory)
    working = learner.least_memory(n, p, outputs_of(train_targets_));
  if (working >= budget) {
    throw ResourceError(
        fmt::format("needs {} of working memory for {} samples and {} kernels, and {} may be used",
                    format_bytes(working), n, p, format_bytes(budget)));
  }
  const KernelBank& bank = bank_for(learner, budget - working, context);
  Trial trial;
  trial.kernel_seconds = kernel_seconds_;
  trial.memory_bytes = working + bank.bytes();
  const Stopwatch fitting;
  trial.fit = learner.fit(bank, train_targets_, options, context);
  trial.train_seconds = fitting.seconds();
  if (trial.fit.report.status == Status::numerical_trouble)
    throw InvalidArgument("numerical trouble: " + trial.fit.report.message);
  if (test_.samples == 0) return trial;
  trial.fit.model.recipe = recipe_;
  const Stopwatch predicting;
  trial.predictions = predict(trial.fit.model, test_, {}, context);
  trial.predict_seconds = predicting.seconds();
  restore_classes(trial.predictions);
  trial.evaluation = evaluate(trial.predictions, test_targets_);
  return trial;
}

}  // namespace select
}  // namespace kloom
