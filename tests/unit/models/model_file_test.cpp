// SPDX-License-Identifier: BSD-3-Clause
#include "models/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "fuzz/model_input.h"
#include "kloom/error.h"
#include "kloom/parts.h"
#include "support/corpus.h"
#include "support/files.h"
#include "support/model_files.h"

namespace kloom {
namespace {

using ::testing::HasSubstr;
using testing::read_bytes;
using testing::TemporaryFolder;

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}

  Index below(Index n) { return static_cast<Index>(engine_() % static_cast<std::uint64_t>(n)); }
  bool coin() { return below(2) == 1; }

  // Any finite number: -0 and subnormal ones, too.
  double bits() {
    double x = std::bit_cast<double>(engine_());
    while (!std::isfinite(x)) x = std::bit_cast<double>(engine_());
    return x;
  }
  double positive() { return std::max(std::abs(bits()), std::numeric_limits<double>::min()); }
  double finite() { return static_cast<double>(below(2'000'001) - 1'000'000) / 997.0; }
  Vector vector(Index n) {
    Vector v(static_cast<std::size_t>(n));
    for (double& x : v) x = bits();
    return v;
  }
  Matrix matrix(Index rows, Index cols) {
    Matrix m(rows, cols);
    for (double& x : m.values()) x = bits();
    return m;
  }
  Vector positives(Index n) {
    Vector v(static_cast<std::size_t>(n));
    for (double& x : v) x = positive();
    return v;
  }
  Matrix positives(Index rows, Index cols) {
    Matrix m(rows, cols);
    for (double& x : m.values()) x = positive();
    return m;
  }
  // Symmetric, and no entry beyond what the diagonal allows.
  Matrix covariance(Index n) {
    Matrix m(n, n);
    for (Index i = 0; i < n; ++i) {
      m(i, i) = 1e4 + std::abs(finite());
      for (Index j = 0; j < i; ++j) m(j, i) = m(i, j) = finite();
    }
    return m;
  }
  // Bytes of any kind, often not UTF-8.
  std::string text() {
    std::string s(static_cast<std::size_t>(below(9)), ' ');
    for (char& c : s) c = static_cast<char>(coin() ? 'a' + below(26) : below(256));
    return s;
  }
  std::vector<std::string> texts(Index n) {
    std::vector<std::string> out;
    for (Index i = 0; i < n; ++i) out.push_back(text());
    return out;
  }
  std::vector<Index> subset(Index n) {
    std::vector<Index> out;
    for (Index i = 0; i < n; ++i)
      if (coin()) out.push_back(i);
    if (out.empty()) out.push_back(below(n));
    return out;
  }

 private:
  std::mt19937_64 engine_;
};

std::vector<Feature> random_features(Random& random, Index n) {
  std::vector<Feature> out;
  for (Index i = 0; i < n; ++i) out.push_back({random.text(), random.text()});
  return out;
}

Dataset random_basis(Random& random, Index samples, Index features) {
  Dataset basis;
  basis.source = random.text();
  basis.samples = samples;
  if (random.coin()) basis.ids = random.texts(samples);
  basis.feature_info = random_features(random, features);
  basis.features = random.matrix(samples, features);
  if (random.coin()) basis.views = {{random.text(), random.subset(features), {0}}, {random.text(), {}, {}}};
  basis.texts.push_back({{random.text(), random.text()}, random.texts(samples)});
  basis.kernels = {{random.text(), Matrix()}};
  basis.distances = {{random.text(), Matrix()}, {random.text(), Matrix()}};
  basis.target_name = random.text();
  basis.absent_is_zero = random.coin();
  return basis;
}

