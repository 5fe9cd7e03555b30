// SPDX-License-Identifier: BSD-3-Clause
#include "methods/mcmkl/qcqp.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "algebra/blas.h"
#include "base/progress.h"
#include "kloom/error.h"

namespace kloom::methods {

using algebra::Op;

namespace {

constexpr Index kMostVariables = 4000;

// x = A⁻¹ b by elimination with row pivoting; the systems here have one unknown per product and class.
Vector solve_dense(Matrix a, Vector b) {
  const Index n = a.rows();
  for (Index k = 0; k < n; ++k) {
    Index pivot = k;
    for (Index i = k + 1; i < n; ++i) pivot = std::abs(a(i, k)) > std::abs(a(pivot, k)) ? i : pivot;
    for (Index j = 0; j < n; ++j) std::swap(a(k, j), a(pivot, j));
    std::swap(b[at(k)], b[at(pivot)]);
    for (Index i = k + 1; i < n; ++i) {
      const double factor = a(i, k) / a(k, k);
      if (factor == 0.0) continue;
      for (Index j = k; j < n; ++j) a(i, j) -= factor * a(k, j);
      b[at(i)] -= factor * b[at(k)];
    }
  }
  for (Index k = n - 1; k >= 0; --k) {
    for (Index j = k + 1; j < n; ++j) b[at(k)] -= a(k, j) * b[at(j)];
    b[at(k)] /= a(k, k);
  }
  return b;
}

// Primal and dual variables, and a direction in their space. Slacks: t of the quadratic
// constraints, s of the box.
struct State {
  Vector x;
  double gamma = 0.0;
  Vector t, beta;
  Vector z;
  Vector s, nu;
  Vector b;  // multipliers of the class sums
};

class InteriorPoint {
 public:
  InteriorPoint(const KernelBank& bank, const McmklTask& task, const McmklSettings& settings,
                const Context& context);
  McmklSolution solve();

 private:
  [[nodiscard]] Index variables() const { return static_cast<Index>(owner_.size()); }
  [[nodiscard]] bool boxed() const { return task_.loss == solvers::MarginLoss::hinge; }
  [[nodiscard]] Vector sums_of(const Vector& x) const;
  [[nodiscard]] Matrix alpha_of(const Vector& x) const;
  [[nodiscard]] Vector compact(ConstMatrixView f) const;
  void start();
  void evaluate();
  void residuals();
  [[nodiscard]] bool factorise();
  [[nodiscard]] State direction(double target, const State* predictor) const;
  [[nodiscard]] double step_length(const State& d) const;
  [[nodiscard]] double complementarity(const State* d, double step) const;
  void advance(const State& d, double step);
  [[nodiscard]] double class_sign(Index k, Index u) const;
  void add_class_kernel(const Matrix& kernel, const Matrix& classes);
  void fill_hessian();
  [[nodiscard]] McmklSolution current() const;

