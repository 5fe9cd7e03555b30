// SPDX-License-Identifier: BSD-3-Clause
#include "learners/held_out.h"

#include <fmt/format.h>

#include <algorithm>

#include "kloom/error.h"
#include "kloom/kernels.h"
#include "solvers/platt.h"

namespace kloom::learners {
namespace {

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

int class_of(const Matrix& scores, Index i) {
  if (scores.cols() == 1) return scores(i, 0) > 0.0 ? 1 : 0;
  Index best = 0;
  for (Index c = 1; c < scores.cols(); ++c) best = scores(i, c) > scores(i, best) ? c : best;
  return static_cast<int>(best);
}

}  // namespace

double held_out_error(const Targets& targets, const std::vector<MarginOutput>& outputs, const Matrix& scores) {
  const MarginTask& first = outputs.front().task;
  double error = 0.0;
  double total = 0.0;
  for (Index i = 0; i < scores.rows(); ++i) {
    const double weight = targets.weights.empty() ? 1.0 : targets.weights[at(i)];
    const double miss = first.y[at(i)] - scores(i, 0);
    total += weight;
    if (first.regression) {
      error += weight * miss * miss;
    } else if (class_of(scores, i) != targets.codes[at(i)]) {
      error += weight;
    }
  }
  return total > 0.0 ? error / total : 0.0;
}

Matrix held_out_sigmoids(const std::vector<MarginOutput>& outputs, const Matrix& scores) {
  Matrix sigmoids(std::ssize(outputs), 2);
  for (Index c = 0; c < sigmoids.rows(); ++c) {
    const MarginTask& task = outputs[at(c)].task;
    Vector own;
    Vector positive;
    for (Index i = 0; i < scores.rows(); ++i) {
      if (task.box[at(i)] == 0.0) continue;
      own.push_back(scores(i, c));
      positive.push_back(task.y[at(i)] > 0.0 ? 1.0 : 0.0);
    }
    const solvers::Sigmoid sigmoid = solvers::fit_sigmoid(own, positive);
    sigmoids(c, 0) = sigmoid.a;
    sigmoids(c, 1) = sigmoid.b;
  }
  return sigmoids;
}

std::vector<double> option_numbers(const std::string& name, const std::string& text, double least, bool open) {
  std::vector<double> values = parse_range(text, -1, 0.0);
  std::ranges::sort(values);
  for (const double value : values) {
    if (open ? value > least : value >= least) continue;
    throw InvalidArgument(
        fmt::format("option {} must hold numbers {} {}; got {}", name, open ? ">" : ">=", least, value));
  }
  return values;
}

}  // namespace kloom::learners