KernelTerm random_term(Random& random, Index p, Index samples, Index features) {
  KernelTerm term;
  term.name = random.text();
  term.function = static_cast<KernelFunction>(p % 10);  // every function in turn
  term.parameter = std::abs(random.finite()) + 1.0;
  term.group = random.text();
  term.normalisation = static_cast<Normalisation>(random.below(5));
  term.distance_scale = std::abs(random.finite()) + 1.0;
  term.scale = std::abs(random.finite()) + 1.0;
  term.centre_mean = random.finite();
  if (random.coin()) term.centre_means = random.vector(samples);
  switch (term.function) {
    case KernelFunction::spectrum:
      term.parameter = 3;
      term.features = {0};
      break;
    case KernelFunction::precomputed:
      term.features = {0};
      break;
    case KernelFunction::expdist:
      term.features = {1};
      break;
    default:
      term.features = random.subset(features);
  }
  return term;
}

Recipe random_recipe(Random& random, Index samples, Index kernels) {
  const Index features = 1 + random.below(4);
  Recipe recipe;
  recipe.spec = parse_kernel_spec("rbf(width=2^-3..2^6) on all, each; poly(degree=1..3) on all");
  PreprocessingOptions options;
  options.standardise = random.coin();
  options.impute = static_cast<Impute>(random.below(3));
  options.onehot = random.coin();
  options.keep_text = random.texts(2);
  std::vector<Preprocessing::Column> columns;
  for (Index i = 0; i < features; ++i) {
    Preprocessing::Column column;
    column.onehot = random.coin();
    column.category = column.onehot ? random.text() : "";
    column.feature = {random.text() + "=" + column.category, random.text()};
    column.centre = random.finite();
    column.scale = std::abs(random.finite());
    column.fill = random.finite();
    columns.push_back(column);
  }
  recipe.preprocessing = Preprocessing::from_parts(options, columns, random_features(random, 1),
                                                   {{random.text(), random.subset(features), {0}}});
  for (Index p = 0; p < kernels; ++p) recipe.terms.push_back(random_term(random, p, samples, features));
  recipe.basis = random_basis(random, samples, features);
  return recipe;
}

BemklPosterior random_posterior(Random& random, Index samples, Index kernels, Index groups, Index outputs) {
  BemklPosterior b;
  for (double* x :
       {&b.prior.sigma_g, &b.prior.margin, &b.prior.lambda.shape, &b.prior.lambda.scale, &b.prior.gamma.shape,
        &b.prior.gamma.scale, &b.prior.omega.shape, &b.prior.omega.scale, &b.prior.upsilon.shape,
        &b.prior.upsilon.scale, &b.prior.epsilon.shape, &b.prior.epsilon.scale})
    *x = random.positive();
  b.likelihood = static_cast<BemklLikelihood>(random.below(3));
  b.literal = random.coin();
  if (random.coin()) b.sample_weights = random.positives(samples);
  if (random.coin()) b.target_scale = b.target_centre = random.positives(groups * outputs);
  for (Index g = 0; g < groups; ++g) {
    BemklPosterior::Group group;
    group.lambda = random.positives(samples, outputs);
    group.omega = random.positives(kernels);
    for (Vector* v : {&group.gamma, &group.upsilon, &group.epsilon}) *v = random.positives(outputs);
    group.be_covariance = random.covariance(kernels + outputs);
    if (random.coin()) {
      for (Index c = 0; c < outputs; ++c) group.a_covariance.push_back(random.covariance(samples));
    }
    if (random.coin()) group.f_location = random.matrix(samples, outputs);
    if (random.coin()) group.e_location = group.e_precision = random.positives(kernels);
    b.groups.push_back(group);
  }
  return b;
}

