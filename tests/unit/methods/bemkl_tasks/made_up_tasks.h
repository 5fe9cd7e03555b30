// SPDX-License-Identifier: BSD-3-Clause
//
// Made-up tasks over the same features: a Gaussian kernel for each feature, of which few matter to a task. Related tasks
// have the same ones, unrelated tasks each their own; the functions themselves differ from task to task.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "kloom/parts.h"
#include "kloom/tasks.h"
#include "support/problems.h"

namespace kloom::test {

struct MadeUpTasks {
  std::vector<TaskData> train;
  std::vector<std::shared_ptr<const KernelBank>>
      new_rows;  // new samples of each task against its training samples
  std::vector<Targets> new_targets;
};

struct MadeUp {
  Index tasks = 6;
  Index samples = 30;
  Index features = 12;
  Index relevant = 3;
  Index fresh = 200;  // new samples
  bool related = true;
  double noise = 0.3;
};

inline std::shared_ptr<const KernelBank> feature_kernels(const Matrix& x, const Matrix& z, bool symmetric) {
  std::vector<Matrix> kernels;
  std::vector<std::string> names;
  for (Index d = 0; d < x.cols(); ++d) {
    const Matrix one(x.rows(), 1, Vector(x.column(d).begin(), x.column(d).end()));
    const Matrix other(z.rows(), 1, Vector(z.column(d).begin(), z.column(d).end()));
    kernels.push_back(rbf_kernel(one, other, 1.0));
    names.push_back("rbf on f" + std::to_string(d));
  }
  if (symmetric) make_symmetric(kernels);
  return make_dense_bank(kernels, names, symmetric);
}

// Task t: numbers where t is even, else two classes, the sign of the same kind of function.
inline Targets made_up_targets(const Matrix& x, const std::vector<Index>& relevant, const Vector& phases,
                               bool numbers, double noise, Normal& normal) {
  Targets targets;
  targets.task = numbers ? Task::regression : Task::binary;
  if (numbers) targets.values = Matrix(x.rows(), 1);
  if (!numbers) targets.classes = {"no", "yes"};
  for (Index i = 0; i < x.rows(); ++i) {
    double value = noise * normal();
    for (std::size_t k = 0; k < relevant.size(); ++k) value += std::sin(1.5 * x(i, relevant[k]) + phases[k]);
    if (numbers) targets.values(i, 0) = value;
    if (!numbers) targets.codes.push_back(value > 0.0 ? 1 : 0);
  }
  return targets;
}

inline MadeUpTasks made_up_tasks(const MadeUp& made, unsigned seed) {
  Normal normal(seed);
  MadeUpTasks result;
  std::vector<Index> order;
  for (Index d = 0; d < made.features; ++d) order.push_back(d);
  const auto shuffle = [&] {
    for (std::size_t k = order.size() - 1; k > 0; --k)
      std::swap(order[k], order[static_cast<std::size_t>(normal.uniform() * static_cast<double>(k + 1))]);
  };
  shuffle();
  for (Index t = 0; t < made.tasks; ++t) {
    if (!made.related && t > 0) shuffle();
    const std::vector<Index> relevant(order.begin(), order.begin() + made.relevant);
    Vector phases;
    for (Index k = 0; k < made.relevant; ++k) phases.push_back(6.283185307179586 * normal.uniform());
    const auto draw = [&](Index n) {
      Matrix x(n, made.features);
      for (double& value : x.values()) value = normal();
      return x;
    };
    const Matrix x = draw(made.samples);
    const Matrix z = draw(made.fresh);
    Targets targets = made_up_targets(x, relevant, phases, t % 2 == 0, made.noise, normal);
    if (!targets.codes.empty()) {  // both classes always occur
      targets.codes[0] = 0;
      targets.codes[1] = 1;
    }
    result.train.push_back({"task " + std::to_string(t + 1), feature_kernels(x, x, true), std::move(targets)});
    result.new_rows.push_back(feature_kernels(z, x, false));
    result.new_targets.push_back(made_up_targets(z, relevant, phases, t % 2 == 0, made.noise, normal));
  }
  return result;
}

// Mean over the tasks of the share of wrong classes, or of the squared error in units of the new targets' variance.
inline double mean_error(const MadeUpTasks& made, const TaskModels& models) {
  double sum = 0.0;
  for (std::size_t t = 0; t < models.models.size(); ++t) {
    const Predictions found = predict(models.models[t], *made.new_rows[t], {}, {});
    const Targets& truth = made.new_targets[t];
    const auto n = static_cast<double>(truth.samples());
    double wrong = 0.0;
    double mean = 0.0;
    for (const double value : truth.values.values()) mean += value / n;
    double variance = 0.0;
    for (const double value : truth.values.values()) variance += (value - mean) * (value - mean) / n;
    for (Index i = 0; i < truth.samples(); ++i) {
      const auto k = static_cast<std::size_t>(i);
      if (truth.task == Task::binary) {
        wrong += found.codes[k] == truth.codes[k] ? 0.0 : 1.0;
      } else {
        const double away = found.scores(i, 0) - truth.values(i, 0);
        wrong += away * away / variance;
      }
    }
    sum += wrong / n;
  }
  return sum / static_cast<double>(models.models.size());
}

struct MeanAndError {
  double mean = 0.0;
  double standard_error = 0.0;
};
inline MeanAndError summary_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  MeanAndError result;
  for (const double value : values) result.mean += value / n;
  double square = 0.0;
  for (const double value : values) square += (value - result.mean) * (value - result.mean);
  result.standard_error = std::sqrt(square / (n - 1.0) / n);
  return result;
}

}  // namespace kloom::test
