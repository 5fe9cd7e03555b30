// SPDX-License-Identifier: BSD-3-Clause
//
// Rules for kernel weights against naive transcriptions of their papers, and the methods that use them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "data/folds.h"
#include "kloom/certify.h"
#include "kloom/error.h"
#include "kloom/learner.h"
#include "kloom/parts.h"
#include "kloom/recipe.h"
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
// Alignment [QiuLane2009] without centring, by its definition.
TEST(FHeuristic, IsThePlainAlignmentOfEveryKernel) {
  const BinaryProblem problem = test::binary_problem(40, 3, {0.5, 1.0, 30.0}, 1);
  const RuleTask task = task_of(problem);
  Vector expected;
  const Matrix labels = label_kernel(task.labels);
  for (const Matrix& k : problem.kernels) expected.push_back(product(k, labels) / std::sqrt(product(k, k)));
  expected = normalised(std::move(expected));
  const Vector found = methods::fheuristic_weights(*bank_of(problem), task);
  for (std::size_t m = 0; m < found.size(); ++m) EXPECT_NEAR(found[m], expected[m], kRounding);
}

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

// min of xᵀQx − lᵀx over x ≥ 0 that sums to 1 over every side, by pairwise descent: the pair of one side whose exchange
// lowers the value most, until no pair does.
Vector simplices_minimum(const Matrix& q, const Vector& linear, const Vector& side) {
  const auto n = std::ssize(side);
  Vector x(side.size());
  for (Index i = 0; i < n; ++i) x[at(i)] = 1.0 / static_cast<double>(std::ranges::count(side, side[at(i)]));
  Vector g(side.size());
  for (Index i = 0; i < n; ++i) {
    g[at(i)] = -0.5 * linear[at(i)];
    for (Index j = 0; j < n; ++j) g[at(i)] += q(i, j) * x[at(j)];
  }
  for (int step = 0; step < 200000; ++step) {
    double gained = 0.0;
    for (const double one : {1.0, -1.0}) {
      Index low = -1;
      Index high = -1;
      for (Index i = 0; i < n; ++i) {
        if (side[at(i)] != one) continue;
        if (low < 0 || g[at(i)] < g[at(low)]) low = i;
        if (x[at(i)] > 0.0 && (high < 0 || g[at(i)] > g[at(high)])) high = i;
      }
      if (low == high) continue;
      const double curvature = q(low, low) + q(high, high) - 2.0 * q(low, high);
      if (curvature <= 0.0) continue;
      gained = std::max(gained, g[at(high)] - g[at(low)]);
      const double moved = std::min(x[at(high)], (g[at(high)] - g[at(low)]) / curvature);
      x[at(low)] += moved;
      x[at(high)] -= moved;
      for (Index i = 0; i < n; ++i) g[at(i)] += moved * (q(i, low) - q(i, high));
    }
    if (gained < 1e-14) break;
  }
  return x;
}

// (1 − λ) Σ θ_m y_i y_j K_m + λ I.
Matrix ridged_sum(const BinaryProblem& problem, const Vector& theta, const Vector& y, double lambda) {
  const Index n = std::ssize(y);
  Matrix q(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      for (std::size_t m = 0; m < theta.size(); ++m)
        q(i, j) += (1.0 - lambda) * theta[m] * y[at(i)] * y[at(j)] * problem.kernels[m](i, j);
    }
    q(i, i) += lambda;
  }
  return q;
}

double form_of(const Matrix& q, const Vector& x) {
  double form = 0.0;
  for (Index i = 0; i < q.rows(); ++i) {
    for (Index j = 0; j < q.cols(); ++j) form += x[at(i)] * q(i, j) * x[at(j)];
  }
  return form;
}

TEST(EasyMkl, HasTheWeightsOfANaiveMinimum) {
  const BinaryProblem problem = test::binary_problem(40, 3, {0.5, 1.0, 2.0}, 3);
  const RuleTask task = task_of(problem);
  const Vector y = problem.targets.signs();
  const std::size_t kernels = problem.kernels.size();
  for (const double lambda : {0.1, 0.9, 1.0}) {
    const Matrix q = ridged_sum(problem, Vector(kernels, 1.0), y, lambda);
    const Vector gamma = simplices_minimum(q, Vector(40), y);
    Vector expected;
    for (std::size_t m = 0; m < kernels; ++m) {
      Vector only(kernels);
      only[m] = 1.0;
      expected.push_back(form_of(ridged_sum(problem, only, y, 0.0), gamma));
    }
    expected = normalised(std::move(expected));
    const methods::RuleWeights found = methods::easymkl_weights(*bank_of(problem), task, lambda, {});
    // γ is found to a relative gap of 2e-8. The strong convexity 2λ turns a gap into a distance of γ of its root, and the
    // weights are ratios of forms in γ.
    for (std::size_t m = 0; m < expected.size(); ++m)
      EXPECT_NEAR(found.theta[m], expected[m], std::sqrt(2e-8 / lambda)) << lambda;
  }
}

