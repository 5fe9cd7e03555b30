// SPDX-License-Identifier: BSD-3-Clause
//
// The SVM core against LIBSVM's C interface on the same precomputed kernels, and against its
// own optimality conditions.
#include "solvers/svm.h"

#include <gtest/gtest.h>
#include <libsvm/svm.h>

#include <cmath>

#include "kloom/dataset.h"
#include "support/folders.h"
#include "support/problems.h"

namespace kloom::solvers {
namespace {

struct Reference {
  Vector coefficients;  // α_i y_i, or α − α* in regression
  double bias = 0.0;
};

struct Data {
  Matrix kernel;
  Vector y;
};

Data random_data(Index n, double width, double noise, unsigned seed) {
  const Matrix x = test::normal_matrix(n, 3, seed);
  Data data{test::rbf_kernel(x, x, width), {}};
  test::Normal normal(seed + 7);
  for (Index i = 0; i < n; ++i) {
    data.y.push_back(std::sin(2.0 * x(i, 0)) + x(i, 1) * x(i, 2) + noise * normal());
    for (Index j = 0; j < i; ++j) data.kernel(i, j) = data.kernel(j, i);
  }
  return data;
}

Vector signs(const Vector& values) {
  Vector y;
  for (double value : values) y.push_back(value > 0.0 ? 1.0 : -1.0);
  // LIBSVM takes the class of the first sample as the positive one.
  y[0] = 1.0;
  y[1] = -1.0;
  return y;
}

Reference libsvm(const Data& data, const Vector& y, int type, double c, double epsilon) {
  const Index n = data.kernel.rows();
  std::vector<std::vector<svm_node>> nodes(static_cast<std::size_t>(n));
  std::vector<svm_node*> pointers;
  for (Index i = 0; i < n; ++i) {
    auto& row = nodes[static_cast<std::size_t>(i)];
    row.push_back({0, static_cast<double>(i + 1)});
    for (Index j = 0; j < n; ++j) row.push_back({static_cast<int>(j + 1), data.kernel(i, j)});
    row.push_back({-1, 0.0});
    pointers.push_back(row.data());
  }
  Vector labels = y;
  svm_problem problem{static_cast<int>(n), labels.data(), pointers.data()};
  svm_parameter parameter{};
  parameter.svm_type = type;
  parameter.kernel_type = PRECOMPUTED;
  parameter.C = c;
  parameter.p = epsilon;
  parameter.eps = 1e-6;
  parameter.cache_size = 100;
  parameter.shrinking = 1;
  svm_set_print_string_function([](const char*) {});
  svm_model* model = svm_train(&problem, &parameter);
  Reference reference{Vector(static_cast<std::size_t>(n)), -model->rho[0]};
  for (int k = 0; k < model->l; ++k) {
    reference.coefficients[static_cast<std::size_t>(model->sv_indices[k] - 1)] = model->sv_coef[0][k];
  }
  svm_free_and_destroy_model(&model);
  return reference;
}

Vector scores(const Matrix& kernel, const Vector& coefficients, double bias) {
  Vector f(coefficients.size(), bias);
  for (Index i = 0; i < kernel.rows(); ++i) {
    for (Index j = 0; j < kernel.cols(); ++j) {
      f[static_cast<std::size_t>(i)] += coefficients[static_cast<std::size_t>(j)] * kernel(i, j);
    }
  }
  return f;
}

double quadratic(const Matrix& kernel, const Vector& c) {
  const Vector kc = scores(kernel, c, 0.0);
  double sum = 0.0;
  for (std::size_t i = 0; i < c.size(); ++i) sum += c[i] * kc[i];
  return sum;
}

SvmProblem classification(const Vector& y, double c) {
  return {y, Vector(y.size(), -1.0), Vector(y.size(), c), {}};
}

void expect_feasible(const SvmProblem& problem, const SvmSolution& solution) {
  double sum = 0.0;
  double size = 1.0;
  for (std::size_t i = 0; i < solution.alpha.size(); ++i) {
    EXPECT_GE(solution.alpha[i], 0.0);
    EXPECT_LE(solution.alpha[i], problem.box[i]);
    sum += problem.y[i] * solution.alpha[i];
    size += solution.alpha[i];
  }
  // Every move keeps the sum; it rounds once a move.
  EXPECT_LE(std::abs(sum), 1e-12 * size);
}

// Objective within 1e-6, scores within 1e-3.
void expect_libsvm_classification(const Data& data, double c, bool shrinking) {
  SCOPED_TRACE(testing::Message() << "n " << data.y.size() << ", C " << c << ", shrinking " << shrinking);
  const Vector y = signs(data.y);
  const Reference reference = libsvm(data, y, C_SVC, c, 0.0);
  SvmOptions options;
  options.tolerance = 1e-6;
  options.shrinking = shrinking;
  MatrixRows rows(data.kernel.view());
  const SvmProblem problem = classification(y, c);
  const SvmSolution solution = solve_svm(problem, rows, options);
  ASSERT_TRUE(solution.converged);
  expect_feasible(problem, solution);
  double expected = 0.5 * quadratic(data.kernel, reference.coefficients);
  for (std::size_t i = 0; i < y.size(); ++i) expected -= reference.coefficients[i] * y[i];
  EXPECT_NEAR(solution.objective, expected, 1e-6 * std::abs(expected));
  Vector coefficients;
  for (std::size_t i = 0; i < y.size(); ++i) coefficients.push_back(solution.alpha[i] * y[i]);
  const Vector ours = scores(data.kernel, coefficients, solution.bias);
  const Vector theirs = scores(data.kernel, reference.coefficients, reference.bias);
  // Without free variables the bias is any point of an interval.
  bool free = false;
  for (std::size_t i = 0; i < y.size(); ++i) free |= solution.alpha[i] > 0.0 && solution.alpha[i] < c;
  // LIBSVM keeps kernel rows as float32; with coefficients of 1e4 its own scores are no better than 1e-2.
  for (std::size_t i = 0; free && c <= 100.0 && i < y.size(); ++i) EXPECT_NEAR(ours[i], theirs[i], 1e-3);
}

void expect_libsvm_regression(const Data& data, double c) {
  SCOPED_TRACE(testing::Message() << "n " << data.y.size() << ", C " << c);
  const double epsilon = 0.1;
  const Index n = data.kernel.rows();
  const Reference reference = libsvm(data, data.y, EPSILON_SVR, c, epsilon);
  SvmProblem problem;
  for (int side = 0; side < 2; ++side) {
    for (Index i = 0; i < n; ++i) {
      const double z = data.y[static_cast<std::size_t>(i)];
      problem.y.push_back(side == 0 ? 1.0 : -1.0);
      problem.linear.push_back(epsilon + (side == 0 ? -z : z));
      problem.box.push_back(c);
      problem.sample.push_back(i);
    }
  }
  SvmOptions options;
  options.tolerance = 1e-6;
  MatrixRows rows(data.kernel.view());
  const SvmSolution solution = solve_svm(problem, rows, options);
  ASSERT_TRUE(solution.converged);
  expect_feasible(problem, solution);
  Vector coefficients;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    coefficients.push_back(solution.alpha[i] - solution.alpha[i + static_cast<std::size_t>(n)]);
  }
  double expected = 0.5 * quadratic(data.kernel, reference.coefficients);
  for (std::size_t i = 0; i < data.y.size(); ++i) {
    expected += epsilon * std::abs(reference.coefficients[i]) - data.y[i] * reference.coefficients[i];
  }
  EXPECT_NEAR(solution.objective, expected, 1e-6 * std::abs(expected));
  const Vector ours = scores(data.kernel, coefficients, solution.bias);
  const Vector theirs = scores(data.kernel, reference.coefficients, reference.bias);
  for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], theirs[i], 1e-3);
}