Model random_model(unsigned seed) {
  Random random(seed);
  const Index samples = 1 + random.below(6);
  const Index kernels = 1 + random.below(12);
  Model model;
  model.task = static_cast<Task>(seed % 5);
  const bool single = model.task == Task::binary || model.task == Task::regression;
  const Index outputs = single ? 1 : 2 + random.below(3);
  const bool classes = model.task != Task::regression && model.task != Task::multi_regression;
  if (classes) model.classes = random.texts(model.task == Task::binary ? 2 : outputs);
  model.target_name = random.text();
  model.options_json = R"({"C": 1})";
  model.report_json = random.coin() ? "" : R"({"status": "converged"})";
  model.kernel_names = random.texts(kernels);
  model.weights.shape = static_cast<KernelWeights::Shape>(random.below(3));
  const Index rows = model.weights.shape == KernelWeights::Shape::shared      ? 1
                     : model.weights.shape == KernelWeights::Shape::per_class ? outputs
                                                                              : samples;
  model.weights.values = random.positives(rows, kernels);
  if (random.coin()) model.weights.deviation = random.positives(rows, kernels);
  model.coefficients = random.matrix(samples, outputs);
  model.bias = random.vector(outputs);
  if (random.coin() && model.weights.shape != KernelWeights::Shape::per_sample) {
    const bool apart = model.weights.shape == KernelWeights::Shape::per_class;
    model.method = "bemkl";
    model.part = std::make_shared<BemklPosterior>(
        random_posterior(random, samples, kernels, apart ? outputs : 1, apart ? 1 : outputs));
  } else {
    model.method = "uniform";
    MarginPart part;
    part.box = random.positives(samples, outputs);
    model.part = std::make_shared<MarginPart>(std::move(part));
  }
  if (random.coin()) model.recipe = random_recipe(random, samples, kernels);
  return model;
}

bool has_posterior(const Model& model) {
  return find_part<BemklPosterior>(model) != nullptr;
}

bool same_bits(std::span<const double> a, std::span<const double> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}
bool same(const Matrix& a, const Matrix& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() && same_bits(a.values(), b.values());
}
bool same(const std::vector<View>& a, const std::vector<View>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const View& x, const View& y) {
    return x.name == y.name && x.features == y.features && x.texts == y.texts;
  });
}
bool same(const std::vector<PrecomputedMatrix>& a, const std::vector<PrecomputedMatrix>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.name == y.name && y.values.empty(); });
}
bool same(const Dataset& a, const Dataset& b) {
  return a.source == b.source && a.samples == b.samples && a.ids == b.ids && a.feature_info == b.feature_info &&
         same(a.features, b.features) && same(a.views, b.views) && same(a.kernels, b.kernels) &&
         same(a.distances, b.distances) && a.target_name == b.target_name &&
         a.absent_is_zero == b.absent_is_zero &&
         std::equal(
             a.texts.begin(), a.texts.end(), b.texts.begin(), b.texts.end(),
             [](const auto& x, const auto& y) { return x.feature == y.feature && x.values == y.values; });
}
bool same(const KernelTerm& a, const KernelTerm& b) {
  const Vector x{a.parameter, a.distance_scale, a.scale, a.centre_mean};
  const Vector y{b.parameter, b.distance_scale, b.scale, b.centre_mean};
  return a.name == b.name && a.function == b.function && a.features == b.features && a.group == b.group &&
         a.normalisation == b.normalisation && same_bits(x, y) && same_bits(a.centre_means, b.centre_means);
}
bool same(const Preprocessing& a, const Preprocessing& b) {
  const auto same_column = [](const Preprocessing::Column& x, const Preprocessing::Column& y) {
    return x.feature == y.feature && x.category == y.category && x.onehot == y.onehot &&
           same_bits(Vector{x.centre, x.scale, x.fill}, Vector{y.centre, y.scale, y.fill});
  };
  const auto& o = a.options();
  const auto& p = b.options();
  return o.standardise == p.standardise && o.impute == p.impute && o.onehot == p.onehot &&
         o.keep_text == p.keep_text && a.text_columns() == b.text_columns() && same(a.views(), b.views()) &&
         std::equal(a.columns().begin(), a.columns().end(), b.columns().begin(), b.columns().end(),
                    same_column);
}
bool same(const Recipe& a, const Recipe& b) {
  return a.spec == b.spec && same(a.preprocessing, b.preprocessing) && same(a.basis, b.basis) &&
         std::equal(a.terms.begin(), a.terms.end(), b.terms.begin(), b.terms.end(),
                    [](const KernelTerm& x, const KernelTerm& y) { return same(x, y); });
}
bool same(const BemklPosterior::Group& a, const BemklPosterior::Group& b) {
  return same(a.lambda, b.lambda) && same_bits(a.omega, b.omega) && same_bits(a.gamma, b.gamma) &&
         same_bits(a.upsilon, b.upsilon) && same_bits(a.epsilon, b.epsilon) &&
         same(a.f_location, b.f_location) && same(a.be_covariance, b.be_covariance) &&
         same_bits(a.e_location, b.e_location) && same_bits(a.e_precision, b.e_precision) &&
         std::equal(a.a_covariance.begin(), a.a_covariance.end(), b.a_covariance.begin(), b.a_covariance.end(),
                    [](const Matrix& x, const Matrix& y) { return same(x, y); });
}
bool same(const BemklPosterior& a, const BemklPosterior& b) {
  const auto numbers = [](const BemklPosterior& x) {
    const BemklPrior& p = x.prior;
    return Vector{p.sigma_g,       p.margin,        p.lambda.shape,  p.lambda.scale,
                  p.gamma.shape,   p.gamma.scale,   p.omega.shape,   p.omega.scale,
                  p.upsilon.shape, p.upsilon.scale, p.epsilon.shape, p.epsilon.scale};
  };
  return same_bits(numbers(a), numbers(b)) && a.literal == b.literal && a.likelihood == b.likelihood &&
         same_bits(a.sample_weights, b.sample_weights) && same_bits(a.target_centre, b.target_centre) &&
         same_bits(a.target_scale, b.target_scale) &&
         std::equal(a.groups.begin(), a.groups.end(), b.groups.begin(), b.groups.end(),
                    [](const auto& x, const auto& y) { return same(x, y); });
}
bool same(const Model& a, const Model& b) {
  const auto* x = find_part<BemklPosterior>(a);
  const auto* y = find_part<BemklPosterior>(b);
  if ((x == nullptr) != (y == nullptr) || a.recipe.has_value() != b.recipe.has_value()) return false;
  if (x == nullptr && !same(part_of<MarginPart>(a).box, part_of<MarginPart>(b).box)) return false;
  return a.method == b.method && a.task == b.task && a.classes == b.classes && a.target_name == b.target_name &&
         a.options_json == b.options_json && a.report_json == b.report_json &&
         a.kernel_names == b.kernel_names && a.weights.shape == b.weights.shape &&
         same(a.weights.values, b.weights.values) && same(a.weights.deviation, b.weights.deviation) &&
         same(a.coefficients, b.coefficients) && same_bits(a.bias, b.bias) && (x == nullptr || same(*x, *y)) &&
         (!a.recipe || same(*a.recipe, *b.recipe));
}

