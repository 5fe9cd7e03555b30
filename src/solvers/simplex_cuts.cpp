// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/simplex_cuts.h"

#include <algorithm>
#include <cmath>
#include <coin/ClpSimplex.hpp>
#include <numeric>
#include <utility>

#include "algebra/blas.h"

namespace kloom::solvers {

void to_simplex(std::span<double> point) {
  // Far below any weight that matters; what the method leaves at the bound is meant to be 0.
  constexpr double kNothing = 1e-9;
  double sum = 0.0;
  for (double& value : point) {
    if (!(value > kNothing)) value = 0.0;
    sum += value;
  }
  if (!(sum > 0.0)) {
    std::ranges::fill(point, 1.0 / static_cast<double>(point.size()));
    return;
  }
  for (double& value : point) value /= sum;
}

namespace {

// minimise ½‖x − centre‖² subject to A x + s = r, s ≥ 0, x ≥ 0, Σ x = 1, by a primal–dual method. z, w and
// y are the multipliers of the three. The Newton matrix is diagonal plus one rank per cut, so its cost
// does not grow with P³.
class Projection {
 public:
  Projection(Matrix a, Vector r, std::span<const double> centre);
  Vector solve();

 private:
  struct Direction {
    Vector x, s, z, w;
    double y = 0.0;
  };
  void residuals();
  void factorise();
  [[nodiscard]] double root(Index t) const { return std::sqrt(z_[at(t)] / s_[at(t)]); }
  [[nodiscard]] Direction direction(double target, const Direction* predictor) const;
  [[nodiscard]] Vector apply_inverse(Vector v) const;
  [[nodiscard]] double longest_step(const Direction& d) const;
  [[nodiscard]] double complementarity(const Direction* d, double step) const;

