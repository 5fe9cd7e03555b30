// SPDX-License-Identifier: BSD-3-Clause
//
// BEMKL against a plain transcription of the model's definition (Eigen, full matrices, no shortcuts), and the
// properties that hold whatever the data.
#include "learners/bemkl.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <numbers>
#include <numeric>

#include "kloom/certify.h"
#include "kloom/error.h"
#include "support/problems.h"

namespace kloom {
namespace {

using learners::BemklFactors;
using learners::BemklHyper;
using learners::BemklOptions;
using learners::BemklStart;
using learners::GammaPrior;
using test::BinaryProblem;
using test::relative_difference;

Eigen::MatrixXd eigen(const Matrix& m) {
  return Eigen::Map<const Eigen::MatrixXd>(m.data(), m.rows(), m.cols());
}
Eigen::VectorXd eigen(const Vector& v) {
  return Eigen::Map<const Eigen::VectorXd>(v.data(), static_cast<Eigen::Index>(v.size()));
}

double log_det(const Eigen::MatrixXd& m) {
  return Eigen::MatrixXd(m.llt().matrixL()).diagonal().array().log().sum() * 2.0;
}

// E[log p(x)] + E[log p(v|x)] + H[q(x)] of one gamma-distributed precision.
double precision_part(const GammaPrior& prior, double mean, double second) {
  const double k = prior.shape + 0.5;
  const double scale = mean / k;
  const double mean_log = boost::math::digamma(k) + std::log(scale);
  const double log_prior = (prior.shape - 1) * mean_log - mean / prior.scale - std::lgamma(prior.shape) -
                           prior.shape * std::log(prior.scale);
  const double log_variable = 0.5 * mean_log - 0.5 * std::log(2 * std::numbers::pi) - 0.5 * mean * second;
  const double entropy = k + std::log(scale) + std::lgamma(k) + (1 - k) * boost::math::digamma(k);
  return log_prior + log_variable + entropy;
}

// The lower bound by its definition, from the factors and the kernels alone.
double naive_bound(const BinaryProblem& problem, const BemklHyper& h, const BemklFactors& q) {
  const Eigen::Index n = problem.x.rows();
  const auto p = static_cast<Eigen::Index>(problem.kernels.size());
  const double log2pi = std::log(2 * std::numbers::pi);
  const Eigen::VectorXd a = eigen(q.a());
  const Eigen::MatrixXd sa = eigen(q.a_covariance());
  const Eigen::MatrixXd g = eigen(q.intermediate());
  const Eigen::MatrixXd sg = eigen(q.g_covariance());
  const Eigen::VectorXd be = eigen(q.be());
  const Eigen::MatrixXd sbe = eigen(q.be_covariance());
  const Eigen::MatrixXd mbe = sbe + be * be.transpose();
  double bound = precision_part(h.gamma, q.gamma(), mbe(0, 0));
  for (Eigen::Index i = 0; i < n; ++i) {
    bound += precision_part(h.lambda, q.lambda()[static_cast<std::size_t>(i)], a(i) * a(i) + sa(i, i));
  }
  for (Eigen::Index m = 0; m < p; ++m) {
    bound += precision_part(h.omega, q.omega()[static_cast<std::size_t>(m)], mbe(m + 1, m + 1));
  }
  bound += 0.5 * (static_cast<double>(n) * (1 + log2pi) + log_det(sa));
  bound += 0.5 * (static_cast<double>(p + 1) * (1 + log2pi) + log_det(sbe));
  bound += 0.5 * static_cast<double>(n) * (static_cast<double>(p) * (1 + log2pi) + log_det(sg));
  for (Eigen::Index m = 0; m < p; ++m) {
    const Eigen::MatrixXd k = eigen(problem.kernels[static_cast<std::size_t>(m)]);
    for (Eigen::Index i = 0; i < n; ++i) {
      const double mean = g(i, m) - k.row(i).dot(a);
      const double square = mean * mean + sg(m, m) + k.row(i) * sa * k.row(i).transpose();
      bound += -0.5 * (log2pi + 2 * std::log(h.sigma_g)) - 0.5 * square / (h.sigma_g * h.sigma_g);
    }
  }
  const boost::math::normal normal;
  const Vector y = problem.targets.signs();
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto s = static_cast<std::size_t>(i);
    Eigen::VectorXd one_g(p + 1);
    one_g << 1.0, g.row(i).transpose();
    const double second = one_g.dot(mbe * one_g) + (mbe.bottomRightCorner(p, p) * sg).trace();
    const double location = q.f_location()[s];
    const double z = y[s] * location - h.margin;
    const double mass = boost::math::cdf(normal, z);
    const double hazard = boost::math::pdf(normal, z) / mass;
    const double f = location + y[s] * hazard;
    const double f_square = 1 - hazard * (z + hazard) + f * f;  // E f²
    const double log_p = -0.5 * log2pi - 0.5 * (f_square - 2 * f * be.dot(one_g) + second);
    const double entropy =
        0.5 * log2pi + 0.5 * (f_square - 2 * f * location + location * location) + std::log(mass);
    bound += log_p + entropy;
  }
  return bound;
}

BemklStart random_start(const BinaryProblem& problem, unsigned seed) {
  test::Normal normal(seed);
  const Index n = problem.x.rows();
  const auto p = static_cast<Index>(problem.kernels.size());
  const Vector y = problem.targets.signs();
  BemklStart start{Vector(y.size()), Matrix(n, p), Vector(y.size()), 0.0,
                   Vector(static_cast<std::size_t>(p), 1.0)};
  for (double& a : start.a) a = normal();
  for (Index m = 0; m < p; ++m) {
    for (Index i = 0; i < n; ++i)
      start.intermediate(i, m) = (std::abs(normal()) + 1) * y[static_cast<std::size_t>(i)];
  }
  for (std::size_t i = 0; i < y.size(); ++i) start.f[i] = (std::abs(normal()) + 1) * y[i];
  return start;
}

// After every factor update the bound equals its definition and has not fallen. Sizes of the rounding: the
// bound is a sum of about N·P terms; 1e-9 of its size is far above N·P·eps and far below any wrong term.
TEST(Bemkl, BoundIsExactAndNeverFallsAfterAnyFactorUpdate) {
  unsigned seed = 1;
  for (double sigma_g : {0.05, 0.1, 0.5, 1.0, 2.0}) {
    for (const GammaPrior omega : {GammaPrior{1.0, 1.0}, GammaPrior{1e-10, 1e+10}}) {
      for (Index n : {2, 12, 30}) {
        SCOPED_TRACE(testing::Message()
                     << "sigma_g " << sigma_g << ", shape of omega " << omega.shape << ", n " << n);
        const BinaryProblem problem = test::binary_problem(n, 3, {0.5, 1.0, 3.0}, ++seed);
        const auto bank = make_dense_bank(problem.kernels, problem.names, true);
        const BemklHyper hyper{sigma_g, 1.0, {1.0, 1.0}, {1.0, 1.0}, omega};
        BemklFactors q(*bank, problem.targets.signs(), hyper, random_start(problem, seed));
        ASSERT_TRUE(q.iterate());
        double last = q.lower_bound();
        const auto check = [&](const char* step) {
          const double now = q.lower_bound();
          const double slack = 1e-9 * std::max(1.0, std::abs(now));
          EXPECT_NEAR(now, naive_bound(problem, hyper, q), slack) << step;
          EXPECT_GE(now, last - slack) << step;
          last = now;
        };
        for (int iteration = 0; iteration < 12; ++iteration) {
          q.update_lambda();
          check("lambda");
          ASSERT_TRUE(q.update_a());
          check("a");
          ASSERT_TRUE(q.update_intermediate());
          check("G");
          q.update_gamma_omega();
          check("gamma, omega");
          ASSERT_TRUE(q.update_be());
          check("(b, e)");
          q.update_f();
          check("f");
        }
      }
    }
  }
}

// The referee, which shares no code with the learner, finds the bound that the learner reports.
TEST(Bemkl, RefereeFindsTheReportedBound) {
  for (bool sparse : {false, true}) {
    const BinaryProblem problem = test::binary_problem(40, 3, {0.5, 1.0, 2.0, 4.0}, 77);
    const auto bank = make_dense_bank(problem.kernels, problem.names, true);
    BemklOptions options;
    options.sparse = sparse;
    const FitResult fit = learners::fit_bemkl(*bank, problem.targets, options, {});
    const Certificate certificate = certify(*bank, problem.targets, fit.model, {});
    ASSERT_EQ(certificate.items.at(0).name, "lower bound");
    EXPECT_NEAR(certificate.items[0].value, fit.report.objective, 1e-9 * std::abs(fit.report.objective));
    EXPECT_FALSE(certificate.proof);
    // A weight that is not where the learner left it shows in both numbers.
    Model altered = fit.model;
    altered.coefficients(0, 0) += 0.5;
    const Certificate worse = certify(*bank, problem.targets, altered, {});
    EXPECT_LT(worse.items[0].value, certificate.items[0].value - 1e-3);
    EXPECT_GT(worse.items[1].value, 10 * certificate.items[1].value);
  }
}

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

FitResult fit(const BinaryProblem& problem, const BemklOptions& options = {}) {
  const auto bank = make_dense_bank(problem.kernels, problem.names, true);
  return learners::fit_bemkl(*bank, problem.targets, options, {});
}

// The same sums in another order: rounding of 1e-16 grows over 200 iterations to well below 1e-8 of the largest
// weight.
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
  // f changes sign, so a and b do, e does not; every operation is symmetric in the sign, so the bits are the
  // same.
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
  const Predictions p = predict(result.model, *make_dense_bank(cross, problem.names, false), options, {});
  const Model& m = result.model;
  const Eigen::VectorXd a = eigen(m.coefficients);
  const Eigen::MatrixXd sbe = eigen(m.bemkl->be_covariance);
  const Eigen::MatrixXd sa = eigen(m.bemkl->a_covariance);
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
    }
    const double variance = 1 + one_g.dot(sbe * one_g) + second + ke.dot(sa * ke);  // σ_g = 1
    EXPECT_NEAR(p.scores(i, 0), mean, 1e-12);
    EXPECT_NEAR(p.deviation(i, 0), std::sqrt(variance), 1e-12);
    const double up = boost::math::cdf(normal, (mean - 1) / std::sqrt(variance));
    const double down = boost::math::cdf(normal, (-mean - 1) / std::sqrt(variance));
    EXPECT_NEAR(p.probabilities(i, 1), up / (up + down), 1e-12);
    EXPECT_NEAR(p.probabilities(i, 0) + p.probabilities(i, 1), 1.0, 1e-15);
    EXPECT_EQ(p.codes[static_cast<std::size_t>(i)], mean > 0 ? 1 : 0);
  }
}

