// SPDX-License-Identifier: BSD-3-Clause
//
// The m-SVM: its gap from primal and dual written out, against other solutions of the same problem, and
// problems where moves of four variables stall.
#include "solvers/msvm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "solvers/svm.h"
#include "support/multiclass.h"

namespace kloom {
namespace {

using solvers::JointKernel;
using solvers::JointTerm;
using solvers::MarginLoss;
using solvers::MatrixRows;
using solvers::MsvmOptions;
using solvers::MsvmProblem;
using solvers::MsvmSolution;
using test::identity;
using test::MulticlassProblem;
using test::simplex_problem;

MsvmProblem problem_of(const MulticlassProblem& made, double c) {
  return {made.targets.codes, static_cast<Index>(made.targets.classes.size()),
          Vector(made.targets.codes.size(), c)};
}

constexpr MarginLoss kLosses[] = {MarginLoss::hinge, MarginLoss::squared_hinge, MarginLoss::logistic};

double loss_of(MarginLoss loss, double margin) {
  if (loss == MarginLoss::logistic) return std::log1p(std::exp(-margin));
  return std::pow(std::max(0.0, 1.0 - margin), loss == MarginLoss::hinge ? 1 : 2);
}

// Minus the conjugate of the loss at −a, for 0 < a < c.
double dual_of(MarginLoss loss, double c, double a) {
  if (loss == MarginLoss::hinge) return a;
  if (loss == MarginLoss::squared_hinge) return a - a * a / (4.0 * c);
  return -a * std::log(a / c) - (c - a) * std::log1p(-a / c);
}

struct Bounds {
  double primal = 0.0;
  double dual = 0.0;
};

// Both objectives by their definitions, for the kernel Σ_t K_t ⊗ L_t.
Bounds bounds_of(const MsvmProblem& problem, const std::vector<Matrix>& kernels,
                 const std::vector<Matrix>& classes, const MsvmSolution& s) {
  const Index n = s.alpha.rows();
  const Index m = problem.classes;
  Matrix f(n, m);
  for (std::size_t t = 0; t < kernels.size(); ++t) {
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        for (Index u = 0; u < m; ++u) {
          for (Index v = 0; v < m; ++v) f(i, u) += kernels[t](i, j) * s.alpha(j, v) * classes[t](v, u);
        }
      }
    }
  }
  Bounds bounds;
  for (Index i = 0; i < n; ++i) {
    const Index y = problem.labels[static_cast<std::size_t>(i)];
    const double c = problem.box[static_cast<std::size_t>(i)];
    double margin = 1e300;
    for (Index u = 0; u < m; ++u) {
      bounds.primal += 0.5 * s.alpha(i, u) * f(i, u);
      bounds.dual -= 0.5 * s.alpha(i, u) * f(i, u);
      if (u == y) continue;
      const auto b = [&](Index w) { return s.bias[static_cast<std::size_t>(w)]; };
      margin = std::min(margin, f(i, y) + b(y) - f(i, u) - b(u));
    }
    bounds.primal += c * loss_of(problem.loss, margin);
    bounds.dual += dual_of(problem.loss, c, s.alpha(i, y));
  }
  return bounds;
}

void expect_feasible(const MsvmProblem& problem, const Matrix& alpha) {
  for (Index i = 0; i < alpha.rows(); ++i) {
    const Index y = problem.labels[static_cast<std::size_t>(i)];
    double sum = 0.0;
    for (Index u = 0; u < alpha.cols(); ++u) {
      sum += alpha(i, u);
      EXPECT_LE(alpha(i, u), u == y ? 1e300 : 0.0);
    }
    EXPECT_NEAR(sum, 0.0, 1e-12);
    EXPECT_LE(alpha(i, y),
              problem.loss == MarginLoss::squared_hinge ? 1e300 : problem.box[static_cast<std::size_t>(i)]);
  }
  for (Index u = 0; u < alpha.cols() && problem.bias; ++u) {
    double sum = 0.0;
    for (double a : alpha.column(u)) sum += a;
    EXPECT_NEAR(sum, 0.0, 1e-11);
  }
}

