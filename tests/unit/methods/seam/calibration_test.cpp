// SPDX-License-Identifier: BSD-3-Clause
//
// Probabilities by a temperature on held-out samples: the search against a brute-force one, and the methods that use it
// on a made-up problem whose true probabilities are known.
#include "methods/seam/calibration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kloom/error.h"
#include "kloom/learner.h"
#include "kloom/parts.h"
#include "support/problems.h"

namespace kloom {
namespace {

using methods::held_out_temperature;

// Classes drawn from softmax of known scores, which are 2·x_c (two classes: the sigmoid of 2·x_0).
struct Drawn {
  Matrix x;
  Targets targets;
  Matrix truth;  // samples × classes
};

Drawn drawn_problem(Index n, Index classes, unsigned seed) {
  Drawn drawn;
  drawn.x = test::normal_matrix(n, classes, seed);
  drawn.targets.task = classes == 2 ? Task::binary : Task::multiclass;
  for (Index c = 0; c < classes; ++c) drawn.targets.classes.push_back("c" + std::to_string(c));
  drawn.truth = Matrix(n, classes);
  test::Normal random(seed + 1);
  for (Index i = 0; i < n; ++i) {
    double sum = 0.0;
    for (Index c = 0; c < classes; ++c) {
      const double score = classes == 2 ? (c == 1 ? 2.0 * drawn.x(i, 0) : 0.0) : 2.0 * drawn.x(i, c);
      sum += drawn.truth(i, c) = std::exp(score);
    }
    for (Index c = 0; c < classes; ++c) drawn.truth(i, c) /= sum;
    double left = random.uniform();
    int code = 0;
    while (code + 1 < classes && left > drawn.truth(i, code)) left -= drawn.truth(i, code++);
    drawn.targets.codes.push_back(code);
  }
  return drawn;
}

std::unique_ptr<KernelBank> bank_between(const Matrix& rows, const Matrix& cols, bool symmetric) {
  std::vector<Matrix> kernels;
  Matrix linear(rows.rows(), cols.rows());
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index j = 0; j < cols.rows(); ++j) {
      for (Index d = 0; d < rows.cols(); ++d) linear(i, j) += rows(i, d) * cols(j, d);
    }
  }
  kernels.push_back(std::move(linear));
  kernels.push_back(test::rbf_kernel(rows, cols, 2.0));
  return make_dense_bank(kernels, {"linear", "rbf"}, symmetric);
}

double mean_log_loss(const Matrix& p, const std::vector<int>& codes) {
  double sum = 0.0;
  for (Index i = 0; i < p.rows(); ++i) sum -= std::log(p(i, codes[at(i)]));
  return sum / static_cast<double>(p.rows());
}

double frequency_log_loss(const std::vector<int>& train, const std::vector<int>& test, Index classes) {
  Vector frequency(at(classes));
  for (const int code : train) frequency[at(code)] += 1.0 / static_cast<double>(train.size());
  double sum = 0.0;
  for (const int code : test) sum -= std::log(frequency[at(code)]);
  return sum / static_cast<double>(test.size());
}

// The loss that temperatures are chosen by: truths smoothed by s = 1/(n + 2) towards all classes.
double smoothed_loss(const Matrix& scores, const std::vector<int>& codes, double temperature) {
  const double s = 1.0 / (static_cast<double>(scores.rows()) + 2.0);
  const Matrix p = methods::tempered_probabilities(scores, temperature);
  double sum = 0.0;
  for (Index i = 0; i < p.rows(); ++i) {
    sum -= (1.0 - s) * std::log(p(i, codes[at(i)]));
    for (Index c = 0; c < p.cols(); ++c) sum -= s / static_cast<double>(p.cols()) * std::log(p(i, c));
  }
  return sum;
}

TEST(Calibration, TemperatureIsThatOfABruteForceSearch) {
  for (const Index classes : {2, 4}) {
    for (const double size : {1e-3, 1.0, 50.0}) {
      const Drawn drawn = drawn_problem(90, classes, 3);
      Matrix scores(90, classes == 2 ? 1 : classes);
      for (Index c = 0; c < scores.cols(); ++c) {
        for (Index i = 0; i < 90; ++i) scores(i, c) = size * drawn.x(i, c);
      }
      const auto given = [&](const std::vector<Index>& train, const std::vector<Index>& held_out) {
        EXPECT_EQ(train.size() + held_out.size(), 90U);
        Matrix own(std::ssize(held_out), scores.cols());
        for (Index c = 0; c < own.cols(); ++c) {
          for (Index k = 0; k < own.rows(); ++k) own(k, c) = scores(held_out[at(k)], c);
        }
        return own;
      };
      const double found = held_out_temperature(drawn.targets, given, {});
      // Steps of 1/500 in log T over the decade around the true temperature size/2.
      double best = 0.0;
      double lowest = 1e300;
      for (double log_t = std::log(0.15 * size); log_t < std::log(1.5 * size); log_t += 0.002) {
        const double loss = smoothed_loss(scores, drawn.targets.codes, std::exp(log_t));
        if (loss < lowest) {
          lowest = loss;
          best = log_t;
        }
      }
      EXPECT_NEAR(std::log(found), best, 0.002) << classes << " classes, scores of size " << size;
    }
  }
}

