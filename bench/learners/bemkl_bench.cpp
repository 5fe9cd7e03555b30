// SPDX-License-Identifier: BSD-3-Clause
//
// BEMKL on the shapes of its paper: seconds per iteration with dense and low-rank banks, interleaved, beside
// the floor that this machine's dgemm rate and memory bandwidth set.
//
//   bench_bemkl DATA_FOLDER [--json FILE]
//
// Protocol [Gonen2012, section 6.1]: 70 % of the samples, standardised; ten Gaussian widths and three
// polynomial degrees on all features and on each; unit diagonal.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "algebra/threads.h"
#include "kernels/concat_bank.h"
#include "kloom/dataset.h"
#include "kloom/error.h"
#include "kloom/machine.h"
#include "kloom/recipe.h"
#include "kloom/targets.h"
#include "learners/bemkl.h"

namespace {

using kloom::Index;
using kloom::KernelBank;
using kloom::learners::BemklFactors;

constexpr const char* kSpec = "rbf(width=2^-3..2^6) on all, each; poly(degree=1..3) on all, each";
constexpr int kIterations = 15;

double seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<Index>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

kloom::Dataset training_part(const std::filesystem::path& file, const kloom::Context& context) {
  kloom::DatasetRequest request;
  request.path = file.string();
  const kloom::Dataset all = kloom::load_dataset(request, context);
  std::vector<Index> order(static_cast<std::size_t>(all.samples));
  std::iota(order.begin(), order.end(), Index{0});
  std::mt19937 engine(1);
  for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[engine() % (i + 1)]);
  order.resize(static_cast<std::size_t>(0.7 * static_cast<double>(all.samples)));
  return kloom::select_samples(all, order);
}

kloom::learners::BemklStart start_of(const kloom::Matrix& signs, Index kernels) {
  const Index n = signs.rows();
  kloom::learners::BemklStart start{kloom::Matrix(n, 1, 1.0),
                                    kloom::Matrix(n * kernels, 1),
                                    kloom::Matrix(n, 1),
                                    {0.0},
                                    kloom::Vector(static_cast<std::size_t>(kernels), 1.0)};
  for (Index i = 0; i < n; ++i) start.f(i, 0) = 1.8 * signs(i, 0);
  for (Index k = 0; k < n * kernels; ++k) start.intermediate(k, 0) = 1.8 * signs(k % n, 0);
  return start;
}

// Seconds of one iteration if every flop ran at dgemm's rate and every byte of the bank at full bandwidth.
// Flops: Cholesky and triangular inverse of N × N; two inverses of P × P; G Σ_g and GᵀG; with a low-rank bank
// its passes too.
double floor_seconds(double n, double p, double bank_bytes, bool low_rank, const kloom::MachineInfo& machine) {
  const double flops =
      2.0 / 3.0 * n * n * n + 2.0 * p * p * p + 3.0 * n * p * p + (low_rank ? bank_bytes / 8.0 * 8.0 : 0.0);
  const double passes = low_rank ? 4.0 : 2.0;  // thin factors are read for the projection and for the expansion
  return flops / (machine.dgemm_gflops * 1e9) + passes * bank_bytes / (machine.bandwidth_gbs * 1e9);
}