MsvmSolution solve(const MsvmProblem& problem, const Matrix& kernel, double tolerance, bool compact = false,
                   const Matrix& start = {}) {
  MatrixRows rows(kernel.view());
  std::vector<JointTerm> terms{{&rows, identity(problem.classes)}};
  JointKernel joint = compact ? JointKernel(terms, problem.labels) : JointKernel(terms);
  MsvmOptions options;
  options.tolerance = tolerance;
  return solve_msvm(problem, joint, options, start);
}

// With every arc within ε, complementary slackness holds within ε for each sample: its part of the gap is at
// most ε C_i, ε (α_iy + C_i) with the squared hinge. With the logistic loss it is at most ε α_iy for the
// classes and C_i ε²/8 for the loss, whose second derivative is at most C_i/4.
TEST(Msvm, ReachesTheGapThatItsToleranceBounds) {
  for (const Index classes : {2, 3, 5, 9}) {
    for (const double c : {0.05, 1.0, 30.0}) {
      const MulticlassProblem made = simplex_problem(54, classes, {1.0}, 7);
      MsvmProblem problem = problem_of(made, c);
      for (const MarginLoss loss : kLosses) {
        SCOPED_TRACE(static_cast<int>(loss));
        problem.loss = loss;
        const MsvmSolution s = solve(problem, made.kernels[0], 1e-8);
        ASSERT_TRUE(s.converged);
        expect_feasible(problem, s.alpha);
        const Bounds bounds = bounds_of(problem, made.kernels, {identity(classes)}, s);
        double sum = 54.0 * c;
        for (Index i = 0; i < 54; ++i) sum += s.alpha(i, i % classes);
        EXPECT_GE(bounds.primal - bounds.dual, -1e-10 * bounds.primal);
        EXPECT_LE(bounds.primal - bounds.dual, 1e-8 * sum + 1e-10 * bounds.primal) << classes << " " << c;
        EXPECT_NEAR(s.objective, -bounds.dual, 1e-9 * bounds.primal);
      }
    }
  }
}

TEST(Msvm, CompactFormAndWarmStartReachTheSameObjective) {
  const MulticlassProblem made = simplex_problem(60, 4, {0.8}, 3);
  MsvmProblem problem = problem_of(made, 2.0);
  for (const MarginLoss loss : kLosses) {
    problem.loss = loss;
    const MsvmSolution unfolded = solve(problem, made.kernels[0], 1e-9);
    const MsvmSolution compact = solve(problem, made.kernels[0], 1e-9, true);
    EXPECT_NEAR(compact.objective, unfolded.objective, 1e-7 * std::abs(unfolded.objective));
    const MsvmSolution again = solve(problem, made.kernels[0], 1e-9, false, unfolded.alpha);
    EXPECT_LE(again.iterations, 5);
    EXPECT_NEAR(again.objective, unfolded.objective, 1e-9 * std::abs(unfolded.objective));
    const MsvmSolution twice = solve(problem, made.kernels[0], 1e-9);
    EXPECT_EQ(twice.alpha, unfolded.alpha);
  }
}

// Many three-class problems: with longer cycles every one reaches its gap; four-variable moves alone leave some
// of them short of it, which shows that the longer ones are needed.
TEST(Msvm, GoesOnWhereFourVariableMovesStall) {
  int stalled = 0;
  double worst = 0.0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const MulticlassProblem made = simplex_problem(18, 3, {1.0}, 100 + seed, 0.8);
    const MsvmProblem problem = problem_of(made, 0.1);
    MatrixRows rows(made.kernels[0].view());
    JointKernel joint(std::vector<JointTerm>{{&rows, identity(3)}});
    MsvmOptions options;
    options.tolerance = 1e-9;
    const MsvmSolution whole = solve_msvm(problem, joint, options);
    options.longer_cycles = false;
    const MsvmSolution pairs = solve_msvm(problem, joint, options);
    const Bounds bounds = bounds_of(problem, made.kernels, {identity(3)}, whole);
    EXPECT_LE(bounds.primal - bounds.dual, 1e-7 * bounds.primal) << seed;
    const double short_of = (pairs.objective - whole.objective) / std::abs(whole.objective);
    worst = std::max(worst, short_of);
    if (short_of > 1e-6) ++stalled;
  }
  EXPECT_GT(stalled, 30);
  std::printf("four-variable moves alone stalled in %d of 60, at worst %.2e above the optimum\n", stalled,
              worst);
}

