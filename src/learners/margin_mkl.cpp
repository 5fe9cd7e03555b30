// SPDX-License-Identifier: BSD-3-Clause
#include "learners/margin_mkl.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "algebra/blas.h"
#include "algebra/threads.h"
#include "base/progress.h"
#include "kloom/error.h"

namespace kloom::learners {

using algebra::Op;
using solvers::MatrixRows;
using solvers::SvmOptions;
using solvers::SvmProblem;
using solvers::SvmSolution;

namespace {

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

// The SVM dual of the task; regression has variables (i, +) then (i, −).
SvmProblem svm_problem(const MarginTask& task) {
  const std::size_t n = task.y.size();
  if (!task.regression) return {task.y, Vector(n, -1.0), task.box, {}};
  SvmProblem problem;
  for (double sign : {1.0, -1.0}) {
    for (std::size_t i = 0; i < n; ++i) {
      problem.y.push_back(sign);
      problem.linear.push_back(task.epsilon - sign * task.y[i]);
      problem.box.push_back(task.box[i]);
      problem.sample.push_back(static_cast<Index>(i));
    }
  }
  return problem;
}

Vector coefficients_of(const MarginTask& task, const SvmProblem& problem, const Vector& alpha) {
  Vector c(task.y.size());
  for (std::size_t k = 0; k < alpha.size(); ++k) {
    c[at(problem.row_of(static_cast<Index>(k)))] += problem.y[k] * alpha[k];
  }
  return c;
}

double loss(const MarginTask& task, std::size_t i, double score) {
  const double distance =
      task.regression ? std::abs(task.y[i] - score) - task.epsilon : 1.0 - task.y[i] * score;
  return task.box[i] * std::max(0.0, distance);
}

// Everything known about one θ.
struct Point {
  Vector theta;
  Vector alpha;
  Vector coefficients;
  Vector q;        // (y∘α)ᵀ K_m (y∘α)
  Matrix outputs;  // K_m (y∘α), N × P
  double bias = 0.0;
  double primal = 0.0;
  double dual = 0.0;
  bool settled = true;  // the SVM reached its tolerance
};

class Solver {
 public:
  Solver(const KernelBank& bank, const MarginTask& task, const MarginSettings& settings, const Context& context)
      : bank_(bank),
        task_(task),
        settings_(settings),
        problem_(svm_problem(task)),
        meter_(context, settings.stage) {
    // The SVM's own gap must be a fraction of the gap asked for; its violation is in units of the labels.
    svm_.tolerance = std::clamp(0.1 * settings.tolerance, 1e-11, 1e-3);
    svm_.iterations = std::max<Index>(1'000'000, 2000 * problem_.variables());
  }

  MarginSolution solve(Vector start);

 private:
  [[nodiscard]] Point evaluate(Vector theta, const Vector& warm);
  void fill_objectives(Point& point) const;
  [[nodiscard]] double dual_penalty(const Vector& q) const;
  [[nodiscard]] Vector norm_update(const Point& point) const;
  [[nodiscard]] Point second_order_step(const Point& point);
  [[nodiscard]] Point reduced_gradient_step(const Point& point);
  [[nodiscard]] Matrix curvature(const Point& point) const;
  [[nodiscard]] Point next(const Point& point);