TEST(ModelFile, RandomModelsComeBackToTheBit) {
  const TemporaryFolder folder;
  const std::string path = folder.file("m.kloom");
  int recipes = 0;
  int posteriors = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const Model model = random_model(seed);
    save_model(model, path);
    EXPECT_EQ(model_file_bytes(model), read_bytes(path).size());
    EXPECT_TRUE(same(model, load_model(path))) << "seed " << seed;
    recipes += model.recipe ? 1 : 0;
    posteriors += has_posterior(model) ? 1 : 0;
  }
  EXPECT_GT(recipes, 100);
  EXPECT_GT(posteriors, 100);
}

TEST(ModelFile, DamageAtEveryByteIsRefused) {
  unsigned seed = 0;
  while (!random_model(seed).recipe || !has_posterior(random_model(seed)) ||
         random_model(seed).kernel_names.size() > 3)
    ++seed;
  testing::expect_damage_is_refused(random_model(seed),
                                    [](const Model& a, const Model& b) { return same(a, b); });
}

TEST(ModelFile, PrecomputedMatricesOfTheBasisAreLeftOut) {
  const TemporaryFolder folder;
  const std::string path = folder.file("m.kloom");
  unsigned seed = 0;
  while (!random_model(seed).recipe) ++seed;
  Model model = random_model(seed);
  const std::size_t bytes = model_file_bytes(model);
  model.recipe->basis.kernels[0].values = Matrix(50, 50, 1.0);
  EXPECT_EQ(model_file_bytes(model), bytes);
  save_model(model, path);
  EXPECT_TRUE(load_model(path).recipe->basis.kernels[0].values.empty());
}

