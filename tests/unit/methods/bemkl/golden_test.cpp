// SPDX-License-Identifier: BSD-3-Clause
//
// The update sequence against the author's published implementation.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kernels/banks/low_rank_bank.h"
#include "kloom/model.h"
#include "kloom/recipe.h"
#include "methods/bemkl/bemkl.h"
#include "support/folders.h"
#include "support/golden_json.h"
#include "support/problems.h"

namespace kloom {
namespace {

using methods::BemklFactors;
using methods::BemklOptions;
using nlohmann::json;
using test::matrix_of;
using test::relative_difference;

Matrix column_of(const json& values) {
  Matrix m(static_cast<Index>(values.size()), 1);
  std::ranges::copy(values.get<Vector>(), m.values().begin());
  return m;
}

struct Case {
  json file;
  std::unique_ptr<KernelBank> dense, low_rank, cross;
  Targets targets;
  BemklOptions options;
  methods::BemklPlan plan;
  methods::BemklStart start;
};

std::vector<Matrix> kernels_of(const Matrix& x, const Matrix& z, const json& widths) {
  std::vector<Matrix> kernels;
  for (double width : widths) kernels.push_back(test::rbf_kernel(x, z, width));
  kernels.push_back(test::cosine_kernel(x, z));
  return kernels;
}

void set_targets(Case& c) {
  const std::string kind = c.file["kind"];
  if (kind == "binary") {
    c.targets.classes = {"-1", "1"};
    for (int y : c.file["y"]) c.targets.codes.push_back(y > 0 ? 1 : 0);
  } else if (kind == "regression") {
    c.targets.task = Task::regression;
    c.targets.values = column_of(c.file["y"]);
    const json& priors = c.file["priors_regression"];
    c.options.alpha_upsilon = priors["alpha_upsilon"];
    c.options.beta_upsilon = priors["beta_upsilon"];
    c.options.alpha_epsilon = priors["alpha_epsilon"];
    c.options.beta_epsilon = priors["beta_epsilon"];
  } else {
    ASSERT_EQ(kind, "multiclass_shared");
    c.targets.task = Task::multiclass;
    const std::vector<int> classes = c.file["classes"];
    const int lowest = *std::ranges::min_element(classes);
    const int highest = *std::ranges::max_element(classes);
    for (int k = lowest; k <= highest; ++k) c.targets.classes.push_back(std::to_string(k));
    for (int k : classes) c.targets.codes.push_back(k - lowest);
  }
  c.plan = methods::bemkl_plan(c.targets, c.options);
}

// One number or a list of one per output.
Vector numbers_of(const json& value) {
  return value.is_array() ? value.get<Vector>() : Vector{value.get<double>()};
}

void set_start(Case& c) {
  const json& init = c.file["init"];
  const Index n = c.dense->rows();
  const Index p = c.dense->kernels();
  const Index outputs = c.plan.problems.front().targets.cols();
  const bool several = init.contains("A");
  c.start.a = several ? matrix_of(init["A"]) : column_of(init["a"]);
  ASSERT_EQ(numbers_of(init["b"]), Vector(static_cast<std::size_t>(outputs), 0.0));
  ASSERT_EQ(init["e"].get<Vector>(), Vector(static_cast<std::size_t>(p), 1.0));
  c.start.intermediate = Matrix(n * p, outputs);
  c.start.f = Matrix(n, outputs);
  for (Index o = 0; o < outputs; ++o) {
    const Matrix g = matrix_of(several ? init["G"].at(static_cast<std::size_t>(o)) : init["G"]);  // P × N
    for (Index m = 0; m < p; ++m) {
      for (Index i = 0; i < n; ++i) c.start.intermediate(m * n + i, o) = g(m, i);
    }
    if (init.contains("F"))
      std::ranges::copy(init["F"].at(static_cast<std::size_t>(o)).get<Vector>(), c.start.f.column(o).begin());
    if (init.contains("f")) std::ranges::copy(init["f"].get<Vector>(), c.start.f.column(o).begin());
  }
}

Case load(const std::filesystem::path& path) {
  Case c;
  std::ifstream(path) >> c.file;
  const Matrix x = matrix_of(c.file["X"]);
  std::vector<Matrix> kernels = kernels_of(x, x, c.file["widths"]);
  // exp and dot products of (i,j) and (j,i) may differ in the last bit.
  for (Matrix& k : kernels) {
    for (Index i = 0; i < k.rows(); ++i) {
      for (Index j = 0; j < i; ++j) k(i, j) = k(j, i);
    }
  }
  std::vector<std::string> names(kernels.size(), "kernel");
  c.dense = make_dense_bank(kernels, names, true);
  c.cross = make_dense_bank(kernels_of(matrix_of(c.file["X_test"]), x, c.file["widths"]), names, false);
  std::vector<Matrix> factors;
  const Matrix diagonal = c.dense->diagonal();
  for (Index p = 0; p < c.dense->kernels(); ++p) {
    factors.push_back(*kernels::low_rank_factor(*c.dense, p, diagonal.column(p), 1e-15, x.rows() + 1));
  }
  c.low_rank = std::make_unique<kernels::LowRankBank>(factors, names);

  c.options.literal = true;
  c.options.sigma_g = c.file["sigma_g"];
  c.options.margin = c.file["margin"];
  c.options.alpha_lambda = c.file["alpha_lambda"];
  c.options.beta_lambda = c.file["beta_lambda"];
  c.options.alpha_gamma = c.file["alpha_gamma"];
  c.options.beta_gamma = c.file["beta_gamma"];
  c.options.alpha_omega = c.file["alpha_omega"];
  c.options.beta_omega = c.file["beta_omega"];
  set_targets(c);
  set_start(c);
  return c;
}

void expect_state(const Case& c, const BemklFactors& factors, const json& expected, double tolerance) {
  const auto near = [&](std::span<const double> ours, const char* name) {
    if (!expected.contains(name)) return;
    const json& values = expected[name];
    const Matrix matrix = values.at(0).is_array() ? matrix_of(values) : column_of(values);
    EXPECT_LE(relative_difference(ours, matrix.values()), tolerance) << name;
  };
  near(factors.a().values(), "a");
  near(factors.a().values(), "A");
  near(factors.a_variance().values(), "a_var");
  near(factors.be(), "be");
  const BemklPosterior::Group posterior = factors.posterior(false);
  near(posterior.be_covariance.values(), "be_sigma");
  if (expected.contains("upsilon")) {
    EXPECT_NEAR(posterior.upsilon[0], expected["upsilon"].get<double>(), tolerance * posterior.upsilon[0]);
    EXPECT_NEAR(posterior.epsilon[0], expected["epsilon"].get<double>(), tolerance * posterior.epsilon[0]);
    const double bound = numbers_of(expected["bounds"]).back();
    EXPECT_NEAR(factors.lower_bound(), bound, tolerance * std::abs(bound));
  }
  const Model model = methods::bemkl_model(*c.dense, c.targets, c.plan, {factors}, c.options);
  const Predictions p = predict(model, *c.cross, {}, {});
  Matrix variance = p.deviation;
  for (double& s : variance.values()) s *= s;
  near(p.scores.values(), "f_test_mean");
  near(variance.values(), "f_test_var");
  near(p.scores.values(), "y_test_mean");
  near(variance.values(), "y_test_var");
  if (expected.contains("p_test_literal")) near(p.probabilities.column(1), "p_test_literal");
  for (Index o = 0; o < p.scores.cols() && expected.contains("F_test_mean"); ++o) {  // there classes × samples
    const auto row = static_cast<std::size_t>(o);
    EXPECT_LE(relative_difference(p.scores.column(o), expected["F_test_mean"].at(row).get<Vector>()),
              tolerance);
    EXPECT_LE(relative_difference(variance.column(o), expected["F_test_var"].at(row).get<Vector>()), tolerance);
  }
}

void run(const Case& c, const KernelBank& bank, const char* name) {
  BemklFactors factors(bank, c.plan.problems.front(), methods::bemkl_prior(c.options), c.start);
  std::map<int, const json*> stops;
  for (const auto& [key, state] : c.file["runs"].items()) stops[std::stoi(key)] = &state;
  ASSERT_FALSE(stops.empty());
  int done = 0;
  for (const auto& [iterations, state] : stops) {
    for (; done < iterations; ++done) ASSERT_TRUE(factors.iterate());
    SCOPED_TRACE(std::string(name) + " bank, iteration " + std::to_string(iterations));
    // Rounding grows slowly along the iteration: 1e-7 is asked up to 50 iterations, 1e-6 after 200.
    expect_state(c, factors, *state, iterations <= 50 ? 1e-7 : 1e-6);
  }
}

TEST(BemklGolden, StatesOfThePublishedImplementation) {
  for (const auto& path : test::golden_files("bemkl_")) {
    std::printf("case %s\n", path.string().c_str());
    SCOPED_TRACE(path.filename().string());
    const Case c = load(path);
    run(c, *c.dense, "dense");
    run(c, *c.low_rank, "low-rank");
  }
}

// The paper's own kernels (13 on all features and 13 on each, ranks 2 to 20), where truncation matters.
TEST(BemklData, LowRankBankAgreesWithDenseOnThePapersKernels) {
  const auto folder = test::data_folder();
  if (!std::filesystem::exists(folder / "pima.csv.gz")) {
    GTEST_SKIP() << "no benchmark data: " << folder << " has no pima.csv.gz (name a folder by KLOOM_DATA)";
  }
  for (const char* name : {"pima", "wdbc"}) {
    SCOPED_TRACE(name);
    DatasetRequest request;
    request.path = (folder / (std::string(name) + ".csv.gz")).string();
    const Dataset all = load_dataset(request, {});
    std::vector<Index> rows;  // about 70 %, spread over the file
    for (Index i = 0; i < all.samples; ++i) {
      if (i * 7 % 10 < 7) rows.push_back(i);
    }
    const Dataset train = select_samples(all, rows);
    const KernelSpec spec =
        parse_kernel_spec("rbf(width=2^-3..2^6) on all, each; poly(degree=1..3) on all, each");
    const Recipe recipe = Recipe::fit(train, spec, {}, {});
    const Targets targets = make_targets(train.labels, {});
    const auto computed = recipe.training_bank();
    BankRequest dense_request;
    dense_request.kind = BankKind::dense;
    BankRequest low_request;
    low_request.kind = BankKind::low_rank;
    const auto dense = store_bank(computed, dense_request, {});
    const auto low = store_bank(computed, low_request, {});
    ASSERT_LT(low->bytes(), dense->bytes() / 4);
    const methods::BemklProblem problem = methods::bemkl_plan(targets, {}).problems.front();
    const Index n = dense->rows();
    methods::BemklStart start{Matrix(n, 1, 1.0), Matrix(n * dense->kernels(), 1), problem.targets};
    for (Index k = 0; k < start.intermediate.size(); ++k) start.intermediate(k, 0) = problem.targets(k % n, 0);
    BemklFactors on_dense(*dense, problem, {}, start);
    BemklFactors on_low(*low, problem, {}, start);
    for (int k = 0; k < 50; ++k) {
      ASSERT_TRUE(on_dense.iterate());
      ASSERT_TRUE(on_low.iterate());
    }
    EXPECT_LE(relative_difference(on_low.a().values(), on_dense.a().values()), 1e-7);
    EXPECT_LE(relative_difference(on_low.be(), on_dense.be()), 1e-7);
    const Matrix low_covariance = on_low.posterior(false).be_covariance;
    const Matrix dense_covariance = on_dense.posterior(false).be_covariance;
    EXPECT_LE(relative_difference(low_covariance.values(), dense_covariance.values()), 1e-7);
    EXPECT_LE(relative_difference(on_low.f().values(), on_dense.f().values()), 1e-7);
  }
}

}  // namespace
}  // namespace kloom
