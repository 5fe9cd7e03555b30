// SPDX-License-Identifier: BSD-3-Clause
//
// The update sequence against the author's published implementation.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kernels/low_rank_bank.h"
#include "kloom/model.h"
#include "kloom/recipe.h"
#include "learners/bemkl.h"
#include "support/folders.h"
#include "support/problems.h"

namespace kloom {
namespace {

using learners::BemklFactors;
using learners::BemklHyper;
using learners::BemklOptions;
using nlohmann::json;
using test::relative_difference;

Matrix matrix_of(const json& rows) {
  Matrix m(static_cast<Index>(rows.size()), static_cast<Index>(rows.at(0).size()));
  for (Index i = 0; i < m.rows(); ++i) {
    for (Index j = 0; j < m.cols(); ++j)
      m(i, j) = rows.at(static_cast<std::size_t>(i)).at(static_cast<std::size_t>(j));
  }
  return m;
}

Matrix transposed(const Matrix& m) {
  Matrix t(m.cols(), m.rows());
  for (Index i = 0; i < m.rows(); ++i) {
    for (Index j = 0; j < m.cols(); ++j) t(j, i) = m(i, j);
  }
  return t;
}

struct Case {
  json file;
  std::unique_ptr<KernelBank> dense, low_rank, cross;
  Targets targets;
  BemklOptions options;
  BemklHyper hyper;
  learners::BemklStart start;
};

std::vector<Matrix> kernels_of(const Matrix& x, const Matrix& z, const json& widths) {
  std::vector<Matrix> kernels;
  for (double width : widths) kernels.push_back(test::rbf_kernel(x, z, width));
  kernels.push_back(test::cosine_kernel(x, z));
  return kernels;
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

  c.targets.classes = {"-1", "1"};
  for (int y : c.file["y"]) c.targets.codes.push_back(y > 0 ? 1 : 0);
  c.options.literal = true;
  c.options.sigma_g = c.file["sigma_g"];
  c.options.margin = c.file["margin"];
  c.hyper = {c.file["sigma_g"],
             c.file["margin"],
             {c.file["alpha_lambda"], c.file["beta_lambda"]},
             {c.file["alpha_gamma"], c.file["beta_gamma"]},
             {c.file["alpha_omega"], c.file["beta_omega"]}};
  const json& init = c.file["init"];
  c.start = {init["a"].get<Vector>(), transposed(matrix_of(init["G"])), init["f"].get<Vector>(), init["b"],
             init["e"].get<Vector>()};
  return c;
}

void expect_state(const Case& c, const BemklFactors& factors, const json& expected, double tolerance) {
  EXPECT_LE(relative_difference(factors.a(), expected["a"].get<Vector>()), tolerance);
  EXPECT_LE(relative_difference(factors.a_variance(), expected["a_var"].get<Vector>()), tolerance);
  EXPECT_LE(relative_difference(factors.be(), expected["be"].get<Vector>()), tolerance);
  EXPECT_LE(relative_difference(factors.be_covariance().values(), matrix_of(expected["be_sigma"]).values()),
            tolerance);

  const Model model = learners::bemkl_model(*c.dense, c.targets, factors, c.options);
  const Predictions p = predict(model, *c.cross, {}, {});
  EXPECT_LE(relative_difference(p.scores.values(), expected["f_test_mean"].get<Vector>()), tolerance);
  Vector variance;
  for (double s : p.deviation.values()) variance.push_back(s * s);
  EXPECT_LE(relative_difference(variance, expected["f_test_var"].get<Vector>()), tolerance);
  EXPECT_LE(relative_difference(p.probabilities.column(1), expected["p_test_literal"].get<Vector>()),
            tolerance);
}

void run(const Case& c, const KernelBank& bank, const char* name) {
  BemklFactors factors(bank, c.targets.signs(), c.hyper, c.start);
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

TEST(BemklGolden, BinaryStatesOfThePublishedImplementation) {
  for (const auto& path : test::golden_files("bemkl_binary_")) {
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
    const Vector signs = targets.signs();
    learners::BemklStart start{Vector(signs.size(), 1.0), Matrix(dense->rows(), dense->kernels()), signs, 0.0,
                               Vector(static_cast<std::size_t>(dense->kernels()), 1.0)};
    for (Index p = 0; p < dense->kernels(); ++p) std::ranges::copy(signs, start.intermediate.column(p).begin());
    BemklFactors on_dense(*dense, signs, {}, start);
    BemklFactors on_low(*low, signs, {}, start);
    for (int k = 0; k < 50; ++k) {
      ASSERT_TRUE(on_dense.iterate());
      ASSERT_TRUE(on_low.iterate());
    }
    EXPECT_LE(relative_difference(on_low.a(), on_dense.a()), 1e-7);
    EXPECT_LE(relative_difference(on_low.be(), on_dense.be()), 1e-7);
    EXPECT_LE(relative_difference(on_low.be_covariance().values(), on_dense.be_covariance().values()), 1e-7);
    EXPECT_LE(relative_difference(on_low.f(), on_dense.f()), 1e-7);
  }
}

}  // namespace
}  // namespace kloom