// A sound model that each case breaks in one place; saving must refuse it, so that no such file is ever made.
TEST(ModelFile, ModelsThatBreakARuleAreNotSaved) {
  unsigned seed = 0;
  while (!random_model(seed).recipe || !has_posterior(random_model(seed)) ||
         random_model(seed).task != Task::binary)
    ++seed;
  const auto refused = [&](auto change) {
    Model model = random_model(seed);
    change(model);
    return testing::refusal_of(model);
  };
  EXPECT_EQ(refused([](Model&) {}), "accepted");
  EXPECT_THAT(refused([](Model& m) { m.bias.push_back(0); }), HasSubstr("biases"));
  EXPECT_THAT(refused([](Model& m) { m.classes.pop_back(); }), HasSubstr("two classes"));
  EXPECT_THAT(refused([](Model& m) { m.kernel_names.clear(); }), HasSubstr("no kernels"));
  EXPECT_THAT(refused([](Model& m) { m.kernel_names.emplace_back("k"); }), HasSubstr("weights"));
  EXPECT_THAT(refused([](Model& m) { m.weights.deviation = Matrix(7, 7); }), HasSubstr("deviations"));
  EXPECT_THAT(refused([](Model& m) { m.coefficients = Matrix(); }), HasSubstr("coefficients"));
  EXPECT_THAT(refused([](Model& m) { edit_part<BemklPosterior>(m).groups[0].omega.push_back(1); }),
              HasSubstr("wrong length"));
  EXPECT_THAT(refused([](Model& m) { edit_part<BemklPosterior>(m).groups[0].be_covariance = Matrix(1, 1); }),
              HasSubstr("bias and kernel"));
  EXPECT_THAT(refused([](Model& m) { edit_part<BemklPosterior>(m).groups[0].a_covariance = {Matrix(1, 9)}; }),
              HasSubstr("covariance"));
  EXPECT_THAT(refused([](Model& m) { m.recipe->terms.pop_back(); }), HasSubstr("different kernels"));
  EXPECT_THAT(refused([](Model& m) { ++m.recipe->basis.samples; }), HasSubstr("training samples"));
  EXPECT_THAT(refused([](Model& m) { m.recipe->basis.ids = {"a", "b", "c", "d", "e", "f", "g", "h"}; }),
              HasSubstr("sample names"));
  EXPECT_THAT(refused([](Model& m) { m.recipe->terms[0].features = {99}; }), HasSubstr("not there"));
  EXPECT_THAT(refused([](Model& m) { m.recipe->terms[0].features = {-1}; }), HasSubstr("not there"));
  EXPECT_THAT(refused([](Model& m) { m.recipe->terms[0].scale = std::numeric_limits<double>::infinity(); }),
              HasSubstr("finite"));
  EXPECT_THAT(refused([](Model& m) { m.recipe->basis.texts[0].values.clear(); }), HasSubstr("text column"));
  EXPECT_THAT(refused([](Model& m) { m.recipe->basis.views = {{"v", {77}}}; }), HasSubstr("view"));
}

// Files whose checksums are right and whose content is not: made by changing the document of a sound file.
class EditedDocument : public ::testing::Test {
 protected:
  // The message of loading a model whose JSON document was changed by `edit`.
  std::string refusal(const std::function<void(nlohmann::json&)>& edit, bool extra_tensor = false,
                      const std::string& version = "1") {
    const TemporaryFolder folder;
    const std::string path = folder.file("m.kloom");
    save_model(random_model(seed()), path);
    const data::Container source = data::Container::read(path, models::model_format);
    data::ContainerPlan plan{std::string(models::model_format), version};
    data::TensorReader reader(source);
    auto document = nlohmann::json::parse(reader.text("document"));
    edit(document);
    const std::string text = document.dump();
    for (const auto& t : source.tensors())
      plan.add(t.name, t.dtype,
               t.name == "document" ? std::vector<Index>{static_cast<Index>(text.size())} : t.shape);
    if (extra_tensor) plan.add("gate", data::Dtype::u8, {0});
    const std::string edited = folder.file("edited.kloom");
    data::ContainerWriter writer(plan, edited);
    for (const auto& t : source.tensors()) {
      if (t.name == "document")
        writer.write(text.data(), text.size());
      else
        writer.write(source.bytes(t).data(), t.end - t.begin);
    }
    writer.finish();
    try {
      (void)load_model(edited);
    } catch (const FileError& error) {
      return error.what();
    }
    return "accepted";
  }