  Matrix a_;  // T × P
  Vector r_;
  Vector centre_;
  Vector x_, s_, z_, w_;
  double y_ = 0.0;
  Vector dual_residual_, cut_residual_;
  double sum_residual_ = 0.0;
  Vector diagonal_;  // 1 + w/x
  Matrix factor_;    // Cholesky, see apply_inverse
};

Projection::Projection(Matrix a, Vector r, std::span<const double> centre)
    : a_(std::move(a)),
      r_(std::move(r)),
      centre_(centre.begin(), centre.end()),
      x_(centre.size(), 1.0 / static_cast<double>(centre.size())),
      s_(r_.size(), 1.0),
      z_(r_.size(), 1.0),
      w_(centre.size(), 1.0) {
  Vector ax(r_.size());
  algebra::gemv(algebra::Op::none, 1.0, a_.view(), x_, 0.0, ax);
  for (std::size_t t = 0; t < s_.size(); ++t) s_[t] = std::max(1.0, r_[t] - ax[t]);
}

void Projection::residuals() {
  dual_residual_ = Vector(x_.size());
  algebra::gemv(algebra::Op::transpose, 1.0, a_.view(), z_, 0.0, dual_residual_);
  sum_residual_ = -1.0;
  for (std::size_t k = 0; k < x_.size(); ++k) {
    dual_residual_[k] += x_[k] - centre_[k] - w_[k] + y_;
    sum_residual_ += x_[k];
  }
  cut_residual_ = s_;
  algebra::gemv(algebra::Op::none, 1.0, a_.view(), x_, 1.0, cut_residual_);
  for (std::size_t t = 0; t < r_.size(); ++t) cut_residual_[t] -= r_[t];
}

void Projection::factorise() {
  diagonal_ = Vector(x_.size());
  for (std::size_t k = 0; k < x_.size(); ++k) diagonal_[k] = 1.0 + w_[k] / x_[k];
  Matrix scaled = a_;
  for (Index k = 0; k < a_.cols(); ++k) algebra::scale(1.0 / std::sqrt(diagonal_[at(k)]), scaled.column(k));
  for (Index k = 0; k < a_.cols(); ++k) {
    for (Index t = 0; t < a_.rows(); ++t) scaled(t, k) *= root(t);
  }
  factor_ = Matrix(a_.rows(), a_.rows());
  algebra::syrk(algebra::Op::none, 1.0, scaled.view(), 0.0, factor_.view());
  for (Index t = 0; t < a_.rows(); ++t) factor_(t, t) += 1.0;
  if (algebra::cholesky(factor_.view()) != 0) factor_ = Matrix();
}

// (D + AᵀWA)⁻¹ v by Woodbury's identity, W = diag(z/s), in the form I + W^½ A D⁻¹ Aᵀ W^½ that has no
// eigenvalue below 1.
Vector Projection::apply_inverse(Vector v) const {
  for (std::size_t k = 0; k < v.size(); ++k) v[k] /= diagonal_[k];
  Matrix small(a_.rows(), 1);
  algebra::gemv(algebra::Op::none, 1.0, a_.view(), v, 0.0, small.column(0));
  for (Index t = 0; t < a_.rows(); ++t) small(t, 0) *= root(t);
  algebra::cholesky_solve(factor_.view(), small.view());
  for (Index t = 0; t < a_.rows(); ++t) small(t, 0) *= root(t);
  Vector back(v.size());
  algebra::gemv(algebra::Op::transpose, 1.0, a_.view(), small.column(0), 0.0, back);
  for (std::size_t k = 0; k < v.size(); ++k) v[k] -= back[k] / diagonal_[k];
  return v;
}

Projection::Direction Projection::direction(double target, const Direction* predictor) const {
  Vector want_s(s_.size());  // right-hand sides of z ds + s dz and w dx + x dw
  Vector want_x(x_.size());
  for (std::size_t t = 0; t < s_.size(); ++t)
    want_s[t] = target - s_[t] * z_[t] - (predictor != nullptr ? predictor->s[t] * predictor->z[t] : 0.0);
  for (std::size_t k = 0; k < x_.size(); ++k)
    want_x[k] = target - x_[k] * w_[k] - (predictor != nullptr ? predictor->x[k] * predictor->w[k] : 0.0);
  Vector inner(s_.size());
  for (std::size_t t = 0; t < s_.size(); ++t) inner[t] = (want_s[t] + z_[t] * cut_residual_[t]) / s_[t];
  Vector right(x_.size());
  algebra::gemv(algebra::Op::transpose, -1.0, a_.view(), inner, 0.0, right);
  for (std::size_t k = 0; k < x_.size(); ++k) right[k] += want_x[k] / x_[k] - dual_residual_[k];
  const Vector base = apply_inverse(std::move(right));
  const Vector ones = apply_inverse(Vector(x_.size(), 1.0));
  Direction d;
  d.y = (std::accumulate(base.begin(), base.end(), 0.0) + sum_residual_) /
        std::accumulate(ones.begin(), ones.end(), 0.0);
  d.x = base;
  algebra::axpy(-d.y, ones, d.x);
  d.s = Vector(s_.size());
  algebra::gemv(algebra::Op::none, -1.0, a_.view(), d.x, 0.0, d.s);
  d.z = Vector(s_.size());
  for (std::size_t t = 0; t < s_.size(); ++t) {
    d.s[t] -= cut_residual_[t];
    d.z[t] = (want_s[t] - z_[t] * d.s[t]) / s_[t];
  }
  d.w = Vector(x_.size());
  for (std::size_t k = 0; k < x_.size(); ++k) d.w[k] = (want_x[k] - w_[k] * d.x[k]) / x_[k];
  return d;
}

double Projection::longest_step(const Direction& d) const {
  double step = 1.0;
  const auto limit = [&](const Vector& value, const Vector& change) {
    for (std::size_t k = 0; k < value.size(); ++k) {
      if (change[k] < 0.0) step = std::min(step, -value[k] / change[k]);
    }
  };
  limit(x_, d.x);
  limit(s_, d.s);
  limit(z_, d.z);
  limit(w_, d.w);
  return step;
}

double Projection::complementarity(const Direction* d, double step) const {
  double sum = 0.0;
  for (std::size_t t = 0; t < s_.size(); ++t)
    sum += d == nullptr ? s_[t] * z_[t] : (s_[t] + step * d->s[t]) * (z_[t] + step * d->z[t]);
  for (std::size_t k = 0; k < x_.size(); ++k)
    sum += d == nullptr ? x_[k] * w_[k] : (x_[k] + step * d->x[k]) * (w_[k] + step * d->w[k]);
  return sum / static_cast<double>(s_.size() + x_.size());
}

Vector Projection::solve() {
  constexpr int kIterations = 60;
  constexpr double kPrecision = 1e-14;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const double mu = complementarity(nullptr, 0.0);
    if (!std::isfinite(mu) || mu < kPrecision) break;
    residuals();
    factorise();
    if (factor_.empty()) break;
    const Direction predictor = direction(0.0, nullptr);
    const double reach = longest_step(predictor);
    const double left = complementarity(&predictor, reach) / mu;
    // The second-order correction is of use only if the predictor could go some way before it met a bound.
    const Direction d = direction(mu * std::max(1e-2, left * left * left), reach > 0.1 ? &predictor : nullptr);
    const double step = std::min(1.0, 0.995 * longest_step(d));
    if (!(step > 1e-12)) break;
    algebra::axpy(step, d.x, x_);
    algebra::axpy(step, d.s, s_);
    algebra::axpy(step, d.z, z_);
    algebra::axpy(step, d.w, w_);
    y_ += step * d.y;
  }
  return x_;
}

}  // namespace