// Kernels on classes that couple them, two terms.
TEST(Msvm, SolvesCoupledClasses) {
  const MulticlassProblem made = simplex_problem(40, 3, {0.7, 2.0}, 11);
  Matrix first = identity(3);
  first(0, 1) = first(1, 0) = 0.6;
  Matrix second(3, 3);
  second(1, 1) = second(2, 2) = 1.0;
  second(1, 2) = second(2, 1) = -1.0;
  for (const bool bias : {true, false}) {
    MsvmProblem problem = problem_of(made, 1.5);
    problem.bias = bias;
    MatrixRows a(made.kernels[0].view());
    MatrixRows b(made.kernels[1].view());
    MsvmOptions options;
    options.tolerance = 1e-8;
    JointKernel unfolded(std::vector<JointTerm>{{&a, first}, {&b, second}});
    JointKernel compact({{&a, first}, {&b, second}}, problem.labels);
    const MsvmSolution s = solve_msvm(problem, unfolded, options);
    ASSERT_TRUE(s.converged);
    expect_feasible(problem, s.alpha);
    const Bounds bounds = bounds_of(problem, made.kernels, {first, second}, s);
    EXPECT_LE(bounds.primal - bounds.dual, 1e-6 * bounds.primal);
    EXPECT_NEAR(solve_msvm(problem, compact, options).objective, s.objective, 1e-6 * bounds.primal);
  }
}

// Crammer and Singer's machine: no bias, K_Y = I. An independent solution: projected gradient with momentum on
// the dual, each row projected onto its polytope exactly (α_iu ≤ C[u = y_i], Σ_u α_iu = 0).
Vector project_row(Vector row, Index y, double c) {
  // Shift by the number that makes min(row − shift, bound) sum to 0; the sum falls with the shift.
  double low = -1e6;
  double high = 1e6;
  const auto clipped = [&](double shift, std::size_t u) {
    return std::min(row[u] - shift, static_cast<Index>(u) == y ? c : 0.0);
  };
  for (int k = 0; k < 200; ++k) {
    const double middle = 0.5 * (low + high);
    double sum = 0.0;
    for (std::size_t u = 0; u < row.size(); ++u) sum += clipped(middle, u);
    (sum > 0.0 ? low : high) = middle;
  }
  Vector result(row.size());
  for (std::size_t u = 0; u < row.size(); ++u) result[u] = clipped(0.5 * (low + high), u);
  return result;
}

double crammer_singer_objective(const Matrix& kernel, const std::vector<int>& labels, Index m, double c) {
  const Index n = kernel.rows();
  double lipschitz = 0.0;
  for (Index i = 0; i < n; ++i) {
    double sum = 0.0;
    for (Index j = 0; j < n; ++j) sum += std::abs(kernel(i, j));
    lipschitz = std::max(lipschitz, sum);
  }
  const auto product = [&](const Matrix& a) {
    Matrix f(n, m);
    for (Index u = 0; u < m; ++u) {
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < n; ++i) f(i, u) += kernel(i, j) * a(j, u);
      }
    }
    return f;
  };
  Matrix alpha(n, m);
  Matrix ahead = alpha;
  double momentum = 1.0;
  for (int k = 0; k < 4000; ++k) {
    const Matrix f = product(ahead);
    Matrix next(n, m);
    for (Index i = 0; i < n; ++i) {
      const Index y = labels[static_cast<std::size_t>(i)];
      Vector row;
      for (Index u = 0; u < m; ++u) row.push_back(ahead(i, u) - (f(i, u) - (u == y ? 1.0 : 0.0)) / lipschitz);
      row = project_row(row, y, c);
      for (Index u = 0; u < m; ++u) next(i, u) = row[static_cast<std::size_t>(u)];
    }
    const double larger = 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * momentum * momentum));
    for (Index e = 0; e < n * m; ++e) {
      const auto s = static_cast<std::size_t>(e);
      ahead.values()[s] = next.values()[s] + (momentum - 1.0) / larger * (next.values()[s] - alpha.values()[s]);
    }
    momentum = larger;
    alpha = next;
  }
  const Matrix f = product(alpha);
  double objective = 0.0;
  for (Index i = 0; i < n; ++i) {
    objective -= alpha(i, labels[static_cast<std::size_t>(i)]);
    for (Index u = 0; u < m; ++u) objective += 0.5 * alpha(i, u) * f(i, u);
  }
  return objective;
}