 private:
  static unsigned seed() {
    unsigned s = 0;
    while (!random_model(s).recipe || !has_posterior(random_model(s))) ++s;
    return s;
  }
};

TEST_F(EditedDocument, IsCheckedFieldByField) {
  EXPECT_EQ(refusal([](auto&) {}), "accepted");
  EXPECT_THAT(refusal([](auto& d) { d["task"] = "sorting"; }), HasSubstr("'task'"));
  EXPECT_THAT(refusal([](auto& d) { d["weights"] = "heavy"; }), HasSubstr("'weights'"));
  EXPECT_THAT(refusal([](auto& d) { d.erase("method"); }), HasSubstr("'method' of the model is missing"));
  EXPECT_THAT(refusal([](auto& d) { d["oracle"] = 1; }), HasSubstr("newer version"));
  EXPECT_THAT(refusal([](auto&) {}, true), HasSubstr("newer version"));
  EXPECT_THAT(refusal([](auto&) {}, false, "2"), HasSubstr("version"));
  EXPECT_THAT(refusal([](auto& d) { d.erase("bemkl"); }), HasSubstr("'bemkl' of the model is missing"));
  EXPECT_THAT(refusal([](auto& d) { d["classes"] = "a"; }), HasSubstr("list"));
  EXPECT_THAT(refusal([](auto& d) { d["recipe"]["spec"] = "rbf(("; }), HasSubstr("kernel spec"));
  EXPECT_THAT(refusal([](auto& d) { d["recipe"]["terms"][0]["function"] = "magic"; }), HasSubstr("'function'"));
  EXPECT_THAT(refusal([](auto& d) { d["recipe"]["terms"].push_back(1); }), HasSubstr("per kernel"));
  EXPECT_THAT(refusal([](auto& d) { d["recipe"]["preprocessing"]["impute"] = "guess"; }),
              HasSubstr("'impute'"));
  EXPECT_THAT(refusal([](auto& d) { d["recipe"]["basis"]["samples"] = -1; }), HasSubstr("'samples'"));
  EXPECT_THAT(refusal([](auto& d) { d["recipe"]["basis"]["samples"] = 1e300; }), HasSubstr("'samples'"));
  EXPECT_THAT(refusal([](auto& d) { d["recipe"]["basis"]["features"] = {1, 2}; }), HasSubstr("feature"));
}

