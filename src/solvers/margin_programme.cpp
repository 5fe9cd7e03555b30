// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/margin_programme.h"

#include <algorithm>
#include <cmath>
#include <coin/ClpSimplex.hpp>
#include <numeric>
#include <set>
#include <utility>

#include "algebra/blas.h"
#include "solvers/simplex_cuts.h"

namespace kloom::solvers {
namespace {

constexpr Index kNone = -1;

// What the programme is made of, whatever solves it.
class Margins {
 public:
  explicit Margins(const MarginProgramme& problem) : problem_(problem), kernels_(problem.kernels()) {
    const double total = std::accumulate(problem.weights.begin(), problem.weights.end(), 0.0);
    for (const double s : problem.weights) caps_.push_back(s / (problem.nu * total));
  }

  [[nodiscard]] Index samples() const { return problem_.values.rows(); }
  [[nodiscard]] Index kernels() const { return kernels_; }
  [[nodiscard]] Index groups() const { return problem_.shared ? 1 : problem_.outputs; }
  [[nodiscard]] double cap(Index i) const { return caps_[at(i)]; }  // d_i

  // Adds weight·a_k of the constraint (sample i, rival u): kernel p of group g has the place p + P·g.
  void add_row(Index i, Index u, double weight, std::span<double> row) const {
    const Index y = problem_.labels[at(i)];
    if (problem_.outputs == 1) return add_scores(i, 0, y == 1 ? weight : -weight, row);
    add_scores(i, y, weight, row);
    add_scores(i, u, -weight, row);
  }

  // Margin of every sample to its nearest rival, and that rival; of equal ones the first.
  struct Nearest {
    Vector margin;
    std::vector<Index> rival;
  };
  [[nodiscard]] Nearest nearest(const Matrix& beta) const {
    const Matrix scores = weighted_scores(problem_.values, beta, problem_.outputs);
    Nearest result;
    for (Index i = 0; i < samples(); ++i) {
      const Index y = problem_.labels[at(i)];
      if (problem_.outputs == 1) {
        result.margin.push_back(y == 1 ? scores(i, 0) : -scores(i, 0));
        result.rival.push_back(0);
        continue;
      }
      Index rival = y == 0 ? 1 : 0;
      for (Index u = rival + 1; u < problem_.outputs; ++u) {
        if (u != y && scores(i, u) > scores(i, rival)) rival = u;
      }
      result.margin.push_back(scores(i, y) - scores(i, rival));
      result.rival.push_back(rival);
    }
    return result;
  }

  // The best ρ for these margins is the first at which the caps of all smaller ones add up to 1.
  void judge(const Vector& margin, MarginWeights& weights) const {
    std::vector<Index> order;
    for (Index i = 0; i < samples(); ++i) {
      if (cap(i) > 0.0) order.push_back(i);
    }
    std::ranges::sort(order, {}, [&](Index i) { return margin[at(i)]; });
    double below = 0.0;
    for (const Index i : order) {
      weights.rho = margin[at(i)];
      below += cap(i);
      if (below >= 1.0) break;
    }
    weights.primal = -weights.rho;
    for (const Index i : order) weights.primal += cap(i) * std::max(0.0, weights.rho - margin[at(i)]);
  }

  // Makes v feasible, whatever rounding left of it, and computes its objective.
  void prove(const Nearest& near, MarginWeights& weights) const {
    make_feasible(near, weights.dual);
    Vector sums(at(kernels_ * groups()));
    for (Index u = 0; u < weights.dual.cols(); ++u) {
      for (Index i = 0; i < samples(); ++i) {
        if (weights.dual(i, u) > 0.0) add_row(i, u, weights.dual(i, u), sums);
      }
    }
    weights.bound = 0.0;
    for (Index g = 0; g < groups(); ++g)
      weights.bound -= *std::max_element(sums.begin() + g * kernels_, sums.begin() + (g + 1) * kernels_);
  }

