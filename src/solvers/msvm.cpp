// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/msvm.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "solvers/curvature.h"
#include "solvers/raisable.h"

namespace kloom::solvers {
namespace {

constexpr Index kAsk = 4096;         // moves between two calls of options.stop
constexpr int kMostRootSteps = 200;  // of a line search; halving alone would need about 100
constexpr double kRoot = 1e-6;       // part of the slope that a line search may leave

// Raises the variable (sample, up) and lowers (sample, down) by the same amount.
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

// Does following predecessors from some class lead back to it?
bool has_cycle(const std::vector<Index>& before) {
  std::vector<Index> seen(before.size(), -1);
  for (Index start = 0; start < static_cast<Index>(before.size()); ++start) {
    Index v = start;
    while (v >= 0 && seen[at(v)] < 0) {
      seen[at(v)] = start;
      v = before[at(v)];
    }
    if (v >= 0 && seen[at(v)] == start) return true;
  }
  return false;
}

// The variables that change when all `arcs` move together. One that an arc raises and another lowers by the
// same amount does not change and is left out.
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

// α = 0, or with the logistic loss C_i (e_y − π), whose sums are 0.
Matrix first_alpha(const MsvmProblem& problem) {
  const auto n = static_cast<Index>(problem.labels.size());
  Matrix alpha(n, problem.classes);
  if (problem.loss != MarginLoss::logistic) return alpha;
  Vector shares(at(problem.classes));
  const double sum = std::accumulate(problem.box.begin(), problem.box.end(), 0.0);
  for (std::size_t i = 0; i < problem.box.size(); ++i) {
    shares[at(problem.labels[i])] += problem.box[i] / std::max(sum, kTinyCurvature);
  }
  for (Index i = 0; i < n; ++i) {
    const double price = problem.box[at(i)];
    const Index y = problem.labels[at(i)];
    for (Index u = 0; u < problem.classes; ++u) alpha(i, u) = u == y ? 0.0 : -price * shares[at(u)];
    for (Index u = 0; u < problem.classes; ++u) alpha(i, y) -= u == y ? 0.0 : alpha(i, u);
  }
  return alpha;
}

class Solver {
 public:
  Solver(const MsvmProblem& problem, JointKernel& kernel, const MsvmOptions& options, const Matrix& start);
  MsvmSolution solve();

 private:
  [[nodiscard]] double upper(Index i, Index u) const;
  [[nodiscard]] double ridge(Index i) const;
  [[nodiscard]] Index label(Index i) const { return problem_.labels[at(i)]; }
  [[nodiscard]] double own_coefficient(Index i) const { return alpha_(i, label(i)); }
  [[nodiscard]] double minus_others(Index i) const;
  [[nodiscard]] bool is_own(const Entry& e) const { return e.label == label(e.sample); }
  [[nodiscard]] double longest_step(const std::vector<Entry>& entries) const;
  void change(const Entry& e, double step);
  void shrink_start();
  [[nodiscard]] Index classes() const { return problem_.classes; }
  [[nodiscard]] bool two_class_move();
  [[nodiscard]] bool longer_move();
  [[nodiscard]] bool one_sample_move();
  [[nodiscard]] Arc partner(const Arc& first);
  [[nodiscard]] std::vector<Arc> negative_cycle();
  void move(const std::vector<Arc>& arcs);
  [[nodiscard]] double step_length(const std::vector<Entry>& entries, double slope, double curvature,
                                   double longest) const;
  void add_own_slope(Index i, double change);
  void note_bound(Index i, Index u, bool before);
  [[nodiscard]] Arc arc(Index u, Index v) const;
  void best_partner(Index u);
  void renew(const std::vector<Index>& changed);
  void renew_slopes(Index first, Index second);
  void relax(Vector& potential, std::vector<Index>* before, bool reversed) const;
  [[nodiscard]] Vector biases() const;
  [[nodiscard]] Matrix scores() const;

