// SPDX-License-Identifier: BSD-3-Clause
//
// The scaling study of [ZienOng2007] section 3.1: class centres on the vertices of a regular simplex, Gaussian
// noise of 0.3, Gaussian kernels whose width is the 1/M quantile of the pairwise distances times 2^0, 2^-½,
// 2^½, 2^-1, …, every kernel scaled to unit variance in feature space, C = 1, relative gap 1e-2. One of
// examples, classes and kernels grows from the base of 300, 3 and 3; slopes of log-log fits stand beside the
// paper's Table 1. Times are medians over at most --seeds draws.
//
//   bench_mcmkl_scaling [--quick] [--algorithm NAME]... [--axis NAME] [--seeds N]
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "algebra/blas.h"
#include "classification.h"
#include "kloom/bank.h"
#include "kloom/error.h"
#include "kloom/machine.h"
#include "methods/mcmkl/solver.h"

namespace {

using kloom::Index;
using kloom::Matrix;
using kloom::Vector;
using kloom::methods::McmklAlgorithm;
using kloom::methods::McmklSettings;
using kloom::methods::McmklSolution;
using kloom::methods::McmklTask;

struct Size {
  Index examples = 300;
  Index classes = 3;
  Index kernels = 3;
};

struct Algorithm {
  std::string name;
  McmklAlgorithm algorithm;
  bool single = false;                // the m-SVM on the first kernel alone
  double paper[3] = {0.0, 0.0, 0.0};  // slopes of Table 1
};

const std::vector<Algorithm>& all_algorithms() {
  static const std::vector<Algorithm> all = {
      {"msvm", McmklAlgorithm::level, true, {2.5, 1.8, 0.0}},
      {"level", McmklAlgorithm::level, false, {0.0, 0.0, 0.0}},
      {"silp", McmklAlgorithm::silp, false, {2.4, 1.7, 1.1}},
      {"silp-compact", McmklAlgorithm::silp_compact, false, {2.6, 2.2, 1.0}},
      {"qcqp", McmklAlgorithm::qcqp, false, {3.0, 2.0, 2.3}},
  };
  return all;
}

// Vertices of a regular simplex with edges of length √2: unit vectors in M dimensions, which
// lie in M − 1 of them.
Matrix squared_distances(const Size& size, unsigned seed, std::vector<int>& labels) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal(0.0, 0.3);
  const Index n = size.examples;
  const Index m = size.classes;
  Matrix x(m, n);
  for (Index i = 0; i < n; ++i) {
    labels.push_back(static_cast<int>(i % m));
    double mean = 0.0;
    for (Index d = 0; d < m; ++d) mean += (x(d, i) = normal(engine)) / static_cast<double>(m);
    // Noise only within the simplex's own dimensions.
    for (Index d = 0; d < m; ++d) x(d, i) += (d == i % m ? 1.0 : 0.0) - mean;
  }
  Matrix gram(n, n);
  kloom::algebra::syrk(kloom::algebra::Op::transpose, 1.0, x.view(), 0.0, gram.view());
  Matrix distance(n, n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) distance(i, j) = std::max(0.0, gram(i, i) + gram(j, j) - 2.0 * gram(i, j));
  }
  return distance;
}

double quantile_width(const Matrix& distance, Index classes) {
  std::vector<double> all;
  for (Index j = 0; j < distance.cols(); ++j) {
    for (Index i = 0; i < j; ++i) all.push_back(distance(i, j));
  }
  const auto place = static_cast<std::ptrdiff_t>(all.size() / static_cast<std::size_t>(classes));
  std::nth_element(all.begin(), all.begin() + place, all.end());
  return std::sqrt(all[static_cast<std::size_t>(place)]);
}

// exp(−d²/(2w²)), scaled so that trace/N minus the mean of all entries is 1.
Matrix unit_variance_kernel(const Matrix& distance, double width) {
  Matrix k = distance;
  double sum = 0.0;
  for (double& value : k.values()) sum += value = std::exp(-value / (2.0 * width * width));
  const auto n = static_cast<double>(k.rows());
  kloom::algebra::scale(1.0 / (1.0 - sum / (n * n)), k.values());
  return k;
}

struct Made {
  std::unique_ptr<kloom::KernelBank> bank;
  McmklTask task;
};

Made make(const Size& size, unsigned seed) {
  Made made;
  const Matrix distance = squared_distances(size, seed, made.task.labels);
  const double width = quantile_width(distance, size.classes);
  std::vector<Matrix> kernels;
  std::vector<std::string> names;
  for (Index k = 0; k < size.kernels; ++k) {
    const Index step = (k + 1) / 2;  // 0, −½, ½, −1, 1, …
    const double power = 0.5 * static_cast<double>(k % 2 == 1 ? -step : step);
    kernels.push_back(unit_variance_kernel(distance, width * std::exp2(power)));
    names.push_back(fmt::format("2^{}", power));
  }
  made.bank = kloom::make_dense_bank(kernels, names, true);
  made.task.classes = size.classes;
  made.task.box = Vector(made.task.labels.size(), 1.0);
  Matrix identity(size.classes, size.classes);
  for (Index u = 0; u < size.classes; ++u) identity(u, u) = 1.0;
  made.task.class_kernels = {identity};
  return made;
}

