// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/svm.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/clones.h"
#include "kloom/error.h"
#include "solvers/curvature.h"

namespace kloom::solvers {
namespace {

constexpr Index kBlock = 256;

// One subset of the variables, everything about them side by side in memory.
struct Working {
  std::vector<Index> index;  // variable of the whole problem
  Vector y, alpha, box, diagonal;
  Vector v;         // −y_i ∂/∂α_i
  Vector up, down;  // 0 where α_i may move y_i up (down), −∞ (+∞) where it may not
  Matrix compact;   // kernel among the subset, where it was copied
  [[nodiscard]] Index size() const { return static_cast<Index>(index.size()); }
};

struct Pair {
  Index i = -1;
  Index j = -1;
  double violation = 0.0;
};

void set_bounds(Working& w, Index k) {
  const double a = w.alpha[at(k)];
  const bool can_rise = a < w.box[at(k)];
  const bool can_fall = a > 0.0;
  const bool positive = w.y[at(k)] > 0.0;
  w.up[at(k)] = (positive ? can_rise : can_fall) ? 0.0 : -kInfinity;
  w.down[at(k)] = (positive ? can_fall : can_rise) ? 0.0 : kInfinity;
}

// Place of the largest v + up; −1 if none may move.
KLOOM_CLONES Index most_violating(const Working& w) {
  const double* v = w.v.data();
  const double* up = w.up.data();
  double best = -kInfinity;
  Index block = -1;
  for (Index start = 0; start < w.size(); start += kBlock) {
    const Index end = std::min(w.size(), start + kBlock);
    double largest = -kInfinity;
#pragma omp simd reduction(max : largest)
    for (Index k = start; k < end; ++k) largest = std::max(largest, v[k] + up[k]);
    if (largest > best) {
      best = largest;
      block = start;
    }
  }
  if (block < 0) return -1;
  Index k = block;
  while (v[k] + up[k] != best) ++k;
  return k;
}

// Decrease that moving the pair (i, j) brings, twice; 0 if j is on the wrong side.
[[gnu::always_inline]] inline double gain(double vi, double kii, double vj, double kjj, double kij) {
  const double b = std::max(0.0, vi - vj);
  return b * b / std::max(kTinyCurvature, kii + kjj - 2.0 * kij);
}

// v −= step·(row_i − row_j).
KLOOM_CLONES void shift(double* v, double step, const double* row_i, const double* row_j, Index n) {
#pragma omp simd
  for (Index k = 0; k < n; ++k) v[k] -= step * (row_i[k] - row_j[k]);
}

// Second-order choice of j for given i: largest decrease (v_i − v_j)²/(K_ii + K_jj − 2K_ij).
KLOOM_CLONES Pair partner(const Working& w, Index i, const double* row) {
  const double vi = w.v[at(i)];
  const double kii = w.diagonal[at(i)];
  const double* v = w.v.data();
  const double* down = w.down.data();
  const double* diagonal = w.diagonal.data();
  double best = 0.0;
  double lowest = kInfinity;
  Index block = -1;
  for (Index start = 0; start < w.size(); start += kBlock) {
    const Index end = std::min(w.size(), start + kBlock);
    double largest = 0.0;
    double smallest = kInfinity;
#pragma omp simd reduction(max : largest) reduction(min : smallest)
    for (Index k = start; k < end; ++k) {
      smallest = std::min(smallest, v[k] + down[k]);
      largest = std::max(largest, gain(vi, kii, v[k] + down[k], diagonal[k], row[k]));
    }
    lowest = std::min(lowest, smallest);
    if (largest > best) {
      best = largest;
      block = start;
    }
  }
  Pair pair{i, -1, vi - lowest};
  if (block < 0) return pair;
  // The best of its block once more, one by one: with fused operations a value may differ in its last bit.
  double largest = 0.0;
  for (Index k = block; k < std::min(w.size(), block + kBlock); ++k) {
    const double g = gain(vi, kii, v[k] + down[k], diagonal[k], row[k]);
    if (g > largest) {
      largest = g;
      pair.j = k;
    }
  }
  return pair;
}

}  // namespace

CachedRows::CachedRows(Vector diagonal, std::function<void(Index, double*)> compute, std::size_t bytes)
    : diagonal_(std::move(diagonal)), compute_(std::move(compute)), slot_of_(diagonal_.size(), -1) {
  const std::size_t row = std::max<std::size_t>(1, diagonal_.size()) * sizeof(double);
  const auto slots =
      static_cast<Index>(std::clamp<std::size_t>(bytes / row, 2, std::max<std::size_t>(2, diagonal_.size())));
  slots_ = Matrix(size(), slots);
  row_in_.assign(at(slots), -1);
  used_.assign(at(slots), 0);
}

const double* CachedRows::row(Index i) {
  Index slot = slot_of_[at(i)];
  if (slot < 0) {
    slot = std::min_element(used_.begin(), used_.end()) - used_.begin();
    if (row_in_[at(slot)] >= 0) slot_of_[at(row_in_[at(slot)])] = -1;
    compute_(i, slots_.column(slot).data());
    row_in_[at(slot)] = i;
    slot_of_[at(i)] = slot;
  }
  used_[at(slot)] = ++clock_;
  return slots_.column(slot).data();
}

namespace {

class Smo {
 public:
  Smo(const SvmProblem& problem, KernelRows& kernel, const SvmOptions& options, std::span<const double> start)
      : problem_(problem), kernel_(kernel), options_(options), alpha_(start.begin(), start.end()) {
    alpha_.resize(problem.y.size(), 0.0);
    direct_ = problem.sample.empty();
  }

