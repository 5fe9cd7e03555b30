// SPDX-License-Identifier: BSD-3-Clause
#include "methods/gpmkl/ascent.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "algebra/blas.h"
#include "algebra/lbfgs.h"

namespace kloom::methods {
namespace {

// Targets have a deviation of about 1. Noise below a thousandth of that only makes matrices singular. Scores with a prior
// deviation above a thousand separate the classes; a larger one says no more.
constexpr double kLeastNoise = 1e-6;
constexpr double kLargest = 1e6;
constexpr double kLongestStep = 2.0;  // of a logarithm
constexpr double kSmall = 1e-2;       // part of the sum of all contributions

// Contributions v: w_p d_p of the kernels, then w_0, then σ² (numbers only). `slope`: of the objective by v.
struct Point {
  Vector v;
  Vector slope;
  Matrix modes;
  double value = 0.0;  // evidence less penalty
  double evidence = 0.0;
  bool sound = false;
};

class Climb {
 public:
  Climb(const SampledKernels& kernels, const GpTask& task, const AscentSettings& settings)
      : kernels_(kernels), task_(task), settings_(settings), p_(kernels.kernels()), diagonal_(at(p_)) {
    for (Index p = 0; p < p_; ++p) diagonal_[at(p)] = kernels.trace(p) / static_cast<double>(kernels.samples());
    double weight = 0.0;
    for (const double u : task.weights) weight += u;
    unit_ = settings.tolerance * weight * static_cast<double>(task.targets.cols());
  }

  [[nodiscard]] Vector contributions(const GpWeights& w) const;
  [[nodiscard]] GpWeights weights(const Vector& v) const;
  [[nodiscard]] Point evaluate(Vector v, const Matrix& modes) const;
  // Multiplies all contributions by the power of 4 that suits the likelihood best: the start comes from codes of
  // classes, which are of another size than scores.
  void rescale(Point& now) const;
  // L-BFGS among the contributions above 0. Returns whether the slopes are within the tolerance.
  bool round(Point& now, Index most);
  // Sets small contributions with a downward slope to 0 where that does not lower the objective.
  bool drop(Point& now) const;
  // Gives a little to kernels without a weight whose slope is upward.
  bool raise(Point& now) const;
  // Largest slope by a logarithm, in units of the tolerance. At a weight of 0 the slope times newcomer() takes its place.
  [[nodiscard]] double excess(const Point& now) const;

  Index iterations = 0;
  Vector trace;
  bool stopped = false;

 private:
  [[nodiscard]] double total(const Vector& v) const;
  // How much a kernel of weight 0 would contribute if it came in, which turns its slope into a gain: as much as all
  // others together, and at most 1, the size of the targets.
  [[nodiscard]] double newcomer(const Vector& v) const { return std::min(1.0, total(v)); }
  // Slopes by the logarithms; 0 where a bound is in the way, or the contribution is 0.
  [[nodiscard]] Vector log_slopes(const Point& now) const;
  [[nodiscard]] bool is_noise(std::size_t k) const {
    return std::ssize(diagonal_) + 1 == static_cast<Index>(k);
  }
  [[nodiscard]] bool line_search(const Point& now, const Vector& direction, const Vector& slopes,
                                 Point& next) const;

