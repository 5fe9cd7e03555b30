// SPDX-License-Identifier: BSD-3-Clause
#include "methods/margin/own_margins.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "algebra/blas.h"

namespace kloom::methods {
namespace {

constexpr Index kRounds = 12;
constexpr Index kPlainRounds = 4;  // before steps are halved
constexpr double kSettled = 1e-3;  // largest change of a τ

double largest_change(const Vector& before, const Vector& after, const Vector& box) {
  double largest = 0.0;
  for (std::size_t i = 0; i < box.size(); ++i)
    if (box[i] > 0.0) largest = std::max(largest, std::abs(after[i] - before[i]));
  return largest;
}

// cᵀK_m c of every kernel: machines with weights that are given need none of them.
Vector forms_of(const KernelBank& bank, const Vector& coefficients) {
  const Index n = std::ssize(coefficients);
  const Matrix forms = bank.quadratic_forms({coefficients.data(), n, 1, n});
  Vector rounded_up;
  for (const double form : forms.values())
    rounded_up.push_back(std::max(0.0, form));  // rounding may be below 0
  return rounded_up;
}

}  // namespace

double margin_root(double norm) {
  if (norm == 0.0 || std::isinf(norm)) return 0.5;
  return (norm + 1.0) / (2.0 * norm);
}

Vector own_margins(const Matrix& presence, std::span<const double> shares, double root) {
  Vector margins(at(presence.rows()));
  for (Index i = 0; i < presence.rows(); ++i) {
    double own = 0.0;
    double lacking = 0.0;
    for (Index p = 0; p < presence.cols(); ++p) (presence(i, p) > 0.0 ? own : lacking) += shares[at(p)];
    // A sample that lacks nothing of w has τ = 1 to the last bit.
    margins[at(i)] = lacking == 0.0 ? 1.0 : std::clamp(std::pow(own, root), kLeastOwnMargin, 1.0);
  }
  return margins;
}

Vector norm_shares(const KernelBank& bank, const MarginSolution& solution, double root) {
  Vector shares(solution.theta.size());
  const auto used = std::ranges::count_if(solution.theta, [](double theta) { return theta != 0.0; });
  if (used == 1) {  // all of the norm is there, whatever it is
    std::ranges::transform(solution.theta, shares.begin(),
                           [](double theta) { return theta != 0.0 ? 1.0 : 0.0; });
    return shares;
  }
  const Vector forms = solution.q.empty() ? forms_of(bank, solution.coefficients) : solution.q;
  double total = 0.0;
  for (std::size_t m = 0; m < shares.size(); ++m) {
    const double theta = solution.theta[m];
    const double q = forms[m];  // ‖w_m‖ = θ_m √q_m; with equal weights, p = ∞, both are the same
    total += shares[m] = root == 0.5 ? theta * q : std::pow(theta * std::sqrt(q), 1.0 / root);
  }
  if (!(total > 0.0)) return Vector(shares.size(), 1.0 / static_cast<double>(shares.size()));
  for (double& share : shares) share /= total;
  return shares;
}

void shrink_into(const Vector& box, MarginStart& start) {
  double factor = 1.0;
  for (std::size_t i = 0; i < box.size() && !start.alpha.empty(); ++i) {
    // A trace below the bound, so that rounding does not lead out of the box.
    if (start.alpha[i] > box[i]) factor = std::min(factor, (1.0 - 1e-12) * box[i] / start.alpha[i]);
  }
  if (factor < 1.0) algebra::scale(factor, start.alpha);
}

MarginSolution solve_with_own_margins(const KernelBank& bank, const MarginTask& task,
                                      const MarginSettings& settings, MarginStart start,
                                      const Context& context) {
  if (bank.presence().complete()) return solve_margin_mkl(bank, task, settings, std::move(start), context);
  Vector margins = start.margins.empty() ? Vector(task.y.size(), 1.0) : start.margins;
  Index iterations = 0;
  for (Index round = 1;; ++round) {
    MarginTask own = task;
    own.margin = margins;
    for (std::size_t i = 0; i < own.box.size(); ++i) own.box[i] /= margins[i];
    shrink_into(own.box, start);
    MarginSolution solution = solve_margin_mkl(bank, own, settings, std::move(start), context);
    solution.iterations += iterations;
    solution.margins = margins;
    const Vector next = own_margins(bank.presence().rows, norm_shares(bank, solution, settings.margin_root),
                                    settings.margin_root);
    solution.margin_change = largest_change(margins, next, task.box);
    if (solution.margin_change <= kSettled || round == kRounds || solution.status == Status::stopped)
      return solution;
    for (std::size_t i = 0; i < next.size(); ++i)
      margins[i] = round < kPlainRounds ? next[i] : 0.5 * (margins[i] + next[i]);
    iterations = solution.iterations;
    start = MarginStart(solution.theta, solution.alpha);
  }
}

}  // namespace kloom::methods
