// SPDX-License-Identifier: BSD-3-Clause
//
// Rules for kernel weights against naive transcriptions of their papers, and the methods that use them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kloom/certify.h"
#include "kloom/error.h"
#include "kloom/learner.h"
#include "methods/twostep/rules.h"
#include "support/multiclass.h"
#include "support/problems.h"

namespace kloom {
namespace {

using methods::RuleTask;
using test::bank_of;
using test::BinaryProblem;

RuleTask task_of(const BinaryProblem& problem) {
  RuleTask task;
  const Vector signs = problem.targets.signs();
  task.labels = Matrix(std::ssize(signs), 1);
  std::ranges::copy(signs, task.labels.values().begin());
  task.weights.assign(signs.size(), 1.0);
  return task;
}

// H K H with H = I − 11ᵀ/N [Cortes2012, eq. 2], by its definition.
Matrix centred(const Matrix& k) {
  const Index n = k.rows();
  Matrix result(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      double row = 0.0;
      double column = 0.0;
      double all = 0.0;
      for (Index a = 0; a < n; ++a) {
        row += k(i, a) / static_cast<double>(n);
        column += k(a, j) / static_cast<double>(n);
        for (Index b = 0; b < n; ++b) all += k(a, b) / static_cast<double>(n * n);
      }
      result(i, j) = k(i, j) - row - column + all;
    }
  }
  return result;
}

double product(const Matrix& a, const Matrix& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.values().size(); ++i) sum += a.values()[i] * b.values()[i];
  return sum;
}

Matrix label_kernel(const Matrix& labels) {
  Matrix result(labels.rows(), labels.rows());
  for (Index i = 0; i < labels.rows(); ++i) {
    for (Index j = 0; j < labels.rows(); ++j) {
      for (Index c = 0; c < labels.cols(); ++c) result(i, j) += labels(i, c) * labels(j, c);
    }
  }
  return result;
}

Vector normalised(Vector values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  for (double& value : values) value /= sum;
  return values;
}

// Sums of N² = 1600 terms round by less than N² eps of their size, 4e-13; the ratios are of that size.
constexpr double kRounding = 1e-11;

TEST(Align, IsTheAlignmentOfEveryKernelByItsDefinition) {
  const BinaryProblem problem = test::binary_problem(40, 3, {0.5, 1.0, 30.0}, 1);
  RuleTask task = task_of(problem);
  for (const bool several : {false, true}) {
    if (several) {
      task.labels = Matrix(40, 3);
      for (Index i = 0; i < 40; ++i)
        task.labels(i, problem.x(i, 0) < 0.0 ? 0 : problem.x(i, 1) < 0.0 ? 1 : 2) = 1.0;
    }
    Vector expected;
    const Matrix labels = centred(label_kernel(task.labels));
    for (const Matrix& kernel : problem.kernels) {
      const Matrix k = centred(kernel);
      expected.push_back(product(k, labels) / std::sqrt(product(k, k)));
    }
    expected = normalised(std::move(expected));
    const Vector found = methods::align_weights(*bank_of(problem), task);
    for (std::size_t m = 0; m < found.size(); ++m) EXPECT_NEAR(found[m], expected[m], kRounding);
  }
}

// Minimum of vᵀMv − 2vᵀa over v ≥ 0 by coordinate descent. Objectives are compared, not weights: the ridge of the
// solver, 1e-10, moves the objective by no more than that part.
TEST(Alignf, HasTheObjectiveOfCoordinateDescent) {
  const BinaryProblem problem = test::binary_problem(40, 3, {0.5, 1.0, 2.0}, 2);
  const RuleTask task = task_of(problem);
  const Matrix labels = label_kernel(task.labels);
  const std::size_t p = problem.kernels.size();
  Matrix m(static_cast<Index>(p), static_cast<Index>(p));
  Vector a;
  std::vector<Matrix> kernels;
  for (const Matrix& kernel : problem.kernels) kernels.push_back(centred(kernel));
  for (std::size_t k = 0; k < p; ++k) {
    a.push_back(product(kernels[k], labels));
    for (std::size_t l = 0; l < p; ++l)
      m(static_cast<Index>(l), static_cast<Index>(k)) = product(kernels[k], kernels[l]);
  }
  // The alignment of Σ v_m K_m, which does not depend on the length of v.
  const auto alignment = [&](const Vector& v) {
    double square = 0.0;
    double with_labels = 0.0;
    for (std::size_t k = 0; k < p; ++k) {
      with_labels += v[k] * a[k];
      for (std::size_t l = 0; l < p; ++l)
        square += v[k] * v[l] * m(static_cast<Index>(l), static_cast<Index>(k));
    }
    return with_labels / std::sqrt(square);
  };
  Vector v(p);
  for (int sweep = 0; sweep < 200000; ++sweep) {
    for (std::size_t k = 0; k < p; ++k) {
      double slope = a[k];
      for (std::size_t l = 0; l < p; ++l) slope -= m(static_cast<Index>(k), static_cast<Index>(l)) * v[l];
      v[k] = std::max(0.0, v[k] + slope / m(static_cast<Index>(k), static_cast<Index>(k)));
    }
  }
  const Vector found = methods::alignf_weights(*bank_of(problem), task);
  EXPECT_NEAR(alignment(found), alignment(v), 1e-9 * alignment(v));
  EXPECT_GE(alignment(found), alignment(methods::align_weights(*bank_of(problem), task)));
}

