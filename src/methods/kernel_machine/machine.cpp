// SPDX-License-Identifier: BSD-3-Clause
#include "methods/kernel_machine/machine.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "algebra/blas.h"
#include "solvers/linear_classifier.h"

namespace kloom::methods {

using algebra::Op;
using solvers::ClassifierProblem;
using solvers::ClassifierSolution;

Index MachineTask::fold_count() const {
  return folds.empty() ? 0 : *std::ranges::max_element(folds) + 1;
}

std::vector<Index> MachineTask::judged_folds() const {
  std::vector<bool> judges(at(fold_count()));
  for (std::size_t i = 0; i < folds.size(); ++i) {
    if (judging().empty() || judging()[i] > 0.0) judges[at(folds[i])] = true;
  }
  std::vector<Index> result;
  for (Index fold = 0; fold < fold_count(); ++fold) {
    if (judges[at(fold)]) result.push_back(fold);
  }
  return result;
}

Vector MachineTask::weights_without(Index fold) const {
  Vector left = weights.empty() ? Vector(at(samples()), 1.0) : weights;
  for (std::size_t i = 0; i < left.size() && fold >= 0; ++i) {
    if (folds[i] == fold) left[i] = 0.0;
  }
  return left;
}

Matrix codes_of(const MachineTask& task) {
  Matrix codes(task.samples(), task.outputs());
  for (Index i = 0; i < codes.rows(); ++i) {
    if (task.classes == 0) codes(i, 0) = task.numbers[at(i)];
    if (task.classes == 2) codes(i, 0) = task.labels[at(i)] == 1 ? 1.0 : -1.0;
    for (Index c = 0; c < codes.cols() && task.classes > 2; ++c)
      codes(i, c) = (task.labels[at(i)] == c ? 1.0 : 0.0) - 1.0 / static_cast<double>(task.classes);
  }
  return codes;
}

// Of the square matrix of the rows `landmarks`.
static algebra::Eigen eigen_of_rows(const Matrix& cross, std::span<const Index> landmarks) {
  const Index m = cross.cols();
  Matrix inner(m, m);
  for (Index j = 0; j < m; ++j) {
    for (Index i = 0; i < m; ++i) inner(i, j) = cross(landmarks[at(i)], j);
  }
  return algebra::symmetric_eigen(inner.view(), true);
}

KernelFeatures kernel_features(const KernelBank& bank, std::span<const double> weights,
                               std::span<const Index> landmarks, Index most, std::span<const double> scales) {
  const Index n = bank.rows();
  const auto m = std::ssize(landmarks);
  Matrix cross(n, m);
  bank.combine_rows(weights, landmarks, cross.view());
  for (Index j = 0; j < m && !scales.empty(); ++j) {
    for (Index i = 0; i < n; ++i) cross(i, j) *= scales[at(i)] * scales[at(landmarks[at(j)])];
  }
  double trace = 0.0;
  for (Index i = 0; i < m; ++i) trace += cross(landmarks[at(i)], i);
  KernelFeatures features;
  features.scale = std::max(trace / static_cast<double>(m), 1e-300);
  const algebra::Eigen eigen = eigen_of_rows(cross, landmarks);
  // Directions below this part of the largest carry rounding errors only.
  const double least = 1e-9 * std::max(eigen.values.back(), 1e-300);
  Index r = 0;
  while (r < std::min(m, most) && eigen.values[at(m - 1 - r)] > least) ++r;
  r = std::max<Index>(r, 1);
  features.back = Matrix(m, r);
  for (Index k = 0; k < r; ++k) {
    const double value = std::max(eigen.values[at(m - 1 - k)], least);
    algebra::axpy(1.0 / std::sqrt(value * features.scale), eigen.vectors.column(m - 1 - k),
                  features.back.column(k));
  }
  features.phi = Matrix(n, r);
  algebra::gemm(Op::none, Op::none, 1.0, cross.view(), features.back.view(), 0.0, features.phi.view());
  // Coefficients are those of the kernel as the bank has it.
  for (Index j = 0; j < m && !scales.empty(); ++j) {
    for (Index k = 0; k < r; ++k) features.back(j, k) *= scales[at(landmarks[at(j)])];
  }
  return features;
}

namespace {

// The loss of every sample, times its weight.
Vector held_out_losses(const Matrix& scores, const MachineTask& task) {
  const Matrix p = task.classes > 0 ? solvers::softmax_probabilities(scores) : Matrix();
  Vector losses(at(scores.rows()));
  for (Index i = 0; i < scores.rows(); ++i) {
    const double away = task.classes > 0 ? 0.0 : scores(i, 0) - task.numbers[at(i)];
    losses[at(i)] = task.classes > 0 ? -std::log(std::max(p(i, task.labels[at(i)]), 1e-15)) : away * away;
    if (!task.judging().empty()) losses[at(i)] *= task.judging()[at(i)];
  }
  return losses;
}

}  // namespace

double held_out_loss(const Matrix& scores, const MachineTask& task) {
  const Vector losses = held_out_losses(scores, task);
  const Vector& judging = task.judging();
  const double total = judging.empty() ? static_cast<double>(losses.size())
                                       : std::accumulate(judging.begin(), judging.end(), 0.0);
  return std::accumulate(losses.begin(), losses.end(), 0.0) / std::max(total, 1e-300);
}

namespace {

// A strength that was tried, and what the machine then says of samples that it has not seen.
struct Tried {
  double ridge = 0.0;
  double factor = 1.0;  // of the scores, which have it already
  Matrix held_out;
};

// Of strengths from strong to weak, the first whose held-out loss is above the least by no more than a standard error of
// the difference, sample by sample. With few samples the least loss is often luck, and a weak strength costs more where it
// was luck than a strong one; with many samples the standard error is next to nothing.
Machine chosen_of(std::vector<Tried> tried, const MachineTask& task) {
  std::vector<Vector> losses;
  Vector sums;
  for (const Tried& one : tried) {
    losses.push_back(held_out_losses(one.held_out, task));
    sums.push_back(std::accumulate(losses.back().begin(), losses.back().end(), 0.0));
  }
  const Vector& best = losses[at(std::ranges::min_element(sums) - sums.begin())];
  const double least = std::ranges::min(sums);
  const auto as_good = [&](std::size_t k) {
    const double mean = (sums[k] - least) / static_cast<double>(best.size());
    double square = 0.0;
    for (std::size_t i = 0; i < best.size(); ++i) square += std::pow(losses[k][i] - best[i] - mean, 2);
    return sums[k] - least <= std::sqrt(square);
  };
  std::size_t chosen = 0;
  while (!as_good(chosen)) ++chosen;
  Machine machine;
  machine.ridge = tried[chosen].ridge;
  machine.factor = tried[chosen].factor;
  machine.held_out = std::move(tried[chosen].held_out);
  machine.loss = held_out_loss(machine.held_out, task);
  return machine;
}

}  // namespace

namespace {

Matrix multiplied(const Matrix& scores, double factor) {
  Matrix result = scores;
  algebra::scale(factor, result.values());
  return result;
}

// The factor that gives scores their least log loss. Where every sample is right no factor is large enough: one more
// sample, which could be of any class, keeps it finite.
double temperature_of(const Matrix& scores, const MachineTask& task, double& loss) {
  const auto n = static_cast<double>(scores.rows());
  double best = 1.0;
  loss = std::numeric_limits<double>::infinity();
  for (int step = -6; step <= 18; ++step) {
    const double factor = std::exp(0.25 * step);
    const Matrix p = solvers::softmax_probabilities(multiplied(scores, factor));
    double uncertain = 0.0;
    for (const double value : p.values()) uncertain -= std::log(std::max(value, 1e-15));
    const double total =
        solvers::mean_log_loss(p, task.labels, task.judging()) + uncertain / static_cast<double>(p.size()) / n;
    if (total >= loss) continue;
    loss = total;
    best = factor;
  }
  return best;
}

Tried at_best_temperature(double ridge, Matrix scores, const MachineTask& task) {
  double ignored = 0.0;
  const double factor = temperature_of(scores, task, ignored);
  algebra::scale(factor, scores.values());
  return {ridge, factor, std::move(scores)};
}

solvers::ClassLoss loss_of(MachineKind kind) {
  return kind == MachineKind::margin ? solvers::ClassLoss::squared_hinge : solvers::ClassLoss::logistic;
}

constexpr double kLogisticTolerance = 1e-5;

// The rows of a fold.
void copy_fold(const Matrix& from, const MachineTask& task, Index fold, Matrix& to) {
  for (Index i = 0; i < from.rows(); ++i) {
    if (task.folds[at(i)] != fold) continue;
    for (Index c = 0; c < from.cols(); ++c) to(i, c) = from(i, c);
  }
}

}  // namespace

Machine class_machine_at(MachineKind kind, const KernelFeatures& features, const MachineTask& task,
                         double ridge) {
  const Vector weights = task.weights_without(-1);
  const ClassifierProblem whole{features.phi.view(), task.labels, task.classes, weights, loss_of(kind)};
  ClassifierSolution fit = solvers::fit_classifier(whole, ridge, 0.01 * kLogisticTolerance, nullptr);
  Machine machine;
  machine.kind = kind;
  machine.ridge = ridge;
  machine.w = std::move(fit.w);
  machine.bias = std::move(fit.b);
  return machine;
}

Machine class_machine(MachineKind kind, const KernelFeatures& features, const MachineTask& task,
                      const Enough& enough, const FoldFeatures& without) {
  // Half decades, strong to weak; the search ends when two weaker ones in a row were worse.
  constexpr double kStrongest = 10.0;
  constexpr int kStrengths = 14;
  const std::vector<Index> folds = task.judged_folds();
  std::vector<ClassifierSolution> solutions(folds.size());
  std::vector<Tried> tried;
  double least = std::numeric_limits<double>::infinity();
  Index passes = 0;
  int worse = 0;
  for (int step = 0; step < kStrengths && worse < 2; ++step) {
    if (step > 0 && enough && enough(passes)) break;
    const double ridge = kStrongest * std::pow(10.0, -0.5 * step);
    Matrix scores(task.samples(), task.outputs());
    for (std::size_t k = 0; k < folds.size(); ++k) {
      const Vector weights = task.weights_without(folds[k]);
      const Matrix& phi = without ? without(folds[k]) : features.phi;
      const ClassifierProblem problem{phi.view(), task.labels, task.classes, weights, loss_of(kind)};
      solutions[k] =
          solvers::fit_classifier(problem, ridge, kLogisticTolerance, step > 0 ? &solutions[k] : nullptr);
      passes += solutions[k].iterations + 1;
      copy_fold(solvers::classifier_scores(phi.view(), solutions[k]), task, folds[k], scores);
    }
    tried.push_back(kind == MachineKind::margin ? at_best_temperature(ridge, std::move(scores), task)
                                                : Tried{ridge, 1.0, std::move(scores)});
    const double loss = held_out_loss(tried.back().held_out, task);
    worse = loss < least ? 0 : worse + 1;
    least = std::min(least, loss);
  }
  Machine best = chosen_of(std::move(tried), task);
  best.kind = kind;
  best.passes = passes;
  Machine whole = class_machine_at(kind, features, task, best.ridge);
  best.w = std::move(whole.w);
  best.bias = std::move(whole.bias);
  return best;
}

namespace {

// Ridge regression on Z = [1, Φ] in the eigenvectors of ZᵀUZ: every strength costs one pass.
class RidgePath {
 public:
  // The constant feature is this instead of 1, so that its coefficient is small and the ridge hardly touches it.
  static constexpr double kConstant = 30.0;

