// SPDX-License-Identifier: BSD-3-Clause
#include "methods/margin/outputs.h"

#include <utility>
#include <vector>

#include "algebra/blas.h"
#include "methods/seam/prepared_targets.h"

namespace kloom::methods {
namespace {

// Class `positive` against `negative`, or against all others if that is −1.
MarginOutput class_output(const Targets& targets, int positive, int negative, bool balanced) {
  MarginOutput output;
  std::vector<int> sides;
  for (std::size_t i = 0; i < targets.codes.size(); ++i) {
    const int code = targets.codes[i];
    const bool in = code == positive || negative < 0 || code == negative;
    sides.push_back(code == positive ? 1 : 0);
    output.task.y.push_back(code == positive ? 1.0 : -1.0);
    output.task.box.push_back(in ? weight_of(targets, static_cast<Index>(i)) : 0.0);
    output.codes.push_back(code);
  }
  if (balanced) balance_classes(sides, 2, output.task.box);
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
  Standardised target = standardised(targets.values.column(0), {});
  part.target_centre = target.centre;
  part.target_scale = target.scale;
  output.task.y = std::move(target.values);
  for (Index i = 0; i < targets.samples(); ++i) {
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
  start.margins = solution.margins;
  return start;
}

}  // namespace kloom::methods