// min over both simplices of γᵀQγ by pairwise descent: the pair of one side whose exchange lowers the value most.
Vector easymkl_gamma(const Matrix& q, const Vector& y) {
  const auto n = std::ssize(y);
  Vector gamma(y.size());
  for (Index i = 0; i < n; ++i) {
    const auto count = static_cast<double>(std::ranges::count(y, y[at(i)]));
    gamma[at(i)] = 1.0 / count;
  }
  for (int step = 0; step < 200000; ++step) {
    Vector g(y.size());
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) g[at(i)] += q(i, j) * gamma[at(j)];
    }
    for (const double side : {1.0, -1.0}) {
      Index low = -1;
      Index high = -1;
      for (Index i = 0; i < n; ++i) {
        if (y[at(i)] != side) continue;
        if (low < 0 || g[at(i)] < g[at(low)]) low = i;
        if (gamma[at(i)] > 0.0 && (high < 0 || g[at(i)] > g[at(high)])) high = i;
      }
      const double curvature = q(low, low) + q(high, high) - 2.0 * q(low, high);
      if (low == high || curvature <= 0.0) continue;
      const double moved = std::min(gamma[at(high)], (g[at(high)] - g[at(low)]) / curvature);
      gamma[at(low)] += moved;
      gamma[at(high)] -= moved;
      for (Index i = 0; i < n; ++i) g[at(i)] += moved * (q(i, low) - q(i, high));
    }
  }
  return gamma;
}

TEST(EasyMkl, HasTheWeightsOfANaiveMinimum) {
  const BinaryProblem problem = test::binary_problem(40, 3, {0.5, 1.0, 2.0}, 3);
  const RuleTask task = task_of(problem);
  const Vector y = problem.targets.signs();
  for (const double lambda : {0.1, 0.9, 1.0}) {
    Matrix q(40, 40);
    for (Index i = 0; i < 40; ++i) {
      for (Index j = 0; j < 40; ++j) {
        for (const Matrix& k : problem.kernels) q(i, j) += (1.0 - lambda) * y[at(i)] * y[at(j)] * k(i, j);
      }
      q(i, i) += lambda;
    }
    const Vector gamma = easymkl_gamma(q, y);
    Vector expected;
    for (const Matrix& k : problem.kernels) {
      double form = 0.0;
      for (Index i = 0; i < 40; ++i) {
        for (Index j = 0; j < 40; ++j) form += y[at(i)] * gamma[at(i)] * k(i, j) * y[at(j)] * gamma[at(j)];
      }
      expected.push_back(form);
    }
    expected = normalised(std::move(expected));
    const methods::EasyWeights found = methods::easymkl_weights(*bank_of(problem), task, lambda, {});
    // γ is found to a relative gap of 2e-8. The strong convexity 2λ turns a gap into a distance of γ of its root, and the
    // weights are ratios of forms in γ.
    for (std::size_t m = 0; m < expected.size(); ++m)
      EXPECT_NEAR(found.theta[m], expected[m], std::sqrt(2e-8 / lambda)) << lambda;
  }
}