  const KernelBank& bank_;
  const MarginTask& task_;
  const MarginSettings& settings_;
  SvmProblem problem_;
  SvmOptions svm_;
  ProgressMeter meter_;
};

Point Solver::evaluate(Vector theta, const Vector& warm) {
  Point point;
  point.theta = std::move(theta);
  const Matrix kernel = bank_.combine(point.theta);
  MatrixRows rows(kernel.view());
  SvmSolution solution = solve_svm(problem_, rows, svm_, warm);
  point.settled = solution.converged;
  point.alpha = std::move(solution.alpha);
  point.bias = solution.bias;
  point.coefficients = coefficients_of(task_, problem_, point.alpha);
  const Matrix applied = bank_.apply(as_column(point.coefficients));
  point.outputs = Matrix(bank_.rows(), bank_.kernels());
  std::ranges::copy(applied.values(), point.outputs.values().begin());
  for (Index m = 0; m < bank_.kernels(); ++m) {
    point.q.push_back(std::max(0.0, algebra::dot(point.outputs.column(m), point.coefficients)));
  }
  fill_objectives(point);
  return point;
}

// ½ of the norm dual to p of q: what the dual subtracts.
double Solver::dual_penalty(const Vector& q) const {
  const double largest = *std::max_element(q.begin(), q.end());
  if (largest <= 0.0) return 0.0;
  if (settings_.norm == 1.0) return 0.5 * largest;
  const double conjugate = std::isinf(settings_.norm) ? 1.0 : settings_.norm / (settings_.norm - 1.0);
  double sum = 0.0;
  for (double value : q) sum += std::pow(value / largest, conjugate);
  return 0.5 * largest * std::pow(sum, 1.0 / conjugate);
}

void Solver::fill_objectives(Point& point) const {
  Vector scores(task_.y.size(), point.bias);
  algebra::gemv(Op::none, 1.0, point.outputs.view(), point.theta, 1.0, scores);
  const double norms = algebra::dot(point.theta, point.q);  // Σ ‖w_m‖²/θ_m
  point.primal = 0.5 * norms;
  for (std::size_t i = 0; i < scores.size(); ++i) point.primal += loss(task_, i, scores[i]);
  point.dual = 0.0;
  for (std::size_t k = 0; k < point.alpha.size(); ++k) point.dual -= problem_.linear[k] * point.alpha[k];
  point.dual -= settings_.rule == WeightRule::fixed ? 0.5 * norms : dual_penalty(point.q);
}

// θ_m ∝ ‖w_m‖^{2/(p+1)} with ‖θ‖_p = 1, ‖w_m‖ = θ_m √q_m [Kloft2011, eq. 20].
Vector Solver::norm_update(const Point& point) const {
  const double p = settings_.norm;
  if (std::isinf(p)) return Vector(point.theta.size(), 1.0);
  Vector theta(point.theta.size());
  double largest = 0.0;
  for (std::size_t m = 0; m < theta.size(); ++m) {
    theta[m] = std::pow(point.theta[m] * std::sqrt(point.q[m]), 2.0 / (p + 1.0));
    largest = std::max(largest, theta[m]);
  }
  if (largest <= 0.0) return point.theta;
  double sum = 0.0;
  for (double& value : theta) sum += std::pow(value /= largest, p);
  for (double& value : theta) value /= std::pow(sum, 1.0 / p);
  return theta;
}

// Hessian of J: V^T B V, V the kernels' outputs at the free support vectors F and B the inverse of K_FF(θ) on
// the subspace that keeps the bias equation, from α_F's dependence on θ while the free set stays.
Matrix Solver::curvature(const Point& point) const {
  std::vector<Index> free;  // samples with a free variable
  for (std::size_t k = 0; k < point.alpha.size(); ++k) {
    if (point.alpha[k] > 0.0 && point.alpha[k] < problem_.box[k])
      free.push_back(problem_.row_of(static_cast<Index>(k)));
  }
  const Index p = bank_.kernels();
  const auto f = static_cast<Index>(free.size());
  Matrix hessian(p, p);
  if (f == 0) return hessian;
  Matrix right(f, p + 1, 1.0);  // [V 1]
  for (Index m = 0; m < p; ++m) {
    for (Index k = 0; k < f; ++k) right(k, m) = point.outputs(free[at(k)], m);
  }
  Matrix rows(bank_.cols(), f);
  bank_.combine_rows(point.theta, free, rows.view());
  Matrix kernel(f, f);
  double trace = 0.0;
  for (Index k = 0; k < f; ++k) {
    for (Index l = 0; l < f; ++l) kernel(l, k) = rows(free[at(l)], k);
    trace += kernel(k, k);
  }
  for (Index k = 0; k < f; ++k) kernel(k, k) += 1e-10 * trace / static_cast<double>(f) + 1e-300;
  if (algebra::cholesky(kernel.view()) != 0) return hessian;
  Matrix solved = right;
  algebra::cholesky_solve(kernel.view(), solved.view());
  Matrix products(p + 1, p + 1);  // [V 1]ᵀ K⁻¹ [V 1]
  algebra::gemm(Op::transpose, Op::none, 1.0, right.view(), solved.view(), 0.0, products.view());
  for (Index m = 0; m < p; ++m) {
    for (Index l = 0; l < p; ++l)
      hessian(l, m) = products(l, m) - products(l, p) * products(m, p) / products(p, p);
  }
  return hessian;
}

// Newton on the simplex: minimise the quadratic model of J over it, which is an SVM-like problem itself (one
// equality, bounds), then go as far along as J really falls.
Point Solver::second_order_step(const Point& point) {
  const Index p = bank_.kernels();
  Matrix hessian = curvature(point);
  double size = 0.0;
  for (Index m = 0; m < p; ++m) size = std::max(size, hessian(m, m));
  const double largest = *std::max_element(point.q.begin(), point.q.end());
  for (Index m = 0; m < p; ++m) hessian(m, m) += 1e-9 * size + 1e-6 * largest;
  SvmProblem model{Vector(at(p), 1.0), Vector(at(p)), Vector(at(p), 1.0), {}};
  Vector bent(at(p));
  algebra::gemv(Op::none, 1.0, hessian.view(), point.theta, 0.0, bent);
  for (std::size_t m = 0; m < bent.size(); ++m) model.linear[m] = -0.5 * point.q[m] - bent[m];
  SvmOptions options;
  options.tolerance = 1e-3 * settings_.tolerance * std::max(largest, 1e-300);
  options.iterations = 200 * p + 10000;
  options.shrinking = false;
  MatrixRows rows(hessian.view());
  const Vector target = solve_svm(model, rows, options, point.theta).alpha;

  double step = 1.0;
  for (int halvings = 0;; ++halvings, step *= 0.5) {
    Vector theta = point.theta;
    for (std::size_t m = 0; m < theta.size(); ++m) theta[m] += step * (target[m] - theta[m]);
    Point candidate = evaluate(std::move(theta), point.alpha);
    if (candidate.primal <= point.primal || halvings == 8) return candidate;
  }
}

Point Solver::reduced_gradient_step(const Point& point) {
  // Gradient −½ q; the largest weight absorbs the equality, weights at 0 move up only.
  const Vector& q = point.q;
  const auto pivot =
      static_cast<std::size_t>(std::max_element(point.theta.begin(), point.theta.end()) - point.theta.begin());
  Vector direction(q.size());
  double sum = 0.0;
  for (std::size_t m = 0; m < q.size(); ++m) {
    if (m == pivot) continue;
    const double slope = 0.5 * (q[m] - q[pivot]);
    direction[m] = point.theta[m] <= 0.0 && slope < 0.0 ? 0.0 : slope;
    sum += direction[m];
  }
  direction[pivot] = -sum;
  // As far as the first weight reaches 0 and J still falls there, then golden section between.
  Point best = point;
  double longest = std::numeric_limits<double>::infinity();
  for (std::size_t m = 0; m < q.size(); ++m) {
    if (direction[m] < 0.0) longest = std::min(longest, -point.theta[m] / direction[m]);
  }
  if (!std::isfinite(longest) || longest <= 0.0) return point;
  const auto along = [&](double step) {
    Vector theta = point.theta;
    for (std::size_t m = 0; m < theta.size(); ++m) theta[m] = std::max(0.0, theta[m] + step * direction[m]);
    const double total = std::accumulate(theta.begin(), theta.end(), 0.0);
    for (double& value : theta) value /= total;
    return evaluate(std::move(theta), best.alpha);
  };
  Point end = along(longest);
  if (end.primal < point.primal) return end;
  constexpr double kGolden = 0.3819660112501051;
  double high = longest;
  for (int k = 0; k < 40; ++k) {
    Point middle = along(high * kGolden);
    high *= kGolden;
    if (middle.primal < point.primal) return middle;
  }
  return best;
}

Point Solver::next(const Point& point) {
  switch (settings_.rule) {
    case WeightRule::norm:
      return evaluate(norm_update(point), point.alpha);
    case WeightRule::second_order:
      return second_order_step(point);
    case WeightRule::reduced_gradient:
      return reduced_gradient_step(point);
    case WeightRule::fixed:
      break;
  }
  return evaluate(point.theta, point.alpha);
}

MarginSolution Solver::solve(Vector start) {
  MarginSolution solution;
  Point point = evaluate(std::move(start), {});
  double dual = point.dual;  // the best of all duals bounds every primal
  solution.status = Status::iteration_limit;
  for (Index iteration = 1; iteration <= settings_.iterations; ++iteration) {
    dual = std::max(dual, point.dual);
    const double gap = (point.primal - point.dual) / std::max(std::abs(point.primal), 1e-300);
    solution.iterations = iteration;
    solution.trace.push_back({iteration, point.primal, meter_.seconds()});
    if (!std::isfinite(gap)) {
      solution.status = Status::numerical_trouble;
      break;
    }
    if (gap <= settings_.tolerance) {
      solution.status = Status::converged;
      break;
    }
    if (meter_.step(iteration, settings_.iterations, gap)) {
      solution.status = Status::stopped;
      break;
    }
    if (!point.settled) break;
    if (settings_.rule == WeightRule::fixed) svm_.tolerance *= 0.1;
    Point candidate = next(point);
    // No more to be had at this precision of the inner SVM: sharpen it.
    if (candidate.primal >= point.primal * (1.0 - 1e-15)) {
      if (svm_.tolerance <= 1e-11) break;
      svm_.tolerance = std::max(1e-11, 0.1 * svm_.tolerance);
    }
    point = std::move(candidate);
  }
  solution.theta = point.theta;
  solution.coefficients = point.coefficients;
  solution.bias = point.bias;
  solution.primal = point.primal;
  solution.dual = point.dual;
  return solution;
}

}  // namespace

Vector uniform_weights(Index kernels, double norm) {
  const double size = std::isinf(norm) ? 1.0 : std::pow(static_cast<double>(kernels), -1.0 / norm);
  return Vector(at(kernels), size);
}

MarginSolution solve_margin_mkl(const KernelBank& bank, const MarginTask& task, const MarginSettings& settings,
                                Vector start, const Context& context) {
  const auto n = static_cast<double>(bank.rows());
  const algebra::ThreadScope threads(context, n * n * static_cast<double>(bank.kernels()));
  return Solver(bank, task, settings, context).solve(std::move(start));
}

}  // namespace kloom::learners
