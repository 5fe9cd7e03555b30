// SPDX-License-Identifier: BSD-3-Clause
//
// Learning from a stream against transcriptions in which every w_mf is an expansion of its own over all samples
// seen, shrunk and added to at every step as the published algorithms say.
#include "kloom/stream.h"
#include "kloom/parts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "fuzz/checkpoint_input.h"
#include "kloom/error.h"
#include "methods/ufomkl/ufomkl.h"
#include "solvers/draws.h"
#include "support/corpus.h"
#include "support/problems.h"

namespace kloom {
namespace {

using test::relative_difference;

Dataset stream_data(Index n, int classes, unsigned seed) {
  Dataset data;
  data.samples = n;
  data.features = test::normal_matrix(n, 3, seed);
  for (int d = 0; d < 3; ++d) data.feature_info.push_back({"f" + std::to_string(d), ""});
  test::Normal noise(seed + 1);
  for (Index i = 0; i < n; ++i) {
    const double value = data.features(i, 0) + std::sin(2.0 * data.features(i, 1)) + 0.3 * noise();
    data.labels.emplace_back(classes == 2   ? (value > 0.0 ? "b" : "a")
                             : value < -0.7 ? "a"
                             : value < 0.7  ? "b"
                                            : "c");
  }
  return data;
}

Recipe recipe_of(const Dataset& data, const char* spec = "rbf(gamma=0.01,0.3,2); laplacian(gamma=0.5)") {
  RecipeOptions options;
  options.preprocessing.standardise = false;
  return Recipe::fit(data, parse_kernel_spec(spec), options, {});
}

double kernel(const KernelTerm& term, const Matrix& x, Index i, Index j) {
  double sum = 0.0;
  for (Index d = 0; d < x.cols(); ++d) {
    const double difference = x(i, d) - x(j, d);
    sum += term.function == KernelFunction::rbf ? difference * difference : std::abs(difference);
  }
  return std::exp(-term.parameter * sum);
}

// Algorithm 2, every class known from the start of the count (a class without samples has w = 0 and never wins
// with a score above the others' …): classes are added when they are first seen, as in the product.
class NaiveDao {
 public:
  NaiveDao(const Dataset& data, const Recipe& recipe, Index dt, bool literal, std::uint64_t seed)
      : data_(data), recipe_(recipe), dt_(dt), literal_(literal), draws_(seed) {
    alpha_ = strength();
    beta_ = draws_.normal(1.0, 1.0);
    n_of_alpha_ = static_cast<double>(dt);
  }

  void run() {
    for (Index n = 1; n <= data_.samples; ++n) step(n);
  }
  // g of every class for a sample of the data.
  [[nodiscard]] Vector scores(Index sample) const {
    Vector g(classes_.size());
    for (std::size_t m = 0; m < g.size(); ++m) {
      for (std::size_t f = 0; f < recipe_.terms.size(); ++f) g[m] += inner(m, f, sample);
    }
    return g;
  }
  std::vector<std::string> classes_;

 private:
  using Expansion = Vector;  // coefficient of every sample

  double strength() {
    const double drawn = draws_.gamma(kappa_, theta_);
    return literal_ ? drawn : std::max(drawn, static_cast<double>(recipe_.terms.size()) / 1e4);
  }
  [[nodiscard]] double inner(std::size_t m, std::size_t f, Index sample) const {
    double sum = 0.0;
    for (std::size_t j = 0; j < w_[m][f].size(); ++j)
      if (w_[m][f][j] != 0.0)
        sum += w_[m][f][j] * kernel(recipe_.terms[f], data_.features, static_cast<Index>(j), sample);
    return sum;
  }
  [[nodiscard]] double gamma(std::size_t m, std::size_t f) const {
    return (alpha_ + beta_ * beta_ * inverse_lambda_[m][f]) / n_of_alpha_;
  }