// R²/ρ² at some weights, both by pairwise descent.
double naive_ratio(const BinaryProblem& problem, const Vector& theta, double lambda) {
  const Vector y = problem.targets.signs();
  const Vector ones(y.size(), 1.0);
  const Matrix q = ridged_sum(problem, theta, y, lambda);
  const double margin = form_of(q, simplices_minimum(q, Vector(y.size()), y));
  const Matrix k = ridged_sum(problem, theta, ones, lambda);
  Vector squares;
  for (Index i = 0; i < k.rows(); ++i) squares.push_back(k(i, i));
  const Vector alpha = simplices_minimum(k, squares, ones);
  double radius = -form_of(k, alpha);
  for (std::size_t i = 0; i < alpha.size(); ++i) radius += alpha[i] * squares[i];
  return radius / margin;
}

// No point of a grid over the simplex is better than the weights that are found, and none is below the bound.
TEST(Gram, HasTheLeastRatioOfRadiusAndMargin) {
  BinaryProblem problem = test::binary_problem(40, 3, {0.5, 2.0}, 9);
  ASSERT_EQ(problem.kernels.size(), 3U);
  // Kernels of other sizes, so that the diagonals matter.
  for (double& value : problem.kernels[1].values()) value *= 3.0;
  for (const double lambda : {0.05, 0.5}) {
    constexpr double kTolerance = 1e-4;
    const methods::RuleWeights found =
        methods::gram_weights(*bank_of(problem), task_of(problem), {lambda, kTolerance, 1000}, {});
    EXPECT_LE(found.gap, kTolerance);
    EXPECT_NEAR(std::accumulate(found.theta.begin(), found.theta.end(), 0.0), 1.0, 1e-12);
    const double ratio = naive_ratio(problem, found.theta, lambda);
    double least = ratio;
    constexpr int kGrid = 12;
    for (int a = 0; a <= kGrid; ++a) {
      for (int b = 0; a + b <= kGrid; ++b)
        least = std::min(least, naive_ratio(problem, {a / 12.0, b / 12.0, (kGrid - a - b) / 12.0}, lambda));
    }
    // Equal weights are far from the best here: the test is not about nothing.
    EXPECT_GT(naive_ratio(problem, {1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0}, lambda), 1.05 * ratio);
    EXPECT_LE(ratio, least / (1.0 - kTolerance)) << lambda;
    // One weight moved a little either way does not lower the ratio by more than the gap.
    for (const double move : {0.02, -0.02}) {
      Vector theta = found.theta;
      theta[0] = std::max(0.0, theta[0] + move);
      EXPECT_GE(naive_ratio(problem, normalised(theta), lambda), ratio * (1.0 - kTolerance));
    }
  }
}

// Copies of kernels share their weight, so the least ratio stays the same; so many of them are searched without Hessians.
TEST(Gram, FindsTheSameRatioWithoutHessians) {
  const BinaryProblem few = test::binary_problem(30, 3, {0.5, 2.0}, 9);
  BinaryProblem many = few;
  many.kernels.clear();
  many.names.clear();
  for (int copy = 0; copy < 501; ++copy) {
    many.kernels.push_back(few.kernels[static_cast<std::size_t>(copy % 3)]);
    many.names.push_back(std::to_string(copy));
  }
  const methods::GramSettings settings{0.1, 1e-3, 500};
  const Vector one = methods::gram_weights(*bank_of(few), task_of(few), settings, {}).theta;
  const methods::RuleWeights two = methods::gram_weights(*bank_of(many), task_of(many), settings, {});
  EXPECT_LE(two.gap, settings.tolerance);
  Vector together(3);
  for (std::size_t m = 0; m < two.theta.size(); ++m) together[m % 3] += two.theta[m];
  const double ratio = naive_ratio(few, one, settings.lambda);
  EXPECT_NEAR(naive_ratio(few, together, settings.lambda), ratio, settings.tolerance * ratio);
}