// What tests/data/models/version-1.kloom holds.
Model version_one() {
  Model model;
  model.method = "bemkl";
  model.task = Task::binary;
  model.classes = {"benign", "malignant"};
  model.target_name = "diagnosis";
  model.options_json = R"({"iterations":200})";
  model.report_json = R"({"status":"converged"})";
  model.kernel_names = {"rbf(width=1) on all", "rbf(width=2) on all"};
  model.weights.values = Matrix(1, 2);
  model.weights.values(0, 0) = 0.9;
  model.weights.values(0, 1) = 0.1;
  model.weights.deviation = Matrix(1, 2, 1e-300);
  model.coefficients = Matrix(3, 1, 0.25);
  model.coefficients(2, 0) = -0.75;
  model.bias = {0.5};
  BemklPosterior posterior;
  posterior.prior.sigma_g = 0.1;
  posterior.literal = true;
  BemklPosterior::Group group;
  group.lambda = Matrix(3, 1, 1.0 / 3.0);
  group.omega = {1.5, 2.5};
  group.gamma = {1.0};
  group.upsilon = {100.0};
  group.epsilon = {1.0};
  group.be_covariance = Matrix(3, 3, 0.125);
  group.a_covariance = {Matrix(3, 3, 0.25)};
  group.f_location = Matrix(3, 1, -1.0);
  posterior.groups = {group};
  model.part = std::make_shared<BemklPosterior>(posterior);
  Recipe recipe;
  recipe.spec = parse_kernel_spec("rbf(width=1..2) on all");
  PreprocessingOptions options;
  options.impute = Impute::median;
  recipe.preprocessing = Preprocessing::from_parts(
      options,
      {{{"radius", "cells"}, "", false, 14.1, 2.5, 13.0}, {{"colour=red", ""}, "red", true, 0.5, 0.0, 0.0}},
      {{"sequence", ""}}, {{"cells", {0}}});
  for (const double gamma : {0.5, 0.125}) {
    KernelTerm term;
    term.name = gamma == 0.5 ? "rbf(width=1) on all" : "rbf(width=2) on all";
    term.parameter = gamma;
    term.features = {0, 1};
    term.group = "all";
    term.normalisation = Normalisation::centre;
    term.centre_means = {0.1, 0.2, 0.3};
    term.centre_mean = 0.2;
    recipe.terms.push_back(term);
  }
  recipe.basis.source = "cells.csv";
  recipe.basis.samples = 3;
  recipe.basis.ids = {"a", "M\xfcller", "c"};  // the second is not UTF-8
  recipe.basis.feature_info = {{"radius", "cells"}, {"colour=red", ""}};
  recipe.basis.features = Matrix(3, 2, -1.0 / 3.0);
  recipe.basis.views = {{"cells", {0}}};
  recipe.basis.texts = {{{"sequence", ""}, {"ACGT", "", "ACCA"}}};
  recipe.basis.kernels = {{"given", Matrix()}};
  recipe.basis.target_name = "diagnosis";
  model.recipe = recipe;
  return model;
}

// A file of every past version of the format stays in the tests and loads.
TEST(ModelFile, VersionOneStillLoads) {
  const std::string path = std::string(KLOOM_SOURCE_DIR) + "/tests/data/models/version-1.kloom";
  EXPECT_TRUE(same(version_one(), load_model(path)));
  EXPECT_EQ(load_model(path).recipe->decisions.size(), 1U);  // follows from the constants of 'radius'
}

TEST(ModelFile, ColumnsSeenInOtherWaysComeBack) {
  const TemporaryFolder folder;
  Model model = version_one();
  Preprocessing::Column ranks{{"radius", "cells"}, "", false, 14.1, 2.5, 13.0};
  ranks.transform = Transform::ranks;
  ranks.knots = {1.0, -0.5, 2.0, 0.5};
  Preprocessing::Column codes;
  codes.feature = {"colour", ""};
  codes.transform = Transform::codes;
  codes.categories = {"blue", "red"};
  Preprocessing::Column gap;
  gap.feature = {"radius is missing", "cells"};
  gap.indicator = true;
  std::vector<Preprocessing::Column> columns = model.recipe->preprocessing.columns();
  columns.insert(columns.end(), {ranks, codes, gap});
  model.recipe->preprocessing = Preprocessing::from_parts(model.recipe->preprocessing.options(), columns,
                                                          {{"sequence", ""}}, {{"cells", {0}}});
  for (const auto& column : {ranks, codes, gap}) model.recipe->basis.feature_info.push_back(column.feature);
  model.recipe->basis.features = Matrix(3, 5, 0.5);
  model.recipe->decisions = {{{"colour", ""}, ColumnKind::category, true, 1, "one-hot, 1 value", "why"},
                             plain_decision(columns[0])};
  save_model(model, folder.file("m.kloom"));
  const Model loaded = load_model(folder.file("m.kloom"));
  EXPECT_EQ(loaded.recipe->preprocessing.columns(), columns);
  EXPECT_EQ(loaded.recipe->decisions, model.recipe->decisions);
}

TEST(ModelFile, FuzzCorpusIsReadOrRefused) {
  testing::replay_corpus("model", fuzz::read_model_input);
}

}  // namespace
}  // namespace kloom
