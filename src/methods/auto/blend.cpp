// SPDX-License-Identifier: BSD-3-Clause
#include "methods/auto/blend.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "algebra/blas.h"
#include "methods/seam/calibration.h"
#include "solvers/linear_classifier.h"

namespace kloom::methods {
namespace {

struct Value {
  double objective = 0.0;
  Vector gradient;
};

class BlendProblem {
 public:
  BlendProblem(const std::vector<const Machine*>& machines, const MachineTask& task,
               const std::vector<bool>& in_play)
      : machines_(machines), task_(task), in_play_(in_play) {
    double count = 0.0;
    for (const bool in : in_play_) count += in ? 1.0 : 0.0;
    prior_ = 1.0 / std::max(count, 1.0);
  }

  [[nodiscard]] Vector start() const {
    Vector s(machines_.size());
    for (std::size_t k = 0; k < s.size(); ++k) s[k] = in_play_[k] ? prior_ : 0.0;
    return s;
  }

  [[nodiscard]] Matrix scores(const Vector& s) const {
    Matrix sum(task_.samples(), task_.outputs());
    for (std::size_t k = 0; k < s.size(); ++k) {
      if (s[k] != 0.0) algebra::axpy(s[k], machines_[k]->held_out.values(), sum.values());
    }
    return sum;
  }

  [[nodiscard]] Value at_shares(const Vector& s) const {
    Matrix residuals = scores(s);
    Value value{loss_and_residuals(residuals), Vector(s.size())};
    for (std::size_t k = 0; k < s.size(); ++k) {
      if (!in_play_[k]) continue;
      value.gradient[k] =
          algebra::dot(residuals.values(), machines_[k]->held_out.values()) + 2.0 * (s[k] - prior_);
      value.objective += (s[k] - prior_) * (s[k] - prior_);
    }
    return value;
  }

  [[nodiscard]] bool in_play(std::size_t k) const { return in_play_[k]; }

 private:
  // Sum of the losses; the scores become its derivatives.
  double loss_and_residuals(Matrix& scores) const {
    double loss = 0.0;
    if (task_.classes > 0) {
      Matrix p = solvers::softmax_probabilities(scores);
      const bool two = scores.cols() == 1;
      for (Index i = 0; i < scores.rows(); ++i) {
        const double u = task_.judging().empty() ? 1.0 : task_.judging()[at(i)];
        const int y = task_.labels[at(i)];
        loss -= u * std::log(std::max(p(i, y), 1e-15));
        for (Index c = 0; c < scores.cols(); ++c)
          scores(i, c) = u * (two ? p(i, 1) - y : p(i, c) - (c == y ? 1.0 : 0.0));
      }
      return loss;
    }
    for (Index i = 0; i < scores.rows(); ++i) {
      const double u = task_.judging().empty() ? 1.0 : task_.judging()[at(i)];
      const double error = scores(i, 0) - task_.numbers[at(i)];
      loss += u * error * error;
      scores(i, 0) = 2.0 * u * error;
    }
    return loss;
  }

  const std::vector<const Machine*>& machines_;
  const MachineTask& task_;
  std::vector<bool> in_play_;
  double prior_ = 1.0;
};

// Projected gradients with steps that adapt; the problem is convex and has few variables.
Vector solve(const BlendProblem& problem) {
  constexpr int kIterations = 500;
  Vector s = problem.start();
  Value now = problem.at_shares(s);
  double step = 1e-2;
  for (int t = 0; t < kIterations; ++t) {
    bool moved = false;
    for (int tries = 0; tries < 40 && !moved; ++tries) {
      Vector next = s;
      double decrease = 0.0;
      for (std::size_t k = 0; k < s.size(); ++k) {
        if (!problem.in_play(k)) continue;
        next[k] = std::max(0.0, s[k] - step * now.gradient[k]);
        decrease += now.gradient[k] * (s[k] - next[k]);
      }
      const Value there = problem.at_shares(next);
      if (there.objective <= now.objective - 0.3 * decrease) {
        moved = now.objective - there.objective > 1e-9 * std::abs(now.objective);
        s = next;
        now = there;
        step *= 1.6;
        if (!moved) return s;
      } else {
        step *= 0.4;
      }
    }
    if (!moved) break;
  }
  return s;
}

}  // namespace

double Blend::relative(std::size_t k) const {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  return sum > 0.0 ? shares[k] / sum : 0.0;
}

Blend blend_machines(const std::vector<const Machine*>& machines, const MachineTask& task) {
  std::vector<bool> in_play(machines.size(), true);
  Blend blend;
  blend.shares = solve(BlendProblem(machines, task, in_play));
  // Machines with next to no share cost as much at prediction as the others.
  for (std::size_t k = 0; k < in_play.size(); ++k) in_play[k] = blend.relative(k) >= 0.04;
  const BlendProblem problem(machines, task, in_play);
  blend.shares = solve(problem);
  if (std::ranges::all_of(blend.shares, [](double s) { return s == 0.0; })) blend.shares = problem.start();
  const Matrix scores = problem.scores(blend.shares);
  blend.loss = held_out_loss(scores, task);
  blend.bias.assign(at(task.outputs()), 0.0);
  if (task.classes > 0) return blend;
  Vector errors;
  for (Index i = 0; i < scores.rows(); ++i) {
    if (task.judging().empty() || task.judging()[at(i)] > 0.0)
      errors.push_back(std::abs(scores(i, 0) - task.numbers[at(i)]));
  }
  blend.deviation = deviation_of_errors(std::move(errors));
  return blend;
}

}  // namespace kloom::methods