  SvmSolution solve();

 private:
  void full_gradient();
  [[nodiscard]] Working subset(std::vector<Index> index, bool compact);
  [[nodiscard]] const double* row(const Working& w, Index k, Vector& buffer);
  // Moves until the violation is at most `tolerance`; false if it ended for another reason.
  bool descend(Working& w, double tolerance, bool may_shrink);
  void move(Working& w, const Pair& pair, const double* row_i, const double* row_j);
  [[nodiscard]] std::vector<Index> still_active(const Working& w) const;
  void put_back(const Working& w);
  [[nodiscard]] double bias() const;

  const SvmProblem& problem_;
  KernelRows& kernel_;
  const SvmOptions& options_;
  Vector alpha_;
  Vector v_;
  Vector buffer_i_, buffer_j_;
  Index iterations_ = 0;
  double violation_ = 0.0;
  bool stopped_ = false;
  bool left_out_ = false;  // the last descent ended with some variables shrunken away
  bool direct_ = false;    // variable i has kernel row i, so rows need not be gathered for the whole set
};

void Smo::full_gradient() {
  v_.assign(problem_.y.size(), 0.0);
  Vector scores(at(kernel_.size()));
  for (Index j = 0; j < problem_.variables(); ++j) {
    const double weight = alpha_[at(j)] * problem_.y[at(j)];
    if (weight == 0.0) continue;
    const double* k = kernel_.row(problem_.row_of(j));
    for (std::size_t i = 0; i < scores.size(); ++i) scores[i] += weight * k[i];
  }
  for (Index i = 0; i < problem_.variables(); ++i) {
    v_[at(i)] = -scores[at(problem_.row_of(i))] - problem_.y[at(i)] * problem_.linear[at(i)];
  }
}

Working Smo::subset(std::vector<Index> index, bool compact) {
  Working w;
  w.index = std::move(index);
  const Index n = w.size();
  if (compact) w.compact = Matrix(n, n);
  for (Index k = 0; k < n; ++k) {
    const Index i = w.index[at(k)];
    w.y.push_back(problem_.y[at(i)]);
    w.alpha.push_back(alpha_[at(i)]);
    w.box.push_back(problem_.box[at(i)]);
    w.diagonal.push_back(kernel_.diagonal(problem_.row_of(i)));
    w.v.push_back(v_[at(i)]);
    if (!compact) continue;
    const double* from = kernel_.row(problem_.row_of(i));
    double* to = w.compact.column(k).data();
    for (Index l = 0; l < n; ++l) to[l] = from[problem_.row_of(w.index[at(l)])];
  }
  w.up.resize(at(n));
  w.down.resize(at(n));
  for (Index k = 0; k < n; ++k) set_bounds(w, k);
  return w;
}

// Row of variable k within the working set.
const double* Smo::row(const Working& w, Index k, Vector& buffer) {
  if (!w.compact.empty()) return w.compact.column(k).data();
  const double* from = kernel_.row(problem_.row_of(w.index[at(k)]));
  if (direct_ && w.size() == kernel_.size()) return from;
  buffer.resize(at(w.size()));
  for (Index l = 0; l < w.size(); ++l) buffer[at(l)] = from[problem_.row_of(w.index[at(l)])];
  return buffer.data();
}

void Smo::move(Working& w, const Pair& pair, const double* row_i, const double* row_j) {
  const Index i = pair.i;
  const Index j = pair.j;
  const double curvature = std::max(kTinyCurvature, w.diagonal[at(i)] + w.diagonal[at(j)] - 2.0 * row_i[j]);
  // α_i moves by y_i t, α_j by −y_j t, t ≥ 0; t ends at the optimum or at the first bound.
  double step = (w.v[at(i)] - w.v[at(j)]) / curvature;
  const double room_i = w.y[at(i)] > 0.0 ? w.box[at(i)] - w.alpha[at(i)] : w.alpha[at(i)];
  const double room_j = w.y[at(j)] > 0.0 ? w.alpha[at(j)] : w.box[at(j)] - w.alpha[at(j)];
  step = std::min({step, room_i, room_j});
  // Bounds are met exactly, so that a variable at its bound is known to be there.
  w.alpha[at(i)] =
      step == room_i ? (w.y[at(i)] > 0.0 ? w.box[at(i)] : 0.0) : w.alpha[at(i)] + w.y[at(i)] * step;
  w.alpha[at(j)] =
      step == room_j ? (w.y[at(j)] > 0.0 ? 0.0 : w.box[at(j)]) : w.alpha[at(j)] - w.y[at(j)] * step;
  shift(w.v.data(), step, row_i, row_j, w.size());
  set_bounds(w, i);
  set_bounds(w, j);
}

// Variables at a bound whose v says that they will stay there are left out.
std::vector<Index> Smo::still_active(const Working& w) const {
  double highest = -kInfinity;
  double lowest = kInfinity;
  for (Index k = 0; k < w.size(); ++k) {
    highest = std::max(highest, w.v[at(k)] + w.up[at(k)]);
    lowest = std::min(lowest, w.v[at(k)] + w.down[at(k)]);
  }
  std::vector<Index> active;
  for (Index k = 0; k < w.size(); ++k) {
    const bool only_down = w.up[at(k)] != 0.0 && w.v[at(k)] > highest;
    const bool only_up = w.down[at(k)] != 0.0 && w.v[at(k)] < lowest;
    if (!only_down && !only_up) active.push_back(k);
  }
  return active;
}

void Smo::put_back(const Working& w) {
  for (Index k = 0; k < w.size(); ++k) alpha_[at(w.index[at(k)])] = w.alpha[at(k)];
}

bool Smo::descend(Working& w, double tolerance, bool may_shrink) {
  const Index period = std::max<Index>(500, std::min<Index>(2000, w.size()));
  for (Index count = 1;; ++count) {
    const Index i = most_violating(w);
    if (i < 0) {
      violation_ = 0.0;
      return true;
    }
    const double* row_i = row(w, i, buffer_i_);
    const Pair pair = partner(w, i, row_i);
    violation_ = std::max(0.0, pair.violation);
    if (pair.j < 0 || pair.violation <= tolerance) return true;
    if (++iterations_ > options_.iterations || (count % 1024 == 0 && options_.stop && options_.stop())) {
      stopped_ = true;
      return false;
    }
    move(w, pair, row_i, row(w, pair.j, buffer_j_));
    if (!may_shrink || count % period != 0) continue;
    std::vector<Index> active = still_active(w);
    if (static_cast<Index>(active.size()) > w.size() * 2 / 3 || active.size() < 2) continue;
    // The rest of the way on the active variables alone; their values and gradients go on from here.
    left_out_ = true;
    put_back(w);
    for (Index k = 0; k < w.size(); ++k) v_[at(w.index[at(k)])] = w.v[at(k)];
    for (Index& k : active) k = w.index[at(k)];
    Working smaller = subset(std::move(active), kernel_.in_memory());
    const bool done = descend(smaller, tolerance, true);
    put_back(smaller);
    for (Index k = 0; k < w.size(); ++k) w.alpha[at(k)] = alpha_[at(w.index[at(k)])];
    return done;
  }
}

double Smo::bias() const {
  // Free variables have v = b exactly at the optimum; otherwise the middle of the interval
  // that the bounds leave.
  double sum = 0.0;
  Index free = 0;
  double highest = -kInfinity;
  double lowest = kInfinity;
  for (Index i = 0; i < problem_.variables(); ++i) {
    const double a = alpha_[at(i)];
    const double c = problem_.box[at(i)];
    const bool positive = problem_.y[at(i)] > 0.0;
    if (a > 0.0 && a < c) {
      sum += v_[at(i)];
      ++free;
    }
    if (positive ? a < c : a > 0.0) highest = std::max(highest, v_[at(i)]);
    if (positive ? a > 0.0 : a < c) lowest = std::min(lowest, v_[at(i)]);
  }
  if (free > 0) return sum / static_cast<double>(free);
  if (std::isinf(highest)) return std::isinf(lowest) ? 0.0 : lowest;
  return std::isinf(lowest) ? highest : 0.5 * (highest + lowest);
}

SvmSolution Smo::solve() {
  std::vector<Index> all(problem_.y.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Index>(i);
  bool done = false;
  // Shrunken variables are looked at again with an exact gradient; the last round does not shrink, so it ends.
  for (int round = 0; !done && !stopped_; ++round) {
    full_gradient();
    Working w = subset(all, false);
    const bool may_shrink = options_.shrinking && round < 4;
    const Index before = iterations_;
    const bool settled = descend(w, options_.tolerance, may_shrink);
    put_back(w);
    // Done when a pass over all variables found nothing to move, or when nothing was ever left out.
    done = settled && (!may_shrink || iterations_ == before);
    if (settled && !done && iterations_ - before < std::max<Index>(500, std::min<Index>(2000, w.size())))
      done = true;
  }
  full_gradient();
  SvmSolution solution;
  solution.alpha = alpha_;
  solution.iterations = iterations_;
  solution.violation = violation_;
  solution.converged = done;
  solution.bias = bias();
  for (Index i = 0; i < problem_.variables(); ++i) {
    // ∂/∂α_i = −y_i v_i, so αᵀQα = Σ α_i (∂/∂α_i − p_i).
    const double gradient = -problem_.y[at(i)] * v_[at(i)];
    solution.objective += 0.5 * alpha_[at(i)] * (gradient + problem_.linear[at(i)]);
  }
  return solution;
}

}  // namespace

SvmSolution solve_svm(const SvmProblem& problem, KernelRows& kernel, const SvmOptions& options,
                      std::span<const double> start) {
  const std::size_t n = problem.y.size();
  if (problem.linear.size() != n || problem.box.size() != n || (!start.empty() && start.size() != n) ||
      (!problem.sample.empty() && problem.sample.size() != n)) {
    throw InternalError("an SVM problem needs one sign, linear term and box per variable");
  }
  return Smo(problem, kernel, options, start).solve();
}

}  // namespace kloom::solvers
