// SPDX-License-Identifier: BSD-3-Clause
//
// BEMKL on the shapes of its paper: milliseconds per iteration of the plain dense transcription
// (bemkl_plain.h), of the library on dense and on low-rank banks, interleaved, and the floor of this machine:
// every operation of an iteration at the best rate that the machine shows for it at this size. Then the time to
// the converged bound, accelerated, against plain updates in dense form.
//
//   bench_bemkl DATA_FOLDER [--data NAME]... [--json FILE] [--threads N] [--most N] [--no-converged]
//
// --most: plain updates at most on the way to the converged bound (5,000).
//
// Protocol [Gonen2012, section 6.1]: 70 % of the samples, standardised; ten Gaussian widths and three
// polynomial degrees on all features and on each; unit diagonal.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "algebra/blas.h"
#include "algebra/threads.h"
#include "base/stopwatch.h"
#include "bemkl_plain.h"
#include "kloom/dataset.h"
#include "kloom/error.h"
#include "kloom/machine.h"
#include "kloom/recipe.h"
#include "kloom/targets.h"
#include "methods/bemkl/bemkl.h"

namespace {

using kloom::Index;
using kloom::KernelBank;
using kloom::methods::BemklFactors;

constexpr const char* kSpec = "rbf(width=2^-3..2^6) on all, each; poly(degree=1..3) on all, each";
// The paper's 200 iterations, in turns of ten: what an iteration does now and then counts as often as it
// happens, and caches are as warm as in a fit.
constexpr int kTurns = 20;
constexpr int kIterationsInTurn = 10;

double seconds_of(const auto& work) {
  const kloom::Stopwatch clock;
  work();
  return clock.seconds();
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

kloom::methods::BemklStart start_of(const kloom::Matrix& signs, Index kernels) {
  const Index n = signs.rows();
  kloom::methods::BemklStart start{kloom::Matrix(n, 1, 1.0), kloom::Matrix(n * kernels, 1),
                                   kloom::Matrix(n, 1)};
  for (Index i = 0; i < n; ++i) start.f(i, 0) = 1.8 * signs(i, 0);
  for (Index k = 0; k < n * kernels; ++k) start.intermediate(k, 0) = 1.8 * signs(k % n, 0);
  return start;
}

double best_of(int times, const auto& work) {
  double best = seconds_of(work);
  for (int k = 1; k < times; ++k) best = std::min(best, seconds_of(work));
  return best;
}

kloom::Matrix positive_definite(Index n) {
  kloom::Matrix a(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i)
      a(i, j) = (i == j ? 2.0 : 0.0) + 1.0 / (1.0 + std::abs(static_cast<double>(i - j)));
  }
  return a;
}

// Seconds of Cholesky with inverse factor, and of a whole inverse; LAPACK's where it is faster.
struct InverseSeconds {
  double factor = 0.0;
  double whole = 0.0;
};
InverseSeconds inverse_seconds(Index n) {
  const kloom::Matrix a = positive_definite(n);
  kloom::Matrix work = a;
  InverseSeconds best{1e9, kloom::bench::seconds_of_lapack_inverse(n)};
  for (int k = 0; k < 7; ++k) {
    work = a;
    const double factor = seconds_of([&] { (void)kloom::algebra::cholesky_inverse_factor(work.view()); });
    const double square = seconds_of([&] { kloom::algebra::inverse_from_factor(work.view()); });
    best.factor = std::min(best.factor, factor);
    best.whole = std::min({best.whole, factor + square, kloom::bench::seconds_of_lapack_inverse(n)});
  }
  return best;
}

// One iteration: the inverse factors of Σ(a)'s and Σ(e)'s precisions, T, G Σ(g), GᵀG, and two passes over the
// bank (its bytes once each, at the bandwidth measured).
double floor_seconds(Index n, Index p, double bank_bytes, const kloom::MachineInfo& machine) {
  const kloom::Matrix g(n, p, 0.5);
  const kloom::Matrix covariance(p, p, 0.1);
  kloom::Matrix product(n, p);
  kloom::Matrix moment(p, p);
  using kloom::algebra::Op;
  const double gemm = best_of(7, [&] {
    kloom::algebra::gemm(Op::none, Op::none, 1.0, g.view(), covariance.view(), 0.0, product.view());
  });
  const double syrk =
      best_of(7, [&] { kloom::algebra::syrk_lower(Op::transpose, 1.0, g.view(), 0.0, moment.view()); });
  const InverseSeconds of_p = inverse_seconds(p);
  return inverse_seconds(n).factor + of_p.factor + of_p.whole + gemm + syrk +
         2.0 * bank_bytes / (machine.bandwidth_gbs * 1e9);
}

std::vector<kloom::Matrix> matrices_of(const KernelBank& bank) {
  std::vector<kloom::Matrix> kernels;
  for (Index k = 0; k < bank.kernels(); ++k) {
    kernels.emplace_back(bank.rows(), bank.rows());
    bank.panels({k, k + 1}, {0, bank.rows()}, kernels.back().data());
  }
  return kernels;
}

struct Settings {
  std::filesystem::path folder;
  std::vector<std::string> data;
  std::string json;
  bool converged = true;
  Index most = 5000;
  kloom::Context context;
};

struct Problem {
  kloom::Targets targets;
  std::unique_ptr<KernelBank> dense, low;
  double dense_fill = 0.0, low_fill = 0.0;
};

Problem make_problem(const std::filesystem::path& file, const kloom::Context& context) {
  const kloom::Dataset train = training_part(file, context);
  const kloom::Recipe recipe = kloom::Recipe::fit(train, kloom::parse_kernel_spec(kSpec), {}, context);
  const auto computed = recipe.training_bank();
  Problem problem;
  problem.targets = kloom::make_targets(train.labels, {});
  problem.dense_fill =
      seconds_of([&] { problem.dense = store_bank(computed, {kloom::BankKind::dense}, context); });
  problem.low_fill =
      seconds_of([&] { problem.low = store_bank(computed, {kloom::BankKind::low_rank}, context); });
  return problem;
}

double largest_relative_difference(const kloom::Vector& a, const kloom::Vector& b) {
  double difference = 0.0;
  double largest = 0.0;
  for (std::size_t m = 0; m < a.size(); ++m) {
    difference = std::max(difference, std::abs(a[m] - b[m]));
    largest = std::max(largest, std::abs(b[m]));
  }
  return difference / largest;
}

nlohmann::json per_iteration(const Problem& problem, const kloom::MachineInfo& machine) {
  const auto of_task = kloom::methods::bemkl_plan(problem.targets, {}).problems.front();
  BemklFactors on_dense(*problem.dense, of_task, {}, start_of(of_task.targets, problem.dense->kernels()));
  BemklFactors on_low(*problem.low, of_task, {}, start_of(of_task.targets, problem.low->kernels()));
  kloom::bench::PlainBemkl plain(matrices_of(*problem.dense), problem.targets.signs());
  std::vector<double> dense_times, low_times, plain_times, ratios;
  const auto turn = [](auto& factors) {
    const auto work = [&] {
      for (int k = 0; k < kIterationsInTurn; ++k) (void)factors.iterate();
    };
    return seconds_of(work) / kIterationsInTurn;
  };
  for (int k = 0; k < kTurns; ++k) {
    plain_times.push_back(turn(plain));
    low_times.push_back(turn(on_low));
    dense_times.push_back(turn(on_dense));
    ratios.push_back(plain_times.back() / low_times.back());
  }
  const auto bytes = [](const KernelBank& bank) { return static_cast<double>(bank.bytes()); };
  const auto of_bank = [&](const KernelBank& bank, double fill, const std::vector<double>& times) {
    return nlohmann::json{{"mb", bytes(bank) / 1e6},
                          {"fill_s", fill},
                          {"iteration_s", median(times)},
                          {"floor_s", floor_seconds(bank.rows(), bank.kernels(), bytes(bank), machine)}};
  };
  return {{"n", problem.dense->rows()},
          {"p", problem.dense->kernels()},
          {"plain", {{"iteration_s", median(plain_times)}}},
          {"dense", of_bank(*problem.dense, problem.dense_fill, dense_times)},
          {"low_rank", of_bank(*problem.low, problem.low_fill, low_times)},
          {"plain_over_low_rank", median(ratios)},
          {"difference", largest_relative_difference(on_low.be(), plain.be())}};
}

// The bound at which accelerated updates settle, and how many plain ones reach it.
nlohmann::json to_convergence(const Problem& problem, double plain_iteration, bool sparse,
                              const Settings& settings) {
  kloom::methods::BemklOptions options;
  options.margin = 1.0;
  options.sparse = sparse;
  options.calibration = "none";
  options.tolerance = 1e-7;
  options.iterations = 5000;
  kloom::FitResult fit;
  const double seconds = seconds_of(
      [&] { fit = kloom::methods::fit_bemkl(*problem.low, problem.targets, options, settings.context); });
  const auto of_task = kloom::methods::bemkl_plan(problem.targets, {}).problems.front();
  BemklFactors plain(*problem.low, of_task, kloom::methods::bemkl_prior(options),
                     start_of(of_task.targets, problem.low->kernels()));
  const double bound = fit.report.objective;
  Index iterations = 0;
  while (iterations < settings.most) {
    (void)plain.iterate();
    ++iterations;
    if (iterations % 10 == 0 && plain.lower_bound() >= bound) break;
  }
  return {{"bound", bound},
          {"passes", fit.report.iterations},
          {"seconds", seconds},
          {"plain_iterations", iterations},
          {"plain_bound", plain.lower_bound()},
          {"plain_seconds", static_cast<double>(iterations) * plain_iteration},
          {"ratio", static_cast<double>(iterations) * plain_iteration / seconds}};
}

void print(const nlohmann::json& r) {
  fmt::print("{:<11} {:>4} x {:<4} {:<9} {:>8} {:>8} {:>10.2f}\n", r["data"].get<std::string>(),
             r["n"].get<Index>(), r["p"].get<Index>(), "plain", "", "",
             1e3 * r["plain"]["iteration_s"].get<double>());
  for (const char* kind : {"dense", "low_rank"}) {
    const auto& b = r[kind];
    const double iteration = b["iteration_s"];
    const double floor = b["floor_s"];
    fmt::print("{:<23} {:<9} {:>8.1f} {:>8.3f} {:>10.2f} {:>9.2f} {:>7.2f}\n", "", kind, b["mb"].get<double>(),
               b["fill_s"].get<double>(), 1e3 * iteration, 1e3 * floor, iteration / floor);
  }
  fmt::print("{:<23} plain/low-rank {:.2f}; weights differ by {:.1e} after {} iterations\n", "",
             r["plain_over_low_rank"].get<double>(), r["difference"].get<double>(), kTurns * kIterationsInTurn);
  for (const char* prior : {"converged", "sparse converged"}) {
    if (!r.contains(prior)) continue;
    const auto& c = r[prior];
    fmt::print(
        "{:<23} {}: bound {:.2f} after {} accelerated passes, {:.2f} s; plain updates: {:.2f} after {}, {:.1f} "
        "s: {:.0f} times\n",
        "", prior, c["bound"].get<double>(), c["passes"].get<Index>(), c["seconds"].get<double>(),
        c["plain_bound"].get<double>(), c["plain_iterations"].get<Index>(), c["plain_seconds"].get<double>(),
        c["ratio"].get<double>());
  }
  std::fflush(stdout);
}

Settings settings_of(const std::vector<std::string>& arguments) {
  if (arguments.empty())
    throw kloom::InvalidArgument(
        "usage: bench_bemkl DATA_FOLDER [--data NAME]... [--json FILE] [--threads N] "
        "[--most N] [--no-converged]");
  Settings settings;
  settings.folder = arguments[0];
  for (std::size_t k = 1; k < arguments.size(); ++k) {
    if (arguments[k] == "--no-converged") {
      settings.converged = false;
    } else if (k + 1 < arguments.size() && arguments[k] == "--json") {
      settings.json = arguments[++k];
    } else if (k + 1 < arguments.size() && arguments[k] == "--threads") {
      settings.context.threads = std::stoi(arguments[++k]);
    } else if (k + 1 < arguments.size() && arguments[k] == "--most") {
      settings.most = std::stol(arguments[++k]);
    } else if (k + 1 < arguments.size() && arguments[k] == "--data") {
      settings.data.push_back(arguments[++k]);
    } else {
      throw kloom::InvalidArgument("bench_bemkl knows no '" + arguments[k] + "'");
    }
  }
  if (settings.data.empty()) settings.data = {"sonar", "ionosphere", "pima", "wdbc"};
  return settings;
}

void run(const Settings& settings) {
  const kloom::algebra::ThreadScope threads(settings.context);
  const kloom::MachineInfo machine = kloom::machine_info(true);
  kloom::bench::set_plain_threads(threads.threads());
  fmt::print("{}, {} threads, BLAS core {}, dgemm {:.0f} GFLOP/s, bandwidth {:.0f} GB/s\n", machine.processor,
             threads.threads(), machine.blas_core, machine.dgemm_gflops, machine.bandwidth_gbs);
  fmt::print("{:<11} {:>4}   {:<4} {:<9} {:>8} {:>8} {:>10} {:>9} {:>7}\n", "data", "N", "P", "bank", "MB",
             "fill s", "ms/iter", "floor ms", "ratio");
  nlohmann::json results = nlohmann::json::array();
  for (const std::string& name : settings.data) {
    const Problem problem = make_problem(settings.folder / (name + ".csv.gz"), settings.context);
    nlohmann::json result = per_iteration(problem, machine);
    result["data"] = name;
    if (settings.converged) {
      const double plain = result["plain"]["iteration_s"];
      result["converged"] = to_convergence(problem, plain, false, settings);
      result["sparse converged"] = to_convergence(problem, plain, true, settings);
    }
    results.push_back(std::move(result));
    print(results.back());
  }
  if (!settings.json.empty()) std::ofstream(settings.json) << results.dump(1) << "\n";
}

// Both BLAS copies in this process read their kernels from the environment when they load.
void cure_environment(char** argv) {
  if (std::getenv("KLOOM_BENCH_CURED") != nullptr) return;
  const auto get = [](const char* name) -> const char* { return std::getenv(name); };
  for (const auto& [name, value] : kloom::machine_cure(get)) setenv(name.c_str(), value.c_str(), 1);
  setenv("KLOOM_BENCH_CURED", "1", 1);
  execv("/proc/self/exe", argv);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    cure_environment(argv);
    run(settings_of({argv + 1, argv + argc}));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "bench_bemkl: " << error.what() << "\n";
    return 1;
  }
}
