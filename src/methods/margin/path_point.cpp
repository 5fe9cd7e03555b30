// SPDX-License-Identifier: BSD-3-Clause
#include "methods/margin/path_point.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace kloom::methods {
namespace {

double output_error(const MarginTask& task, std::size_t i, double score) {
  if (task.regression) return (task.y[i] - score) * (task.y[i] - score);
  return task.y[i] * score > 0.0 ? 0.0 : 1.0;
}

double count_nonzero(const Vector& values) {
  return static_cast<double>(std::ranges::count_if(values, [](double value) { return value != 0.0; }));
}

}  // namespace

double output_errors(const MarginTask& task, const Vector& scores) {
  double error = 0.0;
  for (std::size_t i = 0; i < scores.size(); ++i) error += task.box[i] * output_error(task, i, scores[i]);
  return error;
}

double path_error(const std::vector<MarginOutput>& outputs, const std::vector<Vector>& scores,
                  bool against_rest) {
  double error = 0.0;
  double total = 0.0;
  const bool rest = outputs.size() > 1 && against_rest;
  for (std::size_t k = 0; k < outputs.size() && !rest; ++k) {
    error += output_errors(outputs[k].task, scores[k]);
    total += std::accumulate(outputs[k].task.box.begin(), outputs[k].task.box.end(), 0.0);
  }
  for (std::size_t i = 0; i < outputs.front().codes.size() && rest; ++i) {
    std::size_t best = 0;
    for (std::size_t k = 1; k < scores.size(); ++k) best = scores[k][i] > scores[best][i] ? k : best;
    const auto truth = static_cast<std::size_t>(outputs.front().codes[i]);
    const double weight = outputs[truth].task.box[i];
    error += best == truth ? 0.0 : weight;
    total += weight;
  }
  return total > 0.0 ? error / total : 0.0;
}

Vector errors_alone(const std::vector<MarginOutput>& outputs, const PathPoint& point, bool against_rest) {
  Vector errors(point.alone.front().size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t m = 0; m < errors.size(); ++m) {
    std::vector<Vector> scores;
    for (const std::vector<Vector>& output : point.alone) {
      if (!output[m].empty()) scores.push_back(output[m]);
    }
    if (scores.size() == outputs.size()) errors[m] = path_error(outputs, scores, against_rest);
  }
  return errors;
}

bool is_free(const MarginOutput& output, const std::vector<MarginSolution>& solutions, double price) {
  constexpr double kBound = 1.0 - 1e-6;
  return std::ranges::all_of(solutions, [&](const MarginSolution& s) {
    for (std::size_t i = 0; i < s.coefficients.size(); ++i) {
      if (s.coefficients[i] != 0.0 && std::abs(s.coefficients[i]) >= kBound * price * output.task.box[i])
        return false;
    }
    return true;
  });
}

Vector path_row(const PathPoint& point) {
  double kernels = 0.0;
  double supports = 0.0;
  double gap = 0.0;
  double count = 0.0;
  for (const std::vector<MarginSolution>& folds : point.without_fold) {
    for (const MarginSolution& s : folds) {
      kernels += count_nonzero(s.theta);
      supports += count_nonzero(s.coefficients);
      gap = std::max(gap, s.gap());
      count += 1.0;
    }
  }
  return {point.price, point.error, kernels / count, supports / count, gap};
}

}  // namespace kloom::methods