TEST(Msvm, WithoutBiasIsCrammerAndSinger) {
  for (const double c : {0.3, 3.0}) {
    const MulticlassProblem made = simplex_problem(30, 3, {0.8}, 21);
    MsvmProblem problem = problem_of(made, c);
    problem.bias = false;
    const MsvmSolution s = solve(problem, made.kernels[0], 1e-9);
    expect_feasible(problem, s.alpha);
    const double expected = crammer_singer_objective(made.kernels[0], problem.labels, 3, c);
    EXPECT_NEAR(s.objective, expected, 1e-6 * std::abs(expected));
    EXPECT_NEAR(solve(problem, made.kernels[0], 1e-9, true).objective, expected, 1e-6 * std::abs(expected));
  }
}

// Two classes: w_1 = −w_0 = v halves the norm of the binary machine's w = 2v, so the m-SVM at C is half the
// binary machine at 2C: ½‖w_0‖² + ½‖w_1‖² + C Σξ = ‖v‖² + C Σξ = ½ (½‖2v‖² + 2C Σξ).
TEST(Msvm, TwoClassesAreHalfTheBinaryMachineAtTwiceThePrice) {
  const MulticlassProblem made = simplex_problem(50, 2, {0.6}, 5, 0.7);
  const MsvmSolution s = solve(problem_of(made, 1.3), made.kernels[0], 1e-10);
  solvers::SvmProblem binary;
  for (int code : made.targets.codes) {
    binary.y.push_back(code == 1 ? 1.0 : -1.0);
    binary.linear.push_back(-1.0);
    binary.box.push_back(2.6);
  }
  MatrixRows rows(made.kernels[0].view());
  solvers::SvmOptions options;
  options.tolerance = 1e-10;
  const solvers::SvmSolution svm = solve_svm(binary, rows, options);
  EXPECT_NEAR(s.objective, 0.5 * svm.objective, 1e-8 * std::abs(svm.objective));
  EXPECT_NEAR(s.bias[1] - s.bias[0], svm.bias, 1e-7);
}

// ½cᵀKc + C Σ log(1 + exp(−y_i f_i)), f = Kc + b, by Newton's method with halved steps in (c, b): with K
// regular its minimum is that of kernel logistic regression.
double logistic_regression_objective(const Matrix& kernel, const Vector& y, double c) {
  const Index n = kernel.rows();
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  Vector point(at(n + 1));
  const auto scores_of = [&](const Vector& x) {
    Vector f(at(n), x.back());
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) f[at(i)] += kernel(i, j) * x[at(j)];
    }
    return f;
  };
  const auto objective = [&](const Vector& x) {
    const Vector f = scores_of(x);
    double sum = 0.0;
    for (Index i = 0; i < n; ++i) {
      sum += 0.5 * x[at(i)] * (f[at(i)] - x.back()) + c * std::log1p(std::exp(-y[at(i)] * f[at(i)]));
    }
    return sum;
  };
  for (int step = 0; step < 100; ++step) {
    // K(c + r) = 0 and Σ r = 0 with r_i = −C y_i/(1 + exp(y_i f_i)); the first is solved without K.
    const Vector f = scores_of(point);
    Matrix a(n + 1, n + 2);
    for (Index i = 0; i < n; ++i) {
      const double p = 1.0 / (1.0 + std::exp(y[at(i)] * f[at(i)]));
      const double r = -c * y[at(i)] * p;
      const double h = c * p * (1.0 - p);
      for (Index j = 0; j < n; ++j) {
        a(i, j) = h * kernel(i, j) + (i == j ? 1.0 : 0.0);
        a(n, j) += h * kernel(i, j);
      }
      a(i, n) = h;
      a(n, n) += h;
      a(i, n + 1) = -point[at(i)] - r;
      a(n, n + 1) -= r;
    }
    for (Index k = 0; k <= n; ++k) {
      Index pivot = k;
      for (Index i = k + 1; i <= n; ++i) pivot = std::abs(a(i, k)) > std::abs(a(pivot, k)) ? i : pivot;
      for (Index j = 0; j <= n + 1; ++j) std::swap(a(k, j), a(pivot, j));
      for (Index i = 0; i <= n; ++i) {
        if (i == k) continue;
        const double factor = a(i, k) / a(k, k);
        for (Index j = k; j <= n + 1; ++j) a(i, j) -= factor * a(k, j);
      }
    }
    double length = 1.0;
    Vector next;
    do {
      next = point;
      for (Index k = 0; k <= n; ++k) next[at(k)] += length * a(k, n + 1) / a(k, k);
      length *= 0.5;
    } while (length > 1e-12 && !(objective(next) <= objective(point)));
    point = next;
  }
  return objective(point);
}

