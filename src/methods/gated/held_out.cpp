// SPDX-License-Identifier: BSD-3-Clause
#include "methods/gated/held_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kloom/error.h"
#include "kloom/kernels.h"
#include "methods/margin/probability.h"
#include "methods/seam/prepared_targets.h"

namespace kloom::methods {
namespace {

int class_of(const Matrix& scores, Index i) {
  if (scores.cols() == 1) return scores(i, 0) > 0.0 ? 1 : 0;
  Index best = 0;
  for (Index c = 1; c < scores.cols(); ++c) best = scores(i, c) > scores(i, best) ? c : best;
  return static_cast<int>(best);
}

// Error of one sample.
double miss(const Targets& targets, const MarginTask& first, const Matrix& scores, Index i) {
  if (!first.regression) return class_of(scores, i) == targets.codes[at(i)] ? 0.0 : 1.0;
  const double difference = first.y[at(i)] - scores(i, 0);
  return difference * difference;
}

}  // namespace

double held_out_error(const Targets& targets, const std::vector<MarginOutput>& outputs, const Matrix& scores) {
  double error = 0.0;
  double total = 0.0;
  for (Index i = 0; i < scores.rows(); ++i) {
    total += weight_of(targets, i);
    error += weight_of(targets, i) * miss(targets, outputs.front().task, scores, i);
  }
  return total > 0.0 ? error / total : 0.0;
}

bool clearly_better(const Targets& targets, const std::vector<MarginOutput>& outputs, const Matrix& better,
                    const Matrix& worse) {
  const double mean = held_out_error(targets, outputs, worse) - held_out_error(targets, outputs, better);
  double square = 0.0;
  double total = 0.0;
  for (Index i = 0; i < better.rows(); ++i) {
    const MarginTask& first = outputs.front().task;
    const double weight = weight_of(targets, i);
    const double deviation = miss(targets, first, worse, i) - miss(targets, first, better, i) - mean;
    square += weight * weight * deviation * deviation;
    total += weight;
  }
  return total > 0.0 && mean > std::sqrt(square) / total;
}

Matrix held_out_sigmoids(const std::vector<MarginOutput>& outputs, const Matrix& scores) {
  Matrix sigmoids(std::ssize(outputs), 2);
  for (Index c = 0; c < sigmoids.rows(); ++c)
    fit_sigmoid_of_output(outputs[at(c)].task, scores.column(c), c, sigmoids);
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

}  // namespace kloom::methods