TEST(Svm, AgreesWithLibsvmInClassification) {
  for (Index n : {2, 10, 80, 300}) {
    for (double c : {1e-3, 1.0, 100.0, 1e4}) {
      for (bool shrinking : {false, true}) {
        expect_libsvm_classification(random_data(n, 1.0, 0.5, static_cast<unsigned>(n)), c, shrinking);
      }
    }
  }
}

TEST(Svm, AgreesWithLibsvmInRegression) {
  for (double c : {0.1, 1.0, 50.0}) expect_libsvm_regression(random_data(120, 1.0, 0.3, 5), c);
}

// Wisconsin breast cancer as bundled: standardised features, Gaussian kernel; the class, and as a number to
// regress on the first feature from the others.
Data real_data(bool regression) {
  DatasetRequest request;
  request.path = (test::source_folder() / "examples" / "data" / "wdbc.csv").string();
  request.target = "diagnosis";
  const Dataset set = load_dataset(request, {});
  Matrix x = set.features;
  for (Index d = 0; d < x.cols(); ++d) {
    double mean = 0.0;
    double square = 0.0;
    for (double value : x.column(d)) mean += value / static_cast<double>(x.rows());
    for (double value : x.column(d)) square += (value - mean) * (value - mean);
    for (double& value : x.column(d))
      value = (value - mean) / std::sqrt(square / static_cast<double>(x.rows()));
  }
  Matrix inputs(x.rows(), x.cols() - 1);
  for (Index d = 1; d < x.cols(); ++d) std::ranges::copy(x.column(d), inputs.column(d - 1).begin());
  Data data{test::rbf_kernel(inputs, inputs, 5.0), {}};
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < i; ++j) data.kernel(i, j) = data.kernel(j, i);
    const bool malignant = set.labels[static_cast<std::size_t>(i)] == "malignant";
    data.y.push_back(regression ? x(i, 0) : malignant ? 1.0 : -1.0);
  }
  return data;
}