// A sample of weight 2 is the sample twice, one of weight 0 is none.
TEST(Rules, WeightsOfSamplesAreCopies) {
  BinaryProblem problem = test::binary_problem(30, 2, {0.5, 2.0}, 4);
  RuleTask weighted = task_of(problem);
  weighted.weights[3] = 2.0;
  weighted.weights[7] = 0.0;
  std::vector<Index> samples(30);
  std::iota(samples.begin(), samples.end(), Index{0});
  samples[7] = 3;  // the copy takes the place of the one that is not there
  BinaryProblem copied = problem;
  RuleTask plain = task_of(problem);
  for (Index i = 0; i < 30; ++i) {
    plain.labels(i, 0) = weighted.labels(samples[at(i)], 0);
    for (std::size_t m = 0; m < problem.kernels.size(); ++m) {
      for (Index j = 0; j < 30; ++j)
        copied.kernels[m](i, j) = problem.kernels[m](samples[at(i)], samples[at(j)]);
    }
  }
  const auto one = bank_of(problem);
  const auto two = bank_of(copied);
  const Vector easy = methods::easymkl_weights(*one, weighted, 0.2, {}).theta;
  const Vector easy_copied = methods::easymkl_weights(*two, plain, 0.2, {}).theta;
  const Vector align = methods::align_weights(*one, weighted);
  const Vector align_copied = methods::align_weights(*two, plain);
  for (std::size_t m = 0; m < easy.size(); ++m) {
    EXPECT_NEAR(easy[m], easy_copied[m], std::sqrt(2e-8 / 0.2));
    EXPECT_NEAR(align[m], align_copied[m], kRounding);
  }
}

TEST(Rules, PermutedKernelsHavePermutedWeightsAndCopiesShare) {
  BinaryProblem problem = test::binary_problem(40, 2, {0.5, 2.0}, 5);
  problem.kernels.push_back(problem.kernels.front());
  problem.names.emplace_back("copy");
  const Vector before = methods::alignf_weights(*bank_of(problem), task_of(problem));
  EXPECT_NEAR(before.front(), before.back(), 1e-4);  // eps of the products over the ridge of 1e-10 that decides
  std::ranges::reverse(problem.kernels);
  std::ranges::reverse(problem.names);
  const Vector after = methods::alignf_weights(*bank_of(problem), task_of(problem));
  for (std::size_t m = 0; m < before.size(); ++m) EXPECT_NEAR(before[m], after[before.size() - 1 - m], 1e-4);
}

TEST(Rules, KernelsWithoutAMessageGetEqualOrNoWeight) {
  BinaryProblem problem = test::binary_problem(30, 2, {0.5}, 6);
  for (double& value : problem.kernels[0].values()) value = 1.0;
  for (const char* method : {"align", "alignf"}) {
    const FitResult fit = find_learner(method).fit(*bank_of(problem), problem.targets, {{"C", "1"}}, {});
    EXPECT_EQ(fit.model.weights.values(0, 0), 0.0) << method;
    EXPECT_EQ(certify(*bank_of(problem), problem.targets, fit.model, {}).finding, Certificate::Finding::proved)
        << method;
  }
}

TEST(TwoStep, EveryTaskIsProvedAndChangedWeightsAreRefuted) {
  const BinaryProblem problem = test::binary_problem(60, 3, {0.5, 1.0, 3.0}, 7);
  const auto bank = bank_of(problem);
  Targets three = test::three_classes(problem);
  three.weights.assign(60, 1.0);
  three.weights[5] = 3.0;
  for (const char* method : {"easymkl", "align", "alignf"}) {
    for (const char* multiclass : {"one-versus-rest", "one-versus-one"}) {
      for (const Targets& targets : {problem.targets, three}) {
        FitResult fit = find_learner(method).fit(
            *bank, targets, {{"multiclass", multiclass}, {"C_grid", "1,10"}, {"class_weight", "balanced"}}, {});
        EXPECT_EQ(certify(*bank, targets, fit.model, {}).finding, Certificate::Finding::proved)
            << method << multiclass;
        fit.model.weights.values(0, 0) += 0.01;
        fit.model.weights.values(0, 1) -= 0.01;
        EXPECT_EQ(certify(*bank, targets, fit.model, {}).finding, Certificate::Finding::refuted)
            << method << multiclass;
      }
    }
  }
}

TEST(TwoStep, EasyMklRefusesNumbersWithASentence) {
  const BinaryProblem problem = test::binary_problem(20, 2, {1.0}, 8);
  Targets numbers;
  numbers.task = Task::regression;
  numbers.values = Matrix(20, 1);
  for (Index i = 0; i < 20; ++i) numbers.values(i, 0) = problem.x(i, 0);
  const auto bank = bank_of(problem);
  EXPECT_THROW((void)find_learner("easymkl").fit(*bank, numbers, {}, {}), InvalidArgument);
  for (const char* method : {"align", "alignf"}) {
    const FitResult fit = find_learner(method).fit(*bank, numbers, {{"C", "1"}}, {});
    EXPECT_EQ(certify(*bank, numbers, fit.model, {}).finding, Certificate::Finding::proved) << method;
  }
}

}  // namespace
}  // namespace kloom
