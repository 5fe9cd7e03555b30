// SPDX-License-Identifier: BSD-3-Clause
#include "methods/mcmkl/solver.h"

#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "algebra/blas.h"
#include "algebra/threads.h"
#include "base/progress.h"
#include "kloom/machine.h"
#include "methods/mcmkl/newton.h"
#include "methods/mcmkl/qcqp.h"
#include "methods/seam/duality_gap.h"
#include "models/scores.h"
#include "solvers/kept_rows.h"
#include "solvers/msvm.h"
#include "solvers/simplex_cuts.h"

namespace kloom::methods {

using solvers::JointKernel;
using solvers::JointTerm;
using solvers::MatrixRows;

namespace {

SupportOutputs outputs_of(const KernelBank& bank, const Matrix& alpha, std::vector<Index> support) {
  SupportOutputs outputs;
  outputs.samples = std::move(support);
  outputs.alpha = Matrix(static_cast<Index>(outputs.samples.size()), alpha.cols());
  for (Index u = 0; u < alpha.cols(); ++u) {
    for (Index k = 0; k < outputs.alpha.rows(); ++k) outputs.alpha(k, u) = alpha(outputs.samples[at(k)], u);
  }
  // The classes' α add up to 0, and so do their outputs.
  const Index free = alpha.cols() - 1;
  const Matrix values = bank.apply_chosen(outputs.samples, outputs.samples, outputs.alpha.columns({0, free}));
  outputs.values = Matrix(values.rows(), alpha.cols());
  for (Index u = 0; u < free; ++u) {
    std::ranges::copy(values.column(u), outputs.values.column(u).begin());
    algebra::axpy(-1.0, values.column(u), outputs.values.column(free));
  }
  return outputs;
}

// q_k(α) from K_p α of every kernel.
Matrix forms_of(const McmklTask& task, const SupportOutputs& outputs, Index kernels) {
  const auto kinds = static_cast<Index>(task.class_kernels.size());
  const auto n = static_cast<Index>(outputs.samples.size());
  Matrix q(kinds, kernels);
  Matrix between(task.classes, task.classes);  // αᵀ K_p α
  if (n == 0) return q;
  for (Index p = 0; p < kernels; ++p) {
    const ConstMatrixView k_alpha{outputs.values.data() + p * n, n, task.classes, outputs.values.rows()};
    algebra::gemm(algebra::Op::transpose, algebra::Op::none, 1.0, outputs.alpha.view(), k_alpha, 0.0,
                  between.view());
    for (Index j = 0; j < kinds; ++j) {
      q(j, p) = std::max(0.0, algebra::dot(between.values(), task.class_kernels[at(j)].values()));
    }
  }
  return q;
}

// Everything known about one β.
struct Point {
  Matrix beta;
  Matrix alpha;
  Matrix q;
  SupportOutputs outputs;  // where a quadratic model may be made of them
  Vector bias;
  double linear = 0.0;
  double primal = std::numeric_limits<double>::infinity();
  double below = 0.0;  // J's lower bound here, from α alone: how exact the m-SVM was
  bool settled = true;
};

class CuttingPlanes {
 public:
  CuttingPlanes(const KernelBank& bank, const McmklTask& task, const McmklSettings& settings,
                const Context& context);
  McmklSolution solve();

 private:
  [[nodiscard]] Point evaluate(Matrix beta, const Matrix& warm);
  [[nodiscard]] solvers::KernelRows& combined_rows(const Matrix& beta);
  [[nodiscard]] JointKernel joint_kernel(const Matrix& beta);
  [[nodiscard]] Matrix next(const Point& best, const solvers::SimplexCuts::Minimum& master, double lower);
  [[nodiscard]] static Vector norm_step(const Point& best);
  [[nodiscard]] Vector quadratic_step(const Point& best);
  static void shorten(Vector& point, const Point& best);
  void forget(const Vector& multipliers);
  [[nodiscard]] Matrix mixture(const Vector& multipliers) const;
  void finish(McmklSolution& solution, const Point& best) const;