struct SimplexCuts::Programme {
  ClpSimplex clp;
  double scale = 1.0;      // cuts are divided by it
  Index rows = 0;          // cuts that the programme has
  std::vector<int> names;  // 0, 1, …: the columns of a dense row
};

SimplexCuts::SimplexCuts(Index variables) : variables_(variables) {}
SimplexCuts::~SimplexCuts() = default;

void SimplexCuts::add(double constant, std::span<const double> slope) {
  constants_.push_back(constant);
  slopes_.emplace_back(slope.begin(), slope.end());
}

void SimplexCuts::keep(const std::vector<bool>& keep) {
  std::size_t next = 0;
  for (std::size_t t = 0; t < constants_.size(); ++t) {
    if (!keep[t]) continue;
    constants_[next] = constants_[t];
    if (next != t) slopes_[next] = std::move(slopes_[t]);
    ++next;
  }
  constants_.resize(next);
  slopes_.resize(next);
  programme_.reset();
}

// Columns β_1 … β_P and θ; row 0 is Σβ = 1, then slopeᵀβ − θ ≤ −constant for every cut.
void SimplexCuts::load() {
  const auto columns = static_cast<int>(variables_) + 1;
  if (!programme_) {
    programme_ = std::make_unique<Programme>();
    double scale = 0.0;
    for (double constant : constants_) scale = std::max(scale, std::abs(constant));
    for (const Vector& slope : slopes_) {
      for (double value : slope) scale = std::max(scale, std::abs(value));
    }
    programme_->scale = scale > 0.0 ? scale : 1.0;
    programme_->names.resize(at(variables_) + 1);
    std::iota(programme_->names.begin(), programme_->names.end(), 0);
    ClpSimplex& clp = programme_->clp;
    clp.setLogLevel(0);
    clp.messageHandler()->setLogLevel(0);
    clp.resize(0, columns);
    for (int k = 0; k < columns; ++k) {
      clp.setObjectiveCoefficient(k, k + 1 == columns ? 1.0 : 0.0);
      clp.setColumnBounds(k, k + 1 == columns ? -COIN_DBL_MAX : 0.0, COIN_DBL_MAX);
    }
    clp.setPrimalTolerance(1e-10);
    clp.setDualTolerance(1e-10);
    const Vector ones(at(variables_), 1.0);
    clp.addRow(columns - 1, programme_->names.data(), ones.data(), 1.0, 1.0);
  }
  for (; programme_->rows < cuts(); ++programme_->rows) {
    Vector row = slopes_[at(programme_->rows)];
    algebra::scale(1.0 / programme_->scale, row);
    // Elements near the smallest that CLP tells from 0 make it stop without a solution; the bound is computed
    // from the cuts themselves in any case.
    for (double& value : row) value = std::abs(value) < 1e-13 ? 0.0 : value;
    row.push_back(-1.0);
    programme_->clp.addRow(columns, programme_->names.data(), row.data(), -COIN_DBL_MAX,
                           -constants_[at(programme_->rows)] / programme_->scale);
  }
}