TEST(Msvm, TwoClassesWithLogisticLossAreHalfLogisticRegressionAtTwiceThePrice) {
  const MulticlassProblem made = simplex_problem(40, 2, {0.6}, 6, 0.7);
  Vector y;
  for (int code : made.targets.codes) y.push_back(code == 1 ? 1.0 : -1.0);
  for (const double c : {0.02, 1.0, 50.0, 5000.0}) {
    MsvmProblem problem = problem_of(made, c);
    problem.loss = MarginLoss::logistic;
    const MsvmSolution s = solve(problem, made.kernels[0], 1e-9);
    ASSERT_TRUE(s.converged);
    const double expected = logistic_regression_objective(made.kernels[0], y, 2.0 * c);
    // The gap that the tolerance bounds is at most 1e-9·40·C.
    EXPECT_NEAR(-s.objective, 0.5 * expected, 1e-9 * 40.0 * c + 1e-10 * expected);
  }
}

// Where one class alone has a price the infimum 0 is not attained; the loss at the bias found is 0
// in double precision.
TEST(Msvm, OneClassAloneWithLogisticLossHasNoLoss) {
  const MulticlassProblem made = simplex_problem(12, 3, {1.0}, 4);
  MsvmProblem problem = problem_of(made, 1.0);
  problem.loss = MarginLoss::logistic;
  for (std::size_t i = 0; i < 12; ++i) problem.box[i] = i % 3 == 1 ? 1.0 : 0.0;
  const MsvmSolution s = solve(problem, made.kernels[0], 1e-6);
  EXPECT_TRUE(s.converged);
  EXPECT_EQ(s.objective, 0.0);
  EXPECT_EQ(std::exp(s.bias[0] - s.bias[1]), 0.0);
  EXPECT_EQ(std::exp(s.bias[2] - s.bias[1]), 0.0);
}

// A sample with price 0 is a sample that is not there.
TEST(Msvm, PriceZeroTakesASampleOut) {
  const MulticlassProblem all = simplex_problem(45, 3, {1.0}, 9);
  const MulticlassProblem part = simplex_problem(45, 3, {1.0}, 9);
  MsvmProblem with_zero = problem_of(all, 1.0);
  for (std::size_t i = 30; i < 45; ++i) with_zero.box[i] = 0.0;
  Matrix kernel(30, 30);
  for (Index i = 0; i < 30; ++i) {
    for (Index j = 0; j < 30; ++j) kernel(i, j) = part.kernels[0](i, j);
  }
  MsvmProblem small = with_zero;
  small.labels.resize(30);
  small.box.resize(30);
  for (const MarginLoss loss : kLosses) {
    with_zero.loss = small.loss = loss;
    EXPECT_NEAR(solve(with_zero, all.kernels[0], 1e-10).objective, solve(small, kernel, 1e-10).objective, 1e-8);
  }
}

}  // namespace
}  // namespace kloom