  const KernelBank& bank_;
  const McmklTask& task_;
  const McmklSettings& settings_;
  ProgressMeter meter_;
  solvers::MsvmProblem problem_;
  solvers::MsvmOptions msvm_;
  double finest_ = 0.0;
  solvers::SimplexCuts cuts_;
  std::vector<Matrix> alphas_;                                   // of the cuts
  std::vector<Index> last_use_;                                  // iteration when the cut had a multiplier
  double gap_before_ = std::numeric_limits<double>::infinity();  // when a quadratic model was last tried
  bool improved_ = false;                                        // by the last point
  Index iteration_ = 0;
  Index moves_ = 0;
  // The combined kernel; with several class kernels each kernel, from when it first has weight.
  std::vector<Matrix> kernels_;
  std::vector<std::unique_ptr<solvers::KernelRows>> rows_;
  bool whole_;                   // the combined kernel is made at once, not row by row
  solvers::KeptRows kept_;       // its rows
  std::size_t cache_bytes_ = 0;  // > 0: not all of them may be kept
  Matrix diagonals_;             // of all kernels, for rows
  Matrix combined_at_;           // β of the rows that there are
};

CuttingPlanes::CuttingPlanes(const KernelBank& bank, const McmklTask& task, const McmklSettings& settings,
                             const Context& context)
    : bank_(bank),
      task_(task),
      settings_(settings),
      meter_(context, "mcmkl"),
      problem_{task.labels, task.classes, task.box, task.loss, task.bias},
      cuts_(bank.kernels() * static_cast<Index>(task.class_kernels.size())),
      // With the logistic loss every sample has a coefficient, so every row will be needed.
      whole_(task.loss == solvers::MarginLoss::logistic || !bank.combines_by_rows()),
      kept_(bank.rows()) {
  // The m-SVM's own gap must be a fraction of the gap asked for; far from the optimum a coarser one will do.
  finest_ = std::clamp(0.1 * settings.tolerance, 1e-11, 1e-3);
  msvm_.tolerance = std::max(finest_, 1e-2);
  msvm_.iterations = std::max<Index>(1'000'000, 1000 * bank.rows());
  const auto kinds = static_cast<Index>(task.class_kernels.size());
  kernels_.resize(kinds == 1 ? 1 : at(bank.kernels()));
  // A budget that the user gave includes the bank; without one the budget is the memory that is free now,
  // with the bank already there.
  const std::size_t budget = memory_budget(context);
  const std::size_t left = budget - std::min(budget, context.memory_budget != 0 ? bank.bytes() : 0);
  if (kinds == 1 && mcmkl_memory(bank.rows(), bank.kernels(), task.classes, 1, true) > left) {
    const std::size_t least = mcmkl_memory(bank.rows(), bank.kernels(), task.classes, 1, false);
    cache_bytes_ = std::max<std::size_t>(1, left - std::min(left, least));
    whole_ = false;
  }
  if (kinds == 1 && !whole_) diagonals_ = bank.diagonal();
}

solvers::KernelRows& CuttingPlanes::combined_rows(const Matrix& beta) {
  if (combined_at_ == beta) return rows_.empty() ? kept_ : *rows_.back();
  combined_at_ = beta;
  rows_.clear();
  if (whole_) {
    Matrix& kernel = kernels_.front();
    if (kernel.empty()) kernel = Matrix(bank_.cols(), bank_.rows());
    std::ranges::fill(kernel.values(), 0.0);
    bank_.add_combination(beta.values(), kernel.view());
    rows_.push_back(std::make_unique<MatrixRows>(kernel.view()));
    return *rows_.back();
  }
  Vector diagonal(at(bank_.rows()));
  algebra::gemv(algebra::Op::none, 1.0, diagonals_.view(), beta.values(), 0.0, diagonal);
  const auto compute = [this, weights = Vector(beta.values().begin(), beta.values().end())](Index i,
                                                                                            double* out) {
    bank_.combine_rows(weights, {&i, 1}, {out, bank_.cols(), 1, bank_.cols()});
  };
  if (cache_bytes_ == 0) {
    kept_.reset(std::move(diagonal), compute);
    return kept_;
  }
  rows_.push_back(std::make_unique<solvers::CachedRows>(std::move(diagonal), compute, cache_bytes_));
  return *rows_.back();
}

JointKernel CuttingPlanes::joint_kernel(const Matrix& beta) {
  std::vector<JointTerm> terms;
  if (task_.class_kernels.size() == 1) {
    terms.push_back({&combined_rows(beta), task_.class_kernels.front()});
  } else {
    rows_.clear();
    for (Index p = 0; p < bank_.kernels(); ++p) {
      Matrix mixed(task_.classes, task_.classes);
      bool used = false;
      for (std::size_t j = 0; j < task_.class_kernels.size(); ++j) {
        const double weight = beta(static_cast<Index>(j), p);
        if (weight == 0.0) continue;
        used = true;
        algebra::axpy(weight, task_.class_kernels[j].values(), mixed.values());
      }
      if (!used) continue;
      if (kernels_[at(p)].empty()) {
        Vector one(at(bank_.kernels()));
        one[at(p)] = 1.0;
        kernels_[at(p)] = bank_.combine(one);
      }
      rows_.push_back(std::make_unique<MatrixRows>(kernels_[at(p)].view()));
      terms.push_back({rows_.back().get(), std::move(mixed)});
    }
  }
  if (settings_.algorithm == McmklAlgorithm::silp_compact) return {std::move(terms), task_.labels};
  return JointKernel(std::move(terms));
}

Point CuttingPlanes::evaluate(Matrix beta, const Matrix& warm) {
  Point point;
  point.beta = std::move(beta);
  JointKernel kernel = joint_kernel(point.beta);
  solvers::MsvmSolution solution = solve_msvm(problem_, kernel, msvm_, warm);
  moves_ += solution.iterations;
  point.settled = solution.converged;
  point.alpha = std::move(solution.alpha);
  point.bias = std::move(solution.bias);
  if (cache_bytes_ == 0 && task_.class_kernels.size() == 1 && settings_.algorithm == McmklAlgorithm::level) {
    point.outputs = outputs_of(bank_, point.alpha, models::used_rows(point.alpha));
    point.q = forms_of(task_, point.outputs, bank_.kernels());
  } else {
    point.q = product_forms(bank_, task_, point.alpha);
  }
  point.linear = worth_part(task_, point.alpha);
  const double half = 0.5 * algebra::dot(point.beta.values(), point.q.values());
  point.below = point.linear - half;
  point.primal = half + total_loss(task_, solution.scores, point.bias);
  return point;
}

Vector CuttingPlanes::quadratic_step(const Point& best) {
  if (best.outputs.samples.empty() || bank_.kernels() == 1) return {};
  // The rows in memory are those of the point looked at last, usually the best one.
  return newton_point({task_, combined_rows(best.beta), best.alpha, best.outputs, best.q, best.beta.values()});
}

// β_k ∝ β_k q_k. The best weights for given norms ‖v_k‖ = β_k √q_k are proportional to these norms, that is to
// β_k √q_k; this step changes log β twice as much.
Vector CuttingPlanes::norm_step(const Point& best) {
  Vector point(best.beta.values().begin(), best.beta.values().end());
  for (std::size_t k = 0; k < point.size(); ++k) point[k] *= best.q.values()[k];
  const double sum = std::accumulate(point.begin(), point.end(), 0.0);
  if (!(sum > 0.0)) return {};
  algebra::scale(1.0 / sum, point);
  return point;
}

// Samples that get a coefficient on the way add curvature to J that the quadratic model does not have. Where
// many samples are still without one, the model's minimum is too far away, so the step is shortened; except
// towards a single kernel, which is often right.
void CuttingPlanes::shorten(Vector& point, const Point& best) {
  constexpr double kShare = 0.7;
  const bool many = 5 * static_cast<Index>(best.outputs.samples.size()) < 3 * best.alpha.rows();
  if (!many || std::ranges::count_if(point, [](double weight) { return weight > 0.0; }) <= 1) return;
  algebra::scale(kShare, point);
  algebra::axpy(1.0 - kShare, best.beta.values(), point);
}

// With one kernel on classes the minimum of a quadratic model of J is tried first, for as long as that closes
// the gap. The model does not know variables that are yet to become free; where few are free and the gap
// is large, norm_step is taken instead, for as long as that improves. Otherwise the level method, which always
// converges; kLevel places the level between the lower bound (0) and the best value (1).
Matrix CuttingPlanes::next(const Point& best, const solvers::SimplexCuts::Minimum& master, double lower) {
  constexpr double kLevel = 0.3;
  constexpr double kFar = 0.3;
  constexpr double kNear = 0.05;
  constexpr double kMiddle = 0.2;
  constexpr double kCloser = 0.8;
  Matrix beta(best.beta.rows(), best.beta.cols());
  if (settings_.algorithm != McmklAlgorithm::level) {
    std::ranges::copy(master.point, beta.values().begin());
    return beta;
  }
  Vector point;
  const double gap = best.primal - lower;
  const bool few_support = 2 * static_cast<Index>(best.outputs.samples.size()) < bank_.rows();
  if (few_support && improved_ && gap > kFar * std::abs(best.primal)) {
    point = norm_step(best);
  } else if (gap <= (improved_ ? kCloser : 0.5) * gap_before_) {
    gap_before_ = gap;
    point = quadratic_step(best);
    if (gap > kNear * std::abs(best.primal) && gap < kMiddle * std::abs(best.primal)) shorten(point, best);
  } else {
    gap_before_ = std::numeric_limits<double>::infinity();
  }
  if (point.empty()) point = cuts_.project(best.beta.values(), lower + kLevel * gap);
  std::ranges::copy(point, beta.values().begin());
  return beta;
}

// Cuts that have not mattered for long cost memory (an N × M matrix each) and time.
void CuttingPlanes::forget(const Vector& multipliers) {
  constexpr Index kPatience = 20;
  for (std::size_t t = 0; t < multipliers.size(); ++t) {
    if (multipliers[t] > 0.0) last_use_[t] = iteration_;
  }
  if (settings_.algorithm != McmklAlgorithm::level || cuts_.cuts() < 2 * cuts_.variables() + 2 * kPatience)
    return;
  std::vector<bool> keep;
  std::size_t next = 0;
  for (std::size_t t = 0; t < alphas_.size(); ++t) {
    keep.push_back(iteration_ - last_use_[t] <= kPatience);
    if (!keep.back()) continue;
    if (next != t) alphas_[next] = std::move(alphas_[t]);
    last_use_[next++] = last_use_[t];
  }
  alphas_.resize(next);
  last_use_.resize(next);
  cuts_.keep(keep);
}

Matrix CuttingPlanes::mixture(const Vector& multipliers) const {
  Matrix mixed(bank_.rows(), task_.classes);
  for (std::size_t t = 0; t < multipliers.size(); ++t) {
    if (multipliers[t] > 0.0) algebra::axpy(multipliers[t], alphas_[t].values(), mixed.values());
  }
  // A mixture of points at the bound may exceed it by rounding.
  for (Index i = 0; i < mixed.rows(); ++i) {
    const Index y = task_.labels[at(i)];
    mixed(i, y) = std::min(mixed(i, y), solvers::largest_coefficient(task_.loss, task_.box[at(i)]));
  }
  return mixed;
}

void CuttingPlanes::finish(McmklSolution& solution, const Point& best) const {
  solution.beta = best.beta;
  solution.alpha = best.alpha;
  solution.bias = best.bias;
  solution.primal = best.primal;
  solution.moves = moves_;
}

McmklSolution CuttingPlanes::solve() {
  McmklSolution solution;
  solution.status = Status::iteration_limit;
  const Index products = cuts_.variables();
  Matrix beta(static_cast<Index>(task_.class_kernels.size()), bank_.kernels(),
              1.0 / static_cast<double>(products));
  Point best;
  Matrix warm;
  double lower = -std::numeric_limits<double>::infinity();
  for (iteration_ = 1; iteration_ <= settings_.iterations; ++iteration_) {
    Point point = evaluate(std::move(beta), warm);
    warm = point.alpha;
    Vector slope(point.q.values().begin(), point.q.values().end());
    algebra::scale(-0.5, slope);
    cuts_.add(point.linear, slope);
    alphas_.push_back(point.alpha);
    last_use_.push_back(iteration_);
    const double inexact = point.primal - point.below;
    const bool settled = point.settled;
    improved_ = point.primal < best.primal;
    if (improved_) best = std::move(point);
    const solvers::SimplexCuts::Minimum master = cuts_.minimise();
    if (master.value > lower) {
      lower = master.value;
      solution.dual = lower;
      solution.dual_alpha = mixture(master.multipliers);
    }
    const double gap = relative_gap(best.primal, lower);
    solution.iterations = iteration_;
    solution.trace.push_back({iteration_, best.primal, meter_.seconds()});
    const auto end = reason_to_end(gap, {settings_.tolerance, settings_.iterations}, iteration_, meter_);
    solution.status = end.value_or(Status::iteration_limit);
    if (end || !settled) break;
    forget(master.multipliers);
    // Where the m-SVM's own error is of the size of the gap, another cut brings nothing: solve it more exactly.
    if (inexact > 0.2 * (best.primal - lower)) msvm_.tolerance = std::max(1e-12, 0.1 * msvm_.tolerance);
    // The logistic loss is smooth, so the error of its m-SVM falls with the square of the tolerance.
    if (task_.loss != solvers::MarginLoss::logistic) {
      msvm_.tolerance = std::min(msvm_.tolerance, std::max(finest_, 0.1 * gap));
    }
    beta = next(best, master, lower);
  }
  finish(solution, best);
  return solution;
}

}  // namespace

bool is_identity(const Matrix& m) {
  for (Index v = 0; v < m.cols(); ++v) {
    for (Index u = 0; u < m.rows(); ++u) {
      if (m(u, v) != (u == v ? 1.0 : 0.0)) return false;
    }
  }
  return true;
}

Matrix product_forms(const KernelBank& bank, const McmklTask& task, const Matrix& alpha) {
  const auto kinds = static_cast<Index>(task.class_kernels.size());
  std::vector<Index> support = models::used_rows(alpha);
  const bool few = 2 * static_cast<Index>(support.size()) <= bank.rows();
  if (few || kinds > 1 || !is_identity(task.class_kernels.front())) {
    return forms_of(task, outputs_of(bank, alpha, std::move(support)), bank.kernels());
  }
  Matrix q(kinds, bank.kernels());
  const Matrix forms = bank.quadratic_forms(alpha.view());
  for (Index u = 0; u < forms.cols(); ++u) algebra::axpy(1.0, forms.column(u), q.values());
  for (double& value : q.values()) value = std::max(0.0, value);
  return q;
}

double worth_part(const McmklTask& task, const Matrix& alpha) {
  double sum = 0.0;
  for (std::size_t i = 0; i < task.labels.size(); ++i) {
    sum += solvers::worth(task.loss, task.box[i], alpha(static_cast<Index>(i), task.labels[i]));
  }
  return sum;
}

double total_loss(const McmklTask& task, const Matrix& scores, const Vector& bias) {
  double sum = 0.0;
  for (std::size_t i = 0; i < task.labels.size(); ++i) {
    const auto row = static_cast<Index>(i);
    const Index y = task.labels[i];
    double margin = std::numeric_limits<double>::infinity();
    for (Index u = 0; u < task.classes; ++u) {
      if (u == y) continue;
      margin = std::min(margin, scores(row, y) + bias[at(y)] - scores(row, u) - bias[at(u)]);
    }
    sum += task.box[i] * solvers::loss_at(task.loss, margin);
  }
  return sum;
}

std::size_t mcmkl_memory(Index n, Index p, Index classes, Index class_kernels, bool whole_kernel) {
  // The combined kernel, or every kernel, or a few rows; outputs of all kernels at two points; α of some cuts.
  const Index kernels = class_kernels > 1 ? p * n * n
                        : whole_kernel    ? n * n
                                          : std::min<Index>(n, 64) * n + n * p;
  const Index outputs = class_kernels > 1 || whole_kernel ? 2 * n * p * classes : 0;
  const Index cuts = std::min<Index>(500, 2 * p * class_kernels + 40);
  return static_cast<std::size_t>(kernels + outputs + (cuts + 8) * n * classes) * sizeof(double);
}

McmklSolution solve_mcmkl(const KernelBank& bank, const McmklTask& task, const McmklSettings& settings,
                          const Context& context) {
  const auto n = static_cast<double>(bank.rows());
  const algebra::ThreadScope threads(context, n * n * static_cast<double>(bank.kernels()));
  if (settings.algorithm == McmklAlgorithm::qcqp) return solve_mcmkl_qcqp(bank, task, settings, context);
  McmklSolution solution = CuttingPlanes(bank, task, settings, context).solve();
  // The m-SVM's moves of few variables converge slowly on kernels of low rank with a large C. Where the problem
  // is small, interior points do not mind.
  const bool small = bank.rows() * (task.classes - 1) <= 1500;
  if (settings.algorithm == McmklAlgorithm::level && solution.status == Status::iteration_limit && small &&
      solution.iterations < settings.iterations) {
    McmklSolution other = solve_mcmkl_qcqp(bank, task, settings, context);
    if (other.status == Status::converged || other.status == Status::stopped) return other;
  }
  return solution;
}

}  // namespace kloom::methods
