// SPDX-License-Identifier: BSD-3-Clause
#include "methods/mkr/grouped.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "algebra/blas.h"
#include "base/progress.h"
#include "kloom/error.h"
#include "methods/mkr/gradient.h"

namespace kloom::methods {
namespace {

// Everything known about one θ.
struct WeightPoint {
  Vector theta;
  Vector c;
  Vector q;
  double primal = 0.0;  // over α
  double gap = 0.0;     // relative
};

class GroupLearner {
 public:
  GroupLearner(const KernelBank& bank, const RidgeTask& task, const GroupedSettings& settings)
      : bank_(bank), task_(task), settings_(settings) {
    for (const double weight : task.weights) roots_.push_back(std::sqrt(weight));
  }

  // The best weights for one strength; `theta` to begin with, none of them 0.
  [[nodiscard]] WeightPoint at_strength(Index target, double strength, const Vector& theta);
  void switch_off(Index target, double strength, WeightPoint& point) const;
  [[nodiscard]] Index iterations() const { return iterations_; }

 private:
  [[nodiscard]] WeightPoint evaluate(Index target, double strength, Vector theta) const;
  [[nodiscard]] Vector solution(Index target, double strength, const Vector& theta) const;

  const KernelBank& bank_;
  const RidgeTask& task_;
  const GroupedSettings& settings_;
  Vector roots_;  // of the samples' weights
  Index iterations_ = 0;
};

// S^½ (S^½ K S^½ + αI)⁻¹ S^½ y.
Vector GroupLearner::solution(Index target, double strength, const Vector& theta) const {
  Matrix kernel = bank_.combine(theta);
  Matrix right(bank_.rows(), 1);
  for (Index j = 0; j < kernel.cols(); ++j) {
    for (Index i = 0; i < kernel.rows(); ++i) kernel(i, j) *= roots_[at(i)] * roots_[at(j)];
    kernel(j, j) += strength;
    right(j, 0) = roots_[at(j)] * task_.y(j, target);
  }
  if (algebra::cholesky(kernel.view()) != 0)
    throw InvalidArgument(
        "ridge regression has no solution with these kernels: they are not positive semidefinite; try larger "
        "strengths (--alpha-grid), or kernels that are");
  algebra::cholesky_solve(kernel.view(), right.view());
  Vector c;
  for (Index i = 0; i < right.rows(); ++i) c.push_back(roots_[at(i)] * right(i, 0));
  return c;
}

WeightPoint GroupLearner::evaluate(Index target, double strength, Vector theta) const {
  WeightPoint point;
  point.c = solution(target, strength, theta);
  const Index n = bank_.rows();
  const Matrix forms = bank_.quadratic_forms({point.c.data(), n, 1, n});
  for (const double form : forms.values()) point.q.push_back(std::max(0.0, form));
  double square = 0.0;  // cᵀS⁻¹c
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    const double hat = roots_[i] > 0.0 ? point.c[i] / roots_[i] : 0.0;
    square += hat * hat;
  }
  const double own = algebra::dot(theta, point.q);
  point.primal = strength * square + own;
  point.gap = point.primal > 0.0 ? std::max(0.0, support(settings_.set, point.q) - own) / point.primal : 0.0;
  point.theta = std::move(theta);
  return point;
}

WeightPoint GroupLearner::at_strength(Index target, double strength, const Vector& theta) {
  WeightPoint point = evaluate(target, strength, theta);
  Stretch stretch;
  for (Index k = 1; k < settings_.iterations && point.gap > settings_.tolerance; ++k, ++iterations_) {
    Vector lengths;
    for (std::size_t m = 0; m < point.q.size(); ++m) lengths.push_back(point.theta[m] * std::sqrt(point.q[m]));
    Vector update = best_weights(settings_.set, lengths, point.theta);
    WeightPoint next =
        evaluate(target, strength, further_weights(settings_.set, point.theta, update, stretch.value()));
    const bool lowered = next.primal < point.primal;
    if (!lowered && stretch.value() > 1.0) next = evaluate(target, strength, std::move(update));
    stretch.tell(lowered);
    point = std::move(next);
  }
  return point;
}

void GroupLearner::switch_off(Index target, double strength, WeightPoint& point) const {
  drop_small_groups(settings_.set, point.theta, [&](Vector theta) {
    WeightPoint candidate = evaluate(target, strength, std::move(theta));
    if (candidate.gap > settings_.tolerance) return false;
    point = std::move(candidate);
    return true;
  });
}

// Weighted mean of squared leave-one-out errors, the kernel weights being kept.
double left_out(const KernelBank& bank, const RidgeTask& task, Index target, double strength, Vector theta) {
  algebra::scale(1.0 / strength, theta);
  return leave_one_out(bank, task, target, theta).loss;
}

}  // namespace

GroupedRidge learn_grouped(const KernelBank& bank, const RidgeTask& task, const GroupedSettings& settings,
                           const Vector& grid, const Context& context) {
  GroupLearner learner(bank, task, settings);
  const Index targets = task.y.cols();
  GroupedRidge result;
  RidgeChoice& choice = result.choice;
  choice = {Matrix(targets, bank.kernels()), Vector(at(targets)), Vector(at(targets)),
            Matrix(bank.rows(), targets)};
  Vector falling = grid;
  std::ranges::sort(falling, std::greater<>{});
  ProgressMeter meter(context, "kernel weights in groups");
  for (Index t = 0; t < targets; ++t) {
    WeightPoint best;
    double strength = 0.0;
    double least = std::numeric_limits<double>::infinity();
    Vector theta = even_weights(settings.set);
    for (std::size_t k = 0; k < falling.size() && !result.stopped; ++k) {
      WeightPoint point = learner.at_strength(t, falling[k], theta);
      theta = point.theta;
      const double loss = left_out(bank, task, t, falling[k], theta);
      if (k == 0 || loss < least) {
        least = loss;
        strength = falling[k];
        best = std::move(point);
      }
      result.stopped =
          meter.step(t * std::ssize(falling) + static_cast<Index>(k) + 1, targets * std::ssize(falling), least);
    }
    if (best.theta.empty()) best = learner.at_strength(t, strength = falling.front(), theta);  // stopped
    learner.switch_off(t, strength, best);
    choice.strengths[at(t)] = strength;
    choice.losses[at(t)] = left_out(bank, task, t, strength, best.theta);
    result.gap = std::max(result.gap, best.gap);
    for (Index m = 0; m < bank.kernels(); ++m) choice.theta(t, m) = best.theta[at(m)];
    std::ranges::copy(best.c, choice.coefficients.column(t).begin());
  }
  result.iterations = learner.iterations();
  return result;
}

}  // namespace kloom::methods
