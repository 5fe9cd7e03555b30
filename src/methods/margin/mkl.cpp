// SPDX-License-Identifier: BSD-3-Clause
#include "methods/margin/mkl.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "algebra/blas.h"
#include "algebra/threads.h"
#include "base/progress.h"
#include "kloom/error.h"
#include "kloom/machine.h"
#include "methods/margin/cutting_planes.h"
#include "methods/seam/duality_gap.h"
#include "solvers/simplex_model.h"

namespace kloom::methods {

using algebra::Op;
using solvers::MatrixRows;
using solvers::SvmOptions;
using solvers::SvmProblem;
using solvers::SvmSolution;

namespace {

double margin_of(const MarginTask& task, std::size_t i) {
  return task.margin.empty() ? 1.0 : task.margin[i];
}

// The SVM dual of the task; regression has variables (i, +) then (i, −).
SvmProblem svm_problem(const MarginTask& task) {
  const std::size_t n = task.y.size();
  SvmProblem problem;
  if (!task.regression) {
    problem = {task.y, {}, task.box, {}};
    for (std::size_t i = 0; i < n; ++i) problem.linear.push_back(-margin_of(task, i));
    return problem;
  }
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
      task.regression ? std::abs(task.y[i] - score) - task.epsilon : margin_of(task, i) - task.y[i] * score;
  return task.box[i] * std::max(0.0, distance);
}

// BLAS adds in another order with another number of threads. What decides about the path is little work beside the
// passes over the kernels: one thread does it, so that the path is the same with any number of them.
Context one_thread() {
  Context context;
  context.threads = 1;
  return context;
}

// Everything known about one θ.
struct Point {
  Vector theta;
  Vector alpha;
  Vector coefficients;
  Vector q;        // (y∘α)ᵀ K_m (y∘α)
  Matrix outputs;  // K_m (y∘α), N × P
  Vector scores;   // Σ θ_m K_m (y∘α)
  double bias = 0.0;
  double primal = 0.0;
  double dual = 0.0;
  bool settled = true;   // the SVM reached its tolerance
  bool complete = true;  // q and outputs are known of every kernel, not only of those watched
};

class Solver {
 public:
  Solver(const KernelBank& bank, const MarginTask& task, const MarginSettings& settings, const Context& context)
      : bank_(bank),
        task_(task),
        settings_(settings),
        problem_(svm_problem(task)),
        meter_(context, settings.stage),
        watched_(at(bank.kernels()), true) {
    // The SVM's own gap must be a fraction of the gap asked for; its violation is in units of the labels. Far
    // from the optimum a coarser SVM will do.
    finest_ = std::clamp(0.1 * settings.tolerance, 1e-11, 1e-3);
    svm_.tolerance = settings.rule == WeightRule::second_order ? 1e-2 : finest_;
    svm_.iterations = std::max<Index>(1'000'000, 2000 * problem_.variables());
    svm_.stop = [this] { return asked_to_stop(); };
    const std::size_t budget = memory_budget(context);
    // A budget that the user gave includes the bank; without one the budget is the memory that is free now,
    // with the bank already there.
    const std::size_t taken = context.memory_budget != 0 ? bank.bytes() : 0;
    const std::size_t left = budget - std::min(budget, taken);
    const std::size_t least = margin_memory(bank.rows(), bank.kernels(), false);
    if (margin_memory(bank.rows(), bank.kernels(), true) > left) {
      cache_bytes_ = std::max<std::size_t>(1, left - std::min(left, least));
      diagonals_ = bank.diagonal();
    }
  }

  MarginSolution solve(MarginStart start);

