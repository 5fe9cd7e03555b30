// SPDX-License-Identifier: BSD-3-Clause
#include "methods/samkl/solver.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "algebra/blas.h"
#include "kernels/banks/gated_bank.h"
#include "methods/margin/own_margins.h"
#include "solvers/switches.h"

namespace kloom::methods {
namespace {

constexpr double kSmallChange = 1e-4;  // of the objective, relative: Algorithm 1

Vector row_of(const Matrix& matrix, Index row) {
  Vector values(at(matrix.cols()));
  for (Index p = 0; p < matrix.cols(); ++p) values[at(p)] = matrix(row, p);
  return values;
}

SwitchRound round_of(const SwitchedSolution& solution, const Vector& box) {
  SwitchRound round;
  round.objective = solution.inner.primal;
  round.least_margin = 1.0;
  std::set<std::vector<bool>> patterns;
  double samples = 0.0;
  for (const double theta : solution.inner.theta) round.kernels += theta > 0.0 ? 1 : 0;
  for (Index i = 0; i < solution.switches.rows(); ++i) {
    if (box[at(i)] == 0.0) continue;
    std::vector<bool> pattern;
    for (Index p = 0; p < solution.switches.cols(); ++p) {
      if (solution.inner.theta[at(p)] > 0.0) pattern.push_back(solution.switches(i, p) != 0.0);
    }
    round.off += static_cast<double>(std::ranges::count(pattern, false));
    round.least_margin = std::min(round.least_margin, solution.margins[at(i)]);
    patterns.insert(std::move(pattern));
    samples += 1.0;
  }
  round.patterns = std::ssize(patterns);
  round.off /= std::max(1.0, samples * static_cast<double>(round.kernels));
  return round;
}

}  // namespace

Matrix distinct_patterns(const Matrix& switches, const Vector& box) {
  std::map<Vector, Index, std::greater<>> counts;
  for (Index i = 0; i < switches.rows(); ++i) {
    if (box[at(i)] > 0.0) ++counts[row_of(switches, i)];
  }
  std::vector<std::pair<Vector, Index>> order(counts.begin(), counts.end());
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) { return a.second > b.second; });
  Matrix patterns(std::ssize(order), switches.cols());
  for (Index k = 0; k < patterns.rows(); ++k) {
    for (Index p = 0; p < patterns.cols(); ++p) patterns(k, p) = order[at(k)].first[at(p)];
  }
  return patterns;
}

SwitchedSolution SwitchedMkl::solve(Matrix switches, Vector margins, MarginStart from) const {
  MarginTask task = task_;
  task.margin = margins;
  for (std::size_t i = 0; i < task.box.size(); ++i) task.box[i] /= margins[i];
  SwitchedSolution solution;
  const bool all_on = std::ranges::all_of(switches.values(), [](double h) { return h == 1.0; });
  if (all_on) {
    solution.inner = solve_margin_mkl(bank_, task, settings_.inner, std::move(from), context_);
  } else {
    const kernels::GatedBank switched(bank_, switches);
    solution.inner = solve_margin_mkl(switched, task, settings_.inner, std::move(from), context_);
  }
  solution.switches = std::move(switches);
  solution.margins = std::move(margins);
  return solution;
}

SwitchedSolution SwitchedMkl::first(MarginStart from) const {
  Matrix switches(bank_.rows(), bank_.kernels());
  for (Index p = 0; p < bank_.kernels(); ++p) std::ranges::fill(switches.column(p), start_[at(p)]);
  return solve(std::move(switches), Vector(task_.y.size(), 1.0), std::move(from));
}

// Eq. 16. Samples without a box are not there: they keep τ = 1.
Vector SwitchedMkl::new_margins(const Matrix& switches, const Vector& norms) const {
  Vector margins(task_.y.size(), 1.0);
  const double total = std::accumulate(norms.begin(), norms.end(), 0.0);
  if (!settings_.update_margins || total <= 0.0) return margins;
  for (Index i = 0; i < switches.rows(); ++i) {
    if (task_.box[at(i)] == 0.0) continue;
    double kept = 0.0;
    for (Index p = 0; p < switches.cols(); ++p) kept += switches(i, p) * norms[at(p)];
    margins[at(i)] = std::clamp(kept / total, settings_.least_margin, 1.0);
  }
  return margins;
}