TEST(Svm, AgreesWithLibsvmOnRealData) {
  const Data classes = real_data(false);
  for (double c : {0.1, 1.0, 100.0}) expect_libsvm_classification(classes, c, true);
  const Data numbers = real_data(true);
  for (double c : {0.1, 1.0}) expect_libsvm_regression(numbers, c);
}

TEST(Svm, CachedRowsGiveTheSameBitsAsTheMatrix) {
  const Data data = random_data(150, 1.0, 0.5, 3);
  const SvmProblem problem = classification(signs(data.y), 10.0);
  MatrixRows whole(data.kernel.view());
  Index computed = 0;
  CachedRows cached(
      Vector(150, 1.0),
      [&](Index i, double* out) {
        ++computed;
        std::ranges::copy(data.kernel.column(i), out);
      },
      20 * 150 * sizeof(double));
  const SvmSolution a = solve_svm(problem, whole, {});
  const SvmSolution b = solve_svm(problem, cached, {});
  EXPECT_EQ(a.alpha, b.alpha);
  EXPECT_EQ(a.bias, b.bias);
  EXPECT_GT(computed, 0);
}

TEST(Svm, WarmStartNeedsLessWorkAndReachesTheSameObjective) {
  const Data data = random_data(200, 1.0, 0.5, 4);
  const Vector y = signs(data.y);
  MatrixRows rows(data.kernel.view());
  SvmOptions options;
  options.tolerance = 1e-6;
  const SvmSolution cold = solve_svm(classification(y, 1.0), rows, options);
  const SvmSolution warm = solve_svm(classification(y, 1.0), rows, options, cold.alpha);
  EXPECT_LE(warm.iterations, 2);
  EXPECT_NEAR(warm.objective, cold.objective, 1e-9 * std::abs(cold.objective));
}