struct Run {
  double seconds = 0.0;
  McmklSolution solution;
};

Run run(const Made& made, McmklAlgorithm algorithm) {
  McmklSettings settings;
  settings.algorithm = algorithm;
  settings.tolerance = 1e-2;
  kloom::Context context;
  context.threads = 1;
  Run result;
  result.seconds = std::numeric_limits<double>::infinity();
  // Processor time of one thread, the least of a few runs: other work on the machine does not count.
  double total = 0.0;
  for (int repeat = 0; repeat < 5 && total < 0.5; ++repeat) {
    const kloom::reproduce::ProcessorClock clock;
    result.solution = solve_mcmkl(*made.bank, made.task, settings, context);
    const double seconds = clock.seconds();
    result.seconds = std::min(result.seconds, seconds);
    total += seconds;
  }
  return result;
}

double slope_of(const std::vector<double>& sizes, const std::vector<double>& seconds) {
  double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const double x = std::log(sizes[k]);
    const double y = std::log(seconds[k]);
    sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  const auto n = static_cast<double>(sizes.size());
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

struct Axis {
  std::string name;
  std::vector<Index> values;
  Index Size::*member;
};

void study(const Algorithm& algorithm, const Axis& axis, std::size_t place, unsigned seeds) {
  std::vector<double> sizes;
  std::vector<double> seconds;
  for (Index value : axis.values) {
    Size size;
    size.*axis.member = value;
    if (algorithm.single) size.kernels = 1;
    // What would factorise matrices of more than 2,000 variables is left out.
    if (algorithm.algorithm == McmklAlgorithm::qcqp && size.examples * (size.classes - 1) > 2000) break;
    std::vector<double> times;
    Run last;
    // Draws differ by half their time and more: many of them where they are cheap.
    constexpr unsigned kFewest = 3;
    constexpr double kLongest = 10.0;
    const kloom::reproduce::ProcessorClock clock;
    for (unsigned seed = 1; seed <= seeds; ++seed) {
      if (seed > kFewest && clock.seconds() > kLongest) break;
      last = run(make(size, seed), algorithm.algorithm);
      times.push_back(last.seconds);
    }
    std::sort(times.begin(), times.end());
    sizes.push_back(static_cast<double>(value));
    seconds.push_back(times[times.size() / 2]);
    fmt::print(
        "  {:<12} {:>8} {:>6}: {:9.4f} s, {:3} updates, {:8} moves, gap {:.1e}, objective {:.6g}, "
        "peak {:.0f} MB\n",
        algorithm.name, axis.name, value, seconds.back(), last.solution.iterations, last.solution.moves,
        last.solution.gap(), last.solution.primal, peak_megabytes());
    std::fflush(stdout);
  }
  if (sizes.size() < 2) return;
  const std::string paper = algorithm.paper[place] > 0.0 ? fmt::format("{:.1f}", algorithm.paper[place]) : "-";
  fmt::print("slope {:<12} {:>8}: {:.2f}   paper {}\n", algorithm.name, axis.name, slope_of(sizes, seconds),
             paper);
  std::fflush(stdout);
}

struct Arguments {
  bool quick = false;
  unsigned seeds = 21;
  std::vector<std::string> algorithms;  // empty: all
  std::string axis;                     // empty: all
};

std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    if (word == "--quick") {
      arguments.quick = true;
    } else if (word == "--algorithm" && k + 1 < argc) {
      arguments.algorithms.emplace_back(argv[++k]);
    } else if (word == "--axis" && k + 1 < argc) {
      arguments.axis = argv[++k];
    } else if (word == "--seeds" && k + 1 < argc) {
      arguments.seeds = static_cast<unsigned>(std::max(1, std::stoi(argv[++k])));
    } else {
      return std::nullopt;
    }
  }
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  kloom::cure_blas_core();
  const std::optional<Arguments> arguments = parse(argc, argv);
  if (!arguments) {
    fmt::print(stderr,
               "usage: bench_mcmkl_scaling [--quick] [--algorithm NAME]... [--axis NAME] [--seeds N]\n");
    return 2;
  }
  const auto& [quick, seeds, wanted, only] = *arguments;
  const std::vector<Axis> axes = {
      {"examples",
       quick ? std::vector<Index>{100, 200, 400} : std::vector<Index>{100, 200, 500, 1000, 2000, 5000},
       &Size::examples},
      {"classes", quick ? std::vector<Index>{3, 6, 12} : std::vector<Index>{3, 6, 12, 25, 50, 100},
       &Size::classes},
      {"kernels", quick ? std::vector<Index>{2, 4, 8} : std::vector<Index>{2, 4, 7, 12, 20}, &Size::kernels}};
  for (const Algorithm& algorithm : all_algorithms()) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), algorithm.name) == wanted.end()) continue;
    for (std::size_t place = 0; place < axes.size(); ++place) {
      if (!only.empty() && axes[place].name != only) continue;
      if (!(algorithm.single && place == 2)) study(algorithm, axes[place], place, seeds);
    }
  }
}