// ½ αᵀQα − 1ᵀα over 0 ≤ α ≤ C, yᵀα = 0, the most violating pair at a time; scores Σ y_j α_j K_ij + b.
Vector naive_svm_scores(const Matrix& k, const Vector& y, const Vector& box) {
  const Index n = std::ssize(y);
  Vector alpha(y.size());
  Vector v(y);  // −y_i times the derivative
  double high = 0.0;
  double low = 0.0;
  for (int step = 0; step < 100000; ++step) {
    Index i = -1;
    Index j = -1;
    for (Index t = 0; t < n; ++t) {
      const bool up = y[at(t)] > 0.0 ? alpha[at(t)] < box[at(t)] : alpha[at(t)] > 0.0;
      const bool down = y[at(t)] > 0.0 ? alpha[at(t)] > 0.0 : alpha[at(t)] < box[at(t)];
      if (up && (i < 0 || v[at(t)] > v[at(i)])) i = t;
      if (down && (j < 0 || v[at(t)] < v[at(j)])) j = t;
    }
    high = v[at(i)];
    low = v[at(j)];
    if (high - low < 1e-10) break;
    const double room_i = y[at(i)] > 0.0 ? box[at(i)] - alpha[at(i)] : alpha[at(i)];
    const double room_j = y[at(j)] > 0.0 ? alpha[at(j)] : box[at(j)] - alpha[at(j)];
    const double moved = std::min({(high - low) / (k(i, i) + k(j, j) - 2.0 * k(i, j)), room_i, room_j});
    alpha[at(i)] += y[at(i)] * moved;
    alpha[at(j)] -= y[at(j)] * moved;
    for (Index t = 0; t < n; ++t) v[at(t)] -= moved * (k(t, i) - k(t, j));
  }
  Vector scores(y.size(), 0.5 * (high + low));
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) scores[at(i)] += y[at(j)] * alpha[at(j)] * k(i, j);
  }
  return scores;
}