 private:
  void combine(const Vector& theta);
  [[nodiscard]] Point evaluate(Vector theta, const Vector& warm);
  void choose_watched(const Point& point);
  [[nodiscard]] std::vector<Index> watched_kernels() const;
  [[nodiscard]] bool asked_to_stop();
  void complete(Point& point) const;
  void fill_outputs(Point& point, const std::vector<bool>& kernels) const;
  void fill_objectives(Point& point) const;
  [[nodiscard]] Vector combined_scores(const Vector& coefficients);
  [[nodiscard]] double dual_penalty(const Vector& q) const;
  [[nodiscard]] Vector norm_update(const Point& point) const;
  [[nodiscard]] Point grouped_step(const Point& point);
  void switch_off(Point& point);
  [[nodiscard]] Vector newton_target(const Point& point, const std::vector<Index>& watched,
                                     const Vector& weights);
  [[nodiscard]] Point second_order_step(const Point& point);
  [[nodiscard]] Point reduced_gradient_step(const Point& point);
  [[nodiscard]] bool by_cuts() const {
    return settings_.rule == WeightRule::silp || settings_.rule == WeightRule::level;
  }
  [[nodiscard]] Point cutting_step(const Point& point);
  [[nodiscard]] Point best_with(Vector alpha, const Point& point);
  [[nodiscard]] Point mixed_point(const Point& point);
  void refine(const Point& point, const Point& candidate);
  [[nodiscard]] Matrix curvature(const Point& point, const std::vector<Index>& watched);
  [[nodiscard]] Matrix free_kernel(const std::vector<Index>& free);
  [[nodiscard]] Point next(const Point& point);