 private:
  void add_scores(Index i, Index c, double weight, std::span<double> row) const {
    const Index place = problem_.shared ? 0 : kernels_ * c;
    for (Index p = 0; p < kernels_; ++p) row[at(place + p)] += weight * problem_.values(i, p + kernels_ * c);
  }

  void make_feasible(const Nearest& near, Matrix& dual) const {
    Vector room = caps_;
    double total = 0.0;
    for (Index i = 0; i < samples(); ++i) {
      double own = 0.0;
      for (Index u = 0; u < dual.cols(); ++u) own += dual(i, u) = std::max(0.0, dual(i, u));
      const double factor = own > cap(i) ? cap(i) / own : 1.0;
      for (Index u = 0; u < dual.cols(); ++u) dual(i, u) *= factor;
      room[at(i)] -= own * factor;
      total += own * factor;
    }
    if (total > 1.0) return algebra::scale(1.0 / total, dual.values());
    const double rest = std::accumulate(room.begin(), room.end(), 0.0);
    for (Index i = 0; i < samples() && rest > 0.0; ++i)
      dual(i, near.rival[at(i)]) += (1.0 - total) * std::max(0.0, room[at(i)]) / rest;
  }

  const MarginProgramme& problem_;
  Index kernels_;
  Vector caps_;
};

// The dual programme in CLP: columns γ_u = max_p … of every group, then one for each constraint in play; rows
// Σ_k v_k a_k,pu ≤ γ_u, then Σ v = 1, then a cap for every sample that has two columns or more.
class DualProgramme {
 public:
  explicit DualProgramme(const Margins& margins)
      : margins_(margins),
        weights_(margins.kernels() * margins.groups()),
        first_(at(margins.samples()), kNone),
        cap_rows_(at(margins.samples()), kNone) {
    clp_.setLogLevel(0);
    clp_.messageHandler()->setLogLevel(0);
    clp_.setPrimalTolerance(1e-10);
    clp_.setDualTolerance(1e-10);
    for (Index j = 0; j < weights_; ++j) clp_.addRow(0, nullptr, nullptr, -COIN_DBL_MAX, 0.0);
    clp_.addRow(0, nullptr, nullptr, 1.0, 1.0);
    const Vector ones(at(margins.kernels()), -1.0);
    for (Index g = 0; g < margins.groups(); ++g) {
      std::vector<int> rows(at(margins.kernels()));
      std::iota(rows.begin(), rows.end(), static_cast<int>(g * margins.kernels()));
      clp_.addColumn(static_cast<int>(rows.size()), rows.data(), ones.data(), -COIN_DBL_MAX, COIN_DBL_MAX, 1.0);
    }
  }

  // Adds the rivals that are nearer than ρ and not in play. Returns how many there were.
  Index add(const Margins::Nearest& near, double rho) {
    Columns pending;
    for (Index i = 0; i < margins_.samples(); ++i) {
      const std::pair constraint{i, near.rival[at(i)]};
      if (margins_.cap(i) <= 0.0 || near.margin[at(i)] >= rho || known_.contains(constraint)) continue;
      append(constraint, pending);
    }
    if (pending.upper.empty()) return 0;
    const Vector zeros(pending.upper.size());
    clp_.addColumns(static_cast<int>(pending.upper.size()), zeros.data(), pending.upper.data(), zeros.data(),
                    pending.starts.data(), pending.rows.data(), pending.elements.data());
    return std::ssize(pending.upper);
  }

  void solve() {
    clp_.primal();
    if (clp_.status() != 0) clp_.dual();
  }

  [[nodiscard]] Matrix beta() const {
    Matrix result(margins_.groups(), margins_.kernels());
    Vector row(at(margins_.kernels()));
    for (Index g = 0; g < result.rows(); ++g) {
      for (Index p = 0; p < result.cols(); ++p)
        row[at(p)] = -clp_.dualRowSolution()[g * margins_.kernels() + p];
      to_simplex(row);
      for (Index p = 0; p < result.cols(); ++p) result(g, p) = row[at(p)];
    }
    return result;
  }