TEST(Calibration, OneFifthIsHeldOutOnceWhereSamplesAreMany) {
  Targets targets;
  targets.classes = {"no", "yes"};
  for (int i = 0; i < 6000; ++i) targets.codes.push_back(i % 2);
  Index calls = 0;
  const auto given = [&](const std::vector<Index>& train, const std::vector<Index>& held_out) {
    ++calls;
    EXPECT_EQ(train.size(), 4800U);
    Matrix scores(std::ssize(held_out), 1);
    for (Index k = 0; k < scores.rows(); ++k) scores(k, 0) = held_out[at(k)] % 2 == 1 ? 1.0 : -1.0;
    return scores;
  };
  EXPECT_GT(held_out_temperature(targets, given, {}), 0.0);
  EXPECT_EQ(calls, 1);
}

TEST(Calibration, NothingIsPromisedWhereNoFoldCanBeLearned) {
  Targets targets;
  targets.classes = {"no", "yes"};
  targets.codes = {0, 1};
  const auto never = [](const std::vector<Index>&, const std::vector<Index>&) -> Matrix {
    ADD_FAILURE() << "one class alone cannot be learned";
    return {};
  };
  EXPECT_EQ(held_out_temperature(targets, never, {}), 0.0);
}

class Tempered : public testing::TestWithParam<const char*> {};

// Half of the way from the class frequencies to the truth is what the finite training set and the temperature, which is the
// only thing that is fitted, must leave; the excess of a fitted logistic model is about parameters/(2N) = 5/600, the way 0.25.
TEST_P(Tempered, ProbabilitiesAreNearTheFrequencies) {
  for (const Index classes : {2, 3}) {
    SCOPED_TRACE(classes);
    const Drawn train = drawn_problem(300, classes, 11);
    const Drawn fresh = drawn_problem(1000, classes, 12);
    const auto bank = bank_between(train.x, train.x, true);
    const FitResult fit = find_learner(GetParam()).fit(*bank, train.targets, {}, {});
    const Predictions found = predict(fit.model, *bank_between(fresh.x, train.x, false), {}, {});
    ASSERT_EQ(found.probabilities.rows(), 1000);
    ASSERT_EQ(found.probabilities.cols(), classes);
    Vector mean(at(classes));
    Vector count(at(classes));
    for (Index i = 0; i < 1000; ++i) {
      double sum = 0.0;
      for (Index c = 0; c < classes; ++c) {
        sum += found.probabilities(i, c);
        mean[at(c)] += 0.001 * found.probabilities(i, c);
      }
      EXPECT_NEAR(sum, 1.0, 4.0 * 2.3e-16 * static_cast<double>(classes));
      count[at(fresh.targets.codes[at(i)])] += 0.001;
      // The most probable class is the one that is predicted.
      for (Index c = 0; c < classes; ++c)
        EXPECT_LE(found.probabilities(i, c), found.probabilities(i, found.codes[at(i)]));
    }
    const double own = mean_log_loss(found.probabilities, fresh.targets.codes);
    const double best = mean_log_loss(fresh.truth, fresh.targets.codes);
    const double blind = frequency_log_loss(train.targets.codes, fresh.targets.codes, classes);
    EXPECT_LT(own, blind - 0.5 * (blind - best));
    // Four standard errors of a frequency among the 300 samples that were learned and the 1,000 that are predicted.
    for (Index c = 0; c < classes; ++c)
      EXPECT_NEAR(mean[at(c)], count[at(c)], 4.0 * 0.5 * std::sqrt(1.0 / 300.0 + 1.0 / 1000.0));
  }
}

TEST_P(Tempered, FilesKeepTheBitsAndOldModelsTheirBytes) {
  const Drawn train = drawn_problem(60, 3, 21);
  const auto bank = bank_between(train.x, train.x, true);
  const Learner& learner = find_learner(GetParam());
  const FitResult fit = learner.fit(*bank, train.targets, {}, {});
  const std::string bytes = model_bytes(fit.model);
  EXPECT_NE(bytes.find(".temperature"), std::string::npos);
  const Model loaded = model_from_bytes(bytes);
  const Predictions before = predict(fit.model, *bank, {}, {});
  const Predictions after = predict(loaded, *bank, {}, {});
  ASSERT_EQ(after.probabilities.size(), 180);
  EXPECT_TRUE(std::ranges::equal(before.probabilities.values(), after.probabilities.values()));
  EXPECT_EQ(model_bytes(loaded), bytes);

  const FitResult plain = learner.fit(*bank, train.targets, {{"probability", "false"}}, {});
  EXPECT_EQ(model_bytes(plain.model).find(".temperature"), std::string::npos);
  const Predictions without = predict(plain.model, *bank, {}, {});
  EXPECT_TRUE(without.probabilities.empty());
  EXPECT_TRUE(std::ranges::equal(without.scores.values(), before.scores.values()));
}

