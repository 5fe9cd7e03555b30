// SPDX-License-Identifier: BSD-3-Clause
#include "methods/vbpmkl/solver.h"

#include <algorithm>
#include <boost/math/special_functions/digamma.hpp>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>

#include "algebra/blas.h"
#include "base/progress.h"
#include "models/scores.h"
#include "solvers/draws.h"
#include "solvers/multinomial_probit.h"
#include "solvers/svm.h"

namespace kloom::methods {

using algebra::Op;

namespace {

Matrix product_of(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows(), b.cols());
  algebra::gemm(Op::none, Op::none, 1.0, a.view(), b.view(), 0.0, c.view());
  return c;
}

// bᵀβ − ½ βᵀAβ: what the bound has of the kernel weights.
struct WeightProblem {
  Vector linear;
  Matrix square;
};

// Its largest value on the simplex, from `beta`. SMO for SVMs minimises the same with the sum of the variables kept.
Vector best_weights(const WeightProblem& problem, const Vector& beta) {
  const auto p = beta.size();
  double size = 0.0;
  for (std::size_t s = 0; s < p; ++s)
    size = std::max(size, problem.square(static_cast<Index>(s), static_cast<Index>(s)));
  if (!(size > 0.0)) return beta;
  // In units of the largest entry, with a ridge of some roundings of it: kernels that are copies of each other stay equal.
  Matrix scaled = problem.square;
  algebra::scale(1.0 / size, scaled.values());
  for (Index s = 0; s < scaled.rows(); ++s) scaled(s, s) += 1e-12;
  solvers::SvmProblem simplex{Vector(p, 1.0), problem.linear, Vector(p, 1.0), {}};
  algebra::scale(-1.0 / size, simplex.linear);
  solvers::SvmOptions options;
  options.tolerance = 1e-10;
  options.iterations = static_cast<Index>(200 * p + 10000);
  options.shrinking = false;
  solvers::MatrixRows rows(scaled.view());
  Vector best = solve_svm(simplex, rows, options, beta).alpha;
  const double sum = std::accumulate(best.begin(), best.end(), 0.0);
  algebra::scale(1.0 / sum, best);
  return best;
}

// Weights proportional to exp(log weights), with the sum 1.
void normalise_logs(Vector& logs) {
  const double largest = *std::ranges::max_element(logs);
  double sum = 0.0;
  for (double& value : logs) sum += value = std::exp(value - largest);
  algebra::scale(1.0 / sum, logs);
}

// What the published algorithm keeps of the kernel weights' prior, and its two rounds of importance sampling.
class ImportanceSampler {
 public:
  ImportanceSampler(Index kernels, const VbpmklSettings& settings, std::uint64_t seed)
      : settings_(settings), draws_(seed), rho_(at(kernels), 1.0) {}

  Vector weights(const WeightProblem& problem) {
    const std::size_t p = rho_.size();
    std::vector<Vector> drawn;
    Vector logs;
    Vector image(p);
    for (Index j = 0; j < settings_.draws; ++j) {
      Vector beta(p);
      double sum = 0.0;
      for (std::size_t s = 0; s < p; ++s) sum += beta[s] = draws_.gamma(rho_[s], 1.0);
      algebra::scale(1.0 / std::max(sum, 1e-300), beta);
      algebra::gemv(Op::none, 1.0, problem.square.view(), beta, 0.0, image);
      logs.push_back(algebra::dot(problem.linear, beta) - 0.5 * algebra::dot(beta, image));
      drawn.push_back(std::move(beta));
    }
    Vector beta = mean_of(drawn, logs);
    draw_rho(beta);
    return beta;
  }

 private:
  static Vector mean_of(const std::vector<Vector>& drawn, Vector logs) {
    normalise_logs(logs);
    Vector mean(drawn.front().size());
    for (std::size_t j = 0; j < drawn.size(); ++j) algebra::axpy(logs[j], drawn[j], mean);
    return mean;
  }
  void draw_rho(const Vector& beta) {
    constexpr double kLeast = 1e-300;
    std::vector<Vector> drawn;
    Vector logs;
    for (Index j = 0; j < settings_.draws; ++j) {
      Vector rho(rho_.size());
      double sum = 0.0;
      double log_density = 0.0;
      for (std::size_t s = 0; s < rho.size(); ++s) {
        rho[s] = std::max(kLeast, draws_.gamma(settings_.mu, 1.0 / settings_.lambda));
        sum += rho[s];
        log_density += (rho[s] - 1.0) * std::log(std::max(kLeast, beta[s])) - std::lgamma(rho[s]);
      }
      logs.push_back(log_density + std::lgamma(sum));
      drawn.push_back(std::move(rho));
    }
    rho_ = mean_of(drawn, std::move(logs));
  }

