// SPDX-License-Identifier: BSD-3-Clause
//
// Whole fits of BEMKL: properties that hold whatever the data, predictions by their formulas, sparse weights,
// refusals and options.
#include <gtest/gtest.h>

#include <boost/math/distributions/normal.hpp>

#include "kloom/certify.h"
#include "kloom/error.h"
#include "kloom/parts.h"
#include "unit/methods/bemkl/tasks.h"

namespace kloom {
namespace {

using namespace test;

BinaryProblem permuted(const BinaryProblem& problem, const std::vector<Index>& samples,
                       const std::vector<Index>& kernels) {
  BinaryProblem result = problem;
  for (std::size_t p = 0; p < kernels.size(); ++p) {
    const Matrix& from = problem.kernels[static_cast<std::size_t>(kernels[p])];
    for (Index i = 0; i < from.rows(); ++i) {
      for (Index j = 0; j < from.cols(); ++j) {
        result.kernels[p](i, j) =
            from(samples[static_cast<std::size_t>(i)], samples[static_cast<std::size_t>(j)]);
      }
    }
  }
  for (std::size_t i = 0; i < samples.size(); ++i) {
    result.targets.codes[i] = problem.targets.codes[static_cast<std::size_t>(samples[i])];
  }
  return result;
}

// The same sums in another order: over 200 iterations rounding grows to well below 1e-8 of the largest weight.
constexpr double kPermutationTolerance = 1e-8;

TEST(Bemkl, PermutedSamplesAndKernelsGiveThePermutedAnswer) {
  for (bool sparse : {false, true}) {
    BemklOptions options;
    options.sparse = sparse;
    const BinaryProblem problem = test::binary_problem(35, 3, {0.4, 1.0, 2.5}, 5);
    std::vector<Index> samples(35);
    for (std::size_t i = 0; i < samples.size(); ++i)
      samples[i] = static_cast<Index>((i * 11 + 4) % samples.size());
    const std::vector<Index> kernels = {2, 0, 3, 1};
    const FitResult straight = fit(problem, options);
    const FitResult turned = fit(permuted(problem, samples, kernels), options);
    Vector a;
    Vector e;
    for (Index i : samples) a.push_back(straight.model.coefficients(i, 0));
    for (Index p : kernels) e.push_back(straight.model.weights.values(0, p));
    EXPECT_EQ(straight.report.iterations, turned.report.iterations);
    EXPECT_LE(relative_difference(turned.model.coefficients.values(), a), kPermutationTolerance);
    EXPECT_LE(relative_difference(turned.model.weights.values.values(), e), kPermutationTolerance);
  }
}

TEST(Bemkl, FlippedLabelsGiveTheFlippedAnswer) {
  const BinaryProblem problem = test::binary_problem(30, 2, {0.5, 2.0}, 9);
  BinaryProblem flipped = problem;
  for (int& code : flipped.targets.codes) code = 1 - code;
  const FitResult straight = fit(problem);
  const FitResult turned = fit(flipped);
  Vector a;
  for (double value : straight.model.coefficients.values()) a.push_back(-value);
  // f changes sign, so a and b do, e does not; every operation is symmetric in the sign: the bits are the same.
  EXPECT_EQ(relative_difference(turned.model.coefficients.values(), a), 0.0);
  EXPECT_EQ(turned.model.bias[0], -straight.model.bias[0]);
  EXPECT_EQ(turned.model.weights.values, straight.model.weights.values);
  EXPECT_EQ(turned.report.objective, straight.report.objective);
}

TEST(Bemkl, SameSeedSameBits) {
  const BinaryProblem problem = test::binary_problem(25, 2, {0.5, 2.0}, 10);
  BemklOptions options;
  options.start = "random";
  const FitResult first = fit(problem, options);
  const FitResult second = fit(problem, options);
  EXPECT_EQ(first.model.coefficients, second.model.coefficients);
  EXPECT_EQ(first.model.weights.values, second.model.weights.values);
}

// A kernel of noise (unit diagonal, no relation to the labels) gets less weight than each informative one, and
// in the sparse setting next to none.
TEST(Bemkl, NoiseKernelGetsLittleWeight) {
  BinaryProblem problem = test::binary_problem(60, 2, {1.0}, 21);
  const Matrix noise = test::normal_matrix(60, 80, 99);
  problem.kernels[1] = test::cosine_kernel(noise, noise);
  BemklOptions options;
  options.sparse = true;
  const FitResult result = fit(problem, options);
  EXPECT_LT(std::abs(result.model.weights.values(0, 1)), 0.1 * std::abs(result.model.weights.values(0, 0)));
}

// BEMKL's prior is on weights, so a copy is not exactly neutral: it may turn a label that was open, never one
// that was clear (the score at least one standard deviation from 0).
TEST(Bemkl, DuplicatedKernelKeepsClearPredictions) {
  const BinaryProblem problem = test::binary_problem(60, 2, {0.5, 1.5}, 33);
  BinaryProblem doubled = problem;
  doubled.kernels.push_back(problem.kernels[0]);
  doubled.names.emplace_back("copy");
  const FitResult one = fit(problem);
  const FitResult two = fit(doubled);
  const Predictions p = predict(one.model, *make_dense_bank(problem.kernels, problem.names, true), {}, {});
  const Predictions q = predict(two.model, *make_dense_bank(doubled.kernels, doubled.names, true), {}, {});
  Index clear = 0;
  for (Index i = 0; i < 60; ++i) {
    if (std::abs(p.scores(i, 0)) < p.deviation(i, 0)) continue;
    ++clear;
    EXPECT_EQ(p.codes[static_cast<std::size_t>(i)], q.codes[static_cast<std::size_t>(i)]);
  }
  EXPECT_GT(clear, 20);
  // Equal kernels start equal and stay equal.
  EXPECT_NEAR(two.model.weights.values(0, 0), two.model.weights.values(0, 3), 1e-9);
}

TEST(Bemkl, PredictiveVarianceByItsFormula) {
  const BinaryProblem problem = test::binary_problem(30, 2, {0.5, 2.0}, 4);
  const FitResult result = fit(problem);
  const Matrix x_new = test::normal_matrix(7, 2, 500);
  std::vector<Matrix> cross;
  for (double width : {0.5, 2.0}) cross.push_back(test::rbf_kernel(x_new, problem.x, width));
  cross.push_back(test::cosine_kernel(x_new, problem.x));
  PredictOptions options;
  options.contributions = true;
  options.contribution_deviations = true;
  const Predictions p = predict(result.model, *make_dense_bank(cross, problem.names, false), options, {});
  const Model& m = result.model;
  const Eigen::VectorXd a = eigen(m.coefficients);
  const Eigen::MatrixXd sbe = eigen(part_of<BemklPosterior>(m).groups[0].be_covariance);
  const Eigen::MatrixXd sa = eigen(part_of<BemklPosterior>(m).groups[0].a_covariance[0]);
  const boost::math::normal normal;
  for (Index i = 0; i < 7; ++i) {
    Eigen::VectorXd one_g(4);
    one_g(0) = 1;
    Eigen::VectorXd ke = Eigen::VectorXd::Zero(30);
    double mean = m.bias[0];
    double second = 0;
    for (Index k = 0; k < 3; ++k) {
      const Eigen::VectorXd row = eigen(cross[static_cast<std::size_t>(k)]).row(i).transpose();
      const double e = m.weights.values(0, k);
      one_g(k + 1) = row.dot(a);
      ke += e * row;
      mean += e * row.dot(a);
      second += e * e + sbe(k + 1, k + 1);
      EXPECT_NEAR(p.contributions[0](i, k), e * row.dot(a), 1e-12);
      // E[e²] E[g²] − E[e]² E[g]² of two independent variables; g has the variance σ_g² + kᵀ Σ_a k.
      const double g2 = row.dot(a) * row.dot(a) + 1.0 + row.dot(sa * row);
      const double e2 = e * e + sbe(k + 1, k + 1);
      const double square = e2 * g2 - std::pow(e * row.dot(a), 2);
      EXPECT_NEAR(p.contribution_deviations[0](i, k), std::sqrt(square), 1e-10);
    }
    const double variance = 1 + one_g.dot(sbe * one_g) + second + ke.dot(sa * ke);  // σ_g = 1
    EXPECT_NEAR(p.scores(i, 0), mean, 1e-12);
    EXPECT_NEAR(p.deviation(i, 0), std::sqrt(variance), 1e-12);
    const double power = 1.0 / part_of<BemklPosterior>(m).temperature;
    const double margin = part_of<BemklPosterior>(m).prior.margin;
    const double up = std::pow(boost::math::cdf(normal, (mean - margin) / std::sqrt(variance)), power);
    const double down = std::pow(boost::math::cdf(normal, (-mean - margin) / std::sqrt(variance)), power);
    EXPECT_NEAR(p.probabilities(i, 1), up / (up + down), 1e-12);
    EXPECT_NEAR(p.probabilities(i, 0) + p.probabilities(i, 1), 1.0, 1e-15);
    EXPECT_EQ(p.codes[static_cast<std::size_t>(i)], mean > 0 ? 1 : 0);
  }
}

TEST(Bemkl, StopRequestLeavesAUsableModel) {
  const BinaryProblem problem = test::binary_problem(20, 2, {1.0}, 3);
  Context context;
  context.progress = [](const Progress& progress) { return progress.step >= 3 ? Signal::stop : Signal::go_on; };
  const auto bank = make_dense_bank(problem.kernels, problem.names, true);
  const FitResult result = methods::fit_bemkl(*bank, problem.targets, {}, context);
  EXPECT_EQ(result.report.status, Status::stopped);
  EXPECT_EQ(result.report.iterations, 3);
  EXPECT_NEAR(certify(*bank, problem.targets, result.model, {}).items[0].value, result.report.objective, 1e-6);
}

struct ManyFeatures {
  std::vector<Matrix> kernels;
  Targets targets;
};

// Forty kernels on single features, of which three matter.
ManyFeatures many_features(Task task) {
  const Index n = 100;
  const Matrix x = test::normal_matrix(n, 20, 31);
  ManyFeatures made;
  for (Index j = 0; j < 20; ++j) {
    Matrix one(n, 1);
    for (Index i = 0; i < n; ++i) one(i, 0) = x(i, j);
    for (const double width : {0.7, 2.0}) made.kernels.push_back(test::rbf_kernel(one, one, width));
  }
  made.targets.task = task;
  made.targets.classes = {"a", "b"};
  if (task == Task::multiclass) made.targets.classes.emplace_back("c");
  for (Index i = 0; i < n; ++i) {
    const double score = x(i, 0) + std::sin(2.0 * x(i, 1)) - x(i, 2) * x(i, 2) + 0.7;
    const int three = score > 0.8 ? 2 : (score > -0.5 ? 1 : 0);
    made.targets.codes.push_back(task == Task::binary ? (score > 0.0 ? 1 : 0) : three);
  }
  return made;
}

// The bound is that of the referee, near what thousands of plain updates reach, and few kernels are on.
TEST(Bemkl, SparseWeightsSwitchKernelsOff) {
  for (const Task task : {Task::binary, Task::multiclass}) {
    const ManyFeatures made = many_features(task);
    const auto bank = bank_of(made.kernels);
    BemklOptions options;
    options.sparse = true;
    options.calibration = "none";
    options.tolerance = 1e-6;
    const FitResult sparse = methods::fit_bemkl(*bank, made.targets, options, {});
    EXPECT_EQ(sparse.report.status, Status::converged);
    options.acceleration = "none";
    options.iterations = 2000;
    const FitResult plain = methods::fit_bemkl(*bank, made.targets, options, {});
    const double referee = certify(*bank, made.targets, sparse.model, {}).items[0].value;
    EXPECT_NEAR(referee, sparse.report.objective, 1e-8 * std::abs(referee));
    EXPECT_GE(sparse.report.objective, plain.report.objective - 2e-3 * std::abs(plain.report.objective));
    EXPECT_LT(sparse.report.iterations, plain.report.iterations);
    Index live = 0;
    for (const double w : sparse.model.weights.values.values()) live += std::abs(w) > 1e-3 ? 1 : 0;
    EXPECT_LE(live, 12);
  }
}

TEST(Bemkl, SparseSamplesLeaveTheModel) {
  const BinaryProblem problem = test::binary_problem(80, 2, {1.0, 2.0}, 12);
  BemklOptions options;
  const FitResult dense = fit(problem, options);
  options.sparse_samples = true;
  const FitResult sparse = fit(problem, options);
  Index used = 0;
  for (double a : sparse.model.coefficients.values()) used += a != 0.0 ? 1 : 0;
  EXPECT_LT(used, 40);
  EXPECT_GT(used, 0);
  const auto bank = bank_of(problem.kernels);
  const auto right = [&](const Model& model) {
    const Predictions p = predict(model, *bank, {}, {});
    Index count = 0;
    for (std::size_t i = 0; i < problem.targets.codes.size(); ++i)
      count += p.codes[i] == problem.targets.codes[i];
    return count;
  };
  EXPECT_GE(right(sparse.model), right(dense.model) - 8);
}

TEST(Bemkl, RefusesWhatItCannotLearn) {
  BinaryProblem problem = test::binary_problem(10, 2, {1.0}, 3);
  problem.targets.weights.assign(10, 1.0);
  problem.targets.weights[3] = -1.0;
  EXPECT_THROW((void)fit(problem), InvalidArgument);
  problem.targets.weights.clear();
  BemklOptions options;
  options.likelihood = "multinomial";  // for three classes and more
  EXPECT_THROW((void)fit(problem, options), InvalidArgument);
  problem.targets.codes.pop_back();
  EXPECT_THROW((void)fit(problem), InvalidArgument);
}

// Three classes: σ_g is one of three values, given again it makes the same model, and with two classes it is 1.
TEST(Bemkl, ChoosesTheDeviationOfOutputsForSeveralClasses) {
  const BinaryProblem problem = test::binary_problem(45, 2, {0.5, 1.0}, 8);
  const auto bank = make_dense_bank(problem.kernels, problem.names, true);
  EXPECT_EQ(methods::fit_bemkl(*bank, problem.targets, {}, {}).report.options.at("sigma_g"), "1");
  Targets three = problem.targets;
  three.task = Task::multiclass;
  three.classes = {"a", "b", "c"};
  for (std::size_t i = 0; i < three.codes.size(); i += 3) three.codes[i] = 2;
  const FitResult chosen = methods::fit_bemkl(*bank, three, {}, {});
  const std::string sigma_g = chosen.report.options.at("sigma_g");
  EXPECT_TRUE(sigma_g == "1" || sigma_g == "0.3" || sigma_g == "0.1") << sigma_g;
  methods::BemklOptions given;
  given.sigma_g = std::stod(sigma_g);
  EXPECT_EQ(methods::fit_bemkl(*bank, three, given, {}).model.coefficients, chosen.model.coefficients);
  // What was chosen is no worse on the held-out folds than the others (all samples take part here).
  const auto loss = [](const FitResult& fit) { return fit.report.tables.front().rows.front()[2]; };
  for (const double other : {1.0, 0.3}) {
    if (other < given.sigma_g) continue;
    methods::BemklOptions options;
    options.sigma_g = other;
    // The choice lets fits settle to 1e-4 of the bound.
    EXPECT_LE(loss(chosen), loss(methods::fit_bemkl(*bank, three, options, {})) + 1e-2);
  }
}

TEST(Bemkl, OptionsAreParsedAndRefusedByTheirTable) {
  const Learner& learner = find_learner("bemkl");
  const BinaryProblem problem = test::binary_problem(10, 2, {1.0}, 3);
  const auto bank = make_dense_bank(problem.kernels, problem.names, true);
  const FitResult result =
      learner.fit(*bank, problem.targets, {{"sigma_g", "0.5"}, {"iterations", "7"}, {"tolerance", "0"}}, {});
  EXPECT_EQ(result.report.iterations, 7);
  EXPECT_EQ(result.report.options.at("sigma_g"), "0.5");
  EXPECT_EQ(part_of<BemklPosterior>(result.model).prior.sigma_g, 0.5);
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"sigma_g", "-1"},
                                                                                    {"sigma_g", "abc"},
                                                                                    {"sigma_g", "nan"},
                                                                                    {"iterations", "2.5"},
                                                                                    {"sparse", "maybe"},
                                                                                    {"start", "middle"},
                                                                                    {"sigmag", "1"}}) {
    try {
      (void)learner.fit(*bank, problem.targets, {{name, value}}, {});
      ADD_FAILURE() << name << "=" << value << " was accepted";
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW((void)find_learner("bemlk"), InvalidArgument);
}

}  // namespace
}  // namespace kloom
