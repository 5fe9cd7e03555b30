// SPDX-License-Identifier: BSD-3-Clause
//
// The fit of several tasks with shared kernel weights against a plain transcription: q(b_1…b_T,e) as one normal
// distribution over all biases and weights, and the bound of all tasks from its definition.
#include "methods/bemkl_tasks/joint_factors.h"

#include <gtest/gtest.h>

#include "unit/methods/bemkl/naive_bound.h"

namespace kloom {
namespace {

using namespace test;
using methods::JointFactors;

// Tasks of every kind, each with other samples.
std::vector<FamilyTask> mixed_tasks() {
  const std::vector<FamilyTask> first = all_tasks(14, 5);
  const std::vector<FamilyTask> second = all_tasks(9, 6);
  const std::vector<FamilyTask> third = all_tasks(11, 7);
  return {first[0], second[9], third[3], first[2], third[9], second[6]};  // binary, numbers, three classes, …
}

// q(b_1…b_T,e) and the places of its parts: the biases of all tasks one after the other, then the weights.
struct WholePosterior {
  Eigen::MatrixXd covariance;
  Eigen::VectorXd mean;
  std::vector<Index> first_bias;
};

WholePosterior whole_posterior(const std::vector<BemklFactors>& tasks) {
  WholePosterior whole;
  Index biases = 0;
  for (const BemklFactors& q : tasks) {
    whole.first_bias.push_back(biases);
    biases += q.outputs();
  }
  const Index p = tasks.front().kernels();
  Eigen::MatrixXd precision = Eigen::MatrixXd::Zero(biases + p, biases + p);
  Eigen::VectorXd right = Eigen::VectorXd::Zero(biases + p);
  const Vector omega = tasks.front().posterior(false).omega;
  for (Index m = 0; m < p; ++m) precision(biases + m, biases + m) = omega[static_cast<std::size_t>(m)];
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const BemklFactors& q = tasks[t];
    const BemklPosterior::Group posterior = q.posterior(false);
    for (Index c = 0; c < q.outputs(); ++c) {
      const auto s = static_cast<std::size_t>(c);
      const Index k = whole.first_bias[t] + c;
      const Eigen::MatrixXd g =
          Eigen::Map<const Eigen::MatrixXd>(q.intermediate().column(c).data(), q.samples(), p);
      precision(k, k) += posterior.gamma[s];
      for (Index i = 0; i < q.samples(); ++i) {
        Eigen::VectorXd h = Eigen::VectorXd::Zero(biases + p);
        h(k) = 1.0;
        h.tail(p) = g.row(i);
        precision += posterior.epsilon[s] * h * h.transpose();
        precision.bottomRightCorner(p, p) += posterior.epsilon[s] * eigen(q.g_covariance(c));
        right += posterior.epsilon[s] * q.f()(i, c) * h;
      }
    }
  }
  whole.covariance = precision.inverse();
  whole.mean = whole.covariance * right;
  return whole;
}

// Each task has the marginal of its own biases and the weights, and the weights are the same bits in all.
void expect_marginals(const JointFactors& joint, const WholePosterior& whole) {
  const Index p = joint.tasks().front().kernels();
  const Index biases = whole.covariance.rows() - p;
  for (std::size_t t = 0; t < joint.tasks().size(); ++t) {
    const BemklFactors& q = joint.tasks()[t];
    const Eigen::MatrixXd found = eigen(q.posterior(false).be_covariance);
    std::vector<Index> places;
    for (Index c = 0; c < q.outputs(); ++c) places.push_back(whole.first_bias[t] + c);
    for (Index m = 0; m < p; ++m) places.push_back(biases + m);
    for (std::size_t k = 0; k < places.size(); ++k) {
      for (std::size_t l = 0; l < places.size(); ++l) {
        const double scale =
            std::sqrt(whole.covariance(places[k], places[k]) * whole.covariance(places[l], places[l]));
        EXPECT_NEAR(found(static_cast<Index>(k), static_cast<Index>(l)), whole.covariance(places[k], places[l]),
                    1e-9 * scale)
            << "task " << t;
      }
    }
    for (Index m = 0; m < p; ++m) {
      const BemklFactors& first = joint.tasks().front();
      EXPECT_EQ(q.be()[static_cast<std::size_t>(q.outputs() + m)],
                first.be()[static_cast<std::size_t>(first.outputs() + m)]);
    }
  }
}

struct Mixed {
  std::vector<FamilyTask> tasks;
  std::vector<std::unique_ptr<KernelBank>> banks;
  std::vector<BemklPrior> priors;
  JointFactors joint;

