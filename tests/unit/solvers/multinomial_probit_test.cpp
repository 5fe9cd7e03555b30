// SPDX-License-Identifier: BSD-3-Clause
//
// Multinomial probit against plain sampling and against a fine trapezoidal rule.
#include "solvers/multinomial_probit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <numbers>

namespace kloom {
namespace {

Vector random_location(Index classes, double spread, std::uint64_t seed) {
  boost::random::mt19937_64 engine(seed);
  boost::random::normal_distribution<double> normal(0.0, spread);
  Vector location(static_cast<std::size_t>(classes));
  for (double& m : location) m = normal(engine);
  return location;
}

// Draws of f ~ N(location, deviation²): how often each class has the largest, and the mean of f
// where `label` has.
struct Sampled {
  double draws = 0.0;
  Vector wins;
  Vector mean, mean_square;  // given that the label wins
};
Sampled sample(const Vector& location, const Vector& deviation, std::size_t label, int draws) {
  boost::random::mt19937_64 engine(11);
  boost::random::normal_distribution<double> normal;
  Sampled s{static_cast<double>(draws), Vector(location.size()), Vector(location.size()),
            Vector(location.size())};
  Vector f(location.size());
  for (int k = 0; k < draws; ++k) {
    for (std::size_t c = 0; c < f.size(); ++c) f[c] = location[c] + deviation[c] * normal(engine);
    const auto winner = static_cast<std::size_t>(std::ranges::max_element(f) - f.begin());
    s.wins[winner] += 1.0;
    if (winner != label) continue;
    for (std::size_t c = 0; c < f.size(); ++c) {
      s.mean[c] += f[c];
      s.mean_square[c] += f[c] * f[c];
    }
  }
  for (std::size_t c = 0; c < f.size(); ++c) {
    s.mean[c] /= s.wins[label];
    s.mean_square[c] /= s.wins[label];
  }
  return s;
}

// Five standard errors: one in two million for each of the few dozen numbers compared.
constexpr double kErrors = 5.0;

TEST(MultinomialProbit, AgreesWithSampling) {
  for (Index classes : {2, 3, 6}) {
    const Vector location = random_location(classes, 0.7, 3 + static_cast<std::uint64_t>(classes));
    const Vector ones(location.size(), 1.0);
    const std::size_t label = 1;
    const Sampled s = sample(location, ones, label, 400000);
    Vector mean(location.size());
    const double mass = std::exp(solvers::multinomial_probit(location, static_cast<Index>(label), mean));
    const double seen = s.wins[label] / s.draws;
    EXPECT_NEAR(mass, seen, kErrors * std::sqrt(seen * (1.0 - seen) / s.draws));
    for (std::size_t c = 0; c < mean.size(); ++c) {
      const double variance = s.mean_square[c] - s.mean[c] * s.mean[c];
      EXPECT_NEAR(mean[c], s.mean[c], kErrors * std::sqrt(variance / s.wins[label])) << "class " << c;
    }
  }
}

TEST(MultinomialProbit, ProbabilitiesOfTheLargestAgreeWithSampling) {
  const Vector location = random_location(5, 1.0, 9);
  const Vector deviation = {0.4, 1.0, 2.0, 1.3, 0.8};
  const Sampled s = sample(location, deviation, 0, 400000);
  Vector probability(location.size());
  solvers::largest_probabilities(location, deviation, probability);
  double sum = 0.0;
  for (std::size_t c = 0; c < probability.size(); ++c) {
    const double seen = s.wins[c] / s.draws;
    EXPECT_NEAR(probability[c], seen, kErrors * std::sqrt(std::max(seen, 1e-5) / s.draws)) << "class " << c;
    sum += probability[c];
  }
  EXPECT_NEAR(sum, 1.0, 1e-12);
}

// Z and E f by 40,001 equidistant nodes over ±20: the trapezoidal rule converges geometrically for such
// integrands, and what lies outside is below 1e-80.
struct Reference {
  double mass = 0.0;
  Vector mean;
};
Reference reference(const Vector& location, std::size_t label) {
  constexpr int kNodes = 40001;
  const double step = 40.0 / (kNodes - 1);
  const auto cdf = [](double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); };
  const auto density = [](double z) { return std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi); };
  Reference r{0.0, location};
  Vector shift(location.size());
  for (int k = 0; k < kNodes; ++k) {
    const double u = -20.0 + k * step;
    for (std::size_t c = 0; c < location.size(); ++c) {
      double product = density(u) * step;
      for (std::size_t j = 0; j < location.size(); ++j) {
        const double z = u + location[label] - location[j];
        if (j != label) product *= j == c ? density(z) : cdf(z);
      }
      if (c == label) r.mass += product;
      if (c != label) shift[c] += product;
    }
  }
  for (std::size_t c = 0; c < location.size(); ++c) {
    r.mean[c] -= shift[c] / r.mass;
    r.mean[label] += shift[c] / r.mass;
  }
  return r;
}

// 20 adaptive nodes are right to 1.4e-8 for up to 27 classes; likely and unlikely labels alike.
TEST(MultinomialProbit, AgreesWithAFineRule) {
  for (Index classes : {3, 10, 27}) {
    for (double spread : {0.5, 2.0}) {
      const Vector location = random_location(classes, spread, 5);
      for (std::size_t label : {std::size_t{0}, location.size() - 1}) {
        const Reference r = reference(location, label);
        Vector mean(location.size());
        const double log_mass = solvers::multinomial_probit(location, static_cast<Index>(label), mean);
        EXPECT_NEAR(log_mass, std::log(r.mass), 1e-7) << classes << " classes, spread " << spread;
        for (std::size_t c = 0; c < mean.size(); ++c) EXPECT_NEAR(mean[c], r.mean[c], 1e-7) << "class " << c;
      }
    }
  }
}

}  // namespace
}  // namespace kloom