  const VbpmklSettings& settings_;
  solvers::Draws draws_;
  Vector rho_;
};

class Updates {
 public:
  Updates(const KernelBank& bank, const VbpmklTask& task, const VbpmklSettings& settings, std::uint64_t seed)
      : bank_(bank), task_(task), settings_(settings), sampler_(bank.kernels(), settings, seed) {
    const auto n = std::ssize(task.samples);
    solution_.beta.assign(at(bank.kernels()), 1.0 / static_cast<double>(bank.kernels()));
    solution_.precision = Matrix(n, task.classes, 1.0);
    solution_.location = solution_.means = y_ = Matrix(n, task.classes);
    combine();
    update_y();
    update_w();
  }

  void sweep() {
    update_beta();
    update_y();
    update_precision();
    update_w();
  }
  [[nodiscard]] double bound() const;
  VbpmklSolution& solution() { return solution_; }

 private:
  void combine();
  void update_beta();
  void update_y();
  void update_precision();
  void update_w();
  [[nodiscard]] WeightProblem weight_problem() const;

  const KernelBank& bank_;
  const VbpmklTask& task_;
  const VbpmklSettings& settings_;
  ImportanceSampler sampler_;
  VbpmklSolution solution_;
  Matrix kernel_;          // K
  Matrix square_;          // K U K
  Matrix y_;               // ỹ
  Matrix diagonal_;        // of V_c, samples × classes
  Matrix covariance_sum_;  // Σ_c V_c
  double log_mass_ = 0.0;  // Σ_i log of the mass of q(y_i) before it was normalised
  double log_det_ = 0.0;   // Σ_c log det V_c
  double trace_ = 0.0;     // Σ_c tr(K K V_c)
};

void Updates::combine() {
  kernel_ = combined_among(bank_, solution_.beta, task_.samples);
  square_ = weighted_square(kernel_, task_.roots);
}

void Updates::update_y() {
  const Index n = y_.rows();
  solution_.location = product_of(kernel_, solution_.means);
  log_mass_ = 0.0;
  Vector location(at(task_.classes));
  Vector mean(location.size());
  for (Index i = 0; i < n; ++i) {
    const double root = task_.roots[at(i)];
    for (Index c = 0; c < task_.classes; ++c) location[at(c)] = root * solution_.location(i, c);
    log_mass_ += solvers::multinomial_probit(location, task_.labels[at(i)], mean);
    for (Index c = 0; c < task_.classes; ++c) y_(i, c) = mean[at(c)] / root;
  }
}

void Updates::update_precision() {
  for (std::size_t k = 0; k < solution_.precision.values().size(); ++k) {
    const double mean = solution_.means.values()[k];
    const double second = mean * mean + diagonal_.values()[k];
    solution_.precision.values()[k] = (settings_.tau + 0.5) / (settings_.upsilon + 0.5 * second);
  }
}

void Updates::update_w() {
  const Index n = y_.rows();
  const Matrix right = product_of(kernel_, with_scaled_rows(with_scaled_rows(y_, task_.roots), task_.roots));
  diagonal_ = Matrix(n, task_.classes);
  covariance_sum_ = Matrix(n, n);
  log_det_ = 0.0;
  trace_ = 0.0;
  for (Index c = 0; c < task_.classes; ++c) {
    Matrix v = square_;
    for (Index i = 0; i < n; ++i) v(i, i) += solution_.precision(i, c);
    // K K is positive semidefinite and every precision positive: only rounding could make this fail.
    if (algebra::cholesky_inverse_factor(v.view()) != 0) {
      solution_.status = Status::numerical_trouble;
      return;
    }
    for (Index i = 0; i < n; ++i) log_det_ += 2.0 * std::log(v(i, i));
    algebra::inverse_from_factor(v.view());
    algebra::gemv(Op::none, 1.0, v.view(), right.column(c), 0.0, solution_.means.column(c));
    for (Index i = 0; i < n; ++i) diagonal_(i, c) = v(i, i);
    trace_ += algebra::dot(square_.values(), v.values());
    algebra::axpy(1.0, v.values(), covariance_sum_.values());
  }
}

// A and b from products of every kernel with w̃ and with a root of Σ_c V_c, some columns at a time. The published weights
// of draws know the means only.
WeightProblem Updates::weight_problem() const {
  constexpr Index kColumns = 64;
  const Index n = y_.rows();
  const Index p = bank_.kernels();
  const Matrix applied = bank_.apply_chosen(task_.samples, task_.samples, solution_.means.view());
  WeightProblem problem{Vector(at(p)), Matrix(p, p)};
  // Column k of the products is an n × P matrix; its rows in units of the samples' noise.
  const auto add = [&](const Matrix& columns) {
    for (Index k = 0; k < columns.cols(); ++k) {
      const Matrix one = with_scaled_rows(models::outputs_of(columns, k, n, p), task_.roots);
      algebra::syrk(Op::transpose, 1.0, one.view(), 1.0, problem.square.view());
    }
  };
  add(applied);
  const Matrix y = with_scaled_rows(y_, task_.roots);
  for (Index c = 0; c < task_.classes; ++c) {
    const Matrix one = with_scaled_rows(models::outputs_of(applied, c, n, p), task_.roots);
    algebra::gemv(Op::transpose, 1.0, one.view(), y.column(c), 1.0, problem.linear);
  }
  if (settings_.literal) return problem;
  Matrix root = covariance_sum_;
  if (algebra::cholesky(root.view()) != 0) return problem;
  for (Index j = 1; j < n; ++j) std::ranges::fill(root.column(j).first(at(j)), 0.0);
  for (Index begin = 0; begin < n; begin += kColumns) {
    const Range some{begin, std::min(n, begin + kColumns)};
    add(bank_.apply_chosen(task_.samples, task_.samples, root.columns(some)));
  }
  return problem;
}

void Updates::update_beta() {
  if (bank_.kernels() == 1) return;
  const WeightProblem problem = weight_problem();
  solution_.beta = settings_.literal ? sampler_.weights(problem) : best_weights(problem, solution_.beta);
  combine();
}

// E[log p(y, w, 1/ζ, t | β)] − E[log q]. E‖y‖² is in both halves and cancels.
double Updates::bound() const {
  const double n = static_cast<double>(y_.rows());
  const double classes = static_cast<double>(task_.classes);
  const Matrix m = with_scaled_rows(product_of(kernel_, solution_.means), task_.roots);
  const Matrix before = with_scaled_rows(solution_.location, task_.roots);
  const Matrix y = with_scaled_rows(y_, task_.roots);
  double sum = log_mass_ - 0.5 * (algebra::dot(m.values(), m.values()) + trace_);
  for (std::size_t k = 0; k < m.values().size(); ++k) {
    const double location = before.values()[k];
    sum += y.values()[k] * (m.values()[k] - location) + 0.5 * location * location;
  }
  const double tau = settings_.tau;
  const double shape = tau + 0.5;
  const double digamma = boost::math::digamma(shape);
  for (std::size_t k = 0; k < m.values().size(); ++k) {
    const double mean = solution_.precision.values()[k];
    const double mean_log = digamma + std::log(mean / shape);
    const double w = solution_.means.values()[k];
    const double second = w * w + diagonal_.values()[k];
    sum += 0.5 * (mean_log - std::log(2.0 * std::numbers::pi) - mean * second);
    sum += tau * std::log(settings_.upsilon) - std::lgamma(tau) + (tau - 1.0) * mean_log -
           settings_.upsilon * mean;
    sum += shape + std::log(mean / shape) + std::lgamma(shape) + (1.0 - shape) * digamma;
  }
  return sum + 0.5 * (n * classes * (1.0 + std::log(2.0 * std::numbers::pi)) + log_det_);
}

}  // namespace