  void step(Index n) {
    const Index sample = n - 1;
    const std::string& label = data_.labels[static_cast<std::size_t>(sample)];
    if (std::ranges::find(classes_, label) == classes_.end()) {
      classes_.push_back(label);
      w_.emplace_back(recipe_.terms.size(), Expansion(static_cast<std::size_t>(data_.samples), 0.0));
      inverse_lambda_.emplace_back(recipe_.terms.size(), 1.0);
    }
    const auto y = static_cast<std::size_t>(std::ranges::find(classes_, label) - classes_.begin());
    if (literal_ && n % dt_ == 0) draw_strengths(n);
    const Vector g = scores(sample);
    std::size_t near = y;
    for (std::size_t m = 0; m < g.size(); ++m)
      if (m != y && (near == y || g[m] > g[near])) near = m;
    const bool loss = near != y && 1.0 + g[near] - g[y] > 0.0;
    for (std::size_t m = 0; m < w_.size(); ++m) {
      for (std::size_t f = 0; f < w_[m].size(); ++f) {
        for (double& c : w_[m][f]) c *= 1.0 - 1.0 / static_cast<double>(n);
        if (loss && (m == y || m == near))
          w_[m][f][static_cast<std::size_t>(sample)] +=
              (m == y ? 1.0 : -1.0) / (gamma(m, f) * static_cast<double>(n));
      }
    }
    if (n % dt_ == 0) update(n);
  }

  void draw_strengths(Index n) {
    alpha_ = strength();
    beta_ = draws_.normal(mu_, sigma_);
    n_of_alpha_ = static_cast<double>(n);
  }

  void update(Index n) {
    const std::vector<Vector> before = all_gammas();
    if (!literal_) draw_strengths(n);
    double w_bar = 0.0;
    double tau = 0.0;
    for (std::size_t m = 0; m < w_.size(); ++m) {
      for (std::size_t f = 0; f < w_[m].size(); ++f) {
        double square = 0.0;
        for (std::size_t j = 0; j < w_[m][f].size(); ++j)
          if (w_[m][f][j] != 0.0) square += w_[m][f][j] * inner(m, f, static_cast<Index>(j));
        inverse_lambda_[m][f] = draws_.inverse_gaussian(1.0 / (std::abs(beta_) * std::sqrt(square)), 1.0);
        w_bar += square;
        tau += inverse_lambda_[m][f] * square;
      }
    }
    const double theta = literal_ ? theta_ : 1.0;
    const double mu = literal_ ? mu_ : 1.0;
    const double sigma = literal_ ? sigma_ : 1.0;
    theta_ = 2.0 * theta / (2.0 + w_bar * theta);
    mu_ = mu / (literal_ ? std::sqrt(1.0 + tau * sigma * sigma) : 1.0 + tau * sigma * sigma);
    sigma_ = sigma / std::sqrt(1.0 + tau * sigma * sigma);
    if (literal_) return;
    // Re-based: the counts stay, their kernel weights change.
    for (std::size_t m = 0; m < w_.size(); ++m) {
      for (std::size_t f = 0; f < w_[m].size(); ++f)
        for (double& c : w_[m][f]) c *= before[m][f] / gamma(m, f);
    }
  }
  [[nodiscard]] std::vector<Vector> all_gammas() const {
    std::vector<Vector> result;
    for (std::size_t m = 0; m < w_.size(); ++m) {
      result.emplace_back();
      for (std::size_t f = 0; f < w_[m].size(); ++f) result.back().push_back(gamma(m, f));
    }
    return result;
  }

