// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/temperature.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace kloom {
namespace {

using solvers::HeldOutSample;

// Samples whose truth is drawn from chances p; what is told is p^power, normalised.
std::vector<HeldOutSample> told_with_power(double power, Index classes, Index count, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform;
  std::vector<HeldOutSample> samples;
  for (Index i = 0; i < count; ++i) {
    Vector p;
    double sum = 0.0;
    for (Index c = 0; c < classes; ++c) {
      p.push_back(std::pow(uniform(engine), 3.0) + 1e-3);
      sum += p.back();
    }
    double left = uniform(engine) * sum;
    std::size_t truth = 0;
    while (truth + 1 < p.size() && left > p[truth]) left -= p[truth++];
    double told = 0.0;
    for (double& value : p) told += value = std::pow(value / sum, power);
    for (double& value : p) value = std::log(value / told);
    samples.push_back({p, truth, 1.0});
  }
  return samples;
}

// The definition, in plain probabilities.
double naive_loss(const std::vector<HeldOutSample>& samples, double temperature) {
  double loss = 0.0;
  double weight = 0.0;
  for (const HeldOutSample& sample : samples) {
    double sum = 0.0;
    for (const double l : sample.log_chance) sum += std::pow(std::exp(l), 1.0 / temperature);
    const double own = std::pow(std::exp(sample.log_chance[sample.truth]), 1.0 / temperature);
    loss -= sample.weight * std::log(own / sum);
    weight += sample.weight;
  }
  return loss / weight;
}

TEST(Temperature, LossIsThatOfTheDefinition) {
  std::vector<HeldOutSample> samples = told_with_power(2.0, 4, 50, 1);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i].weight = 0.5 + 0.1 * static_cast<double>(i % 7);
  for (const double t : {0.3, 1.0, 2.5, 10.0})
    EXPECT_NEAR(solvers::log_loss(samples, t), naive_loss(samples, t), 1e-12);
}

// Over-confident by the power 2, right, and under-confident: the temperature undoes it. Its standard error with
// n samples is 1/√(n·variance of the log chances), below 0.03 of itself here.
TEST(Temperature, UndoesAKnownPower) {
  for (const Index classes : {2, 5}) {
    for (const double power : {0.5, 1.0, 2.0, 4.0}) {
      const double found = solvers::fit_temperature(told_with_power(power, classes, 4000, 7));
      EXPECT_NEAR(found / power, 1.0, 0.12) << classes << " classes, power " << power;
    }
  }
}

TEST(Temperature, IsTheLeastLossOnAGrid) {
  const std::vector<HeldOutSample> samples = told_with_power(3.0, 3, 3000, 2);
  const double found = solvers::fit_temperature(samples);
  for (double t = 0.3; t < 19.0; t *= 1.05)
    EXPECT_GE(solvers::log_loss(samples, t), solvers::log_loss(samples, found) - 1e-4);
}

TEST(Temperature, AllRightDoesNotAskForCertainty) {
  std::vector<HeldOutSample> samples(20, HeldOutSample{{std::log(0.9), std::log(0.1)}, 0, 1.0});
  const double found = solvers::fit_temperature(samples);
  EXPECT_GT(found, 0.25);
  EXPECT_LT(found, 1.0);
}

TEST(Temperature, ExtremeChancesStayFinite) {
  const std::vector<HeldOutSample> samples = {
      {{0.0, -690.0}, 1, 1.0}, {{-690.0, 0.0}, 1, 1.0}, {{0.0, -690.0}, 0, 2.0}};
  const double found = solvers::fit_temperature(samples);
  EXPECT_TRUE(std::isfinite(found));
  EXPECT_TRUE(std::isfinite(solvers::log_loss(samples, found)));
  EXPECT_LT(solvers::log_loss(samples, found), solvers::log_loss(samples, 1.0));
  EXPECT_EQ(solvers::fit_temperature({}), 1.0);
}

}  // namespace
}  // namespace kloom