nlohmann::json bench(const std::string& name, const std::filesystem::path& folder,
                     const kloom::MachineInfo& machine, const kloom::Context& context) {
  const kloom::Dataset train = training_part(folder / (name + ".csv.gz"), context);
  const kloom::Targets targets = kloom::make_targets(train.labels, {});
  const kloom::Recipe recipe = kloom::Recipe::fit(train, kloom::parse_kernel_spec(kSpec), {}, context);
  const auto computed = recipe.training_bank();
  std::unique_ptr<KernelBank> dense;
  std::unique_ptr<KernelBank> low;
  const double dense_fill =
      seconds_of([&] { dense = store_bank(computed, {kloom::BankKind::dense}, context); });
  const double low_fill = seconds_of([&] { low = store_bank(computed, {kloom::BankKind::low_rank}, context); });
  const auto problem = kloom::learners::bemkl_plan(targets, {}).problems.front();
  BemklFactors on_dense(*dense, problem, {}, start_of(problem.targets, dense->kernels()));
  BemklFactors on_low(*low, problem, {}, start_of(problem.targets, low->kernels()));
  std::vector<double> dense_times;
  std::vector<double> low_times;
  for (int k = 0; k < kIterations; ++k) {
    dense_times.push_back(seconds_of([&] { (void)on_dense.iterate(); }));
    low_times.push_back(seconds_of([&] { (void)on_low.iterate(); }));
  }
  double difference = 0.0;
  for (std::size_t m = 0; m < on_dense.be().size(); ++m) {
    difference = std::max(difference, std::abs(on_dense.be()[m] - on_low.be()[m]));
  }
  const auto n = static_cast<double>(dense->rows());
  const auto p = static_cast<double>(dense->kernels());
  const double dense_floor = floor_seconds(n, p, static_cast<double>(dense->bytes()), false, machine);
  const double low_floor = floor_seconds(n, p, static_cast<double>(low->bytes()), true, machine);
  return {{"data", name},
          {"n", dense->rows()},
          {"p", dense->kernels()},
          {"dense",
           {{"mb", static_cast<double>(dense->bytes()) / 1e6},
            {"fill_s", dense_fill},
            {"iteration_s", median(dense_times)},
            {"floor_s", dense_floor}}},
          {"low_rank",
           {{"mb", static_cast<double>(low->bytes()) / 1e6},
            {"fill_s", low_fill},
            {"iteration_s", median(low_times)},
            {"floor_s", low_floor}}},
          {"largest_difference_of_weights", difference}};
}

void print(const nlohmann::json& r) {
  for (const char* kind : {"dense", "low_rank"}) {
    const auto& b = r[kind];
    const double iteration = b["iteration_s"];
    const double floor = b["floor_s"];
    fmt::print("{:<11} {:>4} x {:<4} {:<9} {:>8.1f} {:>8.3f} {:>10.2f} {:>9.2f} {:>7.2f}\n",
               r["data"].get<std::string>(), r["n"].get<Index>(), r["p"].get<Index>(), kind,
               b["mb"].get<double>(), b["fill_s"].get<double>(), 1e3 * iteration, 1e3 * floor,
               iteration / floor);
  }
  fmt::print("{:<11} dense/low-rank {:.2f}, weights differ by {:.1e} after {} iterations\n", "",
             r["dense"]["iteration_s"].get<double>() / r["low_rank"]["iteration_s"].get<double>(),
             r["largest_difference_of_weights"].get<double>(), kIterations);
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    fmt::print(stderr, "usage: bench_bemkl DATA_FOLDER [--json FILE]\n");
    return 2;
  }
  const kloom::Context context;
  const kloom::MachineInfo machine = kloom::machine_info(true);
  const kloom::algebra::ThreadScope threads(context);
  fmt::print("{}, {} threads, BLAS core {}, dgemm {:.0f} GFLOP/s, bandwidth {:.0f} GB/s\n", machine.processor,
             threads.threads(), machine.blas_core, machine.dgemm_gflops, machine.bandwidth_gbs);
  fmt::print("{:<11} {:>4}   {:<4} {:<9} {:>8} {:>8} {:>10} {:>9} {:>7}\n", "data", "N", "P", "bank", "MB",
             "fill s", "ms/iter", "floor ms", "ratio");
  nlohmann::json results = nlohmann::json::array();
  for (const char* name : {"sonar", "pima", "wdbc"}) {
    results.push_back(bench(name, arguments[0], machine, context));
    print(results.back());
  }
  if (arguments.size() == 3 && arguments[1] == "--json") std::ofstream(arguments[2]) << results.dump(1) << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "bench_bemkl: " << error.what() << "\n";
    return 1;
  }
}