  const SampledKernels& kernels_;
  const GpTask& task_;
  const AscentSettings& settings_;
  Index p_;
  Vector diagonal_;
  double unit_ = 0.0;
};

Vector Climb::contributions(const GpWeights& w) const {
  Vector v(at(p_));
  for (std::size_t p = 0; p < v.size(); ++p) v[p] = std::min(w.weights[p] * diagonal_[p], kLargest);
  v.push_back(w.constant);
  if (!task_.classes) v.push_back(std::max(w.noise, kLeastNoise));
  return v;
}

GpWeights Climb::weights(const Vector& v) const {
  GpWeights w;
  w.weights.resize(at(p_));
  for (std::size_t p = 0; p < w.weights.size(); ++p) w.weights[p] = v[p] > 0.0 ? v[p] / diagonal_[p] : 0.0;
  w.constant = v[at(p_)];
  if (!task_.classes) w.noise = v.back();
  return w;
}

Point Climb::evaluate(Vector v, const Matrix& modes) const {
  Point point;
  point.v = std::move(v);
  point.modes = modes;
  const GpWeights w = weights(point.v);
  const Matrix kernel = kernels_.combine(w.weights, w.constant);
  const GpEvidence found =
      task_.classes ? laplace_evidence(kernel, task_, point.modes) : gaussian_evidence(kernel, task_, w.noise);
  point.sound = found.sound;
  if (!found.sound) return point;
  point.slope.resize(point.v.size());
  point.evidence = found.value;
  point.value = found.value;
  for (Index p = 0; p < p_; ++p) {
    point.value -= settings_.penalty * point.v[at(p)];
    if (diagonal_[at(p)] > 0.0)
      point.slope[at(p)] = kernels_.inner(p, found.slope) / diagonal_[at(p)] - settings_.penalty;
  }
  for (const double value : found.slope.values()) point.slope[at(p_)] += value;
  if (!task_.classes) point.slope.back() = found.noise_slope / w.noise;
  return point;
}

double Climb::total(const Vector& v) const {
  double sum = 0.0;
  for (Index k = 0; k <= p_; ++k) sum += v[at(k)];
  return sum;
}

Vector Climb::log_slopes(const Point& now) const {
  Vector slopes(now.v.size());
  for (std::size_t k = 0; k < slopes.size(); ++k) {
    slopes[k] = now.v[k] * now.slope[k];
    if (is_noise(k) && now.v[k] <= kLeastNoise && slopes[k] < 0.0) slopes[k] = 0.0;
    if (now.v[k] >= kLargest && slopes[k] > 0.0) slopes[k] = 0.0;
  }
  return slopes;
}

double Climb::excess(const Point& now) const {
  double largest = 0.0;
  for (const double slope : log_slopes(now)) largest = std::max(largest, std::abs(slope) / unit_);
  for (Index k = 0; k <= p_; ++k) {
    if (now.v[at(k)] == 0.0) largest = std::max(largest, newcomer(now.v) * now.slope[at(k)] / unit_);
  }
  return largest;
}

void Climb::rescale(Point& now) const {
  for (int tries = 0; tries < 5; ++tries) {
    Vector v = now.v;
    for (Index k = 0; k <= p_; ++k) v[at(k)] *= 4.0;
    Point next = evaluate(std::move(v), now.modes);
    if (!next.sound || next.value <= now.value) return;
    now = std::move(next);
  }
}

// The first step length that gains a part of what the slopes promise.
bool Climb::line_search(const Point& now, const Vector& direction, const Vector& slopes, Point& next) const {
  double longest = 0.0;
  for (const double d : direction) longest = std::max(longest, std::abs(d));
  double length = std::min(1.0, kLongestStep / std::max(longest, 1e-300));
  const double promise = algebra::dot(direction, slopes);
  if (!(promise > 0.0)) return false;
  // At the top the promise is smaller than the rounding of the objective.
  const double rounding = 1e-12 * (1.0 + std::abs(now.value));
  for (int tries = 0; tries < 20; ++tries, length *= 0.4) {
    Vector v = now.v;
    for (std::size_t k = 0; k < v.size(); ++k) {
      if (v[k] == 0.0) continue;
      v[k] = std::min(v[k] * std::exp(length * direction[k]), kLargest);
      if (is_noise(k)) v[k] = std::max(v[k], kLeastNoise);
    }
    next = evaluate(std::move(v), now.modes);
    if (next.sound && next.value >= now.value + 1e-4 * length * promise - rounding) return true;
    if (task_.stopped && task_.stopped()) return false;
  }
  return false;
}

bool Climb::round(Point& now, Index most) {
  Vector slopes = log_slopes(now);
  Vector curvature(slopes.size());
  // The Hessian before the first step. Variables are logarithms, so no step should be longer than 1 (|slope| as the
  // curvature), and shorter where the slope is below 0.05 per sample.
  for (std::size_t k = 0; k < slopes.size(); ++k)
    curvature[k] = std::max(std::abs(slopes[k]), 0.05 * unit_ / settings_.tolerance);
  algebra::InverseHessian inverse(std::move(curvature));
  const auto done = [&] { return std::ranges::all_of(slopes, [&](double s) { return std::abs(s) <= unit_; }); };
  for (Index t = 0; t < most && iterations < settings_.iterations && !stopped && !done(); ++t) {
    Vector downhill = slopes;
    algebra::scale(-1.0, downhill);
    Vector direction = inverse.direction(downhill);
    for (std::size_t k = 0; k < direction.size(); ++k) direction[k] = slopes[k] == 0.0 ? 0.0 : direction[k];
    Point next;
    if (!line_search(now, direction, slopes, next)) return false;
    Vector step(slopes.size());
    const Vector next_slopes = log_slopes(next);
    Vector change(slopes.size());
    for (std::size_t k = 0; k < step.size(); ++k) {
      step[k] = now.v[k] > 0.0 ? std::log(next.v[k] / now.v[k]) : 0.0;
      change[k] = slopes[k] - next_slopes[k];
    }
    inverse.learn(std::move(step), std::move(change));
    now = std::move(next);
    slopes = next_slopes;
    trace.push_back(now.value);
    ++iterations;
    stopped = settings_.progress && settings_.progress(iterations, now.value);
  }
  return done();
}

bool Climb::drop(Point& now) const {
  const double sum = total(now.v);
  Vector v = now.v;
  for (Index k = 0; k <= p_; ++k) {
    if (v[at(k)] < kSmall * sum && now.slope[at(k)] * newcomer(now.v) < -unit_) v[at(k)] = 0.0;
  }
  if (v == now.v) return false;
  Point next = evaluate(std::move(v), now.modes);
  if (!next.sound || next.value < now.value - 1e-12 * std::abs(now.value)) return false;
  now = std::move(next);
  return true;
}

bool Climb::raise(Point& now) const {
  const double scale = newcomer(now.v);
  for (double part = 1e-3; part > 1e-10; part *= 1e-2) {
    Vector v = now.v;
    for (Index k = 0; k <= p_; ++k) {
      if (v[at(k)] == 0.0 && now.slope[at(k)] * scale > unit_) v[at(k)] = part * scale;
    }
    if (v == now.v) return false;
    Point next = evaluate(std::move(v), now.modes);
    if (!next.sound || next.value < now.value) continue;
    now = std::move(next);
    return true;
  }
  return false;
}

}  // namespace

AscentResult ascend(const SampledKernels& kernels, const GpTask& task, const GpWeights& start,
                    const AscentSettings& settings) {
  Climb climb(kernels, task, settings);
  Point now = climb.evaluate(climb.contributions(start), Matrix(kernels.samples(), task.targets.cols()));
  AscentResult result;
  result.status = Status::numerical_trouble;
  if (!now.sound) return result;
  if (task.classes) climb.rescale(now);
  climb.trace.push_back(now.value);
  // Short rounds: what L-BFGS has learned is of no use after weights came or went.
  constexpr Index kRound = 15;
  bool converged = false;
  while (!converged && climb.iterations < settings.iterations && !climb.stopped) {
    const Index before = climb.iterations;
    const bool level = climb.round(now, kRound);
    climb.stopped = climb.stopped || (task.stopped && task.stopped());
    if (climb.stopped) break;
    const bool dropped = climb.drop(now);
    const bool raised = (level || dropped) && climb.raise(now);
    converged = level && !dropped && !raised;
    if (climb.iterations == before && !dropped && !raised) break;  // nothing moves any more
  }
  result.at = climb.weights(now.v);
  result.modes = std::move(now.modes);
  result.evidence = now.evidence;
  result.stationarity = settings.tolerance * climb.excess(now);
  result.iterations = climb.iterations;
  result.status = climb.excess(now) <= 1.0 ? Status::converged
                  : climb.stopped          ? Status::stopped
                                           : Status::iteration_limit;
  result.trace = std::move(climb.trace);
  return result;
}

}  // namespace kloom::methods