  // ρ of the constraints in play, at least as large as with all of them.
  [[nodiscard]] double rho() const { return clp_.dualRowSolution()[weights_]; }

  void read_dual(Matrix& dual) const {
    std::ranges::fill(dual.values(), 0.0);
    const double* v = clp_.primalColumnSolution() + margins_.groups();
    for (std::size_t k = 0; k < in_play_.size(); ++k) dual(in_play_[k].first, in_play_[k].second) = v[k];
  }

 private:
  struct Columns {
    std::vector<CoinBigIndex> starts = {0};
    std::vector<int> rows;
    Vector elements, upper;
  };

  void append(std::pair<Index, Index> constraint, Columns& pending) {
    const auto [i, u] = constraint;
    const auto column = static_cast<int>(margins_.groups() + std::ssize(in_play_));
    if (first_[at(i)] == kNone) {
      first_[at(i)] = column;
    } else if (cap_rows_[at(i)] == kNone) {
      cap_rows_[at(i)] = clp_.numberRows();
      const auto first = static_cast<int>(first_[at(i)]);
      const double one = 1.0;
      clp_.addRow(1, &first, &one, -COIN_DBL_MAX, margins_.cap(i));
    }
    Vector row(at(weights_));
    margins_.add_row(i, u, 1.0, row);
    const auto element = [&](Index place, double value) {
      pending.rows.push_back(static_cast<int>(place));
      pending.elements.push_back(value);
    };
    for (Index j = 0; j < weights_; ++j) {
      if (row[at(j)] != 0.0) element(j, row[at(j)]);
    }
    element(weights_, 1.0);
    if (cap_rows_[at(i)] != kNone) element(cap_rows_[at(i)], 1.0);
    pending.starts.push_back(static_cast<CoinBigIndex>(pending.rows.size()));
    pending.upper.push_back(margins_.cap(i));
    in_play_.push_back(constraint);
    known_.insert(constraint);
  }

  const Margins& margins_;
  Index weights_;
  ClpSimplex clp_;
  std::vector<std::pair<Index, Index>> in_play_;  // constraint of each column
  std::set<std::pair<Index, Index>> known_;       // the same
  std::vector<Index> first_;                      // first column of each sample
  std::vector<Index> cap_rows_;                   // row of its cap, where it has two columns or more
};

}  // namespace

Matrix weighted_scores(const Matrix& values, const Matrix& beta, Index outputs) {
  Matrix scores(values.rows(), outputs);
  for (Index c = 0; c < outputs; ++c) {
    for (Index p = 0; p < beta.cols(); ++p) {
      const double weight = beta(beta.rows() == 1 ? 0 : c, p);
      if (weight != 0.0) algebra::axpy(weight, values.column(p + beta.cols() * c), scores.column(c));
    }
  }
  return scores;
}

MarginWeights solve_margin_programme(const MarginProgramme& problem) {
  // Of the margins; CLP's own tolerances are a tenth of it.
  constexpr double kNearer = 1e-9;
  const Margins margins(problem);
  DualProgramme programme(margins);
  MarginWeights found;
  found.beta = Matrix(margins.groups(), margins.kernels(), 1.0 / static_cast<double>(margins.kernels()));
  found.dual = Matrix(margins.samples(), problem.outputs);
  Margins::Nearest near = margins.nearest(found.beta);
  Index added = programme.add(near, COIN_DBL_MAX);
  while (added > 0) {
    programme.solve();
    ++found.rounds;
    found.beta = programme.beta();
    near = margins.nearest(found.beta);
    margins.judge(near.margin, found);
    if (problem.stop && problem.stop()) break;
    const double rho = std::max(found.rho, programme.rho());
    added = programme.add(near, rho - kNearer * std::max(1.0, std::abs(rho)));
  }
  programme.read_dual(found.dual);
  margins.prove(near, found);
  found.converged = found.gap() <= 1e-7 * std::max(1.0, std::abs(found.primal));
  return found;
}

}  // namespace kloom::solvers
