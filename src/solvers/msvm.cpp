// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/msvm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/clones.h"

namespace kloom::solvers {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kTinyCurvature = 1e-12;  // stands for zero or negative curvature
constexpr Index kAsk = 4096;              // moves between two questions whether to stop

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

// Raise (sample, up), lower (sample, down).
struct Arc {
  Index sample = -1;
  Index up = -1;
  Index down = -1;
};

// One variable that a move changes, and whether it goes up or down.
struct Entry {
  Index sample = -1;
  Index label = -1;
  double sign = 0.0;
};

// min over i of a_i − b_i.
KLOOM_CLONES double least_difference(std::span<const double> a, std::span<const double> b) {
  const double* x = a.data();
  const double* y = b.data();
  const auto n = static_cast<Index>(a.size());
  double least = kInfinity;
#pragma omp simd reduction(min : least)
  for (Index i = 0; i < n; ++i) least = std::min(least, x[i] - y[i]);
  return least;
}

// Variables that change along `arcs`; what one arc raises and another lowers is none of them.
std::vector<Entry> net_entries(const std::vector<Arc>& arcs) {
  std::vector<Entry> entries;
  const auto add = [&](Index sample, Index u, double sign) {
    for (Entry& e : entries) {
      if (e.sample == sample && e.label == u) {
        e.sign += sign;
        return;
      }
    }
    entries.push_back({sample, u, sign});
  };
  for (const Arc& arc : arcs) {
    add(arc.sample, arc.up, 1.0);
    add(arc.sample, arc.down, -1.0);
  }
  std::erase_if(entries, [](const Entry& e) { return e.sign == 0.0; });
  return entries;
}

class Solver {
 public:
  Solver(const MsvmProblem& problem, JointKernel& kernel, const MsvmOptions& options, const Matrix& start);
  MsvmSolution solve();

 private:
  [[nodiscard]] double upper(Index i, Index u) const;
  [[nodiscard]] double ridge(Index i) const;
  [[nodiscard]] Index label(Index i) const { return problem_.labels[at(i)]; }
  [[nodiscard]] Index classes() const { return problem_.classes; }
  [[nodiscard]] bool two_class_move();
  [[nodiscard]] bool longer_move();
  [[nodiscard]] bool one_sample_move();
  [[nodiscard]] Arc partner(const Arc& first);
  [[nodiscard]] std::vector<Arc> negative_cycle();
  void move(const std::vector<Arc>& arcs);
  void add_ridge(Index i, double change);
  void set_raised(Index u);
  [[nodiscard]] Arc arc(Index u, Index v) const;
  void best_partner(Index u);
  void renew(const std::vector<Index>& changed);
  [[nodiscard]] double cycle(Index u, Index v) const { return slope_(u, v) + slope_(v, u); }
  void relax(Vector& potential, std::vector<Index>* before, bool reversed) const;
  [[nodiscard]] Vector biases() const;
  [[nodiscard]] Matrix scores() const;