TEST(Bemkl, HugeKernelsAreReportedAsNumericalTroubleOrSolved) {
  BinaryProblem problem = test::binary_problem(12, 2, {1.0}, 3);
  for (double& value : problem.kernels[0].values()) value *= 1e160;
  const FitResult result = fit(problem);
  EXPECT_EQ(result.report.status, Status::numerical_trouble);
  EXPECT_NE(result.report.message.find("normalise"), std::string::npos);
}

TEST(Bemkl, StopRequestLeavesAUsableModel) {
  const BinaryProblem problem = test::binary_problem(20, 2, {1.0}, 3);
  Context context;
  context.progress = [](const Progress& progress) { return progress.step >= 3 ? Signal::stop : Signal::go_on; };
  const auto bank = make_dense_bank(problem.kernels, problem.names, true);
  const FitResult result = learners::fit_bemkl(*bank, problem.targets, {}, context);
  EXPECT_EQ(result.report.status, Status::stopped);
  EXPECT_EQ(result.report.iterations, 3);
  EXPECT_NEAR(certify(*bank, problem.targets, result.model, {}).items[0].value, result.report.objective, 1e-6);
}

TEST(Bemkl, RefusesWhatItCannotLearn) {
  BinaryProblem problem = test::binary_problem(10, 2, {1.0}, 3);
  problem.targets.codes[4] = Targets::unlabelled;
  EXPECT_THROW((void)fit(problem), InvalidArgument);
  problem.targets.codes[4] = 0;
  problem.targets.weights.assign(10, 2.0);
  EXPECT_THROW((void)fit(problem), InvalidArgument);
  problem.targets.weights.clear();
  problem.targets.task = Task::multiclass;
  EXPECT_THROW((void)fit(problem), InvalidArgument);
}

TEST(Bemkl, OptionsAreParsedAndRefusedByTheirTable) {
  const Learner& learner = find_learner("bemkl");
  const BinaryProblem problem = test::binary_problem(10, 2, {1.0}, 3);
  const auto bank = make_dense_bank(problem.kernels, problem.names, true);
  const FitResult result =
      learner.fit(*bank, problem.targets, {{"sigma_g", "0.5"}, {"iterations", "7"}, {"tolerance", "0"}}, {});
  EXPECT_EQ(result.report.iterations, 7);
  EXPECT_EQ(result.report.options.at("sigma_g"), "0.5");
  EXPECT_EQ(result.model.bemkl->sigma_g, 0.5);
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"sigma_g", "0"},
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