  const MsvmProblem& problem_;
  JointKernel& kernel_;
  const MsvmOptions& options_;
  Index n_;
  Matrix alpha_;
  Matrix gradient_;
  std::vector<Raisable> raisable_;  // of each class
  Matrix slope_;                    // d(u,v)
  Matrix cycle_;                    // d(u,v) + d(v,u)
  std::vector<Index> best_;         // partner of each class in its most negative cycle of two
  Vector curvature_;
  double tolerance_ = 0.0;  // the present one: coarse at first
  double violation_ = 0.0;
  Index longer_ = 0;
};

Solver::Solver(const MsvmProblem& problem, JointKernel& kernel, const MsvmOptions& options, const Matrix& start)
    : problem_(problem),
      kernel_(kernel),
      options_(options),
      n_(static_cast<Index>(problem.labels.size())),
      alpha_(start.empty() ? first_alpha(problem) : start),
      gradient_(n_, problem.classes),
      raisable_(at(problem.classes)),
      slope_(problem.classes, problem.classes, kInfinity),
      cycle_(problem.classes, problem.classes, kInfinity),
      best_(at(problem.classes)),
      curvature_(at(n_)) {
  if (!start.empty() || problem.loss == MarginLoss::logistic) kernel_.add_product(alpha_, gradient_.view());
  if (start.empty() && problem.loss == MarginLoss::logistic) shrink_start();
  for (Index i = 0; i < n_; ++i)
    add_own_slope(i, -worth_slope(problem.loss, problem.box[at(i)], own_coefficient(i)));
  if (!problem_.bias) return;
  for (Index u = 0; u < classes(); ++u) {
    for (Index i = 0; i < n_; ++i) {
      if (alpha_(i, u) < upper(i, u)) raisable_[at(u)].samples.push_back(i);
    }
  }
  std::vector<Index> all(at(classes()));
  std::iota(all.begin(), all.end(), Index{0});
  renew(all);
}

// The multiple of the first α that is best, at most half of it: inside the bounds.
void Solver::shrink_start() {
  double square = 0.0;
  for (Index u = 0; u < classes(); ++u) {
    for (Index i = 0; i < n_; ++i) square += alpha_(i, u) * gradient_(i, u);
  }
  const auto slope = [&](double share) {
    double sum = share * square;
    for (Index i = 0; i < n_; ++i) {
      sum -= own_coefficient(i) * worth_slope(problem_.loss, problem_.box[at(i)], share * own_coefficient(i));
    }
    return sum;
  };
  double low = 1e-12;
  double high = 0.5;
  for (int k = 0; k < 20 && slope(high) > 0.0; ++k) {
    const double middle = std::sqrt(low * high);
    (slope(middle) > 0.0 ? high : low) = middle;
  }
  for (double& value : alpha_.values()) value *= high;
  for (double& value : gradient_.values()) value *= high;
}

double Solver::upper(Index i, Index u) const {
  return u == label(i) ? largest_coefficient(problem_.loss, problem_.box[at(i)]) : 0.0;
}

// Curvature that the loss adds to (i, y_i).
double Solver::ridge(Index i) const {
  return worth_curvature(problem_.loss, problem_.box[at(i)], own_coefficient(i));
}

double Solver::minus_others(Index i) const {
  double sum = 0.0;
  for (Index u = 0; u < classes(); ++u) sum -= u == label(i) ? 0.0 : alpha_(i, u);
  return sum;
}

// The loss has a part in the gradient of (i, y_i) alone; in compact form that is subtracted from the others.
void Solver::add_own_slope(Index i, double change) {
  if (change == 0.0) return;
  if (!kernel_.compact()) {
    gradient_(i, label(i)) += change;
    return;
  }
  for (Index u = 0; u < classes(); ++u) {
    if (u != label(i)) gradient_(i, u) -= change;
  }
}

// `before`: the variable was below its bound before it changed.
void Solver::note_bound(Index i, Index u, bool before) {
  const bool now = alpha_(i, u) < upper(i, u);
  if (now == before) return;
  std::vector<Index>& list = raisable_[at(u)].samples;
  if (now) {
    list.push_back(i);
  } else {
    *std::ranges::find(list, i) = list.back();
    list.pop_back();
  }
}

Arc Solver::arc(Index u, Index v) const {
  const double* up = gradient_.column(u).data();
  const double* down = gradient_.column(v).data();
  Arc best{raisable_[at(u)].samples.front(), u, v};
  for (Index i : raisable_[at(u)].samples) {
    if (up[i] - down[i] < up[best.sample] - down[best.sample]) best.sample = i;
  }
  return best;
}

// The class v with the least d(u,v) + d(v,u).
void Solver::best_partner(Index u) {
  const auto cycles = cycle_.column(u);
  double least = kInfinity;
#pragma omp simd reduction(min : least)
  for (Index v = 0; v < classes(); ++v) least = std::min(least, cycles[at(v)]);
  best_[at(u)] = static_cast<Index>(std::ranges::find(cycles, least) - cycles.begin());
}

// d(u,v) and d(v,u) of two classes u, or one, and every v.
void Solver::renew_slopes(Index first, Index second) {
  for (Index v = 0; v < classes(); ++v) {
    const auto from =
        Raisable::least_differences(raisable_[at(first)], raisable_[at(second)], gradient_.column(v));
    const auto to = raisable_[at(v)].least_differences(gradient_.column(first), gradient_.column(second));
    for (std::size_t k = 0; k < 2; ++k) {
      const Index u = k == 0 ? first : second;
      if (u == v) continue;
      slope_(u, v) = from[k];
      slope_(v, u) = to[k];
      cycle_(u, v) = cycle_(v, u) = from[k] + to[k];
    }
  }
}

void Solver::renew(const std::vector<Index>& changed) {
  // Lists of samples, so that all of this costs N and the non-zero α for every changed class, not N·M.
  for (Index c : changed) raisable_[at(c)].renew(gradient_.column(c));
  std::size_t k = 0;
  for (; k + 2 <= changed.size(); k += 2) renew_slopes(changed[k], changed[k + 1]);
  if (k < changed.size()) renew_slopes(changed[k], changed[k]);
  // Rows of other classes are looked through again only where their best partner is among the changed.
  for (Index c : changed) best_partner(c);
  for (Index u = 0; u < classes(); ++u) {
    for (Index c : changed) {
      if (u == c) continue;
      if (best_[at(u)] == c) {
        best_partner(u);
      } else if (cycle_(c, u) < cycle_(best_[at(u)], u)) {
        best_[at(u)] = c;
      }
    }
  }
}

// How far to go along `entries`: to the minimum or to the first bound. With the logistic loss the derivative is
// not linear in the step: its root is found between a step where it is negative and one where it is positive.
double Solver::step_length(const std::vector<Entry>& entries, double slope, double curvature,
                           double longest) const {
  if (problem_.loss != MarginLoss::logistic) {
    for (const Entry& e : entries) curvature += is_own(e) ? ridge(e.sample) : 0.0;
    return std::min(longest, -slope / std::max(kTinyCurvature, curvature));
  }
  const auto derivative = [&](double step, double& rise) {
    double value = slope + step * curvature;
    rise = std::max(kTinyCurvature, curvature);
    for (const Entry& e : entries) {
      if (!is_own(e)) continue;
      const double price = problem_.box[at(e.sample)];
      const double there = own_coefficient(e.sample) + e.sign * step;
      value += e.sign * (worth_slope(problem_.loss, price, own_coefficient(e.sample)) -
                         worth_slope(problem_.loss, price, there));
      rise += worth_curvature(problem_.loss, price, there);
    }
    return value;
  };
  double low = 0.0;
  double high = longest;
  double rise = 0.0;
  if (derivative(high, rise) <= 0.0) return high;
  double value = derivative(low, rise);
  double step = 0.0;
  // The last step did not halve the derivative, as happens to Newton's steps near 0 and C: bisect instead.
  bool slow = false;
  for (int k = 0; k < kMostRootSteps && std::abs(value) > kRoot * std::abs(slope); ++k) {
    const double newton = step - value / rise;
    const double middle = low < 1e-3 * high ? std::sqrt(std::max(low, 1e-8 * high) * high) : 0.5 * (low + high);
    step = !slow && newton > low && newton < high ? newton : middle;
    if (step <= low || step >= high) break;
    const double before = std::abs(value);
    value = derivative(step, rise);
    slow = std::abs(value) > 0.5 * before;
    (value < 0.0 ? low : high) = step;
  }
  return step;
}

// To the first bound. With the logistic loss the coefficient of a sample's own class stays above 0.
double Solver::longest_step(const std::vector<Entry>& entries) const {
  double longest = kInfinity;
  for (const Entry& e : entries) {
    const double value = alpha_(e.sample, e.label);
    if (e.sign > 0.0) longest = std::min(longest, upper(e.sample, e.label) - value);
    if (e.sign < 0.0 && is_own(e) && problem_.loss == MarginLoss::logistic) {
      longest = std::min(longest, value * (1.0 - 1e-15));
    }
  }
  return longest;
}

void Solver::change(const Entry& e, double step) {
  double& value = alpha_(e.sample, e.label);
  const double before = value;
  const double bound = upper(e.sample, e.label);
  // The variable that ends the move sits on its bound exactly.
  const bool ends = e.sign > 0.0 && bound - value <= step;
  value = ends ? bound : value + e.sign * step;
  kernel_.add_column(e.sample, e.label, e.sign * step, gradient_.view());
  if (is_own(e)) {
    // The logistic slope is a logarithm and needs the relative precision of tiny coefficients, which
    // adding and subtracting steps would lose: sum up the others instead.
    if (problem_.loss == MarginLoss::logistic) value = minus_others(e.sample);
    const double price = problem_.box[at(e.sample)];
    add_own_slope(e.sample,
                  worth_slope(problem_.loss, price, before) - worth_slope(problem_.loss, price, value));
  }
  if (problem_.bias) note_bound(e.sample, e.label, before < bound);
}

// Changes the variables along `arcs` as far as the objective falls and the bounds allow.
void Solver::move(const std::vector<Arc>& arcs) {
  double slope = 0.0;
  for (const Arc& arc : arcs) slope += gradient_(arc.sample, arc.up) - gradient_(arc.sample, arc.down);
  std::vector<Entry> entries = net_entries(arcs);
  double curvature = 0.0;
  for (const Entry& a : entries) {
    for (const Entry& b : entries)
      curvature += a.sign * b.sign * kernel_.entry(a.sample, a.label, b.sample, b.label);
  }
  const double step = step_length(entries, slope, curvature, longest_step(entries));
  // Coefficients of the samples' own classes last: change() computes them from the others.
  std::stable_partition(entries.begin(), entries.end(), [this](const Entry& e) { return !is_own(e); });
  std::vector<Index> changed;
  for (const Entry& e : entries) {
    change(e, step);
    for (Index w : kernel_.touched(e.label)) {
      if (std::ranges::find(changed, w) == changed.end()) changed.push_back(w);
    }
  }
  if (problem_.bias) renew(changed);
}

// For a first arc (i: u up, v down) the sample j that goes the other way with the largest decrease.
Arc Solver::partner(const Arc& first) {
  const std::vector<Index>& others = raisable_[at(first.down)].samples;
  const std::span<double> curvature{curvature_.data(), others.size()};
  kernel_.curvatures(first.sample, first.up, first.down, others, curvature);
  const double slope = gradient_(first.sample, first.up) - gradient_(first.sample, first.down);
  const bool curved = problem_.loss != MarginLoss::hinge;
  const auto extra = [&](Index i) {
    return curved && (label(i) == first.up || label(i) == first.down) ? ridge(i) : 0.0;
  };
  const double first_extra = extra(first.sample);
  Arc best{-1, first.down, first.up};
  double largest = 0.0;
  for (std::size_t k = 0; k < others.size(); ++k) {
    const Index j = others[k];
    const double sum = std::min(0.0, slope + gradient_(j, first.down) - gradient_(j, first.up));
    const double gain = sum * sum / std::max(kTinyCurvature, curvature[k] + first_extra + extra(j));
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
    const double sum = cycle_(v, u);
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

// One round of Bellman–Ford per class, at most; half the tolerance is added to every slope, so that
// a cycle whose sum is within the tolerance does not count as negative.
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
    // A cycle of predecessors is a negative cycle: the search has succeeded.
    if (!any || (before != nullptr && has_cycle(*before))) return;
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

// The gradient without the part of the loss.
Matrix Solver::scores() const {
  Matrix f = gradient_;
  for (Index i = 0; i < n_; ++i) {
    const double slope = worth_slope(problem_.loss, problem_.box[at(i)], own_coefficient(i));
    for (Index u = 0; u < classes(); ++u) {
      if (kernel_.compact()) {
        if (u != label(i)) f(i, u) -= slope;
      } else if (u == label(i)) {
        f(i, u) += slope;
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
    solution.objective -= worth(problem_.loss, problem_.box[at(i)], own_coefficient(i));
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