  const MsvmProblem& problem_;
  JointKernel& kernel_;
  const MsvmOptions& options_;
  Index n_;
  Matrix alpha_;
  Matrix gradient_;
  Matrix raised_;            // the gradient where the variable may be raised, else ∞
  Matrix slope_;             // d(u,v)
  std::vector<Index> best_;  // partner of each class in its most negative cycle of two
  Vector curvature_;
  double tolerance_ = 0.0;  // of now: coarse at first
  double violation_ = 0.0;
  Index longer_ = 0;
};

Solver::Solver(const MsvmProblem& problem, JointKernel& kernel, const MsvmOptions& options, const Matrix& start)
    : problem_(problem),
      kernel_(kernel),
      options_(options),
      n_(static_cast<Index>(problem.labels.size())),
      alpha_(start.empty() ? Matrix(n_, problem.classes) : start),
      gradient_(n_, problem.classes),
      raised_(n_, problem.classes),
      slope_(problem.classes, problem.classes, kInfinity),
      best_(at(problem.classes)),
      curvature_(at(n_)) {
  if (!start.empty()) kernel_.add_product(alpha_, gradient_.view());
  for (Index i = 0; i < n_; ++i) {
    for (Index u = 0; u < classes(); ++u) {
      if (kernel_.compact()) {
        if (u != label(i)) gradient_(i, u) += 1.0;
      } else if (u == label(i)) {
        gradient_(i, u) -= 1.0;
      }
    }
    if (problem_.squared) add_ridge(i, alpha_(i, label(i)));
  }
  if (!problem_.bias) return;
  std::vector<Index> all(at(classes()));
  std::iota(all.begin(), all.end(), Index{0});
  renew(all);
}

double Solver::upper(Index i, Index u) const {
  if (u != label(i)) return 0.0;
  if (!problem_.squared) return problem_.box[at(i)];
  return problem_.box[at(i)] > 0.0 ? kInfinity : 0.0;
}

// Curvature that the squared hinge adds to (i, y_i).
double Solver::ridge(Index i) const {
  return problem_.squared && problem_.box[at(i)] > 0.0 ? 0.5 / problem_.box[at(i)] : 0.0;
}

void Solver::add_ridge(Index i, double change) {
  const double step = change * ridge(i);
  if (step == 0.0) return;
  for (Index u = 0; u < classes(); ++u) {
    if (kernel_.compact()) {
      if (u != label(i)) gradient_(i, u) -= step;
    } else if (u == label(i)) {
      gradient_(i, u) += step;
    }
  }
}

void Solver::set_raised(Index u) {
  const auto gradient = gradient_.column(u);
  const auto raised = raised_.column(u);
  for (Index i = 0; i < n_; ++i) {
    raised[at(i)] = alpha_(i, u) < upper(i, u) ? gradient[at(i)] : kInfinity;
  }
}

Arc Solver::arc(Index u, Index v) const {
  Arc best{0, u, v};
  for (Index i = 1; i < n_; ++i) {
    if (raised_(i, u) - gradient_(i, v) < raised_(best.sample, u) - gradient_(best.sample, v)) best.sample = i;
  }
  return best;
}

// The class v with the least d(u,v) + d(v,u).
void Solver::best_partner(Index u) {
  const auto column = slope_.column(u);
  Index best = u == 0 ? 1 : 0;
  for (Index v = 0; v < classes(); ++v) {
    if (v != u && slope_(u, v) + column[at(v)] < slope_(u, best) + column[at(best)]) best = v;
  }
  best_[at(u)] = best;
}

void Solver::renew(const std::vector<Index>& changed) {
  for (Index c : changed) set_raised(c);
  for (Index v = 0; v < classes(); ++v) {
    for (Index c : changed) {
      if (v == c) continue;
      slope_(c, v) = least_difference(raised_.column(c), gradient_.column(v));
      slope_(v, c) = least_difference(raised_.column(v), gradient_.column(c));
    }
  }
  // Rows of other classes are looked through again only where their best partner is among the changed.
  for (Index c : changed) best_partner(c);
  for (Index u = 0; u < classes(); ++u) {
    for (Index c : changed) {
      if (u == c) continue;
      if (best_[at(u)] == c) {
        best_partner(u);
      } else if (cycle(u, c) < cycle(u, best_[at(u)])) {
        best_[at(u)] = c;
      }
    }
  }
}

// Changes the variables along `arcs` as far as the objective falls and the bounds allow.
void Solver::move(const std::vector<Arc>& arcs) {
  double slope = 0.0;
  for (const Arc& arc : arcs) slope += gradient_(arc.sample, arc.up) - gradient_(arc.sample, arc.down);
  const std::vector<Entry> entries = net_entries(arcs);
  double curvature = 0.0;
  double longest = kInfinity;
  for (const Entry& a : entries) {
    for (const Entry& b : entries)
      curvature += a.sign * b.sign * kernel_.entry(a.sample, a.label, b.sample, b.label);
    if (a.label == label(a.sample)) curvature += ridge(a.sample);
    if (a.sign > 0.0) longest = std::min(longest, upper(a.sample, a.label) - alpha_(a.sample, a.label));
  }
  const double step = std::min(longest, -slope / std::max(kTinyCurvature, curvature));
  std::vector<Index> changed;
  for (const Entry& e : entries) {
    double& value = alpha_(e.sample, e.label);
    const double bound = upper(e.sample, e.label);
    // The variable that ends the move sits on its bound exactly.
    const bool ends = e.sign > 0.0 && bound - value <= step;
    value = ends ? bound : value + e.sign * step;
    kernel_.add_column(e.sample, e.label, e.sign * step, gradient_.view());
    if (e.label == label(e.sample)) add_ridge(e.sample, e.sign * step);
    for (Index w : kernel_.touched(e.label)) {
      if (std::ranges::find(changed, w) == changed.end()) changed.push_back(w);
    }
  }
  if (problem_.bias) renew(changed);
}

// For a first arc (i: u up, v down) the sample j that goes the other way with the largest decrease.
Arc Solver::partner(const Arc& first) {
  std::vector<Index> others;
  for (Index j = 0; j < n_; ++j) {
    if (raised_(j, first.down) < kInfinity) others.push_back(j);
  }
  const std::span<double> curvature{curvature_.data(), others.size()};
  kernel_.curvatures(first.sample, first.up, first.down, others, curvature);
  const double slope = gradient_(first.sample, first.up) - gradient_(first.sample, first.down);
  const auto extra = [&](Index i) { return label(i) == first.up || label(i) == first.down ? ridge(i) : 0.0; };
  const double own = extra(first.sample);
  Arc best{-1, first.down, first.up};
  double largest = 0.0;
  for (std::size_t k = 0; k < others.size(); ++k) {
    const Index j = others[k];
    const double sum = std::min(0.0, slope + gradient_(j, first.down) - gradient_(j, first.up));
    const double gain = sum * sum / std::max(kTinyCurvature, curvature[k] + own + extra(j));
    if (gain > largest) {
      largest = gain;
      best.sample = j;
    }
  }
  return best;
}

bool Solver::two_class_move() {
  double least = 0.0;
  Arc first;
  for (Index u = 0; u < classes(); ++u) {
    const Index v = best_[at(u)];
    const double sum = cycle(u, v);
    if (sum >= least) continue;
    least = sum;
    first = {-1, u, v};
  }
  violation_ = -least;
  if (violation_ <= tolerance_) return false;
  first = arc(first.up, first.down);
  move({first, partner(first)});
  return true;
}

// One round of Bellman–Ford per class, at most; each arc costs half the tolerance more than its slope, so that
// cycles within the tolerance are none.
void Solver::relax(Vector& potential, std::vector<Index>* before, bool reversed) const {
  const double allowance = 0.5 * tolerance_;
  Matrix arcs(classes(), classes());  // (v, u): from u to v
  for (Index v = 0; v < classes(); ++v) {
    for (Index u = 0; u < classes(); ++u) arcs(v, u) = allowance + (reversed ? slope_(v, u) : slope_(u, v));
  }
  for (Index round = 0; round < classes(); ++round) {
    bool any = false;
    for (Index u = 0; u < classes(); ++u) {
      const double start = potential[at(u)];
      const auto lengths = arcs.column(u);
      for (Index v = 0; v < classes(); ++v) {
        const double reached = start + lengths[at(v)];
        if (u == v || reached >= potential[at(v)] - 1e-14 * (1.0 + std::abs(reached))) continue;
        potential[at(v)] = reached;
        if (before != nullptr) (*before)[at(v)] = u;
        any = true;
      }
    }
    if (!any) return;
  }
}

std::vector<Arc> Solver::negative_cycle() {
  Vector potential(at(classes()));
  std::vector<Index> before(at(classes()), -1);
  relax(potential, &before, false);
  // A negative cycle shows as a cycle of predecessors.
  std::vector<int> seen(at(classes()), -1);
  for (Index start = 0; start < classes(); ++start) {
    Index v = start;
    while (v >= 0 && seen[at(v)] < 0) {
      seen[at(v)] = static_cast<int>(start);
      v = before[at(v)];
    }
    if (v < 0 || seen[at(v)] != static_cast<int>(start)) continue;
    std::vector<Arc> cycle;
    double sum = 0.0;
    Index w = v;
    do {
      const Index u = before[at(w)];
      cycle.push_back(arc(u, w));
      sum += slope_(u, w) + 0.5 * tolerance_;
      w = u;
    } while (w != v);
    if (sum < 0.0) return cycle;
  }
  return {};
}

bool Solver::longer_move() {
  if (classes() < 3 || !options_.longer_cycles) return false;
  const std::vector<Arc> cycle = negative_cycle();
  if (cycle.empty()) return false;
  ++longer_;
  move(cycle);
  return true;
}

// Without bias the variables of one sample move on their own.
bool Solver::one_sample_move() {
  double least = 0.0;
  Arc best;
  for (Index i = 0; i < n_; ++i) {
    Arc arc{i, -1, 0};
    for (Index u = 0; u < classes(); ++u) {
      if (gradient_(i, u) > gradient_(i, arc.down)) arc.down = u;
      if (alpha_(i, u) < upper(i, u) && (arc.up < 0 || gradient_(i, u) < gradient_(i, arc.up))) arc.up = u;
    }
    if (arc.up < 0) continue;
    const double slope = gradient_(i, arc.up) - gradient_(i, arc.down);
    if (slope >= least) continue;
    least = slope;
    best = arc;
  }
  violation_ = -least;
  if (violation_ <= tolerance_) return false;
  move({best});
  return true;
}

// b_v ≤ b_u + d(u,v). Distances to and from the other classes are both such potentials, and so is their mean,
// which treats all classes alike.
Vector Solver::biases() const {
  Vector bias(at(classes()));
  if (!problem_.bias) return bias;
  Vector from(at(classes()));
  Vector to(at(classes()));
  relax(from, nullptr, false);
  relax(to, nullptr, true);
  double mean = 0.0;
  for (std::size_t u = 0; u < bias.size(); ++u) {
    bias[u] = 0.5 * (from[u] - to[u]);
    mean += bias[u] / static_cast<double>(bias.size());
  }
  for (double& b : bias) b -= mean;
  return bias;
}

// The gradient without its linear and ridge parts.
Matrix Solver::scores() const {
  Matrix f = gradient_;
  for (Index i = 0; i < n_; ++i) {
    const double own = 1.0 - ridge(i) * alpha_(i, label(i));
    for (Index u = 0; u < classes(); ++u) {
      if (kernel_.compact()) {
        if (u != label(i)) f(i, u) -= own;
      } else if (u == label(i)) {
        f(i, u) += own;
      }
    }
  }
  return f;
}

MsvmSolution Solver::solve() {
  MsvmSolution solution;
  Index moves = 0;
  bool more = true;
  // Coarse to fine, so that longer cycles have their turn long before the short ones are exhausted: within one
  // tolerance a longer cycle is looked for only where no short one is left, and the two feed each other.
  constexpr double kCoarse = 0.25;
  constexpr double kFiner = 0.2;
  tolerance_ = problem_.bias && classes() > 2 ? std::max(options_.tolerance, kCoarse) : options_.tolerance;
  while (more && moves < options_.iterations) {
    more = problem_.bias ? two_class_move() || longer_move() : one_sample_move();
    if (!more && tolerance_ > options_.tolerance) {
      tolerance_ = std::max(options_.tolerance, kFiner * tolerance_);
      more = true;
      continue;
    }
    ++moves;
    if (moves % kAsk == 0 && options_.stop && options_.stop()) break;
  }
  solution.converged = !more;
  solution.iterations = moves;
  solution.longer = longer_;
  solution.violation = violation_;
  solution.bias = biases();
  solution.scores = scores();
  for (Index i = 0; i < n_; ++i) {
    const double own = alpha_(i, label(i));
    solution.objective += 0.5 * ridge(i) * own * own - own;
    for (Index u = 0; u < classes(); ++u) solution.objective += 0.5 * alpha_(i, u) * solution.scores(i, u);
  }
  solution.alpha = std::move(alpha_);
  return solution;
}

}  // namespace

MsvmSolution solve_msvm(const MsvmProblem& problem, JointKernel& kernel, const MsvmOptions& options,
                        const Matrix& start) {
  return Solver(problem, kernel, options, start).solve();
}

}  // namespace kloom::solvers
