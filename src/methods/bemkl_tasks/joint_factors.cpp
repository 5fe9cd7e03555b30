// SPDX-License-Identifier: BSD-3-Clause
#include "methods/bemkl_tasks/joint_factors.h"

#include <omp.h>

#include <atomic>
#include <cmath>
#include <numbers>
#include <utility>

#include "algebra/blas.h"
#include "algebra/for_each.h"

namespace kloom::methods {
namespace {

// What one task says of (b,e).
struct Evidence {
  Vector bias_precision;  // diagonal of B
  Matrix cross;           // Cᵀ, P × M
  Vector bias_pull;       // r_b
  Matrix precision;       // E − CᵀB⁻¹C
  Vector pull;            // r_e − CᵀB⁻¹r_b
  Matrix moments;         // A
};

Evidence evidence_of(const BemklFactors& task) {
  const Index outputs = task.outputs();
  const Index kernels = task.kernels();
  Evidence found;
  found.moments = task.moments_of_be();
  const Vector right = task.pull_of_be();
  found.bias_pull.assign(right.begin(), right.begin() + outputs);
  found.pull.assign(right.begin() + outputs, right.end());
  found.cross = Matrix(kernels, outputs);
  found.precision = Matrix(kernels, kernels);
  for (Index m = 0; m < kernels; ++m) {
    const auto column = found.moments.column(outputs + m).subspan(at(outputs));
    std::ranges::copy(column, found.precision.column(m).begin());
  }
  for (Index c = 0; c < outputs; ++c) {
    const double bias = found.moments(c, c) + task.precision_of_be()[at(c)];
    found.bias_precision.push_back(bias);
    std::ranges::copy(found.moments.column(c).subspan(at(outputs)), found.cross.column(c).begin());
    algebra::rank_one(-1.0 / bias, found.cross.column(c), found.precision.view());
    algebra::axpy(-found.bias_pull[at(c)] / bias, found.cross.column(c), found.pull);
  }
  return found;
}

// q(e), the same for all tasks.
struct SharedWeights {
  Vector mean;
  Matrix covariance;
  double log_det = 0.0;
};

// The marginal q(b_t,e) of the task with this evidence.
void give_weights(BemklFactors& task, const Evidence& evidence, const SharedWeights& e) {
  const Index outputs = task.outputs();
  const Index kernels = task.kernels();
  Vector mean(at(outputs));
  Covariances::GivenWeights given{Matrix(outputs + kernels, outputs + kernels), e.log_det, 0.0};
  Matrix& covariance = given.covariance;
  for (Index m = 0; m < kernels; ++m)
    std::ranges::copy(e.covariance.column(m), covariance.column(outputs + m).subspan(at(outputs)).begin());
  Matrix spread(kernels, outputs);  // Σ(e)Cᵀ
  algebra::gemm(algebra::Op::none, algebra::Op::none, 1.0, e.covariance.view(), evidence.cross.view(), 0.0,
                spread.view());
  for (Index c = 0; c < outputs; ++c) {
    const double bias = evidence.bias_precision[at(c)];
    const auto cross = evidence.cross.column(c);
    mean[at(c)] = (evidence.bias_pull[at(c)] - algebra::dot(cross, e.mean)) / bias;
    given.log_det -= std::log(bias);
    for (Index m = 0; m < kernels; ++m)
      covariance(c, outputs + m) = covariance(outputs + m, c) = -spread(m, c) / bias;
    for (Index d = 0; d < outputs; ++d) {
      covariance(c, d) = algebra::dot(cross, spread.column(d)) / (bias * evidence.bias_precision[at(d)]) +
                         (c == d ? 1.0 / bias : 0.0);
    }
  }
  for (Index c = 0; c < outputs; ++c) {
    for (Index d = 0; d < c; ++d) covariance(c, d) = covariance(d, c);
  }
  given.spread = algebra::dot(covariance.values(), evidence.moments.values());
  mean.insert(mean.end(), e.mean.begin(), e.mean.end());
  task.take_weights(std::move(mean), std::move(given));
}

}  // namespace

JointFactors::JointFactors(std::vector<BemklFactors> tasks) : tasks_(std::move(tasks)) {
  for (BemklFactors& task : tasks_) task.share_weights();
}

template <typename Step>
bool JointFactors::for_every_task(Step step) {
  // Where that leaves more than half of the threads idle, all of them in each task are quicker.
  const int all = omp_get_max_threads();
  const auto count = std::ssize(tasks_);
  std::atomic<bool> sound = true;
  algebra::for_each(count > 1 && 2 * count >= all ? all : 1, count, [&](Index t) {
    if (!step(tasks_[at(t)])) sound = false;
  });
  return sound;
}

bool JointFactors::iterate() {
  return for_every_task([](BemklFactors& task) { return task.iterate_to_weights(); }) && update_be() &&
         for_every_task([](BemklFactors& task) {
           task.iterate_from_weights();
           return true;
         });
}

bool JointFactors::iterate_from_intermediate() {
  return for_every_task([](BemklFactors& task) { return task.iterate_from_intermediate_to_weights(); }) &&
         update_be() &&
         for_every_task([](BemklFactors& task) { return task.iterate_from_intermediate_from_weights(); });
}

bool JointFactors::update_intermediate() {
  return for_every_task([](BemklFactors& task) { return task.update_intermediate(); });
}

bool JointFactors::update_be() {
  const BemklFactors& first = tasks_.front();
  const Index kernels = first.kernels();
  SharedWeights e{Vector(at(kernels)), Matrix(kernels, kernels), 0.0};
  for (Index m = 0; m < kernels; ++m) e.covariance(m, m) = first.precision_of_be()[at(first.outputs() + m)];
  std::vector<Evidence> evidence;
  Vector pull(at(kernels));
  for (const BemklFactors& task : tasks_) {
    evidence.push_back(evidence_of(task));
    algebra::axpy(1.0, evidence.back().precision.values(), e.covariance.values());
    algebra::axpy(1.0, evidence.back().pull, pull);
  }
  if (!algebra::invert_positive(e.covariance.view(), e.log_det)) return false;
  algebra::gemv(algebra::Op::none, 1.0, e.covariance.view(), pull, 0.0, e.mean);
  for (std::size_t t = 0; t < tasks_.size(); ++t) give_weights(tasks_[t], evidence[t], e);
  entropy_of_e_ = 0.5 * (static_cast<double>(kernels) * (1.0 + std::log(2.0 * std::numbers::pi)) + e.log_det);
  return true;
}

double JointFactors::lower_bound() const {
  double sum = 0.0;
  for (const BemklFactors& task : tasks_) sum += task.lower_bound();
  const auto others = static_cast<double>(tasks_.size() - 1);
  return sum - others * (tasks_.front().bound_of_weight_precisions() + entropy_of_e_);
}

Vector JointFactors::state() const {
  Vector all;
  for (const BemklFactors& task : tasks_) {
    const Vector one = task.state();
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

bool JointFactors::set_state(const Vector& state, const JointFactors& others) {
  auto next = state.begin();
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    const auto length = std::ssize(others.tasks_[t].state());
    if (!tasks_[t].set_state({next, next + length}, others.tasks_[t])) return false;
    next += length;
  }
  entropy_of_e_ = others.entropy_of_e_;
  return true;
}

}  // namespace kloom::methods