  const Dataset& data_;
  const Recipe& recipe_;
  Index dt_;
  bool literal_;
  solvers::Draws draws_;
  double kappa_ = 1.0, theta_ = 1.0, mu_ = 1.0, sigma_ = 1.0;
  double alpha_ = 0.0, beta_ = 0.0, n_of_alpha_ = 1.0;
  std::vector<std::vector<Expansion>> w_;  // [class][kernel]
  std::vector<Vector> inverse_lambda_;
};

Matrix model_scores(const Model& model, const Dataset& data) {
  return predict(model, data, {}, {}).scores;
}

// Tables keep kernels to 7e-10, and a sum of some hundred of them in the scores; α falls, so scores
// are large: relative.
TEST(Stream, MklDaoEqualsAlgorithm2StepByStep) {
  for (const int classes : {2, 3}) {
    for (const bool literal : {true, false}) {
      SCOPED_TRACE(::testing::Message() << classes << " classes, literal " << literal);
      const Dataset data = stream_data(150, classes, 5);
      const Recipe recipe = recipe_of(data);
      StreamOptions options;
      options.literal = literal;
      options.dt_update = 40;
      Context context;
      context.seed = 3;
      StreamLearner learner(recipe, options, context);
      learner.learn(data);
      NaiveDao naive(data, recipe, 40, literal, 3);
      naive.run();
      ASSERT_EQ(learner.classes(), naive.classes_);
      const Matrix scores = model_scores(learner.model(), data);
      Vector expected;
      for (Index k = 0; k < scores.cols(); ++k) {
        for (Index n = 0; n < data.samples; ++n) {
          const Vector g = naive.scores(n);
          expected.push_back(classes == 2 ? g[1] - g[0] : g[static_cast<std::size_t>(k)]);
        }
      }
      EXPECT_LE(relative_difference(scores.values(), expected), 1e-7);
    }
  }
}

// One pass of UFO-MKL in the order of the stream, with every kernel evaluated for every pair.
TEST(Stream, UfoMklEqualsATranscription) {
  const Dataset data = stream_data(200, 3, 6);
  const Recipe recipe = recipe_of(data);
  StreamOptions options;
  options.method = "ufo-mkl";
  options.alpha = 0.01;
  StreamLearner learner(recipe, options, {});
  learner.learn(data);
  const std::size_t kernels = recipe.terms.size();
  const std::vector<std::string>& classes = learner.classes();
  const methods::UfoMirror mirror(options.lambda, options.alpha, static_cast<Index>(kernels));
  Matrix counts(200, 3);
  std::size_t known = 0;
  const auto raw = [&](std::size_t f, Index k, Index i) {
    double sum = 0.0;
    for (Index j = 0; j < 200; ++j)
      if (counts(j, k) != 0.0) sum += counts(j, k) * kernel(recipe.terms[f], data.features, j, i);
    return sum;
  };
  const auto weights = [&](double t) {
    Vector squares(kernels);
    for (std::size_t f = 0; f < kernels; ++f) {
      for (Index k = 0; k < 3; ++k)
        for (Index j = 0; j < 200; ++j) squares[f] += counts(j, k) == 0.0 ? 0.0 : counts(j, k) * raw(f, k, j);
    }
    Vector w(kernels);
    mirror.weights(squares, t, w);
    return w;
  };
  for (Index n = 0; n < 200; ++n) {
    const auto y = std::ranges::find(classes, data.labels[static_cast<std::size_t>(n)]) - classes.begin();
    known = std::max(known, static_cast<std::size_t>(y) + 1);
    const Vector w = n > 0 ? weights(static_cast<double>(n)) : Vector(kernels);
    Vector g(known);
    for (std::size_t k = 0; k < known; ++k) {
      for (std::size_t f = 0; f < kernels; ++f) g[k] += w[f] * raw(f, static_cast<Index>(k), n);
    }
    Index near = y;
    for (Index k = 0; k < static_cast<Index>(known); ++k)
      if (k != y && (near == y || g[static_cast<std::size_t>(k)] > g[static_cast<std::size_t>(near)])) near = k;
    if (near == y || 1.0 + g[static_cast<std::size_t>(near)] - g[static_cast<std::size_t>(y)] <= 0.0) continue;
    counts(n, y) += 1.0;
    counts(n, near) -= 1.0;
  }
  const Vector w = weights(200.0);
  const Matrix scores = model_scores(learner.model(), data);
  Vector expected;
  for (Index k = 0; k < 3; ++k) {
    for (Index n = 0; n < 200; ++n) {
      double sum = 0.0;
      for (std::size_t f = 0; f < kernels; ++f) sum += w[f] * raw(f, k, n);
      expected.push_back(sum);
    }
  }
  EXPECT_LE(relative_difference(scores.values(), expected), 1e-7);
}

std::string temporary() {
  return (std::filesystem::temp_directory_path() / ("kloom-stream-" + std::to_string(::getpid()))).string();
}

Dataset part(const Dataset& data, Index begin, Index end) {
  std::vector<Index> rows;
  for (Index i = begin; i < end; ++i) rows.push_back(i);
  return select_samples(data, rows);
}

TEST(Stream, GoesOnFromACheckpointToTheSameBits) {
  const Dataset data = stream_data(1024, 3, 7);
  for (const char* method : {"mkl-dao", "literal", "ufo-mkl", "budget"}) {
    SCOPED_TRACE(method);
    StreamOptions options;
    options.method = std::string(method) == "ufo-mkl" ? "ufo-mkl" : "mkl-dao";
    options.literal = std::string(method) == "literal";
    options.budget = std::string(method) == "budget" ? 60 : 0;
    options.dt_update = 100;
    StreamLearner whole(recipe_of(data), options, {});
    std::vector<std::string> answers = whole.learn(data);
    StreamLearner first(recipe_of(data), options, {});
    std::vector<std::string> parts = first.learn(part(data, 0, 512));
    const std::string file = temporary();
    save_model(first.model(), file);
    StreamLearner second(load_model(file), {});
    std::filesystem::remove(file);
    for (std::string& answer : second.learn(part(data, 512, 1024))) parts.push_back(std::move(answer));
    EXPECT_EQ(parts, answers);
    EXPECT_EQ(second.right(), whole.right());
    EXPECT_EQ(second.support_vectors(), whole.support_vectors());
    const Model a = whole.model();
    const Model b = second.model();
    EXPECT_EQ(a.coefficients, b.coefficients);
    EXPECT_EQ(a.weights.values, b.weights.values);
    EXPECT_EQ(part_of<StreamPart>(a).numbers, part_of<StreamPart>(b).numbers);
    EXPECT_EQ(model_scores(a, data), model_scores(b, data));
    if (options.budget > 0) {
      EXPECT_LE(whole.support_vectors(), 60);
    }
  }
}

TEST(Stream, LearnsWhatItPredictsWrongAndCountsOnlyLabelled) {
  Dataset data = stream_data(2000, 2, 8);
  for (std::size_t i = 0; i < 2000; i += 10) data.labels[i].clear();
  StreamLearner learner(recipe_of(data), {}, {});
  const std::vector<std::string> answers = learner.learn(data);
  EXPECT_EQ(answers.size(), 2000U);
  EXPECT_EQ(answers[0], "");
  EXPECT_EQ(learner.samples(), 1800);
  EXPECT_EQ(learner.lines(), 2000);
  // Noise of 0.3 on a signal of deviation 1.2 leaves about 92 %; learning takes a few hundred samples.
  EXPECT_GE(learner.right(), 1450);
}

TEST(Stream, ALateClassIsLearnedFromThenOn) {
  Dataset data = stream_data(1500, 3, 9);
  std::vector<Index> order;
  for (Index i = 0; i < 1500; ++i)
    if (data.labels[static_cast<std::size_t>(i)] != "c") order.push_back(i);
  const auto early = static_cast<std::ptrdiff_t>(order.size()) / 2;
  std::vector<Index> late(order.begin() + early, order.end());
  order.resize(static_cast<std::size_t>(early));
  for (Index i = 0; i < 1500; ++i)
    if (data.labels[static_cast<std::size_t>(i)] == "c") late.push_back(i);
  std::ranges::sort(late);
  for (const bool literal : {true, false}) {
    StreamOptions options;
    options.literal = literal;
    StreamLearner learner(recipe_of(data), options, {});
    learner.learn(select_samples(data, order));
    EXPECT_EQ(learner.classes().size(), 2U);
    learner.learn(select_samples(data, late));
    ASSERT_EQ(learner.classes().size(), 3U);
    const Predictions p = predict(learner.model(), data, {}, {});
    int found = 0;
    int there = 0;
    for (std::size_t i = 0; i < 1500; ++i) {
      if (data.labels[i] != "c") continue;
      ++there;
      found += p.codes[i] == 2 ? 1 : 0;
    }
    EXPECT_GE(found, there / 2);
  }
}

// Nyström features of as many landmarks as there are different samples are the kernels themselves, so the
// stream learns the same, answer by answer.
TEST(Stream, FeaturesOfAllSamplesAreTheKernels) {
  Dataset few = stream_data(40, 3, 5);
  Dataset data;
  data.samples = 400;
  data.features = Matrix(400, 3);
  data.feature_info = few.feature_info;
  for (Index i = 0; i < data.samples; ++i) {
    for (Index d = 0; d < 3; ++d) data.features(i, d) = few.features(i * 7 % 40, d);
    data.labels.push_back(few.labels[static_cast<std::size_t>(i * 7 % 40)]);
  }
  for (const char* method : {"mkl-dao", "ufo-mkl"}) {
    SCOPED_TRACE(method);
    StreamOptions options;
    options.method = method;
    options.dt_update = 50;
    StreamLearner exact(recipe_of(few), options, {});
    options.approx = "nystroem";
    options.features = 40;
    StreamLearner finite(recipe_of(few), options, {});
    EXPECT_LE(finite.approximation_error().largest, 1e-7);
    EXPECT_EQ(finite.learn(data), exact.learn(data));
    EXPECT_EQ(finite.support_vectors(), 0);
    const Predictions a = predict(exact.model(), few, {}, {});
    const Predictions b = predict(finite.model(), few, {}, {});
    // Directions below 1e-10 of the largest eigenvalue are left out: 1e-5 of a kernel value at most.
    EXPECT_LE(relative_difference(b.scores.values(), a.scores.values()), 1e-4);
    PredictOptions contributions;
    contributions.contributions = true;
    const Predictions parts = predict(finite.model(), few, contributions, {});
    for (Index k = 0; k < parts.scores.cols(); ++k) {
      for (Index i = 0; i < few.samples; ++i) {
        double sum = 0.0;
        for (Index f = 0; f < parts.contributions[static_cast<std::size_t>(k)].cols(); ++f)
          sum += parts.contributions[static_cast<std::size_t>(k)](i, f);
        EXPECT_NEAR(sum, parts.scores(i, k), 1e-9 * (1.0 + std::abs(sum)));
      }
    }
  }
}

TEST(Stream, RandomFeaturesLearnAndGoOnFromACheckpoint) {
  const Dataset data = stream_data(3000, 2, 8);
  for (const char* approx : {"rff", "nystroem"}) {
    SCOPED_TRACE(approx);
    StreamOptions options;
    options.approx = approx;
    options.features = 64;
    const Recipe recipe = recipe_of(data, "rbf(gamma=0.01,0.3,2)");
    StreamLearner whole(recipe, options, {});
    (void)whole.learn(data);
    // The noise of the labels leaves about a tenth; chance is a half.
    EXPECT_GT(static_cast<double>(whole.right()) / 3000.0, 0.8);
    std::vector<Index> first(1024), rest(3000 - 1024);
    std::iota(first.begin(), first.end(), Index{0});
    std::iota(rest.begin(), rest.end(), Index{1024});
    StreamLearner part(recipe, options, {});
    (void)part.learn(select_samples(data, first));
    StreamLearner resumed(part.model(), {});
    (void)resumed.learn(select_samples(data, rest));
    EXPECT_EQ(predict(resumed.model(), data, {}, {}).scores, predict(whole.model(), data, {}, {}).scores);
  }
}

// Classes that are known beforehand in the order of their coming change nothing but that a
// model exists at once.
TEST(Stream, ClassesMayBeKnownBeforehand) {
  const Dataset data = stream_data(300, 3, 11);
  for (const char* method : {"mkl-dao", "ufo-mkl"}) {
    StreamOptions options;
    options.method = method;
    options.classes = {"c", "a", "b"};
    StreamLearner learner(recipe_of(data), options, {});
    EXPECT_EQ(learner.model().classes, options.classes);
    learner.learn(data);
    EXPECT_EQ(learner.classes(), options.classes);
    const Predictions p = predict(learner.model(), data, {}, {});
    int right = 0;
    for (std::size_t i = 0; i < data.labels.size(); ++i)
      right += options.classes[static_cast<std::size_t>(p.codes[i])] == data.labels[i] ? 1 : 0;
    EXPECT_GE(right, 200);
    const StreamLearner again(learner.model(), {});
    EXPECT_EQ(again.classes(), options.classes);
  }
}

TEST(Stream, RefusesWhatItCannotDo) {
  const Dataset data = stream_data(50, 2, 10);
  EXPECT_THROW(StreamLearner(recipe_of(data, "linear"), {}, {}), InvalidArgument);
  StreamOptions options;
  options.literal = true;
  options.budget = 10;
  EXPECT_THROW(StreamLearner(recipe_of(data), options, {}), InvalidArgument);
  options = {};
  options.dt_update = 0;
  EXPECT_THROW(StreamLearner(recipe_of(data), options, {}), InvalidArgument);
  StreamLearner learner(recipe_of(data), {}, {});
  EXPECT_THROW(static_cast<void>(learner.model()), InvalidArgument);
  learner.learn(data);
  Model model = learner.model();
  edit_part<StreamPart>(model).numbers.pop_back();
  EXPECT_THROW(StreamLearner(model, {}), FileError);
  model.part = std::make_shared<StochasticPart>();
  EXPECT_THROW(StreamLearner(model, {}), InvalidArgument);
}

// Every number of a checkpoint may be anything.
TEST(Stream, CheckpointsAreNotBelieved) {
  const Dataset data = stream_data(60, 3, 11);
  StreamOptions options;
  options.budget = 12;
  StreamLearner learner(recipe_of(data), options, {});
  learner.learn(data);
  const Model whole = learner.model();
  const auto refused = [&](const auto& change) {
    Model model = whole;
    change(edit_part<StreamPart>(model));
    EXPECT_THROW(StreamLearner(model, {}), FileError);
  };
  for (const double bad : {std::nan(""), 1e300, -1.0, 0.5}) {
    refused([&](StreamPart& part) { part.births(0, 0) = bad; });
    refused([&](StreamPart& part) { part.segments(0, 0) = bad; });
    refused([&](StreamPart& part) { part.segments(0, 1) = bad; });
    for (std::size_t k = 15; k < 22; ++k) refused([&](StreamPart& part) { part.numbers[k] = bad; });
  }
  refused([](StreamPart& part) { part.births(1, 0) = part.births(0, 0) - 1.0; });
  refused([](StreamPart& part) { part.births(11, 0) = 61.0; });
  refused([](StreamPart& part) { part.numbers[20] = 61.0; });  // more right than there were
  for (Matrix StreamPart::*matrix :
       {&StreamPart::counts, &StreamPart::inverse_lambda, &StreamPart::segment_weights})
    refused([&](StreamPart& part) { (part.*matrix)(0, 0) = std::nan(""); });
  EXPECT_NO_THROW(StreamLearner(whole, {}));
}

TEST(Stream, ReplaysTheFuzzCorpusOfCheckpoints) {
  testing::replay_corpus("checkpoint", fuzz::read_checkpoint_input);
}

}  // namespace
}  // namespace kloom