// Accuracies are shares of samples: they are equal, or a score is on the other side of 0.
TEST(Pwmk, WeighsEveryKernelByItsAccuracyAlone) {
  const BinaryProblem problem = test::binary_problem(40, 3, {0.1, 1.0, 20.0}, 10);
  const Vector y = problem.targets.signs();
  RuleTask task = task_of(problem);
  task.weights[4] = 3.0;
  task.weights[9] = 0.0;
  const methods::PwmkSettings settings{0.3, 2.0, 4, 11};
  std::vector<Index> samples;
  std::vector<int> codes;
  for (Index i = 0; i < 40; ++i) {
    if (task.weights[at(i)] == 0.0) continue;
    samples.push_back(i);
    codes.push_back(y[at(i)] > 0.0 ? 1 : 0);
  }
  const std::vector<Index> folds = data::stratified_folds(codes, settings.folds, settings.seed);
  Vector expected;
  for (const Matrix& kernel : problem.kernels) {
    double right = 0.0;
    for (Index fold = 0; fold < settings.folds; ++fold) {
      Vector box(y.size());
      for (std::size_t k = 0; k < samples.size(); ++k)
        box[at(samples[k])] = folds[k] == fold ? 0.0 : settings.price * task.weights[at(samples[k])];
      const Vector scores = naive_svm_scores(kernel, y, box);
      for (std::size_t k = 0; k < samples.size(); ++k) {
        const std::size_t i = at(samples[k]);
        if (folds[k] == fold && scores[i] * y[i] > 0.0) right += task.weights[i];
      }
    }
    expected.push_back(right / 41.0);
  }
  const methods::RuleWeights found = methods::pwmk_weights(*bank_of(problem), task, settings, {});
  for (std::size_t m = 0; m < expected.size(); ++m)
    EXPECT_NEAR(found.accuracies[m], expected[m], 1e-14) << m;  // sums of shares in another order
  EXPECT_NE(expected[0], expected[1]);
  for (double& value : expected) value -= settings.threshold;
  expected = normalised(std::move(expected));
  for (std::size_t m = 0; m < expected.size(); ++m) EXPECT_NEAR(found.theta[m], expected[m], 1e-13);
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
  const methods::GramSettings settings{0.2, 1e-6, 2000};
  const Vector gram = methods::gram_weights(*one, weighted, settings, {}).theta;
  const Vector gram_copied = methods::gram_weights(*two, plain, settings, {}).theta;
  const Vector plain_one = methods::fheuristic_weights(*one, weighted);
  const Vector plain_two = methods::fheuristic_weights(*two, plain);
  for (std::size_t m = 0; m < easy.size(); ++m) {
    EXPECT_NEAR(gram[m], gram_copied[m],
                1e-4);  // a gap of 1e-6 leaves weights about its root apart, times a slope
    EXPECT_NEAR(plain_one[m], plain_two[m], kRounding);
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
  for (const char* method : {"easymkl", "gram", "align", "alignf", "fheuristic", "pwmk"}) {
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

// Groups that are switched off at one price are there again at the next.
TEST(GroupMkl, IsProvedAtThePriceThatAPathChooses) {
  for (const unsigned seed : {13U, 14U, 15U}) {
    const BinaryProblem problem = test::binary_problem(50, 3, {0.5, 2.0, 8.0}, seed);
    const auto bank = bank_of(problem);
    const FitResult fit = find_learner("group-mkl").fit(*bank, problem.targets, {{"groups", "none"}}, {});
    EXPECT_EQ(fit.report.status, Status::converged);
    EXPECT_EQ(certify(*bank, problem.targets, fit.model, {}).finding, Certificate::Finding::proved);
    const Report::Table& path = fit.report.tables.front();
    for (const Vector& row : path.rows) EXPECT_LE(row.back(), 1e-3) << "C = " << row.front();
  }
}

// BLAS refuses a column without a stride, and says so on the terminal only.
TEST(TwoStep, SharesOfTheNormAreTheSameOnEveryBank) {
  const BinaryProblem problem = test::binary_problem(60, 2, {1.0, 3.0}, 12);
  const std::shared_ptr<const KernelBank> dense = bank_of(problem);
  BankRequest request;
  request.kind = BankKind::low_rank;
  const auto low_rank = store_bank(dense, request, {});
  for (const char* method : {"uniform", "fheuristic", "gram"}) {
    const OptionValues options = {{"C", "1"}, {"tolerance", "1e-6"}};
    const FitResult one = find_learner(method).fit(*dense, problem.targets, options, {});
    const FitResult two = find_learner(method).fit(*low_rank, problem.targets, options, {});
    const auto shares = part_of<MarginPart>(one.model).norm_shares;
    for (std::size_t m = 0; m < shares.values().size(); ++m) {
      EXPECT_GT(shares.values()[m], 0.0) << method;
      // Solutions of a gap of 1e-6 are within its root of each other.
      EXPECT_NEAR(part_of<MarginPart>(two.model).norm_shares.values()[m], shares.values()[m], 5e-3) << method;
    }
    EXPECT_EQ(certify(*low_rank, problem.targets, two.model, {}).finding, Certificate::Finding::proved)
        << method;
  }
}

// A ratio that is not at its minimum yet is said not to be, by training and by the referee.
TEST(TwoStep, GramThatWasCutOffIsNotProved) {
  const BinaryProblem problem = test::binary_problem(60, 3, {0.5, 1.0, 3.0}, 7);
  const auto bank = bank_of(problem);
  const FitResult fit = find_learner("gram").fit(*bank, problem.targets, {{"C", "1"}, {"iterations", "2"}}, {});
  EXPECT_EQ(fit.report.status, Status::iteration_limit);
  ASSERT_FALSE(fit.report.warnings.empty());
  const Certificate certificate = certify(*bank, problem.targets, fit.model, {});
  EXPECT_EQ(certificate.finding, Certificate::Finding::checked);
  EXPECT_NE(certificate.verdict.find("ratio of radius and margin"), std::string::npos);
}

TEST(TwoStep, RulesForTwoSidesRefuseNumbersWithASentence) {
  const BinaryProblem problem = test::binary_problem(20, 2, {1.0}, 8);
  Targets numbers;
  numbers.task = Task::regression;
  numbers.values = Matrix(20, 1);
  for (Index i = 0; i < 20; ++i) numbers.values(i, 0) = problem.x(i, 0);
  const auto bank = bank_of(problem);
  for (const char* method : {"easymkl", "gram", "pwmk"})
    EXPECT_THROW((void)find_learner(method).fit(*bank, numbers, {}, {}), InvalidArgument) << method;
  for (const char* method : {"align", "alignf", "fheuristic"}) {
    const FitResult fit = find_learner(method).fit(*bank, numbers, {{"C", "1"}}, {});
    EXPECT_EQ(certify(*bank, numbers, fit.model, {}).finding, Certificate::Finding::proved) << method;
  }
}

}  // namespace
}  // namespace kloom