  RidgePath(Matrix phi, const Matrix& targets, const Vector& weights) : targets_(targets), weights_(weights) {
    const Index n = phi.rows();
    const Index r = phi.cols() + 1;
    Matrix z(n, r);
    for (Index k = 0; k < r; ++k) {
      for (Index i = 0; i < n; ++i) z(i, k) = std::sqrt(weights[at(i)]) * (k == 0 ? kConstant : phi(i, k - 1));
    }
    phi = Matrix();
    Matrix gram(r, r);
    algebra::syrk(Op::transpose, 1.0, z.view(), 0.0, gram.view());
    eigen_ = algebra::symmetric_eigen(gram.view(), true);
    rotated_ = Matrix(n, r);
    algebra::gemm(Op::none, Op::none, 1.0, z.view(), eigen_.vectors.view(), 0.0, rotated_.view());
    Matrix scaled = targets;
    for (Index c = 0; c < scaled.cols(); ++c) {
      for (Index i = 0; i < n; ++i) scaled(i, c) *= std::sqrt(weights[at(i)]);
    }
    products_ = Matrix(r, targets.cols());
    algebra::gemm(Op::transpose, Op::none, 1.0, rotated_.view(), scaled.view(), 0.0, products_.view());
  }

  // What a machine that did not see the sample says of it: y − (y − f)/(1 − H_ii).
  [[nodiscard]] Matrix leave_one_out(double ridge) const {
    const Index n = rotated_.rows();
    Matrix solution = products_;
    Vector leverage(at(n));
    for (Index k = 0; k < rotated_.cols(); ++k) {
      const double inverse = 1.0 / (std::max(0.0, eigen_.values[at(k)]) + ridge);
      for (Index c = 0; c < solution.cols(); ++c) solution(k, c) *= inverse;
      for (Index i = 0; i < n; ++i) leverage[at(i)] += inverse * rotated_(i, k) * rotated_(i, k);
    }
    Matrix fitted(n, targets_.cols());
    algebra::gemm(Op::none, Op::none, 1.0, rotated_.view(), solution.view(), 0.0, fitted.view());
    for (Index i = 0; i < n; ++i) {
      const double root = std::sqrt(weights_[at(i)]);
      const double rest = std::max(1.0 - leverage[at(i)], 1e-10);
      for (Index c = 0; c < fitted.cols(); ++c) {
        const double fitted_i = root > 0.0 ? fitted(i, c) / root : 0.0;
        fitted(i, c) = targets_(i, c) - (targets_(i, c) - fitted_i) / rest;
      }
    }
    return fitted;
  }

