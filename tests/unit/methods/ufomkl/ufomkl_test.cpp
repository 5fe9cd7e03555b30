// SPDX-License-Identifier: BSD-3-Clause
//
// UFO-MKL against a transcription on explicit features, and against an independent minimiser of
// the same objective.
#include "methods/ufomkl/ufomkl.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "kloom/certify.h"
#include "kloom/error.h"
#include "kloom/parts.h"
#include "solvers/draws.h"
#include "support/problems.h"

namespace kloom::methods {
namespace {

using test::normal_matrix;
using test::relative_difference;

struct Explicit {
  std::vector<Matrix> features;
  std::unique_ptr<KernelBank> bank;
  Targets targets;
  [[nodiscard]] Index samples() const { return features[0].rows(); }
};

Explicit explicit_problem(Index n, int classes, std::size_t kernels, unsigned seed) {
  Explicit p;
  std::vector<Matrix> grams;
  std::vector<std::string> names;
  for (std::size_t f = 0; f < kernels; ++f) {
    p.features.push_back(normal_matrix(n, 2 + static_cast<Index>(f), seed + static_cast<unsigned>(f)));
    grams.push_back(test::dot_kernel(p.features.back(), p.features.back()));
    names.push_back("k" + std::to_string(f));
  }
  p.bank = make_dense_bank(grams, names, true);
  p.targets.task = classes == 2 ? Task::binary : Task::multiclass;
  for (int c = 0; c < classes; ++c) p.targets.classes.push_back("c" + std::to_string(c));
  test::Normal noise(seed + 7);
  for (Index i = 0; i < n; ++i) {
    const double value = p.features[0](i, 0) + 0.5 * p.features.back()(i, 1) + 0.3 * noise();
    p.targets.codes.push_back(classes == 2 ? (value > 0.0 ? 1 : 0) : value < -0.5 ? 0 : value < 0.5 ? 1 : 2);
  }
  return p;
}

// [kernel][class·features]: one vector per kernel over all classes together.
using Weights = std::vector<Vector>;

Weights zeros(const Explicit& p) {
  Weights w;
  for (const Matrix& x : p.features)
    w.emplace_back(p.targets.classes.size() * static_cast<std::size_t>(x.cols()), 0.0);
  return w;
}

double norm(const Vector& v) {
  return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
}

double score(const Explicit& p, const Weights& w, std::size_t m, Index n) {
  double sum = 0.0;
  for (std::size_t f = 0; f < w.size(); ++f) {
    const Matrix& x = p.features[f];
    for (Index d = 0; d < x.cols(); ++d)
      sum += w[f][m * static_cast<std::size_t>(x.cols()) + static_cast<std::size_t>(d)] * x(n, d);
  }
  return sum;
}

struct Hinge {
  double loss;
  std::size_t near;
};
Hinge hinge(const Explicit& p, const Weights& w, Index n) {
  const auto y = static_cast<std::size_t>(p.targets.codes[static_cast<std::size_t>(n)]);
  std::size_t near = y == 0 ? 1 : 0;
  for (std::size_t m = 0; m < p.targets.classes.size(); ++m)
    if (m != y && score(p, w, m, n) > score(p, w, near, n)) near = m;
  return {std::max(0.0, 1.0 + score(p, w, near, n) - score(p, w, y, n)), near};
}

// θ += step·(Φ of the own class − Φ of the near class).
void add(const Explicit& p, Weights& theta, Index n, std::size_t near, double step) {
  const auto y = static_cast<std::size_t>(p.targets.codes[static_cast<std::size_t>(n)]);
  for (std::size_t f = 0; f < theta.size(); ++f) {
    const Matrix& x = p.features[f];
    for (Index d = 0; d < x.cols(); ++d) {
      const auto at = static_cast<std::size_t>(d);
      const auto size = static_cast<std::size_t>(x.cols());
      theta[f][y * size + at] += step * x(n, d);
      theta[f][near * size + at] -= step * x(n, d);
    }
  }
}

double dual_power(std::size_t kernels) {
  return std::max(2.0, 2.0 * std::log(static_cast<double>(kernels)));
}

Weights naive_ufo(const Explicit& p, double lambda, double alpha, const std::vector<Index>& order, double q) {
  Weights theta = zeros(p);
  Weights w = zeros(p);
  for (std::size_t t = 1; t <= order.size(); ++t) {
    const Hinge h = hinge(p, w, order[t - 1]);
    if (h.loss > 0.0) add(p, theta, order[t - 1], h.near, 1.0);
    Vector v;
    double sum = 0.0;
    for (const Vector& part : theta) {
      v.push_back(std::max(0.0, norm(part) - alpha * static_cast<double>(t)));
      sum += std::pow(v.back(), q);
    }
    const double size = std::pow(sum, 1.0 / q);
    for (std::size_t f = 0; f < w.size(); ++f) {
      const double factor = size > 0.0 && v[f] > 0.0 ? v[f] / (lambda * static_cast<double>(t)) /
                                                           norm(theta[f]) * std::pow(v[f] / size, q - 2.0)
                                                     : 0.0;
      for (std::size_t i = 0; i < w[f].size(); ++i) w[f][i] = factor * theta[f][i];
    }
  }
  return w;
}

Vector naive_scores(const Explicit& p, const Weights& w) {
  Vector scores;
  const std::size_t classes = p.targets.classes.size();
  for (std::size_t m = classes == 2 ? 1 : 0; m < classes; ++m) {
    for (Index n = 0; n < p.samples(); ++n)
      scores.push_back(score(p, w, m, n) - (classes == 2 ? score(p, w, 0, n) : 0.0));
  }
  return scores;
}

TEST(UfoMkl, EqualsATranscriptionOnExplicitFeatures) {
  for (const int classes : {2, 3}) {
    for (const auto& [kernels, power] :
         std::vector<std::pair<std::size_t, double>>{{1, 0.0}, {2, 0.0}, {5, 0.0}, {3, 1.2}, {5, 2.0}}) {
      const Explicit p = explicit_problem(90, classes, kernels, 11);
      UfoOptions options;
      options.lambda = 0.05;
      options.alpha = 0.02;
      options.norm = power;
      options.epochs = 3;
      Context context;
      context.seed = 9;
      const FitResult fit = fit_ufo(*p.bank, p.targets, options, context);
      std::vector<Index> order;
      std::vector<Index> samples(90);
      std::iota(samples.begin(), samples.end(), Index{0});
      solvers::Draws draws(9);
      for (int epoch = 0; epoch < 3; ++epoch) {
        draws.shuffle(samples);
        order.insert(order.end(), samples.begin(), samples.end());
      }
      const Weights w =
          naive_ufo(p, 0.05, 0.02, order, power > 0.0 ? power / (power - 1.0) : dual_power(kernels));
      EXPECT_LE(relative_difference(predict(fit.model, *p.bank, {}, {}).scores.values(), naive_scores(p, w)),
                1e-10)
          << classes << " classes, " << kernels << " kernels, norm " << power;
    }
  }
}

double objective(const Explicit& p, const Weights& w, double lambda, double alpha, double power) {
  double sum = 0.0;
  double group = 0.0;
  for (const Vector& part : w) {
    sum += std::pow(norm(part), power);
    group += norm(part);
  }
  double loss = 0.0;
  for (Index n = 0; n < p.samples(); ++n) loss += hinge(p, w, n).loss;
  return 0.5 * lambda * std::pow(sum, 2.0 / power) + alpha * group + loss / static_cast<double>(p.samples());
}

// Subgradient descent on all samples at once, steps c/√k, best value kept: slow, and nothing in
// common with UFO-MKL.
double independent_minimum(const Explicit& p, double lambda, double alpha, double power) {
  Weights w = zeros(p);
  double best = objective(p, w, lambda, alpha, power);
  for (int k = 1; k <= 20000; ++k) {
    Weights gradient = zeros(p);
    for (Index n = 0; n < p.samples(); ++n) {
      const Hinge h = hinge(p, w, n);
      if (h.loss > 0.0) add(p, gradient, n, h.near, -1.0 / static_cast<double>(p.samples()));
    }
    double sum = 0.0;
    for (const Vector& part : w) sum += std::pow(norm(part), power);
    for (std::size_t f = 0; f < w.size(); ++f) {
      const double size = norm(w[f]);
      const double factor =
          size > 0.0 ? lambda * std::pow(sum, 2.0 / power - 1.0) * std::pow(size, power - 2.0) + alpha / size
                     : 0.0;
      for (std::size_t i = 0; i < w[f].size(); ++i)
        w[f][i] -= 0.3 / std::sqrt(static_cast<double>(k)) * (gradient[f][i] + factor * w[f][i]);
    }
    if (k % 10 == 0) best = std::min(best, objective(p, w, lambda, alpha, power));
  }
  return best;
}

// The referee's bound must lie below the independent minimum and its objective above, both within the gap.
TEST(UfoMkl, ReachesTheMinimumOfAnIndependentMinimiser) {
  // By itself q = 2 ln 3, so p = 1.83.
  for (const auto& [classes, power] : std::vector<std::pair<int, double>>{{2, 0.0}, {3, 0.0}, {2, 1.3}}) {
    const Explicit p = explicit_problem(30, classes, 3, 21);
    UfoOptions options;
    options.lambda = 0.1;
    options.alpha = 0.02;
    options.norm = power;
    options.epochs = 20000;
    const FitResult fit = fit_ufo(*p.bank, p.targets, options, {});
    const Certificate certificate = certify(*p.bank, p.targets, fit.model, {});
    const double primal = certificate.items[0].value;
    const double bound = certificate.items[1].value;
    const double q = dual_power(3);
    const double minimum = independent_minimum(p, 0.1, 0.02, power > 0.0 ? power : q / (q - 1.0));
    EXPECT_LE(bound, minimum);
    EXPECT_LE(primal, minimum * (1.0 + 1e-3));
    EXPECT_GE(primal, minimum * (1.0 - 1e-3));
    EXPECT_LE(certificate.items[2].value, 2e-3);
  }
}

TEST(UfoMkl, LargeAlphaSwitchesKernelsOff) {
  const Explicit p = explicit_problem(60, 2, 4, 31);
  UfoOptions options;
  options.alpha = 0.3;
  const FitResult fit = fit_ufo(*p.bank, p.targets, options, {});
  int used = 0;
  for (const double w : fit.model.weights.values.values()) used += w != 0.0 ? 1 : 0;
  EXPECT_LT(used, 4);
  options.alpha = 1e6;  // nothing is worth its price: scores 0, and no division by 0
  const FitResult nothing = fit_ufo(*p.bank, p.targets, options, {});
  const Predictions predictions = predict(nothing.model, *p.bank, {}, {});
  for (const double s : predictions.scores.values()) EXPECT_EQ(s, 0.0);
}

TEST(UfoMkl, RefusesANormThatIsNone) {
  const Explicit p = explicit_problem(20, 2, 2, 35);
  UfoOptions options;
  for (const double norm : {0.5, 1.0}) {
    options.norm = norm;
    EXPECT_THROW(static_cast<void>(fit_ufo(*p.bank, p.targets, options, {})), InvalidArgument);
  }
}

TEST(UfoMkl, GridSearchTakesTheLowestHeldOutError) {
  const Explicit p = explicit_problem(60, 2, 3, 41);
  UfoOptions options;
  options.epochs = 3;
  options.lambda_grid = "0.01,1,100";
  options.alpha_grid = "0.001,10";
  const FitResult fit = fit_ufo(*p.bank, p.targets, options, {});
  ASSERT_EQ(fit.report.tables.size(), 1U);
  double lowest = 2.0;
  Vector best;
  for (const Vector& row : fit.report.tables[0].rows) {
    if (row[2] < lowest) {
      lowest = row[2];
      best = row;
    }
  }
  EXPECT_EQ(fit.report.tables[0].rows.size(), 6U);
  EXPECT_EQ(part_of<StochasticPart>(fit.model).lambda, best[0]);
  EXPECT_EQ(part_of<StochasticPart>(fit.model).alpha, best[1]);
  EXPECT_EQ(best[1], 0.001);  // at α = 10 every weight is 0
  options.lambda_grid = "-1,1";
  EXPECT_THROW(static_cast<void>(fit_ufo(*p.bank, p.targets, options, {})), InvalidArgument);
}

}  // namespace
}  // namespace kloom::methods
