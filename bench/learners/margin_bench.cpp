// SPDX-License-Identifier: BSD-3-Clause
//
// The SVM core against LIBSVM's C interface on the same precomputed kernel, interleaved, one thread; then a
// full ℓ1 fit in units of such SVM solves. Copying the kernel into LIBSVM's nodes is counted for neither.
//
//   bench_margin [samples] [kernels]
//   bench_margin --serve FOLDER SAMPLES   for margin_sklearn.py: for every C that it reads, solves and prints
//                                         seconds and objective
#include <fmt/format.h>
#include <libsvm/svm.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "algebra/blas.h"
#include "algebra/blas_buffers.h"
#include "base/stopwatch.h"
#include "kloom/bank.h"
#include "kloom/machine.h"
#include "methods/margin/mkl.h"
#include "solvers/svm.h"

namespace {

using kloom::Index;
using kloom::Matrix;
using kloom::Vector;

double seconds_of(const auto& work) {
  const kloom::Stopwatch clock;
  work();
  return clock.seconds();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Problem {
  Matrix x;
  Vector y;
};

Problem make_problem(Index n) {
  std::mt19937_64 engine(1);
  std::normal_distribution<double> normal;
  Problem problem{Matrix(n, 10), Vector(static_cast<std::size_t>(n))};
  for (double& value : problem.x.values()) value = normal(engine);
  for (Index i = 0; i < n; ++i) {
    const double score =
        std::sin(2.0 * problem.x(i, 0)) + problem.x(i, 1) * problem.x(i, 2) + 0.5 * normal(engine);
    problem.y[static_cast<std::size_t>(i)] = score > 0.0 ? 1.0 : -1.0;
  }
  return problem;
}

Matrix rbf(const Matrix& x, double gamma) {
  Matrix k(x.rows(), x.rows());
  for (Index j = 0; j < x.rows(); ++j) {
    for (Index i = 0; i <= j; ++i) {
      double d = 0.0;
      for (Index c = 0; c < x.cols(); ++c) d += (x(i, c) - x(j, c)) * (x(i, c) - x(j, c));
      k(i, j) = k(j, i) = std::exp(-gamma * d);
    }
  }
  return k;
}

// α of LIBSVM's solution gives its dual objective in double precision.
double libsvm_objective(const svm_model* model, const Matrix& k, const Vector& y) {
  Vector c(y.size());
  for (int s = 0; s < model->l; ++s)
    c[static_cast<std::size_t>(model->sv_indices[s] - 1)] = model->sv_coef[0][s];
  Vector kc(c.size());
  kloom::algebra::gemv(kloom::algebra::Op::none, 1.0, k.view(), c, 0.0, kc);
  double objective = 0.5 * kloom::algebra::dot(c, kc);
  for (double value : c) objective -= std::abs(value);
  return objective;
}

constexpr double kPrices[] = {1.0, 100.0};

// Median seconds of an SVM solve.
struct Medians {
  double ours = 0.0;
  double theirs = 0.0;
};
Medians compare(const Problem& problem, const Matrix& k, double c) {
  const Index n = k.rows();
  std::vector<std::vector<svm_node>> nodes(static_cast<std::size_t>(n));
  std::vector<svm_node*> pointers;
  for (Index i = 0; i < n; ++i) {
    auto& row = nodes[static_cast<std::size_t>(i)];
    row.push_back({0, static_cast<double>(i + 1)});
    for (Index j = 0; j < n; ++j) row.push_back({static_cast<int>(j + 1), k(i, j)});
    row.push_back({-1, 0.0});
    pointers.push_back(row.data());
  }
  Vector labels = problem.y;
  svm_problem theirs{static_cast<int>(n), labels.data(), pointers.data()};
  svm_parameter parameter{};
  parameter.svm_type = C_SVC;
  parameter.kernel_type = PRECOMPUTED;
  parameter.C = c;
  parameter.eps = 1e-3;
  parameter.cache_size = 1000;
  parameter.shrinking = 1;
  svm_set_print_string_function([](const char*) {});
  kloom::solvers::SvmProblem ours{problem.y, Vector(problem.y.size(), -1.0), Vector(problem.y.size(), c), {}};
  kloom::solvers::MatrixRows rows(k.view());
  std::vector<double> our_times;
  std::vector<double> their_times;
  double our_objective = 0.0;
  double their_objective = 0.0;
  Index moves = 0;
  for (int repeat = 0; repeat < 7; ++repeat) {
    their_times.push_back(seconds_of([&] {
      svm_model* model = svm_train(&theirs, &parameter);
      their_objective = libsvm_objective(model, k, problem.y);
      svm_free_and_destroy_model(&model);
    }));
    our_times.push_back(seconds_of([&] {
      const auto solution = solve_svm(ours, rows, {});
      our_objective = solution.objective;
      moves = solution.iterations;
    }));
  }
  fmt::print(
      "C {:>6g}: LIBSVM {:.1f} ms, kloom {:.1f} ms ({} moves), ratio {:.2f}, objectives differ by {:.1e}\n", c,
      1e3 * median(their_times), 1e3 * median(our_times), moves, median(their_times) / median(our_times),
      std::abs(our_objective - their_objective) / std::abs(their_objective));
  return {median(our_times), median(their_times)};
}

// Kernel and labels as raw doubles in `folder`.
void serve(const std::string& folder, Index n) {
  Matrix k(n, n);
  Vector y(static_cast<std::size_t>(n));
  const auto read = [&](const char* name, std::span<double> values) {
    std::ifstream file(folder + "/" + name, std::ios::binary);
    file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
    if (!file) throw std::runtime_error(folder + "/" + name + " is too short");
  };
  read("kernel", k.values());
  read("labels", y);
  kloom::solvers::MatrixRows rows(k.view());
  for (double c = 0.0; std::cin >> c;) {
    const kloom::solvers::SvmProblem problem{y, Vector(y.size(), -1.0), Vector(y.size(), c), {}};
    double objective = 0.0;
    const double seconds = seconds_of([&] { objective = solve_svm(problem, rows, {}).objective; });
    std::cout << fmt::format("{} {}", seconds, objective) << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  kloom::cure_blas_core();
  if (argc == 4 && std::string(argv[1]) == "--serve") {
    serve(argv[2], std::stol(argv[3]));
    return 0;
  }
  const Index n = argc > 1 ? std::stol(argv[1]) : 2000;
  const Index p = argc > 2 ? std::stol(argv[2]) : 50;
  const Problem problem = make_problem(n);
  kloom::algebra::set_blas_threads(1);
  const Matrix k = rbf(problem.x, 0.1);
  std::vector<Medians> solves;
  for (double c : kPrices) solves.push_back(compare(problem, k, c));
  std::vector<Matrix> kernels;
  std::vector<std::string> names;
  for (Index m = 0; m < p; ++m) {
    kernels.push_back(rbf(problem.x, std::exp2(-8.0 + 12.0 * static_cast<double>(m) / static_cast<double>(p))));
    names.push_back(std::to_string(m));
  }
  const auto bank = kloom::make_dense_bank(kernels, names, true);
  const auto start = kloom::methods::start_weights(p, kloom::methods::WeightRule::second_order, 1.0);
  for (std::size_t k_price = 0; k_price < std::size(kPrices); ++k_price) {
    const double c = kPrices[k_price];
    kloom::methods::MarginSolution solution;
    std::vector<double> times(5);
    for (double& time : times) {
      time = seconds_of([&] {
        solution =
            kloom::methods::solve_margin_mkl(*bank, {problem.y, Vector(problem.y.size(), c)}, {}, start, {});
      });
    }
    fmt::print(
        "l1 fit, C {}, {} kernels, {} samples: {:.0f} ms, {} updates, gap {:.1e}: {:.1f} SVM solves of kloom, "
        "{:.1f} of LIBSVM at that C\n",
        c, p, n, 1e3 * median(times), solution.iterations, solution.gap(), median(times) / solves[k_price].ours,
        median(times) / solves[k_price].theirs);
  }
  return 0;
}
