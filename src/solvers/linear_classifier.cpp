// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/linear_classifier.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "algebra/blas.h"
#include "algebra/lbfgs.h"

namespace kloom::solvers {
namespace {

using algebra::Op;

// The score s of one output becomes its residual p − y; returns the loss.
double residual_in_place(double& s, bool positive) {
  const double margin = positive ? s : -s;
  const double loss = margin > 0.0 ? std::log1p(std::exp(-margin)) : -margin + std::log1p(std::exp(margin));
  const double p = s > 0.0 ? 1.0 / (1.0 + std::exp(-s)) : std::exp(s) / (1.0 + std::exp(s));
  s = p - (positive ? 1.0 : 0.0);
  return loss;
}

// Scores become the derivatives of ½ max(0, 1 − y s)², y = 1 for the class of the column and −1 for the others.
double hinge_residuals_in_place(const ClassifierProblem& problem, Matrix& scores) {
  double loss = 0.0;
  for (Index c = 0; c < scores.cols(); ++c) {
    const Index own = scores.cols() == 1 ? 1 : c;
    for (Index i = 0; i < scores.rows(); ++i) {
      const double u = problem.weights.empty() ? 1.0 : problem.weights[at(i)];
      const double y = problem.labels[at(i)] == own ? 1.0 : -1.0;
      const double missing = std::max(0.0, 1.0 - y * scores(i, c));
      loss += 0.5 * u * missing * missing;
      scores(i, c) = -u * y * missing;
    }
  }
  return loss;
}

// Scores become residuals p − y, times the samples' weights; returns the loss.
double residuals_in_place(const ClassifierProblem& problem, Matrix& scores) {
  if (problem.loss == ClassLoss::squared_hinge) return hinge_residuals_in_place(problem, scores);
  double loss = 0.0;
  const Index outputs = scores.cols();
  Vector row(at(outputs));
  for (Index i = 0; i < scores.rows(); ++i) {
    const double u = problem.weights.empty() ? 1.0 : problem.weights[at(i)];
    const int y = problem.labels[at(i)];
    if (outputs == 1) {
      loss += u * residual_in_place(scores(i, 0), y == 1);
      scores(i, 0) *= u;
      continue;
    }
    double largest = scores(i, 0);
    for (Index c = 1; c < outputs; ++c) largest = std::max(largest, scores(i, c));
    double sum = 0.0;
    for (Index c = 0; c < outputs; ++c) sum += row[at(c)] = std::exp(scores(i, c) - largest);
    loss += u * (std::log(sum) + largest - scores(i, y));
    for (Index c = 0; c < outputs; ++c) scores(i, c) = u * (row[at(c)] / sum - (c == y ? 1.0 : 0.0));
  }
  return loss;
}

// W and b of all outputs in one vector: column after column of W, then b.
struct Point {
  Vector x;
  Vector gradient;
  double value = 0.0;
};

class Objective {
 public:
  Objective(const ClassifierProblem& problem, double ridge)
      : problem_(problem), ridge_(ridge), outputs_(problem.classes == 2 ? 1 : problem.classes) {}

  [[nodiscard]] Index outputs() const { return outputs_; }
  [[nodiscard]] Index size() const { return (problem_.features.cols + 1) * outputs_; }

  void evaluate(Point& point) const {
    const ConstMatrixView& phi = problem_.features;
    const Index r = phi.cols;
    Matrix scores(phi.rows, outputs_);
    for (Index c = 0; c < outputs_; ++c) std::ranges::fill(scores.column(c), point.x[at(r * outputs_ + c)]);
    algebra::gemm(Op::none, Op::none, 1.0, phi, {point.x.data(), r, outputs_, r}, 1.0, scores.view());
    point.value = residuals_in_place(problem_, scores);
    point.gradient.assign(point.x.size(), 0.0);
    for (Index k = 0; k < r * outputs_; ++k) {
      point.gradient[at(k)] = ridge_ * point.x[at(k)];
      point.value += 0.5 * ridge_ * point.x[at(k)] * point.x[at(k)];
    }
    algebra::gemm(Op::transpose, Op::none, 1.0, phi, scores.view(), 1.0,
                  {point.gradient.data(), r, outputs_, r});
    for (Index c = 0; c < outputs_; ++c) {
      for (const double residual : scores.column(c)) point.gradient[at(r * outputs_ + c)] += residual;
    }
  }

