// SPDX-License-Identifier: BSD-3-Clause
#include "methods/margin/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "algebra/blas.h"
#include "kloom/error.h"

namespace kloom::methods {
namespace {

double weight_of(const Targets& targets, std::size_t i) {
  return targets.weights.empty() ? 1.0 : targets.weights[i];
}

// Class `positive` against `negative`, or against all others if that is −1.
MarginOutput class_output(const Targets& targets, int positive, int negative, bool balanced) {
  MarginOutput output;
  double totals[2] = {0.0, 0.0};
  for (std::size_t i = 0; i < targets.codes.size(); ++i) {
    const int code = targets.codes[i];
    const bool in = code == positive || negative < 0 || code == negative;
    output.task.y.push_back(code == positive ? 1.0 : -1.0);
    output.task.box.push_back(in ? weight_of(targets, i) : 0.0);
    output.codes.push_back(code);
    totals[code == positive ? 1 : 0] += output.task.box.back();
  }
  if (balanced) {
    for (std::size_t i = 0; i < output.task.y.size(); ++i) {
      output.task.box[i] *=
          0.5 * (totals[0] + totals[1]) / std::max(totals[output.task.y[i] > 0.0 ? 1 : 0], 1e-300);
    }
  }
  return output;
}

}  // namespace

std::vector<MarginOutput> class_outputs(const Targets& targets, bool balanced) {
  if (targets.task == Task::binary) return {class_output(targets, 1, 0, balanced)};
  std::vector<MarginOutput> outputs;
  outputs.reserve(targets.classes.size());
  for (int c = 0; c < static_cast<int>(targets.classes.size()); ++c) {
    outputs.push_back(class_output(targets, c, -1, balanced));
  }
  return outputs;
}

std::vector<MarginOutput> pair_outputs(const Targets& targets, bool balanced, Matrix& pairs) {
  const auto classes = static_cast<int>(targets.classes.size());
  std::vector<MarginOutput> outputs;
  pairs = Matrix(classes * (classes - 1) / 2, 2);
  for (int c = 0; c < classes; ++c) {
    for (int d = c + 1; d < classes; ++d) {
      pairs(static_cast<Index>(outputs.size()), 0) = c;
      pairs(static_cast<Index>(outputs.size()), 1) = d;
      outputs.push_back(class_output(targets, c, d, balanced));
    }
  }
  return outputs;
}

MarginOutput regression_output(const Targets& targets, double epsilon, MarginPart& part) {
  MarginOutput output;
  output.task.regression = true;
  output.task.epsilon = epsilon;
  const auto values = targets.values.column(0);
  const double n = static_cast<double>(values.size());
  part.target_centre = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double square = 0.0;
  for (double value : values) square += (value - part.target_centre) * (value - part.target_centre);
  part.target_scale = square > 0.0 ? std::sqrt(square / n) : 1.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    output.task.y.push_back((values[i] - part.target_centre) / part.target_scale);
    output.task.box.push_back(weight_of(targets, i));
    output.codes.push_back(0);
  }
  return output;
}

MarginTask with_price(const MarginTask& task, double c) {
  MarginTask priced = task;
  algebra::scale(c, priced.box);
  return priced;
}

MarginTask without_fold(const MarginTask& task, const std::vector<Index>& folds, Index fold) {
  MarginTask rest = task;
  for (std::size_t i = 0; i < folds.size(); ++i) {
    if (folds[i] == fold) rest.box[i] = 0.0;
  }
  return rest;
}

MarginStart continued(const MarginSolution& solution, double ratio) {
  MarginStart start(solution.theta, solution.alpha);
  algebra::scale(ratio, start.alpha);
  return start;
}

}  // namespace kloom::methods