// Lines 6 to 9 of Algorithm 1.
SwitchedMkl::Update SwitchedMkl::update(const SwitchedSolution& s) const {
  const Index n = bank_.rows();
  Matrix parts(n, bank_.kernels());  // γ_p c_j h_jp
  for (Index p = 0; p < parts.cols(); ++p) {
    for (Index j = 0; j < n; ++j) {
      parts(j, p) = s.inner.theta[at(p)] * s.inner.coefficients[at(j)] * s.switches(j, p);
    }
  }
  const Matrix g = bank_.apply_each(parts.view());
  Vector norms;  // ‖w_p‖
  for (Index p = 0; p < parts.cols(); ++p) {
    norms.push_back(std::sqrt(std::max(0.0, algebra::dot(parts.column(p), g.column(p)))));
  }
  Update result{s.switches, {}};
  for (Index i = 0; i < n; ++i) {
    if (task_.box[at(i)] == 0.0) continue;
    const double y = task_.y[at(i)];
    const double tau = s.margins[at(i)];
    Vector gains = row_of(g, i);
    algebra::scale(y, gains);
    const double reached = algebra::dot(gains, row_of(s.switches, i)) + y * s.inner.bias;
    // τ(1 − ξ) = min(τ, y(f + b)), less what the inner solution may miss, so that the present
    // switches are feasible.
    const double needed = std::min(tau, reached) - y * s.inner.bias - 1e-6 * std::max(1.0, tau);
    const auto found = solvers::fewest_switches(gains, start_, needed, settings_.changes);
    if (!found) continue;
    for (Index p = 0; p < parts.cols(); ++p) result.switches(i, p) = (*found)[at(p)];
  }
  result.margins = new_margins(result.switches, norms);
  return result;
}

SwitchedSolution SwitchedMkl::next(const SwitchedSolution& solution) const {
  Update updated = update(solution);
  Vector box = task_.box;
  for (std::size_t i = 0; i < box.size(); ++i) box[i] /= updated.margins[i];
  MarginStart start(solution.inner.theta, solution.inner.alpha);
  shrink_into(box, start);
  SwitchedSolution after = solve(std::move(updated.switches), std::move(updated.margins), std::move(start));
  after.updates = solution.updates + 1;
  return after;
}

bool SwitchedMkl::ends(const SwitchedSolution& before, const SwitchedSolution& after) {
  std::vector<bool> key;
  for (const double h : after.switches.values()) key.push_back(h != 0.0);
  const bool is_new = seen_.insert(std::move(key)).second;
  const bool same_switches = before.switches == after.switches;
  const double fall = (before.inner.primal - after.inner.primal) / std::max(after.inner.primal, 1e-300);
  if (after.inner.status == Status::stopped) {
    ending_ = SwitchEnding::stopped;
  } else if (same_switches && before.margins == after.margins) {
    ending_ = SwitchEnding::settled;
  } else if (std::abs(fall) <= kSmallChange) {
    ending_ = SwitchEnding::small_change;
  } else if (settings_.literal && fall <= kSmallChange) {
    ending_ = SwitchEnding::rise;
  } else if (!settings_.literal && !is_new && !same_switches) {
    ending_ = SwitchEnding::repeat;
  } else if (after.updates >= settings_.updates) {
    ending_ = SwitchEnding::update_limit;
  } else {
    return false;
  }
  return true;
}

SwitchedSolution SwitchedMkl::run(SwitchedSolution solution) {
  rounds_.push_back(round_of(solution, task_.box));
  ending_ = SwitchEnding::update_limit;
  while (solution.updates < settings_.updates) {
    SwitchedSolution after = next(solution);
    rounds_.push_back(round_of(after, task_.box));
    const bool over = ends(solution, after);
    solution = std::move(after);
    if (over) break;
  }
  if (settings_.literal) solution.last = update(solution).switches;
  return solution;
}

}  // namespace kloom::methods
