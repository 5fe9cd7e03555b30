// SPDX-License-Identifier: BSD-3-Clause
//
// What fits are made of, by the number of threads: seconds of each piece, and how many times one thread's speed that is.
//
//   bench_threads [SAMPLES [KERNELS [THREADS]]]      default: 2000 50, and all cores
//
// Medians of five runs, interleaved over the numbers of threads.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "algebra/blas.h"
#include "algebra/threads.h"
#include "base/stopwatch.h"
#include "kloom/bank.h"
#include "kloom/context.h"
#include "kloom/machine.h"

namespace {

using kloom::Index;
using kloom::Matrix;
using kloom::Vector;
using kloom::algebra::Op;

Matrix random_matrix(Index rows, Index cols, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  Matrix result(rows, cols);
  for (double& value : result.values()) value = normal(generator);
  return result;
}

// K = (XXᵀ)/k + I, positive definite.
Matrix positive_matrix(Index n) {
  constexpr Index kColumns = 64;
  const Matrix x = random_matrix(n, kColumns, 1);
  Matrix result(n, n);
  kloom::algebra::gemm(Op::none, Op::transpose, 1.0 / kColumns, x.view(), x.view(), 0.0, result.view());
  for (Index i = 0; i < n; ++i) result(i, i) += 1.0;
  return result;
}

struct Piece {
  std::string name;
  std::function<void()> work;
};

double median(Vector values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

std::vector<Piece> pieces_of_algebra(Index n, Index p) {
  auto positive = std::make_shared<Matrix>(positive_matrix(n));
  auto outputs = std::make_shared<Matrix>(random_matrix(n, p, 2));
  auto small = std::make_shared<Matrix>(positive_matrix(p));
  auto products = std::make_shared<Matrix>(n, p);
  auto vectors = std::make_shared<Matrix>(random_matrix(n, 10, 3));
  return {
      {"copy of N x N", [=] { Matrix copy = *positive; }},
      {"Cholesky, N",
       [=] {
         Matrix copy = *positive;
         (void)kloom::algebra::cholesky(copy.view());
       }},
      {"inverse factor, N",
       [=] {
         Matrix copy = *positive;
         (void)kloom::algebra::cholesky_inverse_factor(copy.view());
       }},
      {"inverse, P",
       [=] {
         Matrix copy = *small;
         double log_det = 0.0;
         (void)kloom::algebra::invert_positive(copy.view(), log_det);
       }},
      {"P x P of N x P",
       [=] {
         Matrix square(p, p);
         kloom::algebra::syrk(Op::transpose, 1.0, outputs->view(), 0.0, square.view());
       }},
      {"square of N x N",
       [=] {
         Matrix square(n, n);
         kloom::algebra::syrk(Op::none, 1.0, positive->view(), 0.0, square.view());
       }},
      {"solve, one column",
       [=] {
         Matrix x = *vectors;
         kloom::algebra::cholesky_solve(positive->view(), x.columns({0, 1}));
       }},
      {"solve, inverse factor",
       [=] {
         Matrix x = *vectors;
         kloom::algebra::solve_from_inverse_factor(positive->view(), x.columns({0, 1}));
       }},
      {"inverse diagonal", [=] { (void)kloom::algebra::inverse_diagonal(positive->view()); }},
      {"2000 axpys",
       [=] {
         for (int k = 0; k < 2000; ++k) kloom::algebra::axpy(1e-9, vectors->column(0), vectors->column(1));
       }},
      {"gemv, N x P",
       [=] {
         kloom::algebra::gemv(Op::transpose, 1.0, outputs->view(), vectors->column(0), 0.0, small->column(0));
       }},
      {"N x P times P x P",
       [=] {
         kloom::algebra::gemm(Op::none, Op::none, 1.0, outputs->view(), small->view(), 0.0, products->view());
       }},
  };
}

std::vector<Piece> pieces_of_bank(Index n, Index p) {
  auto vectors = std::make_shared<Matrix>(random_matrix(n, 10, 3));
  auto outputs = std::make_shared<Matrix>(random_matrix(n, p, 2));
  std::vector<std::string> names;
  for (Index k = 0; k < p; ++k) names.push_back(fmt::format("k{}", k));
  std::shared_ptr<const kloom::KernelBank> bank =
      kloom::make_dense_bank(std::vector<Matrix>(kloom::at(p), positive_matrix(n)), names, true);
  return {
      {"apply, one column",
       [=] {
         (void)bank->apply(vectors->columns({0, 1}));
       }},
      {"apply, ten columns", [=] { (void)bank->apply(vectors->view()); }},
      {"adjoint, one column",
       [=] {
         (void)bank->apply_adjoint({outputs->data(), n * p, 1, n * p});
       }},
      {"sum of kernels", [=] { (void)bank->combine(Vector(kloom::at(p), 0.5)); }},
  };
}

}  // namespace

int main(int count, char** arguments) {
  const auto number = [&](int k, Index otherwise) {
    return count > k ? static_cast<Index>(std::atoll(arguments[k])) : otherwise;
  };
  kloom::cure_blas_core();
  const kloom::MachineInfo machine = kloom::machine_info(false);
  const Index n = number(1, 2000);
  const Index p = number(2, 50);
  std::vector<int> threads{1};
  const auto most = static_cast<int>(number(3, machine.cores));
  while (threads.back() * 2 <= most) threads.push_back(threads.back() * 2);
  fmt::print("{}, BLAS core {}; {} samples, {} kernels\n", machine.processor, machine.blas_core, n, p);
  std::vector<Piece> pieces = pieces_of_algebra(n, p);
  for (Piece& piece : pieces_of_bank(n, p)) pieces.push_back(std::move(piece));
  for (const Piece& piece : pieces) {
    std::map<int, Vector> seconds;
    for (int turn = 0; turn < 6; ++turn) {
      for (const int t : threads) {
        kloom::Context context;
        context.threads = t;
        const kloom::algebra::ThreadScope scope(context);
        const kloom::Stopwatch clock;
        piece.work();
        if (turn > 0) seconds[t].push_back(clock.seconds());
      }
    }
    fmt::print("{:22}", piece.name);
    const double one = median(seconds[1]);
    for (const int t : threads)
      fmt::print("  {:2}: {:8.4f} s {:5.1f}x", t, median(seconds[t]), one / median(seconds[t]));
    fmt::print("\n");
  }
  return 0;
}