// With its own boxes and linear terms every variable satisfies its own condition: v_i = b where free, and the
// right side of b at a bound.
TEST(Svm, PerSampleBoxesAndLinearTermsSatisfyTheirConditions) {
  const Data data = random_data(100, 0.8, 0.5, 6);
  SvmProblem problem = classification(signs(data.y), 1.0);
  test::Normal normal(1);
  for (std::size_t i = 0; i < problem.y.size(); ++i) {
    problem.box[i] = i % 9 == 0 ? 0.0 : 3.0 * normal.uniform();
    problem.linear[i] = -0.2 - normal.uniform();
  }
  SvmOptions options;
  options.tolerance = 1e-8;
  MatrixRows rows(data.kernel.view());
  const SvmSolution solution = solve_svm(problem, rows, options);
  ASSERT_TRUE(solution.converged);
  expect_feasible(problem, solution);
  Vector coefficients;
  for (std::size_t i = 0; i < problem.y.size(); ++i) coefficients.push_back(solution.alpha[i] * problem.y[i]);
  const Vector f = scores(data.kernel, coefficients, 0.0);
  for (std::size_t i = 0; i < problem.y.size(); ++i) {
    const double slope = problem.y[i] * (f[i] + solution.bias) + problem.linear[i];  // ∂L/∂α_i
    if (solution.alpha[i] > 0.0) {
      EXPECT_LE(slope, 1e-7) << i;
    }
    if (solution.alpha[i] < problem.box[i]) {
      EXPECT_GE(slope, -1e-7) << i;
    }
  }
}

TEST(Svm, HardCasesEndWithAnAnswer) {
  // Indefinite kernel, duplicated samples, all samples equal, huge and tiny C.
  Data data = random_data(40, 1.0, 0.5, 8);
  const Vector y = signs(data.y);
  for (int kind = 0; kind < 3; ++kind) {
    Matrix kernel = data.kernel;
    for (Index i = 0; i < 40; ++i) {
      for (Index j = 0; j < 40; ++j) {
        if (kind == 0) kernel(i, j) = i == j ? -0.5 : data.kernel(i, j);
        if (kind == 1) kernel(i, j) = data.kernel(i / 2, j / 2);
        if (kind == 2) kernel(i, j) = 1.0;
      }
    }
    for (double c : {1e-6, 1.0, 1e8}) {
      SvmOptions options;
      options.iterations = 200000;
      MatrixRows rows(kernel.view());
      const SvmSolution solution = solve_svm(classification(y, c), rows, options);
      SCOPED_TRACE("kernel " + std::to_string(kind) + ", C " + std::to_string(c));
      double sum = 0.0;
      for (std::size_t i = 0; i < solution.alpha.size(); ++i) {
        EXPECT_GE(solution.alpha[i], 0.0);
        EXPECT_LE(solution.alpha[i], c);
        sum += y[i] * solution.alpha[i];
      }
      // Every move keeps the sum up to the rounding of two numbers of size C at most.
      EXPECT_NEAR(sum, 0.0, static_cast<double>(solution.iterations + 1) * 1e-15 * c);
      EXPECT_TRUE(std::isfinite(solution.bias));
      // It starts at 0 with the value 0 and every move lowers it. Only an indefinite kernel may use up the iterations.
      EXPECT_LT(solution.objective, 0.0);
      EXPECT_TRUE(solution.converged || kind == 0);
      if (solution.converged) {
        EXPECT_LE(solution.violation, options.tolerance);
      }
    }
  }
}

TEST(Svm, OneClassAloneHasTheZeroSolution) {
  const Data data = random_data(10, 1.0, 0.5, 9);
  MatrixRows rows(data.kernel.view());
  const SvmSolution solution = solve_svm(classification(Vector(10, 1.0), 1.0), rows, {});
  EXPECT_TRUE(solution.converged);
  EXPECT_EQ(solution.alpha, Vector(10, 0.0));
}

}  // namespace
}  // namespace kloom::solvers
