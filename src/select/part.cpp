// SPDX-License-Identifier: BSD-3-Clause
#include "select/part.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "base/stopwatch.h"
#include "kloom/error.h"
#include "kloom/evaluate.h"
#include "models/scores.h"
#include "select/completion.h"

namespace kloom {

Dataset select_part(const Dataset& data, const std::vector<Index>& rows, const std::vector<Index>& train) {
  return select_samples(data, rows, train);
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

Vector mean_weights(const Model& model) {
  const Matrix& weights = model.weights.values;
  Vector means;
  for (Index p = 0; p < weights.cols() && p < std::ssize(model.kernel_names); ++p) {
    const auto own = weights.column(p);
    means.push_back(std::accumulate(own.begin(), own.end(), 0.0) / static_cast<double>(weights.rows()));
  }
  return means;
}

std::vector<ViewShare> weights_by_view(const Model& model) {
  if (!model.recipe || model.recipe->terms.size() != model.kernel_names.size()) return {};
  std::map<std::string, double> sums;
  double total = 0.0;
  const Vector weights = mean_weights(model);
  for (std::size_t k = 0; k < weights.size(); ++k) {
    sums[model.recipe->terms[k].group] += std::abs(weights[k]);
    total += std::abs(weights[k]);
  }
  std::vector<ViewShare> shares;
  if (sums.size() < 2 || !(total > 0.0)) return shares;
  for (const auto& [view, sum] : sums) shares.push_back({view, sum / total});
  std::ranges::stable_sort(shares, std::greater(), &ViewShare::share);
  return shares;
}

namespace select {
namespace {

Matrix select_rows(const Matrix& from, const std::vector<Index>& rows) {
  Matrix result(static_cast<Index>(rows.size()), from.cols());
  for (Index j = 0; j < from.cols(); ++j) {
    for (std::size_t i = 0; i < rows.size(); ++i) result(static_cast<Index>(i), j) = from(rows[i], j);
  }
  return result;
}

TrainRequest request_of(const Problem& problem) {
  TrainRequest request;
  request.kernels = problem.spec;
  request.recipe = problem.recipe;
  request.bank = problem.bank;
  return request;
}

// This is one of many fits, so its log messages are dropped.
Context quiet(const Context& context) {
  Context silent = context;
  silent.log = nullptr;
  return silent;
}

// Samples without a label help only methods that can use them.
std::vector<Index> labelled(const Targets& targets, const std::vector<Index>& rows) {
  std::vector<Index> kept;
  for (const Index row : rows) {
    if (models::has_codes(targets.task) && targets.codes[static_cast<std::size_t>(row)] == Targets::unlabelled)
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
    : problem_(problem),
      train_rows_(train),
      test_rows_(test),
      test_(select_part(problem.data, test, train)),
      train_targets_(restricted_targets()),
      kernels_(training_kernels(false, context)) {
  test_targets_ = select_targets(problem.targets, test);
}

TrainingKernels Part::training_kernels(bool spares_teachers, const Context& context) const {
  TrainRequest request = request_of(problem_);
  request.recipe.spares_teachers = spares_teachers;
  return {select_part(problem_.data, train_rows_, train_rows_), request, quiet(context), &train_targets_};
}

// Most methods share their kernels.
TrainingKernels& Part::kernels_for(const Learner& learner, const Context& context) {
  if (!learner.spares_teachers || !problem_.spec.families.empty()) return kernels_;
  if (!sparing_) sparing_.emplace(training_kernels(true, context));
  return *sparing_;
}

// A rare class may be missing from the training part; methods then learn the classes that are there.
Targets Part::restricted_targets() {
  Targets targets = select_targets(problem_.targets, train_rows_);
  if (!models::has_codes(targets.task)) return targets;
  std::vector<int> place(targets.classes.size(), -1);
  std::vector<std::string> names;
  for (std::size_t c = 0; c < place.size(); ++c) {
    if (std::ranges::count(targets.codes, static_cast<int>(c)) == 0) continue;
    place[c] = static_cast<int>(classes_.size());
    classes_.push_back(static_cast<int>(c));
    names.push_back(targets.classes[c]);
  }
  if (classes_.size() < 2) throw InvalidArgument("the training part of this split holds one class only");
  if (classes_.size() == place.size()) return targets;
  for (int& code : targets.codes) {
    if (code >= 0) code = place[static_cast<std::size_t>(code)];
  }
  targets.classes = names;
  targets.task = names.size() == 2 ? Task::binary : Task::multiclass;
  return targets;
}

void Part::restore_classes(Predictions& predictions) const {
  const std::size_t all = problem_.targets.classes.size();
  if (!models::has_codes(problem_.targets.task) || classes_.size() == all) return;
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

Trial Part::run_imputed(const Learner& learner, const OptionValues& options, const Context& context,
                        bool whole_samples_only) const {
  const RecipeOptions recipe = with_imputed_means(problem_.recipe);
  const Problem filled{problem_.data, problem_.targets, problem_.spec, recipe, problem_.bank};
  std::vector<Index> rows;
  for (std::size_t i = 0; i < train_rows_.size(); ++i) {
    const bool whole = std::ranges::none_of(kernels_.recipe().basis.views, [&](const View& view) {
      return !view.absent.empty() && view.absent[i];
    });
    if (whole || !whole_samples_only) rows.push_back(train_rows_[i]);
  }
  if (rows.empty()) throw InvalidArgument("no sample of the training part has every view");
  Part part(filled, rows, test_rows_, context);
  return part.run(learner, options, context);
}

void Part::learn(const TrainRequest& request, TrainingKernels& kernels, const Context& context, Trial& trial) {
  const double before = kernels.seconds();
  const Stopwatch fitting;
  trial.fit = train(kernels, train_targets_, request, quiet(context));
  trial.kernel_seconds = kernels.seconds();
  trial.train_seconds = fitting.seconds() - (kernels.seconds() - before);
  const Stopwatch predicting;
  if (test_.samples > 0 && trial.fit.report.status != Status::numerical_trouble)
    trial.predictions = predict(trial.fit.model, test_, {}, context);
  trial.predict_seconds = predicting.seconds();
}

void Part::learn_completed(const TrainRequest& request, TrainingKernels& kernels, Index neighbours,
                           const Context& context, Trial& trial) {
  const Stopwatch filling;
  const CompletedKernels completed(*kernels.recipe().training_bank(), neighbours);
  trial.kernel_seconds = filling.seconds();
  const Stopwatch fitting;
  TrainRequest known;
  known.method = request.method;
  known.options = request.options;
  trial.fit = train(*completed.training(), train_targets_, known, quiet(context));
  trial.train_seconds = fitting.seconds();
  const Stopwatch predicting;
  if (test_.samples > 0 && trial.fit.report.status != Status::numerical_trouble)
    trial.predictions = predict(trial.fit.model, *completed.of(*kernels.recipe().bank_for(test_)), {}, context);
  trial.predict_seconds = predicting.seconds();
}

Trial Part::run(const Learner& learner, const OptionValues& options, const Context& context,
                Completion completion) {
  if (!learner.semi_supervised && models::has_codes(problem_.targets.task) &&
      std::ranges::count(train_targets_.codes, Targets::unlabelled) > 0) {
    Part without(problem_, labelled(problem_.targets, train_rows_), test_rows_, context);
    return without.run(learner, options, context, completion);
  }
  if (completion == Completion::whole_samples || completion == Completion::imputed_means)
    return run_imputed(learner, options, context, completion == Completion::whole_samples);
  TrainRequest request = request_of(problem_);
  request.method = learner.name;
  request.options = options;
  Trial trial;
  TrainingKernels& kernels = kernels_for(learner, context);
  if (completion == Completion::none) {
    learn(request, kernels, context, trial);
  } else {
    constexpr Index kNeighbours = 5;
    learn_completed(request, kernels, completion == Completion::zero_kernels ? 0 : kNeighbours, context, trial);
  }
  trial.memory_bytes = trial.fit.report.memory_bytes;
  if (trial.fit.report.status == Status::numerical_trouble)
    throw InvalidArgument("numerical trouble: " + trial.fit.report.message);
  if (test_.samples == 0) return trial;
  restore_classes(trial.predictions);
  trial.evaluation = evaluate(trial.predictions, test_targets_);
  return trial;
}

}  // namespace select
}  // namespace kloom
