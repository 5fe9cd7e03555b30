// SPDX-License-Identifier: BSD-3-Clause
//
// A made-up problem in which different samples need different kernels: several sensors that all see the
// class, each with a gauge of its own state. Now and then one is out of order: its signal is wild whatever
// the class is, and its gauge is high. One linear kernel per sensor. A fixed sum of kernels has to trust a
// sensor always or never.
#pragma once

#include <string>
#include <vector>

#include "kloom/learner.h"
#include "support/problems.h"

namespace kloom::test {

struct SensorProblem {
  std::vector<Matrix> train;  // kernels of the training samples
  std::vector<Matrix> test;   // new samples × training samples
  std::vector<std::string> names;
  Targets targets;
  Targets truth;
};

struct SensorSamples {
  std::vector<Matrix> views;
  Targets targets;
};

inline SensorSamples sensor_samples(Index n, Index sensors, unsigned seed) {
  constexpr double kBroken = 0.15;  // share of signals that come from a sensor out of order
  constexpr double kWild = 5.0;     // deviation of those
  constexpr double kNoise = 0.7;    // of the others about the class, which is ±1
  Normal normal(seed);
  SensorSamples samples;
  samples.views.assign(static_cast<std::size_t>(sensors), Matrix(n, 2));
  samples.targets.task = Task::binary;
  samples.targets.classes = {"down", "up"};
  for (Index i = 0; i < n; ++i) {
    const double y = i % 2 == 0 ? 1.0 : -1.0;
    samples.targets.codes.push_back(y > 0.0 ? 1 : 0);
    for (Matrix& view : samples.views) {
      const bool broken = normal.uniform() < kBroken;
      view(i, 0) = broken ? kWild * normal() : y + kNoise * normal();
      view(i, 1) = (broken ? 2.0 : -0.5) + 0.3 * normal();
    }
  }
  return samples;
}

inline SensorProblem sensor_problem(Index n, Index fresh, Index sensors, unsigned seed) {
  const SensorSamples train = sensor_samples(n, sensors, seed);
  const SensorSamples test = sensor_samples(fresh, sensors, seed + 5000);
  SensorProblem problem;
  for (std::size_t v = 0; v < train.views.size(); ++v) {
    problem.train.push_back(dot_kernel(train.views[v], train.views[v]));
    problem.test.push_back(dot_kernel(test.views[v], train.views[v]));
    problem.names.push_back("sensor " + std::to_string(v + 1));
  }
  problem.targets = train.targets;
  problem.truth = test.targets;
  return problem;
}

// Share of the new samples that a method gets right.
inline double sensor_accuracy(const Learner& learner, const SensorProblem& problem) {
  const auto bank = make_dense_bank(problem.train, problem.names, true);
  const auto fresh = make_dense_bank(problem.test, problem.names, false);
  OptionValues options;
  for (const OptionInfo& option : learner.options) {
    if (option.name == "C_grid") options["C_grid"] = "10^-2..10^1";
    if (option.name == "probability") options["probability"] = "false";
  }
  const FitResult fit = learner.fit(*bank, problem.targets, options, {});
  const Predictions p = predict(fit.model, *fresh, {}, {});
  double right = 0.0;
  for (std::size_t i = 0; i < p.codes.size(); ++i) right += p.codes[i] == problem.truth.codes[i] ? 1.0 : 0.0;
  return right / static_cast<double>(p.codes.size());
}

}  // namespace kloom::test
