// SPDX-License-Identifier: BSD-3-Clause
#include "methods/margin/probability.h"

#include <algorithm>
#include <cmath>

#include "solvers/platt.h"

namespace kloom::methods {
namespace {

double sigmoid(double x) {
  return x > 0.0 ? 1.0 / (1.0 + std::exp(-x)) : std::exp(x) / (1.0 + std::exp(x));
}

// P(positive class of output c | score).
double output_probability(const MarginPart& part, Index c, double score) {
  return sigmoid(-(part.platt(c, 0) * score + part.platt(c, 1)));
}

// r(i, j) = P(i | i or j). Minimises Σ_i Σ_{j≠i} (r_ji p_i − r_ij p_j)² over the simplex by the fixed-point
// iteration of [WuLinWeng2004, algorithm 2].
Vector couple(const Matrix& r) {
  const Index k = r.rows();
  Matrix q(k, k);
  for (Index i = 0; i < k; ++i) {
    for (Index j = 0; j < k; ++j) {
      if (i == j) continue;
      q(i, i) += r(j, i) * r(j, i);
      q(i, j) = -r(j, i) * r(i, j);
    }
  }
  Vector p(static_cast<std::size_t>(k), 1.0 / static_cast<double>(k));
  for (int sweep = 0; sweep < 100; ++sweep) {
    double change = 0.0;
    for (Index i = 0; i < k; ++i) {
      Vector qp(p.size());
      double pqp = 0.0;
      for (Index a = 0; a < k; ++a) {
        for (Index b = 0; b < k; ++b)
          qp[static_cast<std::size_t>(a)] += q(a, b) * p[static_cast<std::size_t>(b)];
        pqp += p[static_cast<std::size_t>(a)] * qp[static_cast<std::size_t>(a)];
      }
      const double step = (pqp - qp[static_cast<std::size_t>(i)]) / std::max(q(i, i), 1e-300);
      p[static_cast<std::size_t>(i)] += step;
      double sum = 0.0;
      for (double value : p) sum += value;
      for (double& value : p) value /= sum;
      change = std::max(change, std::abs(step));
    }
    if (change < 1e-9) break;
  }
  return p;
}

Vector pair_probabilities(const Model& model, const Matrix& scores, Index sample) {
  const MarginPart& part = part_of<MarginPart>(model);
  const auto classes = static_cast<Index>(model.classes.size());
  Matrix r(classes, classes);
  for (Index c = 0; c < scores.cols(); ++c) {
    const auto i = static_cast<Index>(part.pairs(c, 0));
    const auto j = static_cast<Index>(part.pairs(c, 1));
    r(i, j) = std::clamp(output_probability(part, c, scores(sample, c)), 1e-7, 1.0 - 1e-7);
    r(j, i) = 1.0 - r(i, j);
  }
  return couple(r);
}

Vector rest_probabilities(const Model& model, const Matrix& scores, Index sample) {
  Vector p;
  double sum = 0.0;
  for (Index c = 0; c < scores.cols(); ++c) {
    p.push_back(std::max(output_probability(part_of<MarginPart>(model), c, scores(sample, c)), 1e-300));
    sum += p.back();
  }
  for (double& value : p) value /= sum;
  return p;
}

}  // namespace

void fit_sigmoid_of_output(const MarginTask& task, std::span<const double> held_out, Index c, Matrix& platt) {
  Vector scores;
  Vector positive;
  for (std::size_t i = 0; i < held_out.size(); ++i) {
    if (task.box[i] == 0.0) continue;
    scores.push_back(held_out[i]);
    positive.push_back(task.y[i] > 0.0 ? 1.0 : 0.0);
  }
  const solvers::Sigmoid sigmoid = solvers::fit_sigmoid(scores, positive);
  platt(c, 0) = sigmoid.a;
  platt(c, 1) = sigmoid.b;
}

Matrix margin_probabilities(const Model& model, const Matrix& scores) {
  Matrix result(scores.rows(), static_cast<Index>(model.classes.size()));
  for (Index i = 0; i < scores.rows(); ++i) {
    if (model.task == Task::binary) {
      result(i, 1) = output_probability(part_of<MarginPart>(model), 0, scores(i, 0));
      result(i, 0) = 1.0 - result(i, 1);
      continue;
    }
    const Vector p = part_of<MarginPart>(model).pairs.empty() ? rest_probabilities(model, scores, i)
                                                              : pair_probabilities(model, scores, i);
    for (Index c = 0; c < result.cols(); ++c) result(i, c) = p[static_cast<std::size_t>(c)];
  }
  return result;
}

std::vector<int> pairwise_votes(const Model& model, const Matrix& scores) {
  const Matrix& pairs = part_of<MarginPart>(model).pairs;
  std::vector<int> codes;
  for (Index i = 0; i < scores.rows(); ++i) {
    Vector votes(model.classes.size());
    Vector sums(model.classes.size());
    for (Index c = 0; c < scores.cols(); ++c) {
      const auto positive = static_cast<std::size_t>(pairs(c, 0));
      const auto negative = static_cast<std::size_t>(pairs(c, 1));
      votes[scores(i, c) > 0.0 ? positive : negative] += 1.0;
      sums[positive] += scores(i, c);
      sums[negative] -= scores(i, c);
    }
    std::size_t best = 0;
    for (std::size_t k = 1; k < votes.size(); ++k) {
      if (votes[k] > votes[best] || (votes[k] == votes[best] && sums[k] > sums[best])) best = k;
    }
    codes.push_back(static_cast<int>(best));
  }
  return codes;
}

}  // namespace kloom::methods