  // Diagonal of the Hessian where every sample has the mean probabilities.
  [[nodiscard]] Vector curvature() const {
    const ConstMatrixView& phi = problem_.features;
    Vector shares(at(problem_.classes));
    double total = 0.0;
    for (Index i = 0; i < phi.rows; ++i) {
      const double u = problem_.weights.empty() ? 1.0 : problem_.weights[at(i)];
      shares[at(problem_.labels[at(i)])] += u;
      total += u;
    }
    Vector squares(at(phi.cols));
    for (Index k = 0; k < phi.cols; ++k) {
      for (Index i = 0; i < phi.rows; ++i) {
        const double u = problem_.weights.empty() ? 1.0 : problem_.weights[at(i)];
        squares[at(k)] += u * phi(i, k) * phi(i, k);
      }
    }
    Vector diagonal(at(size()));
    for (Index c = 0; c < outputs_; ++c) {
      const double share = shares[at(outputs_ == 1 ? 1 : c)] / std::max(total, 1e-300);
      const double spread = problem_.loss == ClassLoss::squared_hinge
                                ? std::max(2.0 * std::min(share, 1.0 - share), 1e-3)
                                : std::max(share * (1.0 - share), 1e-3);
      for (Index k = 0; k < phi.cols; ++k) diagonal[at(c * phi.cols + k)] = ridge_ + spread * squares[at(k)];
      diagonal[at(phi.cols * outputs_ + c)] = std::max(spread * total, 1e-12);
    }
    return diagonal;
  }

 private:
  const ClassifierProblem& problem_;
  double ridge_;
  Index outputs_;
};

// What the step from one point to the other shows of the curvature.
void learn(algebra::InverseHessian& inverse, const Point& from, const Point& to) {
  Vector step = to.x;
  Vector change = to.gradient;
  algebra::axpy(-1.0, from.x, step);
  algebra::axpy(-1.0, from.gradient, change);
  inverse.learn(std::move(step), std::move(change));
}

Vector packed(const ClassifierSolution* start, Index size) {
  Vector x(at(size));
  if (start == nullptr) return x;
  std::ranges::copy(start->w.values(), x.begin());
  std::ranges::copy(start->b, x.begin() + start->w.size());
  return x;
}

}  // namespace

ClassifierSolution fit_classifier(const ClassifierProblem& problem, double ridge, double tolerance,
                                  const ClassifierSolution* start) {
  constexpr Index kIterations = 300;
  const Objective objective(problem, ridge);
  Point now{packed(start, objective.size()), {}, 0.0};
  objective.evaluate(now);
  algebra::InverseHessian inverse(objective.curvature());
  Index iteration = 0;
  for (; iteration < kIterations; ++iteration) {
    const Vector direction = inverse.direction(now.gradient);
    const double slope = algebra::dot(direction, now.gradient);
    if (!(slope < 0.0)) break;
    double step = 1.0;
    Point next;
    for (int tries = 0; tries < 30; ++tries, step *= 0.5) {
      next = now;
      algebra::axpy(step, direction, next.x);
      objective.evaluate(next);
      if (next.value <= now.value + 1e-4 * step * slope) break;
    }
    if (!(next.value < now.value)) break;
    const double gain = now.value - next.value;
    learn(inverse, now, next);
    now = std::move(next);
    if (gain <= tolerance * std::abs(now.value)) break;
  }
  const Index r = problem.features.cols;
  ClassifierSolution solution{Matrix(r, objective.outputs()), {}, now.value, iteration};
  std::copy_n(now.x.begin(), r * objective.outputs(), solution.w.values().begin());
  solution.b.assign(now.x.begin() + r * objective.outputs(), now.x.end());
  return solution;
}

Matrix classifier_scores(ConstMatrixView features, const ClassifierSolution& solution) {
  Matrix scores(features.rows, solution.w.cols());
  for (Index c = 0; c < scores.cols(); ++c) std::ranges::fill(scores.column(c), solution.b[at(c)]);
  algebra::gemm(Op::none, Op::none, 1.0, features, solution.w.view(), 1.0, scores.view());
  return scores;
}

Matrix softmax_probabilities(const Matrix& scores) {
  const bool two = scores.cols() == 1;
  Matrix result(scores.rows(), two ? 2 : scores.cols());
  for (Index i = 0; i < scores.rows(); ++i) {
    if (two) {
      const double s = scores(i, 0);
      result(i, 1) = s > 0.0 ? 1.0 / (1.0 + std::exp(-s)) : std::exp(s) / (1.0 + std::exp(s));
      result(i, 0) = s > 0.0 ? std::exp(-s) / (1.0 + std::exp(-s)) : 1.0 / (1.0 + std::exp(s));
      continue;
    }
    double largest = scores(i, 0);
    for (Index c = 1; c < scores.cols(); ++c) largest = std::max(largest, scores(i, c));
    double sum = 0.0;
    for (Index c = 0; c < scores.cols(); ++c) sum += result(i, c) = std::exp(scores(i, c) - largest);
    for (Index c = 0; c < scores.cols(); ++c) result(i, c) /= sum;
  }
  return result;
}

double mean_log_loss(const Matrix& probabilities, std::span<const int> labels,
                     std::span<const double> weights) {
  double loss = 0.0;
  double total = 0.0;
  for (Index i = 0; i < probabilities.rows(); ++i) {
    const double u = weights.empty() ? 1.0 : weights[at(i)];
    loss -= u * std::log(std::max(probabilities(i, labels[at(i)]), 1e-15));
    total += u;
  }
  return loss / std::max(total, 1e-300);
}

}  // namespace kloom::solvers