Matrix combined_among(const KernelBank& bank, const Vector& beta, const std::vector<Index>& samples) {
  Matrix combined = bank.combine(beta);
  return std::ssize(samples) == bank.rows() ? std::move(combined)
                                            : models::selected(combined, samples, samples);
}

Matrix with_scaled_rows(Matrix rows, const Vector& roots) {
  for (Index c = 0; c < rows.cols(); ++c) {
    for (Index i = 0; i < rows.rows(); ++i) rows(i, c) *= roots[at(i)];
  }
  return rows;
}

Matrix weighted_square(const Matrix& kernel, const Vector& roots) {
  const Matrix scaled = with_scaled_rows(kernel, roots);
  Matrix square(kernel.rows(), kernel.cols());
  algebra::syrk(Op::transpose, 1.0, scaled.view(), 0.0, square.view());
  return square;
}

Matrix vbpmkl_covariance(const Matrix& square, std::span<const double> precision) {
  Matrix v = square;
  for (Index i = 0; i < v.rows(); ++i) v(i, i) += precision[at(i)];
  if (algebra::cholesky_inverse_factor(v.view()) == 0) algebra::inverse_from_factor(v.view());
  return v;
}

VbpmklSolution solve_vbpmkl(const KernelBank& bank, const VbpmklTask& task, const VbpmklSettings& settings,
                            const Context& context) {
  ProgressMeter meter(context, "vbpmkl");
  Updates updates(bank, task, settings, context.seed);
  VbpmklSolution& solution = updates.solution();
  double before = updates.bound();
  for (Index t = 1; t <= settings.iterations && solution.status == Status::iteration_limit; ++t) {
    updates.sweep();
    if (solution.status == Status::numerical_trouble) break;
    solution.bound = updates.bound();
    solution.iterations = t;
    solution.trace.push_back({t, solution.bound, meter.seconds()});
    if (std::abs(solution.bound - before) <= settings.tolerance * std::abs(solution.bound))
      solution.status = Status::converged;
    if (meter.step(t, settings.iterations, solution.bound) && solution.status == Status::iteration_limit)
      solution.status = Status::stopped;
    before = solution.bound;
  }
  return std::move(solution);
}

}  // namespace kloom::methods