// Scales the multipliers to the sum 1. The cuts mixed by them are below the largest cut, so the least value of the
// mixture on the simplex, which is at a corner, is a lower bound.
void SimplexCuts::bound(Minimum& minimum) const {
  const double sum = std::accumulate(minimum.multipliers.begin(), minimum.multipliers.end(), 0.0);
  Vector mixed(at(variables_));
  minimum.value = 0.0;
  for (std::size_t t = 0; t < minimum.multipliers.size(); ++t) {
    double& multiplier = minimum.multipliers[t];
    multiplier = sum > 0.0 ? multiplier / sum : 1.0 / static_cast<double>(cuts());
    minimum.value += multiplier * constants_[t];
    algebra::axpy(multiplier, slopes_[t], mixed);
  }
  minimum.value += *std::ranges::min_element(mixed);
}

SimplexCuts::Minimum SimplexCuts::minimise() {
  load();
  programme_->clp.dual();
  // θ is free. CLP's dual method puts an artificial bound on free columns and may stop there; the primal method then
  // finishes, and where it does not either, it begins anew.
  if (programme_->clp.status() != 0) programme_->clp.primal();
  if (programme_->clp.status() != 0) {
    programme_.reset();
    load();
    programme_->clp.primal();
  }
  const ClpSimplex& clp = programme_->clp;
  Minimum minimum;
  const double* point = clp.primalColumnSolution();
  minimum.point.assign(point, point + variables_);
  to_simplex(minimum.point);
  for (Index t = 0; t < cuts(); ++t) minimum.multipliers.push_back(std::abs(clp.dualRowSolution()[t + 1]));
  bound(minimum);
  // Every cut alone gives a lower bound, too. It is better than the mixture's only where CLP has failed.
  for (std::size_t t = 0; t < slopes_.size(); ++t) {
    if (constants_[t] + *std::ranges::min_element(slopes_[t]) <= minimum.value) continue;
    std::ranges::fill(minimum.multipliers, 0.0);
    minimum.multipliers[t] = 1.0;
    bound(minimum);
  }
  return minimum;
}

Vector SimplexCuts::project(std::span<const double> centre, double level) const {
  Matrix a(cuts(), variables_);
  Vector r(at(cuts()));
  for (Index t = 0; t < cuts(); ++t) {
    // Since Σβ = 1, the least slope times Σβ is a constant and goes to the right-hand side; then units of the largest.
    const Vector& slope = slopes_[at(t)];
    const auto [least, largest] = std::ranges::minmax_element(slope);
    const double size = std::max({*largest - *least, 1e-12 * std::abs(*least), 1e-300});
    for (Index k = 0; k < variables_; ++k) a(t, k) = (slope[at(k)] - *least) / size;
    r[at(t)] = (level - constants_[at(t)] - *least) / size;
  }
  Vector point = Projection(std::move(a), std::move(r), centre).solve();
  to_simplex(point);
  return point;
}

}  // namespace kloom::solvers
