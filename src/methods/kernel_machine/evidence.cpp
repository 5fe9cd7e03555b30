// SPDX-License-Identifier: BSD-3-Clause
#include "methods/kernel_machine/evidence.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "algebra/blas.h"

namespace kloom::methods {
namespace {

using algebra::Op;

class Ascent {
 public:
  // `targets`: of the samples of `kernels`.
  Ascent(const SampledKernels& kernels, const std::vector<Index>& chosen, Matrix targets)
      : n_(kernels.samples()), kernels_(kernels), chosen_(chosen), targets_(std::move(targets)) {
    double variance = 0.0;
    for (const double y : targets_.values()) variance += y * y / static_cast<double>(targets_.size());
    const auto count = static_cast<double>(chosen.size());
    for (const Index k : chosen) {
      // All kernels begin with the same share of half of the variance, the noise with the other half.
      weights_.push_back(0.5 * variance * static_cast<double>(n_) /
                         (count * std::max(kernels.trace(k), 1e-300)));
    }
    constant_ = 0.1 * variance;
    noise_ = 0.5 * variance;
  }

  // One update of all weights. Returns false where C is not positive definite.
  bool step() {
    Matrix inverse(n_, n_, constant_);
    for (std::size_t p = 0; p < chosen_.size(); ++p) {
      if (weights_[p] > 0.0) algebra::axpy(weights_[p], kernels_.entries(chosen_[p]), inverse.values());
    }
    for (Index i = 0; i < n_; ++i) inverse(i, i) += noise_;
    double log_det_inverse = 0.0;
    if (!algebra::invert_positive(inverse.view(), log_det_inverse)) return false;
    const Index outputs = targets_.cols();
    Matrix alpha(n_, outputs);
    algebra::gemm(Op::none, Op::none, 1.0, inverse.view(), targets_.view(), 0.0, alpha.view());
    evidence_ = 0.5 * static_cast<double>(outputs) * log_det_inverse -
                0.5 * static_cast<double>(n_ * outputs) * std::log(2.0 * std::numbers::pi) -
                0.5 * algebra::dot(alpha.values(), targets_.values());
    Matrix outer(n_, n_);
    algebra::gemm(Op::none, Op::transpose, 1.0, alpha.view(), alpha.view(), 0.0, outer.view());
    const auto update = [&](double& weight, double fit, double complexity) {
      weight *= std::sqrt(std::max(0.0, fit) / std::max(static_cast<double>(outputs) * complexity, 1e-300));
    };
    for (std::size_t p = 0; p < chosen_.size(); ++p) {
      if (weights_[p] == 0.0) continue;
      update(weights_[p], kernels_.inner(chosen_[p], outer), kernels_.inner(chosen_[p], inverse));
    }
    double ones_fit = 0.0;
    double ones_complexity = 0.0;
    double trace_fit = 0.0;
    double trace_complexity = 0.0;
    for (const double value : outer.values()) ones_fit += value;
    for (const double value : inverse.values()) ones_complexity += value;
    for (Index i = 0; i < n_; ++i) {
      trace_fit += outer(i, i);
      trace_complexity += inverse(i, i);
    }
    update(constant_, ones_fit, ones_complexity);
    update(noise_, trace_fit, trace_complexity);
    return true;
  }

  [[nodiscard]] double evidence() const { return evidence_; }
  [[nodiscard]] Index samples() const { return n_; }

  [[nodiscard]] EvidenceSolution solution() const {
    EvidenceSolution result;
    result.weights.assign(at(kernels_.kernels()), 0.0);
    double largest = 0.0;
    for (std::size_t p = 0; p < chosen_.size(); ++p)
      largest = std::max(largest, weights_[p] * kernels_.trace(chosen_[p]));
    // A thousandth of the largest contribution is on its way to 0.
    for (std::size_t p = 0; p < chosen_.size(); ++p) {
      const bool counts = weights_[p] * kernels_.trace(chosen_[p]) >= 1e-3 * largest;
      result.weights[at(chosen_[p])] = counts ? weights_[p] : 0.0;
    }
    result.noise = noise_;
    result.constant = constant_;
    result.evidence = evidence_;
    result.sound = largest > 0.0;
    return result;
  }

 private:
  Index n_;
  const SampledKernels& kernels_;
  const std::vector<Index>& chosen_;
  Matrix targets_;
  Vector weights_;
  double constant_ = 0.0;
  double noise_ = 0.0;
  double evidence_ = 0.0;
};

}  // namespace

EvidenceSolution maximise_evidence(const KernelBank& bank, const Matrix& targets,
                                   const EvidenceRequest& request) {
  Matrix chosen(std::ssize(request.samples), targets.cols());
  for (Index c = 0; c < chosen.cols(); ++c) {
    for (Index i = 0; i < chosen.rows(); ++i) chosen(i, c) = targets(request.samples[at(i)], c);
  }
  return maximise_evidence(SampledKernels(bank, request.samples), chosen, request);
}

EvidenceSolution maximise_evidence(const SampledKernels& kernels, const Matrix& targets,
                                   const EvidenceRequest& request) {
  Ascent ascent(kernels, request.kernels, targets);
  std::vector<double> trace;
  bool sound = true;
  for (Index t = 0; t < request.iterations && sound; ++t) {
    if (request.stopped && request.stopped()) break;
    sound = ascent.step();
    if (!sound) break;
    trace.push_back(ascent.evidence());
    const auto n = static_cast<double>(ascent.samples());
    if (t > 0 && trace[at(t)] - trace[at(t - 1)] < request.tolerance * n) break;
  }
  EvidenceSolution solution = ascent.solution();
  solution.sound = solution.sound && sound;
  solution.iterations = std::ssize(trace);
  solution.trace = std::move(trace);
  return solution;
}

std::vector<Index> best_kernels(std::span<const double> losses, Index count) {
  std::vector<Index> order;
  for (Index p = 0; p < std::ssize(losses); ++p) {
    if (std::isfinite(losses[at(p)])) order.push_back(p);
  }
  std::ranges::stable_sort(order, {}, [&](Index p) { return losses[at(p)]; });
  if (std::ssize(order) > count) order.resize(at(count));
  return order;
}

}  // namespace kloom::methods