  const KernelBank& bank_;
  const MarginTask& task_;
  const MarginSettings& settings_;
  SvmProblem problem_;
  SvmOptions svm_;
  double finest_ = 0.0;  // violation of the last SVMs
  ProgressMeter meter_;
  Index iteration_ = 0;
  double gap_ = std::numeric_limits<double>::quiet_NaN();
  bool stopped_ = false;                       // while an SVM was being solved
  std::vector<bool> watched_;                  // kernels whose outputs are computed at every point
  std::size_t cache_bytes_ = 0;                // > 0: rows of the combined kernel are computed when asked for
  Matrix diagonals_;                           // of all kernels, for that case
  Matrix kernel_;                              // otherwise all of it is here
  std::unique_ptr<solvers::KernelRows> rows_;  // of the combined kernel at the θ looked at last
  std::unique_ptr<MarginCuts> planes_;         // of the rules that go by cuts
  Stretch stretch_;                            // of weights in groups
};

void Solver::combine(const Vector& theta) {
  rows_.reset();
  if (cache_bytes_ == 0) {
    if (kernel_.empty()) kernel_ = Matrix(bank_.cols(), bank_.rows());
    std::ranges::fill(kernel_.values(), 0.0);
    bank_.add_combination(theta, kernel_.view());
    rows_ = std::make_unique<MatrixRows>(kernel_.view());
    return;
  }
  Vector diagonal(at(bank_.rows()));
  algebra::gemv(Op::none, 1.0, diagonals_.view(), theta, 0.0, diagonal);
  const auto compute = [this, theta](Index i, double* out) {
    bank_.combine_rows(theta, {&i, 1}, {out, bank_.cols(), 1, bank_.cols()});
  };
  rows_ = std::make_unique<solvers::CachedRows>(std::move(diagonal), compute, cache_bytes_);
}

Point Solver::evaluate(Vector theta, const Vector& warm) {
  Point point;
  point.theta = std::move(theta);
  combine(point.theta);
  SvmSolution solution = solve_svm(problem_, *rows_, svm_, warm);
  point.settled = solution.converged;
  point.alpha = std::move(solution.alpha);
  point.bias = solution.bias;
  point.coefficients = coefficients_of(task_, problem_, point.alpha);
  if (settings_.rule == WeightRule::fixed) {
    // Nobody asks what each kernel would do with more weight: the combined kernel says all, however many there are.
    point.scores = combined_scores(point.coefficients);
    fill_objectives(point);
    return point;
  }
  point.q.resize(at(bank_.kernels()));
  point.outputs = Matrix(bank_.rows(), bank_.kernels());
  point.complete = std::ranges::find(watched_, false) == watched_.end();
  fill_outputs(point, watched_);
  fill_objectives(point);
  return point;
}

bool Solver::asked_to_stop() {
  stopped_ = stopped_ || meter_.step(iteration_, settings_.iterations, gap_);
  return stopped_;
}

Vector Solver::combined_scores(const Vector& coefficients) {
  Vector scores(coefficients.size());
  for (std::size_t j = 0; j < coefficients.size(); ++j) {
    if (coefficients[j] == 0.0) continue;
    algebra::axpy(coefficients[j], {rows_->row(static_cast<Index>(j)), scores.size()}, scores);
  }
  return scores;
}

// Outputs and q of the kernels asked for.
void Solver::fill_outputs(Point& point, const std::vector<bool>& kernels) const {
  Matrix coefficients(bank_.cols(), bank_.kernels());
  for (Index m = 0; m < bank_.kernels(); ++m) {
    if (kernels[at(m)]) std::ranges::copy(point.coefficients, coefficients.column(m).begin());
  }
  const Matrix outputs = bank_.apply_each(coefficients.view());
  for (Index m = 0; m < bank_.kernels(); ++m) {
    if (!kernels[at(m)]) continue;
    std::ranges::copy(outputs.column(m), point.outputs.column(m).begin());
    point.q[at(m)] = std::max(0.0, algebra::dot(outputs.column(m), point.coefficients));
  }
}

// A kernel without weight whose q is far below the largest will not come in soon (ℓ1 gives weight to
// the largest only). Until the others have converged it is left out of the passes over the bank; then
// all are looked at.
void Solver::choose_watched(const Point& point) {
  constexpr double kFar = 0.7;
  if (settings_.rule != WeightRule::second_order || !point.complete) return;
  const double largest = *std::ranges::max_element(point.q);
  for (std::size_t m = 0; m < watched_.size(); ++m) {
    watched_[m] = point.theta[m] > 0.0 || point.q[m] >= kFar * largest;
  }
}

std::vector<Index> Solver::watched_kernels() const {
  std::vector<Index> watched;
  for (Index m = 0; m < bank_.kernels(); ++m) {
    if (watched_[at(m)]) watched.push_back(m);
  }
  return watched;
}

void Solver::complete(Point& point) const {
  if (point.complete) return;
  std::vector<bool> rest = watched_;
  rest.flip();
  fill_outputs(point, rest);
  point.complete = true;
  fill_objectives(point);
}

// ½ of the norm dual to p of q, or of what weights in groups make of it at most: what the dual subtracts.
double Solver::dual_penalty(const Vector& q) const {
  if (settings_.rule == WeightRule::grouped) return 0.5 * support(settings_.set, q);
  const double largest = *std::max_element(q.begin(), q.end());
  if (largest <= 0.0) return 0.0;
  if (settings_.norm == 1.0) return 0.5 * largest;
  const double conjugate = std::isinf(settings_.norm) ? 1.0 : settings_.norm / (settings_.norm - 1.0);
  double sum = 0.0;
  for (double value : q) sum += std::pow(value / largest, conjugate);
  return 0.5 * largest * std::pow(sum, 1.0 / conjugate);
}

void Solver::fill_objectives(Point& point) const {
  double norms = 0.0;  // Σ ‖w_m‖²/θ_m
  if (settings_.rule == WeightRule::fixed) {
    norms = std::max(0.0, algebra::dot(point.coefficients, point.scores));
  } else {
    norms = algebra::dot(point.theta, point.q);
    point.scores.assign(task_.y.size(), 0.0);
    const algebra::ThreadScope alone(one_thread());
    algebra::gemv(Op::none, 1.0, point.outputs.view(), point.theta, 0.0, point.scores);
  }
  point.primal = 0.5 * norms;
  for (std::size_t i = 0; i < point.scores.size(); ++i)
    point.primal += loss(task_, i, point.scores[i] + point.bias);
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

Point Solver::grouped_step(const Point& point) {
  Vector lengths;  // ‖w_m‖
  for (std::size_t m = 0; m < point.theta.size(); ++m)
    lengths.push_back(point.theta[m] * std::sqrt(point.q[m]));
  Vector update = best_weights(settings_.set, lengths, point.theta);
  Point candidate =
      evaluate(further_weights(settings_.set, point.theta, update, stretch_.value()), point.alpha);
  const bool lowered = candidate.primal < point.primal;
  if (!lowered && stretch_.value() > 1.0 && !stopped_) candidate = evaluate(std::move(update), point.alpha);
  stretch_.tell(lowered);
  return candidate;
}

void Solver::switch_off(Point& point) {
  svm_.tolerance = std::max(0.1 * finest_, 1e-11);  // what is left of the gap must be that of the weights
  drop_small_groups(settings_.set, point.theta, [&](Vector theta) {
    Point candidate = evaluate(std::move(theta), point.alpha);
    if (stopped_) return true;
    if (relative_gap(candidate.primal, candidate.dual) > settings_.tolerance) return false;
    point = std::move(candidate);
    return true;
  });
}

// Hessian of J in the weights of the watched kernels: Vᵀ B V, V the kernels' outputs at the free support vectors F and
// B the inverse of K_FF(θ) on the subspace that keeps the bias equation, from α_F's dependence on θ while F stays.
Matrix Solver::curvature(const Point& point, const std::vector<Index>& watched) {
  std::vector<Index> free;  // samples with a free variable
  for (std::size_t k = 0; k < point.alpha.size(); ++k) {
    if (point.alpha[k] > 0.0 && point.alpha[k] < problem_.box[k])
      free.push_back(problem_.row_of(static_cast<Index>(k)));
  }
  const auto p = static_cast<Index>(watched.size());
  Matrix hessian(p, p);
  if (free.empty()) return hessian;
  Matrix factor = free_kernel(free);
  if (algebra::cholesky(factor.view()) != 0) return hessian;
  const auto f = static_cast<Index>(free.size());
  Matrix right(f, p + 1, 1.0);  // L⁻¹ [V 1]
  for (Index m = 0; m < p; ++m) {
    for (Index k = 0; k < f; ++k) right(k, m) = point.outputs(free[at(k)], watched[at(m)]);
  }
  algebra::lower_solve(factor.view(), right.view());
  Matrix products(p + 1, p + 1);  // [V 1]ᵀ K⁻¹ [V 1]
  algebra::syrk(Op::transpose, 1.0, right.view(), 0.0, products.view());
  for (Index m = 0; m < p; ++m) {
    for (Index l = 0; l < p; ++l) {
      hessian(l, m) = products(l, m) - products(l, p) * products(m, p) / products(p, p);
    }
  }
  return hessian;
}

// The combined kernel among the free samples, with a tiny ridge: duplicate samples would make it singular.
Matrix Solver::free_kernel(const std::vector<Index>& free) {
  const auto f = static_cast<Index>(free.size());
  Matrix kernel(f, f);
  double trace = 0.0;
  for (Index k = 0; k < f; ++k) {
    const double* row = rows_->row(free[at(k)]);
    for (Index l = k; l < f; ++l) kernel(l, k) = row[free[at(l)]];
    trace += kernel(k, k);
  }
  for (Index k = 0; k < f; ++k) kernel(k, k) += 1e-10 * trace / static_cast<double>(f) + 1e-300;
  return kernel;
}

// Minimises the quadratic model of J over the simplex.
Vector Solver::newton_target(const Point& point, const std::vector<Index>& watched, const Vector& weights) {
  const algebra::ThreadScope alone(one_thread());
  const Index p = std::ssize(watched);
  Matrix hessian = curvature(point, watched);
  double size = 0.0;
  for (Index m = 0; m < p; ++m) size = std::max(size, hessian(m, m));
  const double largest = *std::max_element(point.q.begin(), point.q.end());
  for (Index m = 0; m < p; ++m) hessian(m, m) += 1e-9 * size + 1e-6 * largest;
  Vector slope;
  for (const Index m : watched) slope.push_back(-0.5 * point.q[at(m)]);
  return solvers::simplex_model_minimum(hessian, slope, weights,
                                        1e-3 * settings_.tolerance * std::max(largest, 1e-300));
}

// Newton on the simplex: to the minimum of the quadratic model, as far along as J really falls.
Point Solver::second_order_step(const Point& point) {
  const std::vector<Index> watched = watched_kernels();  // the others have no weight and get none in this step
  Vector weights;                                        // θ of the watched
  for (const Index m : watched) weights.push_back(point.theta[at(m)]);
  const Vector target = newton_target(point, watched, weights);
  double step = 1.0;
  for (int halvings = 0;; ++halvings, step *= 0.5) {
    Vector theta = point.theta;
    for (std::size_t m = 0; m < watched.size(); ++m) theta[at(watched[m])] += step * (target[m] - weights[m]);
    Point candidate = evaluate(std::move(theta), point.alpha);
    if (candidate.primal <= point.primal || halvings == 8 || stopped_) return candidate;
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
  for (int k = 0; k < 40 && !stopped_; ++k) {
    Point middle = along(high * kGolden);
    high *= kGolden;
    if (middle.primal < point.primal) return middle;
  }
  return best;
}

// The point where the master asks to look; and where the cuts say that they are good enough, whether the mixture of
// their α proves it: at a kink of J no single α does.
Point Solver::cutting_step(const Point& point) {
  if (!planes_) planes_ = std::make_unique<MarginCuts>(bank_.kernels(), settings_.rule == WeightRule::level);
  const double linear = point.dual + dual_penalty(point.q);
  planes_->add({point.theta, point.alpha, point.q, point.bias, linear, point.primal});
  if (planes_->gap() <= settings_.tolerance) {
    Point mixed = mixed_point(point);
    if (relative_gap(mixed.primal, mixed.dual) <= settings_.tolerance) return mixed;
  }
  return evaluate(planes_->next(), point.alpha);
}

// The best θ that was looked at, with these dual variables.
Point Solver::best_with(Vector alpha, const Point& point) {
  const MarginCuts::Cut& best = planes_->best();
  Point result = point;
  result.theta = best.theta;
  result.bias = best.bias;
  result.alpha = std::move(alpha);
  result.coefficients = coefficients_of(task_, problem_, result.alpha);
  fill_outputs(result, watched_);
  fill_objectives(result);
  return result;
}

// The same with the mixture of the cuts' α, which the box and the equality allow as they allow each of them.
Point Solver::mixed_point(const Point& point) {
  Vector alpha = planes_->mixture();
  for (std::size_t k = 0; k < alpha.size(); ++k) alpha[k] = std::min(alpha[k], problem_.box[k]);
  return best_with(std::move(alpha), point);
}

Point Solver::next(const Point& point) {
  switch (settings_.rule) {
    case WeightRule::norm:
      return evaluate(norm_update(point), point.alpha);
    case WeightRule::grouped:
      return grouped_step(point);
    case WeightRule::second_order:
      return second_order_step(point);
    case WeightRule::reduced_gradient:
      return reduced_gradient_step(point);
    case WeightRule::silp:
    case WeightRule::level:
      return cutting_step(point);
    case WeightRule::fixed:
      break;
  }
  return evaluate(point.theta, point.alpha);
}

// Where the inner SVM is not exact enough for any further progress, makes it more exact. A Newton step that closes next to
// nothing of the gap says so: the rest of the gap is then the SVM's own error, which large boxes multiply. Cutting planes
// do not fall from point to point; what their SVM is off by is seen at the point itself.
void Solver::refine(const Point& point, const Point& candidate) {
  const double left = point.primal - point.dual;
  bool coarse = candidate.primal >= point.primal * (1.0 - 1e-15);
  if (settings_.rule == WeightRule::second_order) coarse |= point.primal - candidate.primal < 1e-2 * left;
  if (by_cuts()) {
    const double at_theta = candidate.dual + dual_penalty(candidate.q) -
                            0.5 * algebra::dot(candidate.theta, candidate.q);  // J's lower bound at its θ
    coarse = candidate.primal - at_theta > 0.2 * planes_->gap() * std::abs(planes_->best().primal);
  }
  if (coarse) svm_.tolerance = std::max(1e-11, 0.1 * svm_.tolerance);
}

MarginSolution Solver::solve(MarginStart start) {
  MarginSolution solution;
  // A weight of 0, from a solution at another price, would stay 0 in every update.
  if (settings_.rule == WeightRule::grouped && std::ranges::find(start.theta, 0.0) != start.theta.end())
    start.theta = even_weights(settings_.set);
  Point point = evaluate(std::move(start.theta), start.alpha);
  solution.status = Status::iteration_limit;
  for (Index iteration = 1; iteration <= settings_.iterations; ++iteration) {
    double gap = relative_gap(point.primal, point.dual);
    if (gap <= settings_.tolerance) {
      complete(point);
      gap = relative_gap(point.primal, point.dual);
    }
    solution.iterations = iteration_ = iteration;
    gap_ = gap;
    solution.trace.push_back({iteration, point.primal, meter_.seconds()});
    const std::optional<Status> end =
        stopped_ ? Status::stopped
                 : reason_to_end(gap, {settings_.tolerance, settings_.iterations}, iteration, meter_);
    solution.status = end.value_or(Status::iteration_limit);
    if (end || !point.settled) break;
    if (settings_.rule == WeightRule::fixed) svm_.tolerance *= 0.1;
    choose_watched(point);
    svm_.tolerance = std::min(svm_.tolerance, std::clamp(0.05 * gap, finest_, 1e-2));
    Point candidate = next(point);
    if (stopped_) {  // in the middle of an SVM: the point before is the better one
      solution.status = Status::stopped;
      break;
    }
    if (!by_cuts() && candidate.primal >= point.primal * (1.0 - 1e-15) && svm_.tolerance <= 1e-11) break;
    refine(point, candidate);
    point = std::move(candidate);
  }
  if (planes_ && solution.status != Status::converged)
    point = best_with(planes_->best().alpha, point);  // the last one may be far
  complete(point);
  if (settings_.rule == WeightRule::grouped && solution.status == Status::converged) switch_off(point);
  solution.theta = point.theta;
  solution.alpha = point.alpha;
  solution.coefficients = point.coefficients;
  solution.q = point.q;
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

Vector start_weights(Index kernels, WeightRule rule, double norm) {
  if (rule != WeightRule::second_order) return uniform_weights(kernels, norm);
  const Index few = std::min(kernels, std::max<Index>(8, kernels / 8));
  Vector theta(at(kernels));
  for (Index k = 0; k < few; ++k) theta[at((2 * k + 1) * kernels / (2 * few))] = 1.0 / static_cast<double>(few);
  return theta;
}

std::size_t margin_memory(Index n, Index p, bool whole_kernel) {
  // Outputs of all kernels at two points and their Hessian; then the combined kernel and the part of it that
  // shrinking copies, or a few rows.
  const Index kernel = whole_kernel ? 2 * n * n : std::min<Index>(n, 64) * n + n * p;
  return static_cast<std::size_t>(3 * n * p + p * p + kernel) * sizeof(double);
}

MarginSolution solve_margin_mkl(const KernelBank& bank, const MarginTask& task, const MarginSettings& settings,
                                MarginStart start, const Context& context) {
  const auto n = static_cast<double>(bank.rows());
  const algebra::ThreadScope threads(context, n * n * static_cast<double>(bank.kernels()));
  return Solver(bank, task, settings, context).solve(std::move(start));
}

}  // namespace kloom::methods
