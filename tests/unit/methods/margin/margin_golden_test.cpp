// SPDX-License-Identifier: BSD-3-Clause
//
// ℓ1 MKL against the objectives, weights and biases of independent implementations.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kloom/dataset.h"
#include "methods/margin/mkl.h"
#include "support/folders.h"
#include "support/golden_json.h"
#include "support/problems.h"

namespace kloom {
namespace {

using methods::MarginSettings;
using methods::MarginSolution;
using methods::MarginTask;
using methods::WeightRule;
using nlohmann::json;
using test::make_symmetric;
using test::matrix_of;

void expect_solution(std::vector<Matrix> kernels, const Vector& y, double c, const json& expected) {
  make_symmetric(kernels);
  const auto bank = make_dense_bank(kernels, std::vector<std::string>(kernels.size(), "kernel"), true);
  const MarginTask task{y, Vector(y.size(), c)};
  for (WeightRule rule : {WeightRule::second_order, WeightRule::reduced_gradient}) {
    SCOPED_TRACE(rule == WeightRule::second_order ? "second order" : "reduced gradient");
    MarginSettings settings;
    settings.rule = rule;
    settings.tolerance = rule == WeightRule::second_order ? 1e-7 : 1e-5;
    const MarginSolution s =
        solve_margin_mkl(*bank, task, settings, methods::uniform_weights(bank->kernels(), 1.0), {});
    std::printf("  gap %.1e after %td updates, objective %.9g\n", s.gap(), s.iterations, s.primal);
    EXPECT_EQ(s.status, Status::converged);
    if (expected.contains("objective")) {
      const double objective = expected["objective"];
      EXPECT_NEAR(s.primal, objective, 1e-5 * objective);
    }
    if (rule != WeightRule::second_order) continue;
    const Vector weights = expected["weights"].get<Vector>();
    for (std::size_t m = 0; m < weights.size(); ++m) EXPECT_NEAR(s.theta[m], weights[m], 2e-3) << m;
    EXPECT_NEAR(s.bias, expected["bias"].get<double>(), 2e-3);
  }
}

TEST(MarginGolden, L1ObjectiveWeightsAndBias) {
  if (!test::golden_expected("l1_mkl_"))
    GTEST_SKIP() << "no l1_mkl_*.json here (name a folder by KLOOM_GOLDEN)";
  for (const auto& path : test::golden_files("l1_mkl_")) {
    std::printf("case %s\n", path.string().c_str());
    json file;
    std::ifstream(path) >> file;
    const Matrix x = matrix_of(file["X"]);
    Matrix cosine = test::cosine_kernel(x, x);
    for (double& value : cosine.values()) value *= value;
    // exp(−d²) and exp(−d²/2) as widths of exp(−d²/(2w²)).
    const std::vector<Matrix> kernels = {cosine, test::rbf_kernel(x, x, std::sqrt(0.5)),
                                         test::rbf_kernel(x, x, 1.0)};
    Vector y;
    for (double label : file["y"]) y.push_back(label);
    for (const char* source : {"simplemkl", "shogun"}) {
      SCOPED_TRACE(source);
      expect_solution(kernels, y, file["C"], file[source]);
    }
  }
}

// z-scores by training mean and sample deviation; constant columns left out.
Matrix standardised(const Dataset& data, const std::vector<Index>& rows) {
  std::vector<Vector> columns;
  for (Index d = 0; d < data.features.cols(); ++d) {
    double mean = 0.0;
    double square = 0.0;
    for (Index i : rows) mean += data.features(i, d) / static_cast<double>(rows.size());
    for (Index i : rows) square += std::pow(data.features(i, d) - mean, 2);
    if (square == 0.0) continue;
    const double deviation = std::sqrt(square / static_cast<double>(rows.size() - 1));
    Vector column;
    for (Index i : rows) column.push_back((data.features(i, d) - mean) / deviation);
    columns.push_back(column);
  }
  Matrix x(static_cast<Index>(rows.size()), static_cast<Index>(columns.size()));
  for (Index d = 0; d < x.cols(); ++d)
    std::ranges::copy(columns[static_cast<std::size_t>(d)], x.column(d).begin());
  return x;
}

TEST(MarginGolden, SimpleMklOnBenchmarkData) {
  if (!test::golden_expected("simplemkl_"))
    GTEST_SKIP() << "no simplemkl_*.json here (name a folder by KLOOM_GOLDEN)";
  for (const auto& path : test::golden_files("simplemkl_")) {
    json file;
    std::ifstream(path) >> file;
    const auto data_path = test::data_folder() / (file["dataset"].get<std::string>() + ".csv.gz");
    if (!std::filesystem::exists(data_path)) {
      GTEST_SKIP() << "no benchmark data for " << path << ": " << data_path
                   << " is not there (name a folder by KLOOM_DATA)";
    }
    std::printf("case %s\n", path.string().c_str());
    DatasetRequest request;
    request.path = data_path.string();
    const Dataset data = load_dataset(request, {});
    std::vector<Index> order = file["permutation"].get<std::vector<Index>>();
    const Index lowest = *std::ranges::min_element(order);  // counted from 0 or from 1
    order.resize(file["n_train"].get<std::size_t>());
    for (Index& i : order) i -= lowest;
    const Matrix x = standardised(data, order);
    std::vector<Matrix> kernels;
    for (int e = -3; e <= 6; ++e) kernels.push_back(test::rbf_kernel(x, x, std::exp2(e)));
    Vector y;
    for (Index i : order) y.push_back(std::stod(data.labels[static_cast<std::size_t>(i)]));
    for (const auto& [c, expected] : file["runs"].items()) {
      SCOPED_TRACE("C " + c);
      expect_solution(kernels, y, std::stod(c), expected);
    }
  }
}

}  // namespace
}  // namespace kloom