  // Coefficients of the constant (row 0) and the features.
  [[nodiscard]] Matrix solve(double ridge) const {
    Matrix solution = products_;
    for (Index k = 0; k < solution.rows(); ++k) {
      for (Index c = 0; c < solution.cols(); ++c) solution(k, c) /= std::max(0.0, eigen_.values[at(k)]) + ridge;
    }
    Matrix w(solution.rows(), solution.cols());
    algebra::gemm(Op::none, Op::none, 1.0, eigen_.vectors.view(), solution.view(), 0.0, w.view());
    for (Index c = 0; c < w.cols(); ++c) w(0, c) *= kConstant;
    return w;
  }

 private:
  Matrix targets_;
  Vector weights_;
  algebra::Eigen eigen_;
  Matrix rotated_;
  Matrix products_;
};

constexpr double kWeakest = 1e-4;
constexpr int kRidges = 13;  // half decades

double ridge_at(int step) {
  return kWeakest * std::pow(10.0, 0.5 * step);
}

}  // namespace

namespace {

// Row 0 of `solution` belongs to the constant.
void set_solution(const Matrix& solution, Machine& machine) {
  machine.w = Matrix(solution.rows() - 1, solution.cols());
  for (Index c = 0; c < solution.cols(); ++c) {
    machine.bias.push_back(solution(0, c));
    for (Index k = 0; k < machine.w.rows(); ++k) machine.w(k, c) = solution(k + 1, c);
  }
}

// The strength of least loss; `held_out(step)` are the scores of samples that were held out.
template <typename HeldOut>
Machine best_strength(const MachineTask& task, HeldOut&& held_out) {
  std::vector<Tried> tried;
  for (int step = kRidges - 1; step >= 0; --step) {
    tried.push_back(task.classes > 0 ? at_best_temperature(ridge_at(step), held_out(step), task)
                                     : Tried{ridge_at(step), 1.0, held_out(step)});
  }
  return chosen_of(std::move(tried), task);
}

}  // namespace

Machine ridge_machine(Matrix phi, const MachineTask& task) {
  const RidgePath path(std::move(phi), codes_of(task), task.weights_without(-1));
  Machine best = best_strength(task, [&](int step) { return path.leave_one_out(ridge_at(step)); });
  set_solution(path.solve(best.ridge), best);
  return best;
}

Machine ridge_machine_by_folds(const KernelFeatures& features, const MachineTask& task,
                               const FoldFeatures& without) {
  const Matrix codes = codes_of(task);
  std::vector<Matrix> scores(kRidges, Matrix(task.samples(), task.outputs()));
  for (const Index fold : task.judged_folds()) {
    const Matrix& phi = without ? without(fold) : features.phi;
    const RidgePath path(phi, codes, task.weights_without(fold));
    for (int step = 0; step < kRidges; ++step) {
      Machine machine;
      set_solution(path.solve(ridge_at(step)), machine);
      copy_fold(solvers::classifier_scores(phi.view(), {std::move(machine.w), std::move(machine.bias), 0.0, 0}),
                task, fold, scores[static_cast<std::size_t>(step)]);
    }
  }
  Machine best =
      best_strength(task, [&](int step) -> const Matrix& { return scores[static_cast<std::size_t>(step)]; });
  set_solution(RidgePath(features.phi, codes, task.weights_without(-1)).solve(best.ridge), best);
  return best;
}

Machine ridge_machine_at(const KernelFeatures& features, const MachineTask& task, double ridge) {
  Machine machine;
  machine.ridge = ridge;
  set_solution(RidgePath(features.phi, codes_of(task), task.weights_without(-1)).solve(ridge), machine);
  return machine;
}

double screening_loss(const Matrix& kernel, const MachineTask& task) {
  const Index n = kernel.rows();
  double trace = 0.0;
  for (Index i = 0; i < n; ++i) trace += kernel(i, i);
  if (!(trace > 0.0)) return std::numeric_limits<double>::infinity();
  Matrix with_constant = kernel;
  const double scale = static_cast<double>(n) / trace;
  for (double& value : with_constant.values()) value = scale * value + 1.0;
  const algebra::Eigen eigen = algebra::symmetric_eigen(with_constant.view(), true);
  const Matrix codes = codes_of(task);
  Matrix products(n, codes.cols());
  algebra::gemm(Op::transpose, Op::none, 1.0, eigen.vectors.view(), codes.view(), 0.0, products.view());
  double best = std::numeric_limits<double>::infinity();
  for (int step = 1; step < kRidges; step += 2) {
    Matrix solution = products;
    Vector inverse_diagonal(at(n));
    for (Index k = 0; k < n; ++k) {
      const double inverse = 1.0 / (std::max(0.0, eigen.values[at(k)]) + ridge_at(step));
      for (Index c = 0; c < solution.cols(); ++c) solution(k, c) *= inverse;
      for (Index i = 0; i < n; ++i)
        inverse_diagonal[at(i)] += inverse * eigen.vectors(i, k) * eigen.vectors(i, k);
    }
    Matrix scores(n, codes.cols());
    algebra::gemm(Op::none, Op::none, 1.0, eigen.vectors.view(), solution.view(), 0.0, scores.view());
    for (Index c = 0; c < scores.cols(); ++c) {
      for (Index i = 0; i < n; ++i) scores(i, c) = codes(i, c) - scores(i, c) / inverse_diagonal[at(i)];
    }
    double loss = 0.0;
    if (task.classes > 0) {
      temperature_of(scores, task, loss);
    } else {
      loss = held_out_loss(scores, task);
    }
    best = std::min(best, loss);
  }
  return best;
}

}  // namespace kloom::methods