// Stopped in the fit: a model without probabilities. Stopped in the folds: with those of the folds that ended.
TEST_P(Tempered, StopAndAbortAreHeard) {
  const Drawn train = drawn_problem(60, 2, 31);
  const auto bank = bank_between(train.x, train.x, true);
  const Learner& learner = find_learner(GetParam());
  const Drawn& data = train;
  Context context;
  Index folds = 0;
  context.progress = [&](const Progress& progress) {
    folds += progress.stage == "probabilities" ? 1 : 0;
    return folds > 0 ? Signal::stop : Signal::go_on;
  };
  FitResult fit = learner.fit(*bank, data.targets, {}, context);
  EXPECT_EQ(folds, 1);
  EXPECT_EQ(predict(fit.model, *bank, {}, {}).probabilities.rows(), 60);
  context.progress = [](const Progress&) { return Signal::stop; };
  fit = learner.fit(*bank, data.targets, {}, context);
  if (fit.report.status == Status::stopped) {
    EXPECT_TRUE(predict(fit.model, *bank, {}, {}).probabilities.empty());
  }
  context.progress = [](const Progress& progress) {
    return progress.stage == "probabilities" ? Signal::abort : Signal::go_on;
  };
  EXPECT_THROW((void)learner.fit(*bank, data.targets, {}, context), Interrupted);
}

INSTANTIATE_TEST_SUITE_P(Methods, Tempered, testing::Values("mcmkl", "mkl-da", "ufo-mkl"),
                         [](const auto& method) {
                           std::string name = method.param;
                           std::erase(name, '-');
                           return name;
                         });

// Numbers: the temperature makes z = (y − mean)/(T · deviation) have mean square 1, which is where the loss is least.
TEST(Calibration, TemperatureOfNumbersHasTheLeastLoss) {
  test::Normal normal(9);
  methods::HeldOut held_out;
  EXPECT_TRUE(held_out.empty());
  double square = 0.0;
  double total = 0.0;
  for (int i = 0; i < 50; ++i) {
    const double weight = 1.0 + i % 3;
    const double z = 2.5 * normal();
    held_out.add_number(1.0 + 0.3 * z, 1.0, 0.3, weight);
    square += weight * z * z;
    total += weight;
  }
  const double t = held_out.temperature();
  EXPECT_NEAR(t, std::sqrt(square / total), 1e-12);  // 50 terms of rounding
  EXPECT_LT(held_out.loss(t), held_out.loss(1.01 * t));
  EXPECT_LT(held_out.loss(t), held_out.loss(0.99 * t));
}

// What predictions say of samples, against the loss by its definition: −log p of classes, of every label that is known,
// and of numbers under their normal distributions. Rows of predictions need not be in the order of the samples.
TEST(HeldOut, LossOfPredictions) {
  Targets classes;
  classes.task = Task::multiclass;
  classes.classes = {"a", "b", "c"};
  classes.codes = {2, 0};
  classes.weights = {1.0, 3.0};
  Predictions told;
  told.probabilities =
      Matrix(2, 3, Vector{0.5, 0.1, 0.3, 0.2, 0.2, 0.7});  // rows (0.5, 0.3, 0.2) and (0.1, 0.2, 0.7)
  methods::HeldOut of_classes;
  of_classes.add(classes, 0, told, 1);
  of_classes.add(classes, 1, told, 0);
  EXPECT_NEAR(of_classes.loss(1.0), -(std::log(0.7) + 3.0 * std::log(0.5)) / 4.0, 1e-15);

  Targets labels;
  labels.task = Task::multilabel;
  labels.classes = {"red", "green"};
  labels.values = Matrix(1, 2, Vector{1.0, std::nan("")});
  told.probabilities = Matrix(1, 2, Vector{0.8, 0.4});
  methods::HeldOut of_labels;
  of_labels.add(labels, 0, told, 0);
  EXPECT_NEAR(of_labels.loss(1.0), -std::log(0.8), 1e-15);

  Targets numbers;
  numbers.task = Task::regression;
  numbers.values = Matrix(1, 1, 5.0);
  told.scores = Matrix(1, 1, 4.0);
  told.deviation = Matrix(1, 1, 2.0);
  methods::HeldOut of_numbers;
  of_numbers.add(numbers, 0, told, 0);
  EXPECT_NEAR(of_numbers.loss(1.0), 0.5 * std::log(2.0 * std::numbers::pi * 4.0) + 0.125, 1e-15);
}

}  // namespace
}  // namespace kloom
