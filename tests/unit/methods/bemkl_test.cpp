// SPDX-License-Identifier: BSD-3-Clause
//
// BEMKL against a plain transcription of the model's definition (Eigen, full matrices, no shortcuts), and the
// properties that hold whatever the data.
#include "methods/bemkl/bemkl.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <numbers>
#include <numeric>

#include "algebra/threads.h"
#include "kloom/certify.h"
#include "kloom/error.h"
#include "kloom/parts.h"
#include "support/problems.h"

namespace kloom {
namespace {

using methods::BemklFactors;
using methods::BemklHyper;
using methods::BemklLikelihood;
using methods::BemklOptions;
using methods::BemklProblem;
using methods::BemklStart;
using methods::GammaPrior;
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

// A problem of any task: kernels, and targets as the factors take them.
struct FamilyTask {
  const char* name;
  std::vector<Matrix> kernels;
  BemklProblem problem;
  bool non_negative = false;
};

double gamma_part(const GammaPrior& prior, double k, double mean) {
  const double scale = mean / k;
  const double mean_log = boost::math::digamma(k) + std::log(scale);
  return (prior.shape - 1) * mean_log - mean / prior.scale - std::lgamma(prior.shape) -
         prior.shape * std::log(prior.scale) + k + std::log(scale) + std::lgamma(k) +
         (1 - k) * boost::math::digamma(k);
}

// log of the mass that the label leaves of N(location, I), and the mean of what is left, by brute force.
double naive_mass(BemklLikelihood likelihood, const Vector& location, const Vector& y, double margin,
                  Vector& mean) {
  const boost::math::normal normal;
  mean = location;
  double log_mass = 0.0;
  if (likelihood == BemklLikelihood::probit) {
    for (std::size_t c = 0; c < y.size(); ++c) {
      const double above = y[c] >= 0 ? boost::math::cdf(normal, location[c] - margin) : 0.0;
      const double below = y[c] <= 0 ? boost::math::cdf(normal, -location[c] - margin) : 0.0;
      const double edge_up = y[c] >= 0 ? boost::math::pdf(normal, margin - location[c]) : 0.0;
      const double edge_down = y[c] <= 0 ? boost::math::pdf(normal, margin + location[c]) : 0.0;
      log_mass += std::log(above + below);
      mean[c] += (edge_up - edge_down) / (above + below);
    }
    return log_mass;
  }
  const auto label = static_cast<std::size_t>(std::max_element(y.begin(), y.end()) - y.begin());
  if (y[label] <= 0.0) return 0.0;
  double total = 0.0;
  Vector loss(y.size());
  for (double u = -10.0; u < 14.0; u += 0.02) {
    double density = 0.02 * boost::math::pdf(normal, u);
    for (std::size_t c = 0; c < y.size(); ++c) {
      if (c != label) density *= boost::math::cdf(normal, u + location[label] - location[c]);
    }
    total += density;
    for (std::size_t c = 0; c < y.size(); ++c) {
      const double z = u + location[label] - location[c];
      if (c != label && density > 0.0)
        loss[c] += density * boost::math::pdf(normal, z) / boost::math::cdf(normal, z);
    }
  }
  for (std::size_t c = 0; c < y.size(); ++c) {
    mean[c] -= loss[c] / total;
    mean[label] += loss[c] / total;
  }
  return std::log(total);
}

double weight_part(const BemklHyper& h, const BemklFactors& q) {
  const double log2pi = std::log(2 * std::numbers::pi);
  const Eigen::MatrixXd sbe = eigen(q.be_covariance());
  const auto dimension = static_cast<double>(sbe.rows());
  if (!h.non_negative) return 0.5 * (dimension * (1 + log2pi) + log_det(sbe));
  const boost::math::normal normal;
  double sum = 0.0;
  for (Index c = 0; c < q.outputs(); ++c) sum += 0.5 * (1 + log2pi + std::log(sbe(c, c)));
  for (Index m = 0; m < q.kernels(); ++m) {
    const double l = q.e_location()[static_cast<std::size_t>(m)];
    const double t = q.e_precision()[static_cast<std::size_t>(m)];
    const double d = q.be()[static_cast<std::size_t>(q.outputs() + m)] - l;
    const double square = sbe(q.outputs() + m, q.outputs() + m) + d * d;
    sum += std::log(2.0) + 0.5 * (log2pi - std::log(t)) + std::log(boost::math::cdf(normal, l * std::sqrt(t))) +
           0.5 * t * square;
  }
  return sum;
}

// The lower bound by its definition, from the factors and the kernels alone.
double naive_bound(const FamilyTask& task, const BemklHyper& h, const BemklFactors& q) {
  const Eigen::Index n = q.samples();
  const Eigen::Index p = q.kernels();
  const Index outputs = q.outputs();
  const auto count = static_cast<double>(n);
  const bool gaussian = task.problem.likelihood == BemklLikelihood::gaussian;
  const double log2pi = std::log(2 * std::numbers::pi);
  const Eigen::VectorXd be = eigen(q.be());
  const Eigen::MatrixXd mbe = eigen(q.be_covariance()) + be * be.transpose();
  double bound = weight_part(h, q);
  for (Eigen::Index m = 0; m < p; ++m) {
    bound += precision_part(h.omega, q.omega()[static_cast<std::size_t>(m)], mbe(outputs + m, outputs + m));
  }
  std::vector<Vector> means;
  for (Index c = 0; c < outputs; ++c) {
    const auto s = static_cast<std::size_t>(c);
    const Eigen::VectorXd a = eigen(q.a()).col(c);
    const Eigen::MatrixXd sa = eigen(q.a_covariance(c));
    const Eigen::MatrixXd sg = eigen(q.g_covariance(c));
    const Eigen::MatrixXd g = Eigen::Map<const Eigen::MatrixXd>(q.intermediate().column(c).data(), n, p);
    bound += precision_part(h.gamma, q.gamma()[s], mbe(c, c));
    for (Eigen::Index i = 0; i < n; ++i)
      bound += precision_part(h.lambda, q.lambda()(i, c), a(i) * a(i) + sa(i, i));
    bound += 0.5 * (count * (1 + log2pi) + log_det(sa));
    bound += 0.5 * count * (static_cast<double>(p) * (1 + log2pi) + log_det(sg));
    const double k = h.upsilon.shape + 0.5 * count * static_cast<double>(p);
    const double log_upsilon =
        gaussian ? boost::math::digamma(k) + std::log(q.upsilon()[s] / k) : -2 * std::log(h.sigma_g);
    if (gaussian) bound += gamma_part(h.upsilon, k, q.upsilon()[s]);
    for (Eigen::Index m = 0; m < p; ++m) {
      const Eigen::MatrixXd kernel = eigen(task.kernels[static_cast<std::size_t>(m)]);
      for (Eigen::Index i = 0; i < n; ++i) {
        const double mean = g(i, m) - kernel.row(i).dot(a);
        const double square = mean * mean + sg(m, m) + kernel.row(i) * sa * kernel.row(i).transpose();
        bound += 0.5 * (log_upsilon - log2pi) - 0.5 * q.upsilon()[s] * square;
      }
    }
    // E(eᵀg + b)² and its mean, per sample.
    const double ke = h.epsilon.shape + 0.5 * count;
    const double log_epsilon = gaussian ? boost::math::digamma(ke) + std::log(q.epsilon()[s] / ke) : 0.0;
    if (gaussian) bound += gamma_part(h.epsilon, ke, q.epsilon()[s]);
    for (Eigen::Index i = 0; i < n; ++i) {
      const Eigen::VectorXd gi = g.row(i).transpose();
      const Eigen::MatrixXd mee = mbe.bottomRightCorner(p, p);
      const double mean = be(c) + be.tail(p).dot(gi);
      const double second = mbe(c, c) + 2 * gi.dot(mbe.col(c).tail(p)) + gi.dot(mee * gi) + (mee * sg).trace();
      if (gaussian) {
        const double y = task.problem.targets(i, c);
        bound += 0.5 * (log_epsilon - log2pi) - 0.5 * q.epsilon()[s] * (y * y - 2 * y * mean + second);
      } else {
        const double location = q.f_location()(i, c);
        bound += q.f()(i, c) * (mean - location) + 0.5 * location * location - 0.5 * second;
      }
    }
  }
  for (Eigen::Index i = 0; i < n && !gaussian; ++i) {
    Vector location, y, mean;
    for (Index c = 0; c < outputs; ++c) {
      location.push_back(q.f_location()(i, c));
      y.push_back(task.problem.targets(i, c));
    }
    bound += naive_mass(task.problem.likelihood, location, y, h.margin, mean);
    for (Index c = 0; c < outputs; ++c) {
      EXPECT_NEAR(q.f()(i, c), mean[static_cast<std::size_t>(c)], 1e-7) << "mean of f, sample " << i;
    }
  }
  return bound;
}

BemklStart random_start(const FamilyTask& task, unsigned seed) {
  test::Normal normal(seed);
  const Matrix& y = task.problem.targets;
  const auto p = static_cast<Index>(task.kernels.size());
  BemklStart start{Matrix(y.rows(), y.cols()), Matrix(y.rows() * p, y.cols()), Matrix(y.rows(), y.cols()),
                   Vector(static_cast<std::size_t>(y.cols())), Vector(static_cast<std::size_t>(p), 1.0)};
  for (double& a : start.a.values()) a = normal();
  for (Index c = 0; c < y.cols(); ++c) {
    for (Index k = 0; k < y.rows() * p; ++k)
      start.intermediate(k, c) = (std::abs(normal()) + 1) * y(k % y.rows(), c);
    for (Index i = 0; i < y.rows(); ++i) start.f(i, c) = (std::abs(normal()) + 1) * y(i, c);
  }
  return start;
}

// Every task of the family on the same kernels.
std::vector<FamilyTask> all_tasks(Index n, unsigned seed, const std::vector<double>& widths = {0.5, 1.0, 3.0}) {
  const BinaryProblem made = test::binary_problem(n, 3, widths, seed);
  const Vector signs = made.targets.signs();
  Matrix one(n, 1);
  std::ranges::copy(signs, one.values().begin());
  Matrix three(n, 3, -1.0);
  for (Index i = 0; i < n; ++i) three(i, signs[static_cast<std::size_t>(i)] > 0 ? 0 : 1 + i % 2) = 1.0;
  Matrix missing = one;
  Matrix missing_three = three;
  for (Index i = 0; i < n; i += 3) {
    missing(i, 0) = 0.0;
    for (Index c = 0; c < 3; ++c) missing_three(i, c) = 0.0;
  }
  Matrix labels = three;
  for (Index i = 0; i < n; i += 4) labels(i, 2) = 1.0;  // more than one label, or none
  Matrix numbers = test::normal_matrix(n, 1, seed + 100);
  Matrix two_numbers = test::normal_matrix(n, 2, seed + 101);
  using L = BemklLikelihood;
  return {{"binary", made.kernels, {L::probit, one, {}}},
          {"binary, non-negative", made.kernels, {L::probit, one, {}}, true},
          {"binary, some without label", made.kernels, {L::probit, missing, {}}},
          {"multiclass", made.kernels, {L::probit, three, {}}},
          {"multiclass, non-negative", made.kernels, {L::probit, three, {}}, true},
          {"multiclass, some without label", made.kernels, {L::probit, missing_three, {}}},
          {"multinomial", made.kernels, {L::multinomial, three, {}}},
          {"multinomial, some without label", made.kernels, {L::multinomial, missing_three, {}}},
          {"multilabel", made.kernels, {L::probit, labels, {}}},
          {"regression", made.kernels, {L::gaussian, numbers, {}}},
          {"regression, non-negative", made.kernels, {L::gaussian, numbers, {}}, true},
          {"two numbers", made.kernels, {L::gaussian, two_numbers, {}}}};
}

std::unique_ptr<KernelBank> bank_of(const std::vector<Matrix>& kernels) {
  return make_dense_bank(kernels, std::vector<std::string>(kernels.size(), "kernel"), true);
}

// After every factor update the bound equals its definition and has not fallen. Sizes of the rounding: the
// bound is a sum of about N·P·M terms; 1e-9 of its size is far above N·P·M·eps and far below any wrong term.
void check_updates(const FamilyTask& task, const BemklHyper& hyper, unsigned seed, int iterations) {
  const auto bank = bank_of(task.kernels);
  BemklFactors q(*bank, task.problem, hyper, random_start(task, seed));
  const bool gaussian = task.problem.likelihood == BemklLikelihood::gaussian;
  ASSERT_TRUE(q.iterate());
  double last = q.lower_bound();
  const auto check = [&](const char* step) {
    const double now = q.lower_bound();
    const double slack = 1e-9 * std::max(1.0, std::abs(now));
    EXPECT_NEAR(now, naive_bound(task, hyper, q), slack) << step;
    EXPECT_GE(now, last - slack) << step;
    last = now;
  };
  for (int iteration = 0; iteration < iterations; ++iteration) {
    q.update_lambda();
    check("lambda");
    if (gaussian) q.update_upsilon();
    check("upsilon");
    ASSERT_TRUE(q.update_a());
    check("a");
    ASSERT_TRUE(q.update_intermediate());
    check("G");
    q.update_gamma_omega();
    check("gamma, omega");
    if (gaussian) q.update_epsilon();
    check("epsilon");
    ASSERT_TRUE(q.update_be());
    check("(b, e)");
    if (!gaussian) q.update_f();
    check("f");
  }
  for (int iteration = 0; iteration < 3; ++iteration) {
    ASSERT_TRUE(q.iterate_from_intermediate(true));
    check("cycle with a and G together");
  }
}

TEST(Bemkl, BoundIsExactAndNeverFallsAfterAnyFactorUpdate) {
  unsigned seed = 1;
  for (double sigma_g : {0.05, 0.1, 0.5, 1.0, 2.0}) {
    for (const GammaPrior omega : {GammaPrior{1.0, 1.0}, GammaPrior{1e-10, 1e+10}}) {
      for (Index n : {2, 12, 30}) {
        SCOPED_TRACE(testing::Message()
                     << "sigma_g " << sigma_g << ", shape of omega " << omega.shape << ", n " << n);
        const FamilyTask task = all_tasks(n, ++seed).front();
        check_updates(task, {sigma_g, 1.0, {1.0, 1.0}, {1.0, 1.0}, omega, {}, {}, false}, seed, 12);
      }
    }
  }
}

TEST(Bemkl, BoundIsExactAndNeverFallsForEveryTask) {
  for (double sigma_g : {0.1, 1.0}) {
    for (const FamilyTask& task : all_tasks(14, 5)) {
      SCOPED_TRACE(testing::Message() << task.name << ", sigma_g " << sigma_g);
      BemklHyper hyper;
      hyper.sigma_g = sigma_g;
      hyper.non_negative = task.non_negative;
      check_updates(task, hyper, 9, 3);
    }
  }
}

std::vector<double> many_widths(int count) {
  std::vector<double> widths;
  for (int k = 0; k < count; ++k) widths.push_back(std::exp2(-3.0 + 8.0 * k / count));
  return widths;
}

// More than four kernels for every sample and output: both covariances are then kept as a diagonal and few
// directions.
TEST(Bemkl, BoundIsExactAndNeverFallsWithManyKernels) {
  for (double sigma_g : {0.05, 0.3, 2.0}) {
    for (const GammaPrior omega : {GammaPrior{1.0, 1.0}, GammaPrior{1e-10, 1e+10}}) {
      for (const FamilyTask& task : all_tasks(6, 5, many_widths(75))) {
        if (task.problem.likelihood == BemklLikelihood::gaussian || task.non_negative) continue;
        SCOPED_TRACE(testing::Message()
                     << task.name << ", sigma_g " << sigma_g << ", shape of omega " << omega.shape);
        check_updates(task, {sigma_g, 1.0, {1.0, 1.0}, {1.0, 1.0}, omega, {}, {}, task.non_negative}, 9, 4);
      }
    }
  }
}

// Enough samples and kernels for Σ(e) by powers of T.
TEST(Bemkl, BoundIsExactAndNeverFallsWithManySamples) {
  for (double sigma_g : {0.1, 1.0}) {
    const FamilyTask task = all_tasks(110, 5, many_widths(66)).front();
    SCOPED_TRACE(testing::Message() << task.name << ", sigma_g " << sigma_g);
    BemklHyper hyper;
    hyper.sigma_g = sigma_g;
    check_updates(task, hyper, 9, 4);
  }
}

// Rounded kernels take small differences alone: what they change is nothing, and halved ones would change all.
TEST(Bemkl, RoundedKernelsGiveTheSameFit) {
  const BinaryProblem problem = test::binary_problem(70, 3, many_widths(24), 5);
  const auto bank = bank_of(problem.kernels);
  std::vector<Matrix> halves = problem.kernels;
  for (Matrix& k : halves) {
    for (double& value : k.values()) value *= 0.5;
  }
  const methods::BemklProblem of_task = methods::bemkl_plan(problem.targets, {}).problems.front();
  const methods::BemklStart start{Matrix(70, 1, 0.1),
                                   Matrix(70 * bank->kernels(), 1, 0.1),
                                   of_task.targets,
                                   {0.0},
                                   Vector(static_cast<std::size_t>(bank->kernels()), 0.3)};
  BemklFactors plain(*bank, of_task, {}, start);
  BemklFactors rounded(*bank, of_task, {}, start, bank->rounded());
  BemklFactors wrong(*bank, of_task, {}, start, bank_of(halves));
  for (int k = 0; k < 60; ++k) {
    ASSERT_TRUE(k < 40 ? plain.iterate() : plain.iterate_from_intermediate(true));
    ASSERT_TRUE(k < 40 ? rounded.iterate() : rounded.iterate_from_intermediate(true));
    if (k < 40) {
      ASSERT_TRUE(wrong.iterate());
    }
    if (k == 39) {
      EXPECT_GT(relative_difference(wrong.be(), plain.be()), 1e-3);
    }
    EXPECT_LE(relative_difference(rounded.be(), plain.be()), 3e-8) << "iteration " << k;
    EXPECT_NEAR(rounded.lower_bound(), plain.lower_bound(), 1e-9 * std::abs(plain.lower_bound()));
  }
}

// Σ(g) = (I/σ_g² + Σ(e) + μμᵀ)⁻¹ exactly, Σ(e) = (diag ω + Σ_c G_cᵀ(I − 11ᵀ/c_c)G_c + NM Σ(g))⁻¹ up to the 3e-8
// of its inverse that may be left out, which is less than that part of Σ(e).
TEST(Bemkl, CovariancesOfManyKernelsAreInverses) {
  for (const FamilyTask& task : all_tasks(20, 8, many_widths(250))) {
    if (task.problem.likelihood == BemklLikelihood::gaussian || task.non_negative) continue;
    SCOPED_TRACE(task.name);
    BemklHyper hyper;
    hyper.sigma_g = 0.8;
    const auto bank = bank_of(task.kernels);
    BemklFactors q(*bank, task.problem, hyper, random_start(task, 3));
    const Index p = q.kernels();
    const Index n = q.samples();
    for (int iteration = 0; iteration < 12; ++iteration) {
      q.update_lambda();
      ASSERT_TRUE(q.update_a());
      const Eigen::VectorXd e = eigen(q.be()).tail(p);
      Eigen::MatrixXd precision = eigen(q.be_covariance()).bottomRightCorner(p, p) + e * e.transpose();
      precision.diagonal().array() += 1.0 / (hyper.sigma_g * hyper.sigma_g);
      ASSERT_TRUE(q.update_intermediate());
      const Eigen::MatrixXd of_g = eigen(q.g_covariance());
      EXPECT_LT((of_g * precision - Eigen::MatrixXd::Identity(p, p)).cwiseAbs().maxCoeff(), 1e-10);
      q.update_gamma_omega();
      precision = static_cast<double>(n * q.outputs()) * of_g;
      precision.diagonal() += eigen(q.omega());
      for (Index c = 0; c < q.outputs(); ++c) {
        const Eigen::Map<const Eigen::MatrixXd> g(q.intermediate().column(c).data(), n, p);
        const Eigen::VectorXd sum = g.colwise().sum();
        const double own = q.gamma()[static_cast<std::size_t>(c)] + static_cast<double>(n);
        precision += g.transpose() * g - sum * sum.transpose() / own;
      }
      ASSERT_TRUE(q.update_be());
      const Eigen::MatrixXd of_e = eigen(q.be_covariance()).bottomRightCorner(p, p);
      const Eigen::MatrixXd inverse = precision.inverse();
      EXPECT_LT((of_e - inverse).norm(), 3e-8 * inverse.norm()) << "iteration " << iteration;
      q.update_f();
    }
  }
}

// The cycle entered before q(G) goes on from the state: another state changes it, setting the one that was
// there brings it back.
TEST(Bemkl, StateIsAllThatTheCycleGoesOnFrom) {
  for (const FamilyTask& task : all_tasks(20, 6)) {
    SCOPED_TRACE(task.name);
    BemklHyper hyper;
    hyper.non_negative = task.non_negative;
    const auto bank = bank_of(task.kernels);
    BemklFactors q(*bank, task.problem, hyper, random_start(task, 3));
    for (int k = 0; k < 5; ++k) ASSERT_TRUE(q.iterate());
    BemklFactors elsewhere(*bank, task.problem, hyper, random_start(task, 4));
    ASSERT_TRUE(elsewhere.iterate());
    BemklFactors other = q;
    ASSERT_TRUE(other.set_state(elsewhere.state(), elsewhere));
    ASSERT_TRUE(other.iterate_from_intermediate(true));
    EXPECT_NE(other.lower_bound(), q.lower_bound());
    ASSERT_TRUE(other.set_state(q.state(), q));
    ASSERT_TRUE(q.iterate_from_intermediate(true));
    ASSERT_TRUE(other.iterate_from_intermediate(true));
    EXPECT_NEAR(other.lower_bound(), q.lower_bound(), 1e-10 * std::abs(q.lower_bound()));
    EXPECT_LE(relative_difference(other.state(), q.state()), 1e-10);
  }
}

// The referee, which shares no code with the learner, finds the bound that the learner reports.
TEST(Bemkl, RefereeFindsTheReportedBound) {
  for (bool sparse : {false, true}) {
    const BinaryProblem problem = test::binary_problem(40, 3, {0.5, 1.0, 2.0, 4.0}, 77);
    const auto bank = make_dense_bank(problem.kernels, problem.names, true);
    BemklOptions options;
    options.sparse = sparse;
    const FitResult fit = methods::fit_bemkl(*bank, problem.targets, options, {});
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
  return methods::fit_bemkl(*bank, problem.targets, options, {});
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
  const Eigen::MatrixXd sbe = eigen(m.bemkl->groups[0].be_covariance);
  const Eigen::MatrixXd sa = eigen(m.bemkl->groups[0].a_covariance[0]);
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
    const double power = 1.0 / m.bemkl->temperature;
    const double margin = m.bemkl->margin;
    const double up = std::pow(boost::math::cdf(normal, (mean - margin) / std::sqrt(variance)), power);
    const double down = std::pow(boost::math::cdf(normal, (-mean - margin) / std::sqrt(variance)), power);
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
  const FitResult result = methods::fit_bemkl(*bank, problem.targets, {}, context);
  EXPECT_EQ(result.report.status, Status::stopped);
  EXPECT_EQ(result.report.iterations, 3);
  EXPECT_NEAR(certify(*bank, problem.targets, result.model, {}).items[0].value, result.report.objective, 1e-6);
}

// Targets for fits through the registry's interface.
Targets targets_of(Task task, Index n, unsigned seed, bool some_unlabelled = false) {
  Targets targets;
  targets.task = task;
  test::Normal normal(seed);
  if (task == Task::binary || task == Task::multiclass) {
    const int classes = task == Task::binary ? 2 : 3;
    for (int c = 0; c < classes; ++c) targets.classes.emplace_back(1, static_cast<char>('a' + c));
    for (Index i = 0; i < n; ++i)
      targets.codes.push_back(some_unlabelled && i % 3 == 0 ? Targets::unlabelled
                                                            : static_cast<int>(i * 7 % classes));
    return targets;
  }
  targets.values = test::normal_matrix(n, task == Task::regression ? 1 : 2, seed);
  if (task == Task::multilabel) {
    targets.classes = {"red", "green"};
    for (double& value : targets.values.values()) value = value > 0 ? 1.0 : 0.0;
  }
  return targets;
}

struct Variant {
  const char* name;
  Targets targets;
  BemklOptions options;
};

std::vector<Variant> variants(Index n) {
  BemklOptions plain;
  plain.iterations = 40;
  BemklOptions apart = plain;
  apart.multiclass = "one-versus-all";
  BemklOptions largest = plain;
  largest.likelihood = "multinomial";
  BemklOptions positive = plain;
  positive.non_negative = true;
  BemklOptions balanced = plain;
  balanced.class_weight = "balanced";
  Targets weighted = targets_of(Task::binary, n, 3);
  for (Index i = 0; i < n; ++i) weighted.weights.push_back(i % 5 == 0 ? 0.0 : 0.5 + static_cast<double>(i % 3));
  Targets weighted_numbers = targets_of(Task::regression, n, 4);
  weighted_numbers.weights = weighted.weights;
  Targets weighted_classes = targets_of(Task::multiclass, n, 5);
  weighted_classes.weights = weighted.weights;
  return {{"binary", targets_of(Task::binary, n, 1), plain},
          {"binary, weighted", weighted, plain},
          {"binary, unlabelled", targets_of(Task::binary, n, 2, true), plain},
          {"binary, non-negative", targets_of(Task::binary, n, 2), positive},
          {"multiclass", targets_of(Task::multiclass, n, 3), plain},
          {"multiclass, balanced", targets_of(Task::multiclass, n, 3), balanced},
          {"multiclass, unlabelled", targets_of(Task::multiclass, n, 3, true), plain},
          {"one-versus-all", targets_of(Task::multiclass, n, 3), apart},
          {"one-versus-all, unlabelled", targets_of(Task::multiclass, n, 3, true), apart},
          {"multinomial", targets_of(Task::multiclass, n, 3), largest},
          {"multinomial, weighted, unlabelled", weighted_classes, largest},
          {"multilabel", targets_of(Task::multilabel, n, 6), plain},
          {"regression", targets_of(Task::regression, n, 7), plain},
          {"regression, weighted", weighted_numbers, plain},
          {"regression, non-negative", targets_of(Task::regression, n, 7), positive},
          {"two numbers", targets_of(Task::multi_regression, n, 8), plain}};
}

// The referee's plain pass, sample by sample with its weight, finds the bound of every task; the trace rises;
// the model can be asked.
TEST(Bemkl, RefereeFindsTheBoundOfEveryTask) {
  const BinaryProblem made = test::binary_problem(24, 3, {0.5, 1.0, 3.0}, 8);
  const auto bank = bank_of(made.kernels);
  for (const Variant& v : variants(24)) {
    SCOPED_TRACE(v.name);
    const FitResult fit = methods::fit_bemkl(*bank, v.targets, v.options, {});
    ASSERT_NE(fit.report.status, Status::numerical_trouble);
    EXPECT_NEAR(certify(*bank, v.targets, fit.model, {}).items[0].value, fit.report.objective,
                1e-8 * std::abs(fit.report.objective));
    for (std::size_t k = 1; k < fit.report.trace.size(); ++k) {
      EXPECT_GE(fit.report.trace[k].objective,
                fit.report.trace[k - 1].objective - 1e-9 * std::abs(fit.report.objective));
    }
    const Predictions p = predict(fit.model, *bank, {}, {});
    EXPECT_EQ(p.deviation.cols(), p.scores.cols());
    for (double d : p.deviation.values()) EXPECT_GT(d, 0.0);
    if (v.targets.task == Task::multiclass) {
      for (Index i = 0; i < 24; ++i) {
        double sum = 0.0;
        for (Index c = 0; c < 3; ++c) sum += p.probabilities(i, c);
        EXPECT_NEAR(sum, 1.0, 1e-12);
      }
    }
  }
}

// Weight 0 is a sample that is not there: the fit of the others alone, with the same scores.
void check_weight_zero(const std::vector<double>& widths) {
  const BinaryProblem whole = test::binary_problem(30, 3, widths, 8);
  std::vector<Index> kept;
  for (Index i = 0; i < 30; ++i) {
    if (i % 4 != 1) kept.push_back(i);
  }
  std::vector<Matrix> part;
  std::vector<Matrix> cross;
  for (const Matrix& k : whole.kernels) {
    Matrix small(static_cast<Index>(kept.size()), static_cast<Index>(kept.size()));
    Matrix tall(30, static_cast<Index>(kept.size()));
    for (std::size_t j = 0; j < kept.size(); ++j) {
      for (std::size_t i = 0; i < kept.size(); ++i)
        small(static_cast<Index>(i), static_cast<Index>(j)) = k(kept[i], kept[j]);
      for (Index i = 0; i < 30; ++i) tall(i, static_cast<Index>(j)) = k(i, kept[j]);
    }
    part.push_back(small);
    cross.push_back(tall);
  }
  for (Task task : {Task::binary, Task::multiclass, Task::regression}) {
    Targets all = targets_of(task, 30, 9);
    all.weights.assign(30, 0.0);
    for (Index i : kept) all.weights[static_cast<std::size_t>(i)] = 1.0;
    Targets few = all;
    few.codes.clear();
    few.weights.clear();
    if (!all.codes.empty()) {
      for (Index i : kept) few.codes.push_back(all.codes[static_cast<std::size_t>(i)]);
    } else {
      few.values = Matrix(static_cast<Index>(kept.size()), 1);
      for (std::size_t i = 0; i < kept.size(); ++i)
        few.values(static_cast<Index>(i), 0) = all.values(kept[i], 0);
    }
    BemklOptions options;
    options.iterations = 30;
    options.acceleration = "none";  // extrapolation enlarges what rounding does, which differs between the two
    const FitResult a = methods::fit_bemkl(*bank_of(whole.kernels), all, options, {});
    const FitResult b = methods::fit_bemkl(*bank_of(part), few, options, {});
    EXPECT_NEAR(a.report.objective, b.report.objective, 1e-9 * std::abs(b.report.objective));
    const Predictions pa = predict(a.model, *bank_of(whole.kernels), {}, {});
    const Predictions pb = predict(
        b.model, *make_dense_bank(cross, std::vector<std::string>(cross.size(), "kernel"), false), {}, {});
    EXPECT_LE(relative_difference(pa.scores.values(), pb.scores.values()), 1e-7);
    EXPECT_LE(relative_difference(pa.deviation.values(), pb.deviation.values()), 1e-7);
  }
}

TEST(Bemkl, WeightZeroIsAbsent) {
  check_weight_zero({0.5, 1.0, 3.0});
  check_weight_zero(many_widths(130));
}

// Samples that leave before the first pass were never there.
TEST(Bemkl, SamplesLeftOutAreThoseOfWeightZero) {
  const BinaryProblem problem = test::binary_problem(30, 2, {0.5, 2.0}, 9);
  const auto bank = bank_of(problem.kernels);
  Targets fewer = problem.targets;
  fewer.weights = Vector(30, 1.0);
  std::vector<Index> gone;
  for (Index i = 1; i < 30; i += 3) gone.push_back(i);
  for (std::size_t i = 0; i < 30; ++i) fewer.weights[i] = i % 5 == 0 ? 2.0 : 1.0;
  Targets all = fewer;
  for (const Index i : gone) fewer.weights[static_cast<std::size_t>(i)] = 0.0;
  const auto factors_of = [&](const Targets& targets) {
    const methods::BemklPlan plan = methods::bemkl_plan(targets, {});
    const Matrix& signs = plan.problems[0].targets;
    const methods::BemklStart start{Matrix(30, 1, 1.0), Matrix(90, 1, 0.5), signs, {0.0}, Vector(3, 1.0)};
    return BemklFactors(*bank, plan.problems[0], methods::bemkl_hyper({}), start);
  };
  BemklFactors absent = factors_of(fewer);
  BemklFactors left = factors_of(all);
  left.leave_out(gone);
  for (int k = 0; k < 10; ++k) {
    ASSERT_TRUE(absent.iterate());
    ASSERT_TRUE(left.iterate());
    EXPECT_NEAR(left.lower_bound(), absent.lower_bound(), 1e-9 * std::abs(absent.lower_bound()));
  }
  EXPECT_LE(relative_difference(left.a().values(), absent.a().values()), 1e-9);
  EXPECT_LE(relative_difference(left.be(), absent.be()), 1e-9);
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

// After many plain updates: 20 passes with the live kernels alone and one with all go where 21 passes with all
// go, up to what little weight the dropped kernels had left, and the bound does not fall.
TEST(Bemkl, DroppingDeadKernelsIsNeutral) {
  Context context;
  context.threads = 1;
  const algebra::ThreadScope one_thread(context);
  for (const Task task : {Task::binary, Task::multiclass}) {
    const ManyFeatures made = many_features(task);
    const auto bank = bank_of(made.kernels);
    BemklOptions options;
    options.sparse = true;
    const methods::BemklPlan plan = methods::bemkl_plan(made.targets, options);
    methods::BemklStart start{Matrix(100, plan.problems[0].targets.cols(), 1.0),
                               Matrix(100 * 40, plan.problems[0].targets.cols()), plan.problems[0].targets,
                               Vector(static_cast<std::size_t>(plan.problems[0].targets.cols())),
                               Vector(40, 1.0)};
    BemklFactors whole(*bank, plan.problems[0], methods::bemkl_hyper(options), start);
    for (int k = 0; k < 1500; ++k) ASSERT_TRUE(whole.iterate());
    const double before = whole.lower_bound();
    const Matrix a = whole.a();
    BemklFactors later = whole;
    for (int k = 0; k < 21; ++k) ASSERT_TRUE(later.iterate());
    const BemklFactors::Evidence evidence = whole.evidence_of_kernels();
    ASSERT_LE(evidence.live.size(), 20U);
    ASSERT_GE(evidence.live.size(), 3U);
    std::vector<Matrix> few_kernels;
    for (const Index m : evidence.live) few_kernels.push_back(made.kernels[static_cast<std::size_t>(m)]);
    const auto few_bank = bank_of(few_kernels);
    BemklFactors few = whole;
    ASSERT_TRUE(few.keep_kernels(*few_bank, evidence.live));
    double bound = -std::numeric_limits<double>::infinity();
    for (int k = 0; k < 20; ++k) {
      ASSERT_TRUE(few.iterate());
      EXPECT_GE(few.lower_bound(), bound - 1e-9 * std::abs(bound));
      bound = few.lower_bound();
    }
    ASSERT_TRUE(whole.adopt(few, evidence.live, evidence.rest));
    EXPECT_GE(whole.lower_bound(), before - 1e-6 * std::abs(before));
    const double moved = relative_difference(later.a().values(), a.values());
    EXPECT_LE(relative_difference(whole.a().values(), later.a().values()), 0.25 * moved);
  }
}

// From the start: the bound is that of the referee, near what thousands of plain updates reach, and few kernels
// are on.
TEST(Bemkl, DroppingDeadKernelsEndsInTheWholeModel) {
  for (const Task task : {Task::binary, Task::multiclass}) {
    const ManyFeatures made = many_features(task);
    const auto bank = bank_of(made.kernels);
    BemklOptions options;
    options.sparse = true;
    options.calibration = "none";
    options.tolerance = 1e-6;
    const FitResult dropped = methods::fit_bemkl(*bank, made.targets, options, {});
    EXPECT_EQ(dropped.report.status, Status::converged);
    options.acceleration = "none";
    options.iterations = 2000;
    const FitResult plain = methods::fit_bemkl(*bank, made.targets, options, {});
    const double referee = certify(*bank, made.targets, dropped.model, {}).items[0].value;
    EXPECT_NEAR(referee, dropped.report.objective, 1e-8 * std::abs(referee));
    EXPECT_GE(dropped.report.objective, plain.report.objective - 2e-3 * std::abs(plain.report.objective));
    EXPECT_LT(dropped.report.iterations, plain.report.iterations);
    Index live = 0;
    for (const double w : dropped.model.weights.values.values()) live += std::abs(w) > 1e-3 ? 1 : 0;
    EXPECT_LE(live, 12);
  }
}

// Labels of which a quarter is noise: without calibration the probabilities of samples that were not seen
// promise far too much.
TEST(Bemkl, HeldOutSamplesCalibrateProbabilities) {
  BinaryProblem problem = test::binary_problem(260, 3, {0.5, 1.0, 2.0}, 21);
  test::Normal normal(3);
  for (int& code : problem.targets.codes) code = std::abs(normal()) > 1.15 ? 1 - code : code;
  const auto train = [&](const char* calibration, const Targets& targets) {
    BemklOptions options;
    options.calibration = calibration;
    return methods::fit_bemkl(*bank_of(problem.kernels), targets, options, {});
  };
  Targets half = problem.targets;
  half.weights.assign(260, 1.0);
  for (std::size_t i = 0; i < 260; i += 2) half.weights[i] = 0.0;
  const auto loss = [&](const Model& model) {
    const Predictions p = predict(model, *bank_of(problem.kernels), {}, {});
    double sum = 0.0;
    for (Index i = 0; i < 260; i += 2)
      sum -= std::log(p.probabilities(i, problem.targets.codes[static_cast<std::size_t>(i)])) / 130.0;
    return sum;
  };
  const FitResult plain = train("none", half);
  const FitResult calibrated = train("held-out", half);
  EXPECT_EQ(part_of<BemklPosterior>(plain.model).temperature, 1.0);
  EXPECT_GT(part_of<BemklPosterior>(calibrated.model).temperature, 1.0);
  // The rest of the model is the same, and so are the classes.
  EXPECT_EQ(plain.model.coefficients.values().front(), calibrated.model.coefficients.values().front());
  EXPECT_LT(loss(calibrated.model), loss(plain.model));
  const auto& table = calibrated.report.tables.front();
  EXPECT_EQ(table.title, "calibration on held-out samples");
  EXPECT_LE(table.rows.front()[2], table.rows.front()[1]);
}

// Numbers with noise of deviation 1: intervals of samples that were not seen hold what they promise. Of 120
// samples a share q is seen with deviation √(q(1−q)/120); three of those.
TEST(Bemkl, HeldOutSamplesCalibrateIntervals) {
  BinaryProblem problem = test::binary_problem(240, 3, {0.5, 1.0, 2.0}, 22);
  test::Normal normal(5);
  Targets numbers;
  numbers.task = Task::regression;
  numbers.values = Matrix(240, 1);
  for (Index i = 0; i < 240; ++i)
    numbers.values(i, 0) = 3.0 * problem.kernels[1](i, 7) - 2.0 * problem.kernels[2](i, 100) + normal();
  numbers.weights.assign(240, 1.0);
  for (std::size_t i = 0; i < 240; i += 2) numbers.weights[i] = 0.0;
  const FitResult fit = methods::fit_bemkl(*bank_of(problem.kernels), numbers, {}, {});
  const Predictions p = predict(fit.model, *bank_of(problem.kernels), {}, {});
  double in50 = 0.0;
  double in90 = 0.0;
  for (Index i = 0; i < 240; i += 2) {
    const double z = std::abs(numbers.values(i, 0) - p.scores(i, 0)) / p.deviation(i, 0);
    in50 += z < 0.6745 ? 1.0 / 120.0 : 0.0;
    in90 += z < 1.6449 ? 1.0 / 120.0 : 0.0;
  }
  EXPECT_NEAR(in50, 0.5, 3.0 * std::sqrt(0.5 * 0.5 / 120.0));
  EXPECT_NEAR(in90, 0.9, 3.0 * std::sqrt(0.9 * 0.1 / 120.0));
}

// Two samples of a class cannot be held out in three folds.
TEST(Bemkl, TooFewSamplesToCalibrateLeaveProbabilitiesAsTheyAre) {
  BinaryProblem problem = test::binary_problem(20, 2, {1.0}, 3);
  for (std::size_t i = 0; i < 20; ++i) problem.targets.codes[i] = i < 2 ? 1 : 0;
  const FitResult fit = methods::fit_bemkl(*bank_of(problem.kernels), problem.targets, {}, {});
  EXPECT_EQ(part_of<BemklPosterior>(fit.model).temperature, 1.0);
}

struct Moons {
  Matrix x;
  Targets targets;
};

Moons two_moons(Index n) {
  test::Normal normal(4);
  Moons moons{Matrix(n, 2), {}};
  moons.targets.classes = {"lower", "upper"};
  for (Index i = 0; i < n; ++i) {
    const bool upper = i % 2 == 0;
    const double angle = std::numbers::pi * (static_cast<double>(i / 2) + 0.5) / (static_cast<double>(n) / 2);
    moons.x(i, 0) = (upper ? std::cos(angle) : 1.0 - std::cos(angle)) + 0.05 * normal();
    moons.x(i, 1) = (upper ? std::sin(angle) : 0.5 - std::sin(angle)) + 0.05 * normal();
    moons.targets.codes.push_back(upper ? 1 : 0);
  }
  return moons;
}

// Wrong among all samples, trained on `targets`.
Index wrong_on(const Moons& moons, const KernelBank& bank, const Targets& targets) {
  const FitResult fit = methods::fit_bemkl(bank, targets, {}, {});
  const Predictions p = predict(fit.model, bank, {}, {});
  Index count = 0;
  for (std::size_t i = 0; i < p.codes.size(); ++i) count += p.codes[i] != moons.targets.codes[i] ? 1 : 0;
  return count;
}

// Four labels, two on each moon, at ten places: with the samples that have none, fewer are wrong in all.
TEST(Bemkl, UnlabelledSamplesHelpOnTwoMoons) {
  const Moons moons = two_moons(120);
  std::vector<Matrix> kernels;
  for (double width : {0.15, 0.25, 0.4}) kernels.push_back(test::rbf_kernel(moons.x, moons.x, width));
  const auto bank = bank_of(kernels);
  Index supervised = 0;
  Index semi = 0;
  for (Index draw = 0; draw < 10; ++draw) {
    Targets four = moons.targets;
    Targets alone = moons.targets;
    alone.weights.assign(120, 0.0);
    for (Index i = 0; i < 120; ++i) {
      const Index place = i / 2;
      if (place == 3 + 2 * draw || place == 56 - 2 * draw) {
        alone.weights[static_cast<std::size_t>(i)] = 1.0;
      } else {
        four.codes[static_cast<std::size_t>(i)] = Targets::unlabelled;
      }
    }
    supervised += wrong_on(moons, *bank, alone);
    semi += wrong_on(moons, *bank, four);
  }
  std::printf("  wrong of 1200: %td from four labels alone, %td with the others\n", supervised, semi);
  EXPECT_LT(semi, supervised);
}

// As labels leave one by one the fit goes on from the supervised one: with one missing, the scores are near.
TEST(Bemkl, OneMissingLabelChangesLittle) {
  const BinaryProblem problem = test::binary_problem(60, 2, {1.0, 2.0}, 14);
  const auto bank = bank_of(problem.kernels);
  const FitResult whole = fit(problem);
  BinaryProblem missing = problem;
  missing.targets.codes[7] = Targets::unlabelled;
  const FitResult rest = fit(missing);
  const Predictions a = predict(whole.model, *bank, {}, {});
  const Predictions b = predict(rest.model, *bank, {}, {});
  for (Index i = 0; i < 60; ++i) {
    if (i == 7) continue;
    EXPECT_NEAR(a.scores(i, 0), b.scores(i, 0), a.deviation(i, 0)) << i;
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

TEST(Bemkl, AccelerationReachesTheBoundOfManyPlainUpdatesInFew) {
  const BinaryProblem problem = test::binary_problem(40, 3, {0.5, 1.0, 2.0, 4.0}, 77);
  BemklOptions plain;
  plain.acceleration = "none";
  plain.tolerance = 0.0;
  plain.iterations = 5000;
  const FitResult slow = fit(problem, plain);
  BemklOptions fast;
  fast.tolerance = 0.0;
  fast.iterations = 100;
  const FitResult quick = fit(problem, fast);
  Index needed = 0;
  for (const TracePoint& point : quick.report.trace) {
    if (needed == 0 && point.objective >= slow.report.objective - 1e-6 * std::abs(slow.report.objective))
      needed = point.iteration;
  }
  std::printf("  bound %.8g after 5000 plain updates, %.8g after 100 accelerated; reached after %td\n",
              slow.report.objective, quick.report.objective, needed);
  EXPECT_GT(needed, 0);
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

TEST(Bemkl, OptionsAreParsedAndRefusedByTheirTable) {
  const Learner& learner = find_learner("bemkl");
  const BinaryProblem problem = test::binary_problem(10, 2, {1.0}, 3);
  const auto bank = make_dense_bank(problem.kernels, problem.names, true);
  const FitResult result =
      learner.fit(*bank, problem.targets, {{"sigma_g", "0.5"}, {"iterations", "7"}, {"tolerance", "0"}}, {});
  EXPECT_EQ(result.report.iterations, 7);
  EXPECT_EQ(result.report.options.at("sigma_g"), "0.5");
  EXPECT_EQ(part_of<BemklPosterior>(result.model).sigma_g, 0.5);
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