  explicit Mixed(unsigned seed, std::vector<FamilyTask> given = mixed_tasks())
      : tasks(std::move(given)), joint(factors(seed)) {}
  std::vector<BemklFactors> factors(unsigned seed) {
    std::vector<BemklFactors> all;
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      banks.push_back(bank_of(tasks[t].kernels));
      priors.emplace_back();
      priors.back().sigma_g = t % 2 == 0 ? 1.0 : 0.3;
      all.emplace_back(*banks[t], tasks[t].problem, priors[t],
                       random_start(tasks[t], seed + static_cast<unsigned>(t)));
    }
    return all;
  }
  [[nodiscard]] double naive() const {
    const WholePosterior whole = whole_posterior(joint.tasks());
    const auto dimension = static_cast<double>(whole.covariance.rows());
    double bound = 0.5 * (dimension * (1 + std::log(2 * std::numbers::pi)) + log_det(whole.covariance));
    bound += naive_bound_of_omega(priors.front(), joint.tasks().front());
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      std::vector<Eigen::MatrixXd> a_covariances;
      const BemklPosterior::Group posterior = joint.tasks()[t].posterior(true);
      for (const Matrix& covariance : posterior.a_covariance) a_covariances.push_back(eigen(covariance));
      bound += naive_bound_of_samples(tasks[t], priors[t], joint.tasks()[t], a_covariances);
    }
    return bound;
  }
};

// After every pass the bound equals its definition and has not fallen: 1e-9 of its size is far above the rounding of a sum
// of so many terms, and far below any wrong one.
TEST(JointFactors, BoundIsExactAndNeverFalls) {
  for (const unsigned seed : {1U, 20U}) {
    Mixed mixed(seed);
    double last = -std::numeric_limits<double>::infinity();
    for (int pass = 0; pass < 14; ++pass) {
      ASSERT_TRUE(pass < 7 ? mixed.joint.iterate() : mixed.joint.iterate_from_intermediate());
      const double now = mixed.joint.lower_bound();
      const double slack = 1e-9 * std::abs(now);
      EXPECT_NEAR(now, mixed.naive(), slack) << "pass " << pass;
      EXPECT_GE(now, last - slack) << "pass " << pass;
      last = now;
      expect_marginals(mixed.joint, whole_posterior(mixed.joint.tasks()));
    }
  }
}

// Where f is given, that is for numbers, nothing changes after q(b,e): its means are those of the whole system.
TEST(JointFactors, MeansSolveTheWholeSystem) {
  Mixed mixed(3, {all_tasks(14, 5)[9], all_tasks(9, 6)[11], all_tasks(11, 7)[9]});
  for (int pass = 0; pass < 6; ++pass) {
    ASSERT_TRUE(pass < 3 ? mixed.joint.iterate() : mixed.joint.iterate_from_intermediate());
    const WholePosterior whole = whole_posterior(mixed.joint.tasks());
    for (std::size_t t = 0; t < mixed.tasks.size(); ++t) {
      const BemklFactors& q = mixed.joint.tasks()[t];
      for (Index k = 0; k < q.outputs() + q.kernels(); ++k) {
        const Index place =
            k < q.outputs() ? whole.first_bias[t] + k : whole.mean.size() - q.kernels() + k - q.outputs();
        EXPECT_NEAR(q.be()[static_cast<std::size_t>(k)], whole.mean(place),
                    1e-9 * std::sqrt(whole.covariance(place, place)))
            << "task " << t << ", entry " << k;
      }
    }
  }
}

TEST(JointFactors, StateGoesOnWhereItWasTaken) {
  Mixed mixed(9);
  ASSERT_TRUE(mixed.joint.iterate());
  ASSERT_TRUE(mixed.joint.iterate_from_intermediate());
  Mixed other(9);
  ASSERT_TRUE(other.joint.iterate());
  ASSERT_TRUE(other.joint.set_state(mixed.joint.state(), mixed.joint));
  ASSERT_TRUE(mixed.joint.iterate_from_intermediate());
  ASSERT_TRUE(other.joint.iterate_from_intermediate());
  EXPECT_NEAR(other.joint.lower_bound(), mixed.joint.lower_bound(), 1e-9 * std::abs(mixed.joint.lower_bound()));
}

}  // namespace
}  // namespace kloom
