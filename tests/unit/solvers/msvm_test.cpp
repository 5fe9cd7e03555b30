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
    double worst = 0.0;
    for (Index u = 0; u < m; ++u) {
      bounds.primal += 0.5 * s.alpha(i, u) * f(i, u);
      bounds.dual -= 0.5 * s.alpha(i, u) * f(i, u);
      if (u == y) continue;
      const auto b = [&](Index w) { return s.bias[static_cast<std::size_t>(w)]; };
      worst = std::max(worst, 1.0 - f(i, y) - b(y) + f(i, u) + b(u));
    }
    bounds.primal += c * (problem.squared ? worst * worst : worst);
    bounds.dual += s.alpha(i, y) - (problem.squared ? s.alpha(i, y) * s.alpha(i, y) / (4.0 * c) : 0.0);
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
    EXPECT_LE(alpha(i, y), problem.squared ? 1e300 : problem.box[static_cast<std::size_t>(i)]);
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
// most ε C_i, ε (α_iy + C_i) with the squared hinge.
TEST(Msvm, ReachesTheGapThatItsToleranceBounds) {
  for (const Index classes : {2, 3, 5, 9}) {
    for (const double c : {0.05, 1.0, 30.0}) {
      const MulticlassProblem made = simplex_problem(54, classes, {1.0}, 7);
      MsvmProblem problem = problem_of(made, c);
      for (const bool squared : {false, true}) {
        problem.squared = squared;
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
  for (const bool squared : {false, true}) {
    problem.squared = squared;
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
  for (const bool squared : {false, true}) {
    with_zero.squared = small.squared = squared;
    EXPECT_NEAR(solve(with_zero, all.kernels[0], 1e-10).objective, solve(small, kernel, 1e-10).objective, 1e-8);
  }
}

}  // namespace
}  // namespace kloom
