// SPDX-License-Identifier: BSD-3-Clause
//
// Devices of BEMKL's updates that must not change what they compute: thin covariances, the state
// that acceleration extrapolates, weights of samples.
#include <gtest/gtest.h>

#include "unit/methods/bemkl/tasks.h"

namespace kloom {
namespace {

using namespace test;

// Σ(g) = (I/σ_g² + Σ(e) + μμᵀ)⁻¹ exactly, Σ(e) = (diag ω + Σ_c G_cᵀ(I − 11ᵀ/c_c)G_c + NM Σ(g))⁻¹ up to the 3e-8
// of its inverse that may be left out, which is less than that part of Σ(e).
TEST(Bemkl, CovariancesOfManyKernelsAreInverses) {
  for (const FamilyTask& task : all_tasks(20, 8, many_widths(250))) {
    if (task.problem.likelihood == BemklLikelihood::gaussian || task.non_negative) continue;
    SCOPED_TRACE(task.name);
    BemklPrior hyper;
    hyper.sigma_g = 0.8;
    const auto bank = bank_of(task.kernels);
    BemklFactors q(*bank, task.problem, hyper, random_start(task, 3));
    const Index p = q.kernels();
    const Index n = q.samples();
    for (int iteration = 0; iteration < 12; ++iteration) {
      q.update_lambda();
      ASSERT_TRUE(q.update_a());
      const Eigen::VectorXd e = eigen(q.be()).tail(p);
      Eigen::MatrixXd precision =
          eigen(q.posterior(false).be_covariance).bottomRightCorner(p, p) + e * e.transpose();
      precision.diagonal().array() += 1.0 / (hyper.sigma_g * hyper.sigma_g);
      ASSERT_TRUE(q.update_intermediate());
      const Eigen::MatrixXd of_g = eigen(q.g_covariance());
      EXPECT_LT((of_g * precision - Eigen::MatrixXd::Identity(p, p)).cwiseAbs().maxCoeff(), 1e-10);
      q.update_gamma_omega();
      precision = static_cast<double>(n * q.outputs()) * of_g;
      precision.diagonal() += eigen(q.posterior(false).omega);
      for (Index c = 0; c < q.outputs(); ++c) {
        const Eigen::Map<const Eigen::MatrixXd> g(q.intermediate().column(c).data(), n, p);
        const Eigen::VectorXd sum = g.colwise().sum();
        const double own = q.posterior(false).gamma[static_cast<std::size_t>(c)] + static_cast<double>(n);
        precision += g.transpose() * g - sum * sum.transpose() / own;
      }
      ASSERT_TRUE(q.update_be());
      const Eigen::MatrixXd of_e = eigen(q.posterior(false).be_covariance).bottomRightCorner(p, p);
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
    BemklPrior hyper;
    hyper.non_negative = task.non_negative;
    const auto bank = bank_of(task.kernels);
    BemklFactors q(*bank, task.problem, hyper, random_start(task, 3));
    for (int k = 0; k < 5; ++k) ASSERT_TRUE(q.iterate());
    BemklFactors elsewhere(*bank, task.problem, hyper, random_start(task, 4));
    ASSERT_TRUE(elsewhere.iterate());
    BemklFactors other = q;
    ASSERT_TRUE(other.set_state(elsewhere.state(), elsewhere));
    ASSERT_TRUE(other.iterate_from_intermediate());
    EXPECT_NE(other.lower_bound(), q.lower_bound());
    ASSERT_TRUE(other.set_state(q.state(), q));
    ASSERT_TRUE(q.iterate_from_intermediate());
    ASSERT_TRUE(other.iterate_from_intermediate());
    EXPECT_NEAR(other.lower_bound(), q.lower_bound(), 1e-10 * std::abs(q.lower_bound()));
    EXPECT_LE(relative_difference(other.state(), q.state()), 1e-10);
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
    const methods::BemklStart start{Matrix(30, 1, 1.0), Matrix(90, 1, 0.5), signs};
    return BemklFactors(*bank, plan.problems[0], methods::bemkl_prior({}), start);
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

}  // namespace
}  // namespace kloom
