// SPDX-License-Identifier: BSD-3-Clause
//
// VBpMKL against a transcription of its updates with plain inverses and integrals, its bound, the published importance
// sampling against quadrature, invariances, predictions by their formulas, and what is refused.
#include "methods/vbpmkl/vbpmkl.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numeric>

#include "kloom/certify.h"
#include "kloom/error.h"
#include "kloom/parts.h"
#include "methods/vbpmkl/solver.h"
#include "support/multiclass.h"

namespace kloom::methods {
namespace {

using test::bank_of;
using test::MulticlassProblem;
using test::relative_difference;
using test::simplex_problem;

Eigen::MatrixXd eigen(const Matrix& m) {
  return Eigen::Map<const Eigen::MatrixXd>(m.data(), m.rows(), m.cols());
}

// E[y] where y ~ N(m, I) and the label's is the largest: sums over a grid of its own value.
Eigen::VectorXd truncated_mean(const Eigen::VectorXd& m, int label) {
  const boost::math::normal normal;
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(m.size());
  double mass = 0.0;
  for (double v = m.maxCoeff() - 12.0; v < m.maxCoeff() + 12.0; v += 1e-3) {
    double density = boost::math::pdf(normal, v - m(label));
    for (int c = 0; c < m.size(); ++c) density *= c == label ? 1.0 : boost::math::cdf(normal, v - m(c));
    mass += density;
    for (int c = 0; c < m.size(); ++c) {
      // The mean of N(m_c, 1) below v.
      const double below =
          m(c) - boost::math::pdf(normal, v - m(c)) / std::max(boost::math::cdf(normal, v - m(c)), 1e-300);
      sum(c) += density * (c == label ? v : below);
    }
  }
  return sum / mass;
}

struct Transcribed {
  Eigen::VectorXd beta;
  Eigen::MatrixXd w, precision;
  std::vector<Eigen::MatrixXd> v;
};

// The largest of bᵀβ − ½ βᵀAβ on the simplex, by trying every set of kernels that may have weight.
Eigen::VectorXd best_on_simplex(const Eigen::VectorXd& b, const Eigen::MatrixXd& a) {
  const auto p = static_cast<unsigned>(b.size());
  Eigen::VectorXd best = Eigen::VectorXd::Zero(p);
  double largest = -1e300;
  for (unsigned set = 1; set < (1U << p); ++set) {
    std::vector<int> in;
    for (unsigned s = 0; s < p; ++s) {
      if ((set >> s & 1U) != 0) in.push_back(static_cast<int>(s));
    }
    const auto k = static_cast<Eigen::Index>(in.size());
    Eigen::MatrixXd kkt = Eigen::MatrixXd::Zero(k + 1, k + 1);
    Eigen::VectorXd right = Eigen::VectorXd::Ones(k + 1);
    for (Eigen::Index i = 0; i < k; ++i) {
      for (Eigen::Index j = 0; j < k; ++j)
        kkt(i, j) = a(in[static_cast<std::size_t>(i)], in[static_cast<std::size_t>(j)]);
      kkt(i, k) = kkt(k, i) = 1.0;
      right(i) = b(in[static_cast<std::size_t>(i)]);
    }
    const Eigen::VectorXd solved = kkt.fullPivLu().solve(right);
    if (solved.head(k).minCoeff() < 0.0) continue;
    Eigen::VectorXd beta = Eigen::VectorXd::Zero(p);
    for (Eigen::Index i = 0; i < k; ++i) beta(in[static_cast<std::size_t>(i)]) = solved(i);
    const double value = b.dot(beta) - 0.5 * beta.dot(a * beta);
    if (value > largest) {
      largest = value;
      best = beta;
    }
  }
  return best;
}

// Kernel weights of the largest bound for given targets y: b_s = Σ_c y_cᵀ U K_s w_c, A_sr = Σ_c tr(K_s U K_r E[w_c w_cᵀ]).
Eigen::VectorXd best_weights(const std::vector<Eigen::MatrixXd>& k, const Eigen::VectorXd& u,
                             const Eigen::MatrixXd& y, const Transcribed& t) {
  const auto p = static_cast<Eigen::Index>(k.size());
  const Eigen::Index classes = y.cols();
  Eigen::VectorXd b = Eigen::VectorXd::Zero(p);
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(p, p);
  for (Eigen::Index s = 0; s < p; ++s) {
    const Eigen::MatrixXd& ks = k[static_cast<std::size_t>(s)];
    for (Eigen::Index c = 0; c < classes; ++c) b(s) += y.col(c).dot(u.asDiagonal() * ks * t.w.col(c));
    for (Eigen::Index r = 0; r < p; ++r) {
      for (Eigen::Index c = 0; c < classes; ++c) {
        const Eigen::MatrixXd second = t.w.col(c) * t.w.col(c).transpose() + t.v[static_cast<std::size_t>(c)];
        a(s, r) += (ks * u.asDiagonal() * k[static_cast<std::size_t>(r)] * second).trace();
      }
    }
  }
  return best_on_simplex(b, a);
}

Transcribed transcribe(const MulticlassProblem& problem, double tau, double upsilon, int sweeps) {
  const auto n = static_cast<Eigen::Index>(problem.targets.codes.size());
  const auto classes = static_cast<Eigen::Index>(problem.targets.classes.size());
  std::vector<Eigen::MatrixXd> k;
  for (const Matrix& kernel : problem.kernels) k.push_back(eigen(kernel));
  Eigen::VectorXd u = Eigen::VectorXd::Ones(n);
  for (Eigen::Index i = 0; i < n && !problem.targets.weights.empty(); ++i)
    u(i) = problem.targets.weights[static_cast<std::size_t>(i)];
  const auto p = static_cast<Eigen::Index>(k.size());
  Transcribed t;
  t.beta = Eigen::VectorXd::Constant(p, 1.0 / static_cast<double>(p));
  t.w = Eigen::MatrixXd::Zero(n, classes);
  t.precision = Eigen::MatrixXd::Ones(n, classes);
  Eigen::MatrixXd y(n, classes);
  Eigen::MatrixXd combined;
  const auto combine = [&] {
    combined = Eigen::MatrixXd::Zero(n, n);
    for (Eigen::Index s = 0; s < p; ++s) combined += t.beta(s) * k[static_cast<std::size_t>(s)];
  };
  const auto update_y = [&] {
    // y times the root of its weight has the variance 1.
    for (Eigen::Index i = 0; i < n; ++i) {
      const Eigen::VectorXd location = std::sqrt(u(i)) * (combined * t.w).row(i).transpose();
      const int label = problem.targets.codes[static_cast<std::size_t>(i)];
      y.row(i) = truncated_mean(location, label) / std::sqrt(u(i));
    }
  };
  const auto update_w = [&] {
    t.v.clear();
    for (Eigen::Index c = 0; c < classes; ++c) {
      const Eigen::MatrixXd inverse =
          combined * u.asDiagonal() * combined + Eigen::MatrixXd(t.precision.col(c).asDiagonal());
      t.v.emplace_back(inverse.inverse());
      t.w.col(c) = t.v.back() * combined * u.asDiagonal() * y.col(c);
    }
  };
  combine();
  update_y();
  update_w();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    t.beta = best_weights(k, u, y, t);
    combine();
    update_y();
    for (Eigen::Index c = 0; c < classes; ++c) {
      for (Eigen::Index i = 0; i < n; ++i) {
        const double second = t.w(i, c) * t.w(i, c) + t.v[static_cast<std::size_t>(c)](i, i);
        t.precision(i, c) = (tau + 0.5) / (upsilon + 0.5 * second);
      }
    }
    update_w();
  }
  return t;
}

// A prior with a scale, which keeps the matrices well conditioned.
VbpmklOptions scaled() {
  VbpmklOptions options;
  options.tau = options.upsilon = 1.0;
  return options;
}

VbpmklOptions sweeps(Index count) {
  VbpmklOptions options = scaled();
  options.iterations = count;
  options.tolerance = 0.0;
  return options;
}

// The grid of the transcription's integrals is right to about 1e-9.
TEST(Vbpmkl, EqualsATranscription) {
  for (const Index classes : {Index{2}, Index{3}, Index{4}}) {
    MulticlassProblem problem = simplex_problem(18, classes, {0.5, 1.0, 3.0}, 51);
    if (classes != 4) problem.targets.weights = Vector(18, 1.0);
    for (std::size_t i = 0; i < problem.targets.weights.size(); ++i)
      problem.targets.weights[i] = 0.5 + 0.1 * static_cast<double>(i);
    VbpmklOptions options = sweeps(6);
    options.tau = 0.7;
    options.upsilon = 0.2;
    const FitResult fit = fit_vbpmkl(*bank_of(problem), problem.targets, options, {});
    const Transcribed t = transcribe(problem, 0.7, 0.2, 6);
    const auto& part = part_of<VbpmklPart>(fit.model);
    for (Eigen::Index s = 0; s < 3; ++s)
      EXPECT_NEAR(fit.model.weights.values(0, s), t.beta(s), 1e-6) << classes;
    EXPECT_LE((eigen(part.means) - t.w).norm(), 1e-6 * t.w.norm()) << classes;
    EXPECT_LE((eigen(part.precision) - t.precision).norm(), 1e-6 * t.precision.norm()) << classes;
    const Eigen::MatrixXd v = classes == 2 ? Eigen::MatrixXd(t.v[0] + t.v[1]) : t.v[0];
    EXPECT_LE((eigen(part.covariance[0]) - v).norm(), 1e-6 * v.norm()) << classes;
  }
}

// Every update maximises the bound in its own factor.
TEST(Vbpmkl, BoundNeverFallsAndTheRefereeFindsTheSame) {
  for (const Index classes : {Index{2}, Index{3}}) {
    for (const double vague : {1.0, 1e-3}) {
      MulticlassProblem problem = simplex_problem(40, classes, {0.3, 1.0, 3.0}, 52);
      if (vague == 1.0) problem.targets.weights = Vector(40, 1.0);
      for (std::size_t i = 0; i < problem.targets.weights.size(); ++i)
        problem.targets.weights[i] = i % 2 == 0 ? 0.3 : 2.5;
      const auto bank = bank_of(problem);
      VbpmklOptions options = sweeps(60);
      options.tau = options.upsilon = vague;
      const FitResult fit = fit_vbpmkl(*bank, problem.targets, options, {});
      for (std::size_t k = 1; k < fit.report.trace.size(); ++k) {
        const double before = fit.report.trace[k - 1].objective;
        EXPECT_GE(fit.report.trace[k].objective, before - 1e-9 * std::abs(before))
            << classes << ", sweep " << k;
      }
      const Certificate certificate = certify(*bank, problem.targets, fit.model, {});
      EXPECT_EQ(certificate.finding, Certificate::Finding::checked) << certificate.verdict;
      EXPECT_NEAR(certificate.items.front().value, fit.report.objective, 1e-8 * std::abs(fit.report.objective));
    }
  }
}

TEST(Vbpmkl, StopsWhereNoUpdateMovesIt) {
  const MulticlassProblem problem = simplex_problem(40, 3, {0.3, 1.0, 3.0}, 53);
  const auto bank = bank_of(problem);
  VbpmklOptions options = scaled();
  options.tolerance = 1e-9;
  options.iterations = 5000;
  const FitResult fit = fit_vbpmkl(*bank, problem.targets, options, {});
  EXPECT_EQ(fit.report.status, Status::converged);
  const Certificate certificate = certify(*bank, problem.targets, fit.model, {});
  // The bound's rate of change is first order in the tolerance, what is left of its slopes goes with the root.
  EXPECT_LE(certificate.items[4].value, 1e-2 * std::abs(fit.report.objective));
  EXPECT_LE(certificate.items[5].value, 1e-2);
}

// With two kernels and a flat prior the published estimate of β is a ratio of two integrals over [0, 1].
TEST(Vbpmkl, ImportanceSamplingEstimatesTheIntegral) {
  const MulticlassProblem problem = simplex_problem(18, 3, {0.5, 2.0}, 54);
  VbpmklOptions options = sweeps(1);
  options.literal = true;
  options.draws = 40000;
  const FitResult fit = fit_vbpmkl(*bank_of(problem), problem.targets, options, {});
  const Transcribed start = transcribe(problem, 1.0, 1.0, 0);
  const auto n = static_cast<Eigen::Index>(18);
  Eigen::MatrixXd y(n, 3);
  for (Eigen::Index i = 0; i < n; ++i)
    y.row(i) = truncated_mean(Eigen::VectorXd::Zero(3), problem.targets.codes[static_cast<std::size_t>(i)]);
  double mass = 0.0;
  double first = 0.0;
  double second = 0.0;
  double squares = 0.0;
  double points = 0.0;
  for (double beta = 5e-4; beta < 1.0; beta += 1e-3) {
    const Eigen::MatrixXd k = beta * eigen(problem.kernels[0]) + (1.0 - beta) * eigen(problem.kernels[1]);
    const double weight = std::exp(-0.5 * (y - k * start.w).squaredNorm() + 0.5 * y.squaredNorm());
    mass += weight;
    first += weight * beta;
    second += weight * beta * beta;
    squares += weight * weight;
    points += 1.0;
  }
  // Five standard errors of a weighted mean: draws of unequal weight count as so many of equal weight.
  const double spread = std::sqrt(second / mass - std::pow(first / mass, 2));
  const double effective = 40000.0 * mass * mass / (squares * points);
  EXPECT_NEAR(fit.model.weights.values(0, 0), first / mass, 5.0 * spread / std::sqrt(effective));
}

TEST(Vbpmkl, LiteralIsCheckedAndRepeatable) {
  const MulticlassProblem problem = simplex_problem(40, 3, {0.3, 1.0, 3.0}, 55);
  const auto bank = bank_of(problem);
  VbpmklOptions options = sweeps(20);
  options.literal = true;
  options.draws = 200;
  const FitResult one = fit_vbpmkl(*bank, problem.targets, options, {});
  const FitResult two = fit_vbpmkl(*bank, problem.targets, options, {});
  EXPECT_EQ(one.model.weights.values, two.model.weights.values);
  EXPECT_EQ(certify(*bank, problem.targets, one.model, {}).finding, Certificate::Finding::checked);
  Context other;
  other.seed = 7;
  EXPECT_NE(fit_vbpmkl(*bank, problem.targets, options, other).model.weights.values, one.model.weights.values);
}

MulticlassProblem permuted(const MulticlassProblem& problem, const std::vector<Index>& samples,
                           const std::vector<std::size_t>& kernels) {
  MulticlassProblem result = problem;
  for (std::size_t p = 0; p < kernels.size(); ++p) {
    const Matrix& from = problem.kernels[kernels[p]];
    for (Index i = 0; i < from.rows(); ++i) {
      for (Index j = 0; j < from.rows(); ++j)
        result.kernels[p](i, j) =
            from(samples[static_cast<std::size_t>(i)], samples[static_cast<std::size_t>(j)]);
    }
  }
  for (std::size_t i = 0; i < samples.size(); ++i)
    result.targets.codes[i] = problem.targets.codes[static_cast<std::size_t>(samples[i])];
  return result;
}

// Rounding only, which 20 sweeps do not enlarge by more than the condition of the matrices, about 1e4.
TEST(Vbpmkl, PermutedSamplesAndKernelsGiveThePermutedAnswer) {
  const MulticlassProblem problem = simplex_problem(30, 3, {0.3, 1.0, 3.0}, 56);
  std::vector<Index> order(30);
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::reverse(order);
  const MulticlassProblem turned = permuted(problem, order, {2, 0, 1});
  const Model a = fit_vbpmkl(*bank_of(problem), problem.targets, sweeps(20), {}).model;
  const Model b = fit_vbpmkl(*bank_of(turned), turned.targets, sweeps(20), {}).model;
  EXPECT_NEAR(a.weights.values(0, 2), b.weights.values(0, 0), 1e-9);
  EXPECT_NEAR(a.weights.values(0, 0), b.weights.values(0, 1), 1e-9);
  for (Index i = 0; i < 30; ++i) {
    for (Index c = 0; c < 3; ++c) EXPECT_NEAR(a.coefficients(29 - i, c), b.coefficients(i, c), 1e-9);
  }
}

TEST(Vbpmkl, NoiseKernelGetsLittleWeightAndADuplicateChangesNothing) {
  MulticlassProblem problem = simplex_problem(90, 3, {1.0}, 57, 0.3);
  const Matrix noise = test::normal_matrix(90, 3, 99);
  problem.kernels.push_back(test::rbf_kernel(noise, noise, 1.0));
  problem.names.emplace_back("noise");
  const Model model = fit_vbpmkl(*bank_of(problem), problem.targets, scaled(), {}).model;
  EXPECT_LT(model.weights.values(0, 1), 0.2);
  MulticlassProblem twice = problem;
  twice.kernels.push_back(twice.kernels[0]);
  twice.names.emplace_back("again");
  // Another start of the weights, 1/3 instead of 1/2 of the noise, and so another way to the same point.
  VbpmklOptions long_way = scaled();
  long_way.tolerance = 1e-10;
  long_way.iterations = 3000;
  const auto scores = [&](const MulticlassProblem& p) {
    return predict(fit_vbpmkl(*bank_of(p), p.targets, long_way, {}).model, *bank_of(p), {}, {}).scores;
  };
  EXPECT_LE(relative_difference(scores(twice).values(), scores(problem).values()), 1e-3);
}

// Scores, variances and probabilities of new samples by their formulas; saved and loaded the same bits.
TEST(Vbpmkl, PredictsByItsFormulas) {
  const boost::math::normal normal;
  for (const Index classes : {Index{2}, Index{3}}) {
    const MulticlassProblem problem = simplex_problem(36, classes, {0.5, 2.0}, 58);
    const FitResult fit = fit_vbpmkl(*bank_of(problem), problem.targets, sweeps(10), {});
    const Matrix x_new = test::normal_matrix(6, classes, 59);
    std::vector<Matrix> cross;
    for (const double width : {0.5, 2.0}) cross.push_back(test::rbf_kernel(x_new, problem.x, width));
    const auto bank = make_dense_bank(cross, problem.names, false);
    const Predictions p = predict(fit.model, *bank, {}, {});
    const auto& part = part_of<VbpmklPart>(fit.model);
    const Eigen::MatrixXd k =
        fit.model.weights.values(0, 0) * eigen(cross[0]) + fit.model.weights.values(0, 1) * eigen(cross[1]);
    const Eigen::MatrixXd m = k * eigen(part.means);
    for (Index i = 0; i < 6; ++i) {
      if (classes == 2) {
        const double variance = 2.0 + k.row(i) * eigen(part.covariance[0]) * k.row(i).transpose();
        EXPECT_NEAR(p.scores(i, 0), m(i, 1) - m(i, 0), 1e-10);
        EXPECT_NEAR(p.deviation(i, 0), std::sqrt(variance), 1e-10);
        EXPECT_NEAR(p.probabilities(i, 1), boost::math::cdf(normal, p.scores(i, 0) / std::sqrt(variance)),
                    1e-10);
        continue;
      }
      Vector deviation;
      for (Index c = 0; c < 3; ++c) {
        const double variance =
            1.0 + k.row(i) * eigen(part.covariance[static_cast<std::size_t>(c)]) * k.row(i).transpose();
        deviation.push_back(std::sqrt(variance));
        EXPECT_NEAR(p.scores(i, c), m(i, c), 1e-10);
        EXPECT_NEAR(p.deviation(i, c), deviation.back(), 1e-10);
      }
      // P(y_c is the largest) as a sum over values of y_c.
      for (Index c = 0; c < 3; ++c) {
        double chance = 0.0;
        for (double u = -9.0; u < 9.0; u += 1e-3) {
          double density = boost::math::pdf(normal, u) * 1e-3;
          for (Index d = 0; d < 3; ++d) {
            const double z = (m(i, c) + deviation[static_cast<std::size_t>(c)] * u - m(i, d)) /
                             deviation[static_cast<std::size_t>(d)];
            density *= d == c ? 1.0 : boost::math::cdf(normal, z);
          }
          chance += density;
        }
        EXPECT_NEAR(p.probabilities(i, c), chance, 1e-6);
      }
    }
    const Model copy = model_from_bytes(model_bytes(fit.model));
    const Predictions again = predict(copy, *bank, {}, {});
    EXPECT_EQ(again.scores, p.scores);
    EXPECT_EQ(again.deviation, p.deviation);
    EXPECT_EQ(again.probabilities, p.probabilities);
  }
}

TEST(Vbpmkl, WithoutCovariancesItPredictsTheSameClasses) {
  const MulticlassProblem problem = simplex_problem(40, 3, {0.5, 2.0}, 60);
  const auto bank = bank_of(problem);
  VbpmklOptions options;
  const FitResult whole = fit_vbpmkl(*bank, problem.targets, options, {});
  options.variance = false;
  const FitResult lean = fit_vbpmkl(*bank, problem.targets, options, {});
  EXPECT_LT(model_file_bytes(lean.model), model_file_bytes(whole.model) / 2);
  const Predictions p = predict(lean.model, *bank, {}, {});
  EXPECT_EQ(p.codes, predict(whole.model, *bank, {}, {}).codes);
  EXPECT_TRUE(p.deviation.empty());
  EXPECT_EQ(p.probabilities.cols(), 3);
}

TEST(Vbpmkl, SampleOfWeightZeroIsNotThere) {
  const MulticlassProblem problem = simplex_problem(31, 3, {0.5, 2.0}, 61);
  Targets weighted = problem.targets;
  weighted.weights.assign(31, 1.0);
  weighted.weights[30] = 0.0;
  MulticlassProblem shorter = problem;
  shorter.targets.codes.pop_back();
  for (std::size_t p = 0; p < 2; ++p) {
    Matrix small(30, 30);
    for (Index i = 0; i < 30; ++i) {
      for (Index j = 0; j < 30; ++j) small(i, j) = problem.kernels[p](i, j);
    }
    shorter.kernels[p] = small;
  }
  const auto bank = bank_of(problem);
  const Model with = fit_vbpmkl(*bank, weighted, sweeps(10), {}).model;
  const Model without = fit_vbpmkl(*bank_of(shorter), shorter.targets, sweeps(10), {}).model;
  for (Index c = 0; c < 3; ++c) {
    EXPECT_EQ(with.coefficients(30, c), 0.0);
    for (Index i = 0; i < 30; ++i) EXPECT_NEAR(with.coefficients(i, c), without.coefficients(i, c), 1e-9);
  }
  EXPECT_EQ(certify(*bank, weighted, with, {}).finding, Certificate::Finding::checked);
}

TEST(Vbpmkl, TheRefereeFindsWhatWasChanged) {
  const MulticlassProblem problem = simplex_problem(30, 3, {0.5, 2.0}, 62);
  const auto bank = bank_of(problem);
  const Model model = fit_vbpmkl(*bank, problem.targets, {}, {}).model;
  const auto refuted = [&](const Model& other) {
    return certify(*bank, problem.targets, other, {}).finding == Certificate::Finding::refuted;
  };
  EXPECT_FALSE(refuted(model));
  Model other = model;
  other.coefficients(3, 1) *= 1.01;
  EXPECT_TRUE(refuted(other));
  other = model;
  edit_part<VbpmklPart>(other).precision(4, 0) *= 1.1;
  EXPECT_TRUE(refuted(other));
  other = model;
  edit_part<VbpmklPart>(other).location(4, 0) += 0.1;
  EXPECT_TRUE(refuted(other));
  other = model;
  edit_part<VbpmklPart>(other).covariance[2](5, 5) *= 1.1;
  EXPECT_TRUE(refuted(other));
  other = model;
  for (double& weight : other.weights.values.values()) weight *= 1.01;
  EXPECT_TRUE(refuted(other));
  other = model;
  other.bias[0] = 0.3;
  EXPECT_TRUE(refuted(other));
}

TEST(Vbpmkl, RefusesWhatItCannotDo) {
  const MulticlassProblem problem = simplex_problem(20, 3, {1.0}, 63);
  const auto bank = bank_of(problem);
  Targets numbers;
  numbers.task = Task::regression;
  numbers.values = test::normal_matrix(20, 1, 5);
  EXPECT_THROW((void)fit_vbpmkl(*bank, numbers, {}, {}), InvalidArgument);
}

}  // namespace
}  // namespace kloom::methods