  const KernelBank& bank_;
  const McmklTask& task_;
  const McmklSettings& settings_;
  ProgressMeter meter_;
  Vector bounds_;             // C_i; 1 for absent samples, whose sum is 0 anyway
  std::vector<Index> owner_;  // sample of each variable
  std::vector<Index> other_;  // its class u ≠ y
  Index equalities_;          // class sums but the last, which follows from the others
  State now_;
  Matrix v_;  // Q_k x, variables × products
  Vector q_;  // xᵀ Q_k x
  Vector rd_, rp_, rs_, re_;
  double rg_ = 0.0;
  Matrix factor_;   // Cholesky of the reduced Hessian
  Matrix columns_;  // H⁻¹ [V Eᵀ]
  Matrix small_;    // the system that is left in (β, γ, b)
};

InteriorPoint::InteriorPoint(const KernelBank& bank, const McmklTask& task, const McmklSettings& settings,
                             const Context& context)
    : bank_(bank),
      task_(task),
      settings_(settings),
      meter_(context, "mcmkl"),
      equalities_(task.bias ? task.classes - 1 : 0) {
  for (Index i = 0; i < bank.rows(); ++i) {
    bounds_.push_back(task.box[at(i)] > 0.0 ? task.box[at(i)] : 1.0);
    if (task.box[at(i)] == 0.0) continue;
    for (Index u = 0; u < task.classes; ++u) {
      if (u == task.labels[at(i)]) continue;
      owner_.push_back(i);
      other_.push_back(u);
    }
  }
  if (variables() > kMostVariables) {
    throw InvalidArgument(fmt::format(
        "algorithm qcqp would have {} variables, and more than {} take too long; use algorithm level, "
        "which solves the same problem",
        variables(), kMostVariables));
  }
}

Matrix InteriorPoint::alpha_of(const Vector& x) const {
  Matrix alpha(bank_.rows(), task_.classes);
  for (std::size_t k = 0; k < x.size(); ++k) {
    alpha(owner_[k], other_[k]) -= x[k];
    alpha(owner_[k], task_.labels[at(owner_[k])]) += x[k];
  }
  return alpha;
}

// Σ_u x_iu = α_iy of every sample.
Vector InteriorPoint::sums_of(const Vector& x) const {
  Vector sums(task_.box.size());
  for (std::size_t k = 0; k < x.size(); ++k) sums[at(owner_[k])] += x[k];
  return sums;
}

// F in N × M to differences F_iy − F_iu.
Vector InteriorPoint::compact(ConstMatrixView f) const {
  Vector result(owner_.size());
  for (std::size_t k = 0; k < result.size(); ++k) {
    result[k] = f(owner_[k], task_.labels[at(owner_[k])]) - f(owner_[k], other_[k]);
  }
  return result;
}

// Coefficient of variable k in the sum of class u.
double InteriorPoint::class_sign(Index k, Index u) const {
  if (other_[at(k)] == u) return -1.0;
  return task_.labels[at(owner_[at(k)])] == u ? 1.0 : 0.0;
}

void InteriorPoint::start() {
  const Index products = bank_.kernels() * static_cast<Index>(task_.class_kernels.size());
  now_.x.resize(owner_.size());
  for (std::size_t k = 0; k < owner_.size(); ++k) {
    now_.x[k] = 0.1 * task_.box[at(owner_[k])] / static_cast<double>(task_.classes);
  }
  now_.z = Vector(owner_.size(), 1.0);
  now_.beta = Vector(at(products), 1.0 / static_cast<double>(products));
  if (boxed()) {
    now_.s = bounds_;
    now_.nu = Vector(task_.box.size(), 1.0);
    for (std::size_t k = 0; k < owner_.size(); ++k) now_.s[at(owner_[k])] -= now_.x[k];
  }
  now_.b = Vector(at(equalities_));
  evaluate();
  now_.gamma = 0.5 * *std::ranges::max_element(q_) * 1.5 + 1e-3;
  now_.t = Vector(at(products));
  for (std::size_t k = 0; k < now_.t.size(); ++k) now_.t[k] = now_.gamma - 0.5 * q_[k];
}

void InteriorPoint::evaluate() {
  const Matrix applied = bank_.apply(alpha_of(now_.x).view());
  const auto kinds = static_cast<Index>(task_.class_kernels.size());
  v_ = Matrix(variables(), bank_.kernels() * kinds);
  q_ = Vector(at(v_.cols()));
  Matrix scores(bank_.rows(), task_.classes);
  for (Index p = 0; p < bank_.kernels(); ++p) {
    const ConstMatrixView k_alpha{applied.data() + p * bank_.rows(), bank_.rows(), task_.classes,
                                  applied.rows()};
    for (Index j = 0; j < kinds; ++j) {
      algebra::gemm(Op::none, Op::none, 1.0, k_alpha, task_.class_kernels[at(j)].view(), 0.0, scores.view());
      const Vector column = compact(scores.view());
      std::ranges::copy(column, v_.column(j + p * kinds).begin());
      q_[at(j + p * kinds)] = std::max(0.0, algebra::dot(column, now_.x));
    }
  }
}

void InteriorPoint::residuals() {
  rd_ = Vector(owner_.size());
  algebra::gemv(Op::none, 1.0, v_.view(), now_.beta, 0.0, rd_);
  const Vector sums = sums_of(now_.x);
  for (std::size_t k = 0; k < owner_.size(); ++k) {
    const std::size_t i = at(owner_[k]);
    rd_[k] +=
        (boxed() ? now_.nu[i] : 0.0) - solvers::worth_slope(task_.loss, task_.box[i], sums[i]) - now_.z[k];
    for (Index u = 0; u < equalities_; ++u) rd_[k] += class_sign(static_cast<Index>(k), u) * now_.b[at(u)];
  }
  rg_ = 1.0 - std::accumulate(now_.beta.begin(), now_.beta.end(), 0.0);
  rp_ = now_.t;
  for (std::size_t k = 0; k < rp_.size(); ++k) rp_[k] += 0.5 * q_[k] - now_.gamma;
  rs_ = now_.s;
  for (std::size_t i = 0; i < rs_.size(); ++i) rs_[i] += sums[i] - bounds_[i];
  re_ = Vector(at(equalities_));
  for (Index k = 0; k < variables(); ++k) {
    for (Index u = 0; u < equalities_; ++u) re_[at(u)] += class_sign(k, u) * now_.x[at(k)];
  }
}

// factor_ += K ⊗ L in the compact variables.
void InteriorPoint::add_class_kernel(const Matrix& kernel, const Matrix& classes) {
  for (Index c = 0; c < variables(); ++c) {
    const Index j = owner_[at(c)];
    const Index yj = task_.labels[at(j)];
    const Index v = other_[at(c)];
    for (Index r = c; r < variables(); ++r) {
      const Index i = owner_[at(r)];
      const Index yi = task_.labels[at(i)];
      const Index u = other_[at(r)];
      const double weight = classes(yi, yj) - classes(yi, v) - classes(u, yj) + classes(u, v);
      if (weight != 0.0) factor_(r, c) += weight * kernel(i, j);
    }
  }
}

void InteriorPoint::fill_hessian() {
  const auto kinds = static_cast<Index>(task_.class_kernels.size());
  factor_ = Matrix(variables(), variables());
  if (kinds == 1) return add_class_kernel(bank_.combine(now_.beta), task_.class_kernels.front());
  for (Index p = 0; p < bank_.kernels(); ++p) {
    Matrix mixed(task_.classes, task_.classes);
    Vector one(at(bank_.kernels()));
    one[at(p)] = 1.0;
    for (Index j = 0; j < kinds; ++j) {
      algebra::axpy(now_.beta[at(j + p * kinds)], task_.class_kernels[at(j)].values(), mixed.values());
    }
    add_class_kernel(bank_.combine(one), mixed);
  }
}

bool InteriorPoint::factorise() {
  fill_hessian();
  const Vector sums = sums_of(now_.x);
  for (Index c = 0; c < variables(); ++c) {
    const std::size_t i = at(owner_[at(c)]);
    const double block =
        boxed() ? now_.nu[i] / now_.s[i] : solvers::worth_curvature(task_.loss, task_.box[i], sums[i]);
    for (Index r = c; r < variables() && owner_[at(r)] == owner_[at(c)]; ++r) factor_(r, c) += block;
    factor_(c, c) += now_.z[at(c)] / now_.x[at(c)];
    factor_(c, c) *= 1.0 + 1e-14;  // a pivot of rounding errors must not be negative
  }
  if (algebra::cholesky(factor_.view()) != 0) return false;
  const Index products = v_.cols();
  Matrix sides(variables(), products + equalities_);
  for (Index k = 0; k < products; ++k) std::ranges::copy(v_.column(k), sides.column(k).begin());
  for (Index u = 0; u < equalities_; ++u) {
    for (Index k = 0; k < variables(); ++k) sides(k, products + u) = class_sign(k, u);
  }
  columns_ = sides;
  algebra::cholesky_solve(factor_.view(), columns_.view());
  // Unknowns β, b, γ: −[V Eᵀ]ᵀ H⁻¹ [V Eᵀ] − diag(t/β), and the column of γ in the rows of
  // the quadratic constraints.
  const Index order = products + equalities_;
  small_ = Matrix(order + 1, order + 1);
  Matrix inner(order, order);
  algebra::gemm(Op::transpose, Op::none, -1.0, sides.view(), columns_.view(), 0.0, inner.view());
  for (Index c = 0; c < order; ++c) {
    for (Index r = 0; r < order; ++r) small_(r, c) = inner(r, c);
  }
  for (Index k = 0; k < products; ++k) {
    small_(k, k) -= now_.t[at(k)] / now_.beta[at(k)];
    small_(k, order) = -1.0;
    small_(order, k) = -1.0;
  }
  return true;
}

State InteriorPoint::direction(double target, const State* predictor) const {
  const auto want = [&](const Vector& a, const Vector& b, const Vector* da, const Vector* db) {
    Vector result(a.size());
    for (std::size_t k = 0; k < a.size(); ++k)
      result[k] = target - a[k] * b[k] - (predictor != nullptr ? (*da)[k] * (*db)[k] : 0.0);
    return result;
  };
  const State empty;
  const State& p = predictor != nullptr ? *predictor : empty;
  const Vector want_t = want(now_.t, now_.beta, &p.t, &p.beta);
  const Vector want_x = want(now_.x, now_.z, &p.x, &p.z);
  const Vector want_s = want(now_.s, now_.nu, &p.s, &p.nu);
  Matrix right(variables(), 1);
  for (std::size_t k = 0; k < owner_.size(); ++k) {
    const std::size_t i = at(owner_[k]);
    double value = want_x[k] / now_.x[k] - rd_[k];
    if (boxed()) value -= (want_s[i] + now_.nu[i] * rs_[i]) / now_.s[i];
    right(static_cast<Index>(k), 0) = value;
  }
  const Index products = v_.cols();
  const Index order = products + equalities_;
  Vector side(at(order + 1));
  algebra::gemv(Op::transpose, -1.0, columns_.view(), right.column(0), 0.0,
                std::span<double>(side.data(), at(order)));
  for (std::size_t k = 0; k < at(products); ++k) side[k] -= rp_[k] + want_t[k] / now_.beta[k];
  for (std::size_t u = 0; u < at(equalities_); ++u) side[at(products) + u] -= re_[u];
  side[at(order)] = -rg_;
  const Vector found = solve_dense(small_, side);
  State d;
  d.beta.assign(found.begin(), found.begin() + products);
  d.b.assign(found.begin() + products, found.begin() + order);
  d.gamma = found[at(order)];
  algebra::cholesky_solve(factor_.view(), right.view());
  algebra::gemv(Op::none, -1.0, columns_.view(), std::span<const double>(found.data(), at(order)), 1.0,
                right.column(0));
  d.x.assign(right.column(0).begin(), right.column(0).end());
  d.t.resize(now_.t.size());
  for (std::size_t k = 0; k < d.t.size(); ++k) d.t[k] = (want_t[k] - now_.t[k] * d.beta[k]) / now_.beta[k];
  d.z.resize(d.x.size());
  for (std::size_t k = 0; k < d.x.size(); ++k) d.z[k] = (want_x[k] - now_.z[k] * d.x[k]) / now_.x[k];
  d.s = Vector(now_.s.size());
  d.nu = d.s;
  for (std::size_t i = 0; i < d.s.size(); ++i) d.s[i] = -rs_[i];
  if (boxed()) {
    for (std::size_t k = 0; k < owner_.size(); ++k) d.s[at(owner_[k])] -= d.x[k];
  }
  for (std::size_t i = 0; i < d.s.size(); ++i) d.nu[i] = (want_s[i] - now_.nu[i] * d.s[i]) / now_.s[i];
  return d;
}

double InteriorPoint::step_length(const State& d) const {
  double step = 1.0;
  const auto limit = [&](const Vector& value, const Vector& change) {
    for (std::size_t k = 0; k < value.size(); ++k) {
      if (change[k] < 0.0) step = std::min(step, -value[k] / change[k]);
    }
  };
  limit(now_.x, d.x);
  limit(now_.z, d.z);
  limit(now_.t, d.t);
  limit(now_.beta, d.beta);
  limit(now_.s, d.s);
  limit(now_.nu, d.nu);
  if (task_.loss == solvers::MarginLoss::logistic) {
    // The logistic worth ends at Σ_u x_iu = C_i. No constraint of the programme says so, hence no slack stops the step.
    const Vector sums = sums_of(now_.x);
    const Vector changes = sums_of(d.x);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (changes[i] > 0.0) step = std::min(step, (task_.box[i] - sums[i]) / changes[i]);
    }
  }
  return step;
}

double InteriorPoint::complementarity(const State* d, double step) const {
  double sum = 0.0;
  const auto add = [&](const Vector& a, const Vector& b, const Vector* da, const Vector* db) {
    for (std::size_t k = 0; k < a.size(); ++k)
      sum += d == nullptr ? a[k] * b[k] : (a[k] + step * (*da)[k]) * (b[k] + step * (*db)[k]);
  };
  add(now_.x, now_.z, d != nullptr ? &d->x : nullptr, d != nullptr ? &d->z : nullptr);
  add(now_.t, now_.beta, d != nullptr ? &d->t : nullptr, d != nullptr ? &d->beta : nullptr);
  add(now_.s, now_.nu, d != nullptr ? &d->s : nullptr, d != nullptr ? &d->nu : nullptr);
  return sum / static_cast<double>(now_.x.size() + now_.t.size() + now_.s.size());
}

void InteriorPoint::advance(const State& d, double step) {
  algebra::axpy(step, d.x, now_.x);
  algebra::axpy(step, d.z, now_.z);
  algebra::axpy(step, d.t, now_.t);
  algebra::axpy(step, d.beta, now_.beta);
  algebra::axpy(step, d.s, now_.s);
  algebra::axpy(step, d.nu, now_.nu);
  algebra::axpy(step, d.b, now_.b);
  now_.gamma += step * d.gamma;
}

// The point as classifier and as its own proof.
McmklSolution InteriorPoint::current() const {
  McmklSolution solution;
  const auto kinds = static_cast<Index>(task_.class_kernels.size());
  const double sum = std::accumulate(now_.beta.begin(), now_.beta.end(), 0.0);
  solution.beta = Matrix(kinds, bank_.kernels());
  for (Index k = 0; k < v_.cols(); ++k) solution.beta.values()[at(k)] = now_.beta[at(k)] / sum;
  solution.alpha = alpha_of(now_.x);
  solution.dual_alpha = solution.alpha;
  solution.bias = Vector(at(task_.classes));
  std::ranges::copy(now_.b, solution.bias.begin());
  const double mean =
      std::accumulate(solution.bias.begin(), solution.bias.end(), 0.0) / static_cast<double>(task_.classes);
  for (double& b : solution.bias) b -= task_.bias ? mean : 0.0;
  // Scores as differences: own class 0, others −(F_iy − F_iu).
  Vector differences(owner_.size());
  algebra::gemv(Op::none, 1.0, v_.view(), solution.beta.values(), 0.0, differences);
  Matrix scores(bank_.rows(), task_.classes);
  for (std::size_t k = 0; k < owner_.size(); ++k) scores(owner_[k], other_[k]) = -differences[k];
  solution.primal = 0.5 * algebra::dot(solution.beta.values(), q_) + total_loss(task_, scores, solution.bias);
  solution.dual = worth_part(task_, solution.alpha) - 0.5 * *std::ranges::max_element(q_);
  return solution;
}

McmklSolution InteriorPoint::solve() {
  start();
  McmklSolution solution;
  std::vector<TracePoint> trace;
  Status status = Status::iteration_limit;
  Index iteration = 1;
  for (; iteration <= settings_.iterations; ++iteration) {
    residuals();
    McmklSolution here = current();
    if (!std::isfinite(here.gap())) {
      status = Status::numerical_trouble;
      break;
    }
    solution = std::move(here);
    double unequal = 0.0;
    for (double r : re_) unequal = std::max(unequal, std::abs(r));
    trace.push_back({iteration, solution.primal, meter_.seconds()});
    // The gap proves something only where the class sums are 0.
    if (solution.gap() <= settings_.tolerance &&
        unequal <= 1e-10 * std::accumulate(now_.x.begin(), now_.x.end(), 0.0)) {
      status = Status::converged;
      break;
    }
    if (meter_.step(iteration, settings_.iterations, solution.gap())) {
      status = Status::stopped;
      break;
    }
    if (!factorise()) {
      status = Status::numerical_trouble;
      break;
    }
    const double mu = complementarity(nullptr, 0.0);
    const State predictor = direction(0.0, nullptr);
    const double reach = step_length(predictor);
    const double left = std::min(1.0, complementarity(&predictor, reach) / mu);
    // The second-order correction is of use only if the predictor could go some way before it met a bound.
    const State d = direction(mu * std::max(1e-3, left * left * left), reach > 0.1 ? &predictor : nullptr);
    const double step = std::min(1.0, 0.99 * step_length(d));
    if (!(step > 1e-10)) {
      status = Status::numerical_trouble;
      break;
    }
    advance(d, step);
    evaluate();
  }
  solution.status = status;
  solution.iterations = std::min(iteration, settings_.iterations);
  solution.trace = std::move(trace);
  return solution;
}

}  // namespace

McmklSolution solve_mcmkl_qcqp(const KernelBank& bank, const McmklTask& task, const McmklSettings& settings,
                               const Context& context) {
  return InteriorPoint(bank, task, settings, context).solve();
}

}  // namespace kloom::methods
