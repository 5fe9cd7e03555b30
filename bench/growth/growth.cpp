// SPDX-License-Identifier: BSD-3-Clause
//
// How the time of a fit grows with samples N, kernels P and classes M, for every method of the registry. Prints
// the slope of log time over log size and writes the times as JSON for plot.py.
//
//   bench_growth [--json FILE] [METHOD...]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "base/stopwatch.h"
#include "kloom/bank.h"
#include "kloom/learner.h"
#include "kloom/machine.h"

namespace {

using kloom::Index;
using kloom::Matrix;
using kloom::Targets;
using kloom::Task;
using kloom::Vector;

struct Shape {
  Index samples = 400;
  Index kernels = 10;
  Index classes = 2;
};

// Gaussian kernels of P widths on five features; the class is the place of a smooth score among its quantiles.
struct Problem {
  std::unique_ptr<kloom::KernelBank> bank;
  Targets targets;
};

Problem make_problem(const Shape& shape) {
  std::mt19937_64 engine(7);
  std::normal_distribution<double> normal;
  Matrix x(shape.samples, 5);
  for (double& value : x.values()) value = normal(engine);
  std::vector<Matrix> kernels;
  std::vector<std::string> names;
  for (Index m = 0; m < shape.kernels; ++m) {
    const double gamma = std::exp2(-6.0 + 8.0 * static_cast<double>(m) / static_cast<double>(shape.kernels));
    Matrix k(shape.samples, shape.samples);
    for (Index j = 0; j < shape.samples; ++j) {
      for (Index i = 0; i <= j; ++i) {
        double d = 0.0;
        for (Index c = 0; c < x.cols(); ++c) d += (x(i, c) - x(j, c)) * (x(i, c) - x(j, c));
        k(i, j) = k(j, i) = std::exp(-gamma * d);
      }
    }
    kernels.push_back(std::move(k));
    names.push_back("width " + std::to_string(m));
  }
  Vector scores;
  for (Index i = 0; i < shape.samples; ++i)
    scores.push_back(std::sin(2.0 * x(i, 0)) + x(i, 1) * x(i, 2) + 0.3 * normal(engine));
  Vector sorted = scores;
  std::ranges::sort(sorted);
  Problem problem{kloom::make_dense_bank(kernels, names, true), {}};
  problem.targets.task = shape.classes == 2 ? Task::binary : Task::multiclass;
  for (Index c = 0; c < shape.classes; ++c) problem.targets.classes.push_back(std::to_string(c));
  for (double score : scores) {
    const auto rank = std::ranges::lower_bound(sorted, score) - sorted.begin();
    problem.targets.codes.push_back(static_cast<int>(rank * shape.classes / shape.samples));
  }
  return problem;
}

bool can(const kloom::Learner& learner, Task task) {
  return std::ranges::find(learner.tasks, task) != learner.tasks.end();
}

// Median of three, or one if that took long.
double seconds_of_fit(const kloom::Learner& learner, const Problem& problem) {
  std::vector<double> times;
  while (times.size() < 3 && (times.empty() || times.back() < 10.0)) {
    const kloom::Stopwatch clock;
    kloom::OptionValues options;
    for (const auto& option : learner.options) {
      if (option.name == "probability") options["probability"] = "false";
    }
    (void)learner.fit(*problem.bank, problem.targets, options, {});
    times.push_back(clock.seconds());
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

// Least-squares slope of log y over log x.
double slope(const Vector& x, const Vector& y) {
  double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
  const auto n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double a = std::log(x[i]);
    const double b = std::log(y[i]);
    sx += a;
    sy += b;
    sxx += a * a;
    sxy += a * b;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

struct Axis {
  const char* name;
  Index Shape::*member;
  std::vector<Index> sizes;
};
const Axis kAxes[] = {{"samples", &Shape::samples, {100, 200, 400, 800, 1600}},
                      {"kernels", &Shape::kernels, {5, 10, 20, 40, 80}},
                      {"classes", &Shape::classes, {3, 4, 6, 9}}};

nlohmann::json grow(const kloom::Learner& learner, const Axis& axis) {
  Vector x;
  Vector y;
  for (Index size : axis.sizes) {
    Shape shape;
    shape.*axis.member = size;
    const Problem problem = make_problem(shape);
    if (!can(learner, problem.targets.task)) return nullptr;
    x.push_back(static_cast<double>(size));
    y.push_back(seconds_of_fit(learner, problem));
  }
  fmt::print("{:<12} {:<8} slope {:5.2f}   seconds", learner.name, axis.name, slope(x, y));
  for (std::size_t i = 0; i < x.size(); ++i) fmt::print("  {:g}: {:.3g}", x[i], y[i]);
  fmt::print("\n");
  return {{"method", learner.name}, {"axis", axis.name}, {"size", x}, {"seconds", y}, {"slope", slope(x, y)}};
}

}  // namespace

int main(int argc, char** argv) {
  kloom::cure_blas_core();
  std::string path;
  std::vector<std::string> methods;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--json" && i + 1 < argc) {
      path = argv[++i];
    } else {
      methods.push_back(argument);
    }
  }
  nlohmann::json all = nlohmann::json::array();
  for (const kloom::Learner& learner : kloom::all_learners()) {
    if (!methods.empty() && std::ranges::find(methods, learner.name) == methods.end()) continue;
    for (const Axis& axis : kAxes) {
      nlohmann::json line = grow(learner, axis);
      if (!line.is_null()) all.push_back(std::move(line));
    }
  }
  if (!path.empty()) std::ofstream(path) << all.dump(1) << '\n';
  return 0;
}
