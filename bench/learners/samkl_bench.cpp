// SPDX-License-Identifier: BSD-3-Clause
//
// SAMKL beside ℓ1 MKL: what the switches cost, in training and in prediction, and what kernels of its own for
// each sample bring where samples need them.
//
//   bench_samkl [FOLDER with proteinfold.*.csv.gz]
//
// Each ratio is the median over interleaved repeats in this run, of processor time on one thread: the fits take
// milliseconds, less than what a busy machine makes them wait.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "kloom/learner.h"
#include "kloom/machine.h"
#include "kloom/parts.h"
#include "kloom/recipe.h"
#include "support/per_sample.h"

namespace {

using namespace kloom;  // NOLINT(google-build-using-namespace): a program, not a library

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

template <typename Work>
double seconds(Work work) {
  const std::clock_t start = std::clock();
  for (int k = 0; k < 5; ++k) work();
  return static_cast<double>(std::clock() - start) / (5.0 * CLOCKS_PER_SEC);
}

struct Pair {
  std::unique_ptr<KernelBank> train;
  std::unique_ptr<KernelBank> test;
  Targets targets;
};

Pair protein_pair(const std::string& folder, const std::string& a, const std::string& b) {
  const auto load = [&](const char* name) {
    DatasetRequest request;
    request.path = folder + "/" + name;
    request.views_by_prefix = true;
    const Dataset all = load_dataset(request, {});
    std::vector<Index> rows;
    for (Index i = 0; i < all.samples; ++i) {
      const std::string& label = all.labels[static_cast<std::size_t>(i)];
      if (label == a || label == b) rows.push_back(i);
    }
    return select_samples(all, rows);
  };
  const Dataset train = load("proteinfold.train.csv.gz");
  RecipeOptions options;
  options.normalisation = Normalisation::unit_trace;
  const Recipe recipe = Recipe::fit(train, parse_kernel_spec("poly(degree=2) on views"), options, {});
  BankRequest dense;
  dense.kind = BankKind::dense;
  TargetsRequest classes;
  classes.kind = TargetsRequest::Kind::classes;
  return {store_bank(recipe.training_bank(), dense, {}),
          store_bank(recipe.bank_for(load("proteinfold.test.csv.gz")), dense, {}),
          make_targets(train.labels, classes)};
}

// Ratios to one ℓ1 fit at the same C: an outer iteration, and all of the training to the stop with m₀ = 3.
void training(const std::string& folder) {
  const char* folds[] = {"1", "7", "9", "12", "16"};
  Context context;
  context.threads = 1;
  std::vector<double> each;
  std::vector<double> whole;
  fmt::print("training on the ten protein pairs, C = 100, m0 = 3, to the stop; times of one l1 fit\n");
  for (int i = 0; i < 5; ++i) {
    for (int j = i + 1; j < 5; ++j) {
      const Pair pair = protein_pair(folder, folds[i], folds[j]);
      std::vector<double> ratios;
      double rounds = 0.0;
      for (int repeat = 0; repeat < 9; ++repeat) {
        const double l1 = seconds([&] {
          (void)find_learner("simplemkl")
              .fit(*pair.train, pair.targets, {{"C", "100"}, {"probability", "false"}}, context);
        });
        const double samkl = seconds([&] {
          const FitResult fit = find_learner("samkl").fit(
              *pair.train, pair.targets,
              {{"C", "100"}, {"m0", "3"}, {"updates", "stop"}, {"probability", "false"}}, context);
          rounds = static_cast<double>(fit.report.iterations) + 1.0;
        });
        ratios.push_back(samkl / l1);
      }
      const double ratio = median(ratios);
      whole.push_back(ratio);
      each.push_back(ratio / rounds);
      fmt::print("  {:>2} vs {:<2}  {:.0f} outer iterations, {:5.2f} in all, {:4.2f} each\n", folds[i],
                 folds[j], rounds, ratio, ratio / rounds);
    }
  }
  fmt::print("  largest: {:.2f} in all (at most 10 wanted), {:.2f} an outer iteration (at most 2 wanted)\n",
             *std::ranges::max_element(whole), *std::ranges::max_element(each));
}

// Prediction of many samples from 12 kernels: SAMKL with up to 100 patterns beside SimpleMKL with as
// many support vectors.
void prediction() {
  const test::SensorProblem problem = test::sensor_problem(400, 4000, 12, 1);
  const auto train = make_dense_bank(problem.train, problem.names, true);
  const auto fresh = make_dense_bank(problem.test, problem.names, false);
  Context context;
  context.threads = 1;
  const FitResult l1 = find_learner("simplemkl")
                           .fit(*train, problem.targets, {{"C", "0.01"}, {"probability", "false"}}, context);
  FitResult samkl = find_learner("samkl").fit(
      *train, problem.targets, {{"C", "0.01"}, {"m0", "2"}, {"updates", "one"}, {"probability", "false"}},
      context);
  Matrix& patterns = edit_part<GatedPart>(samkl.model).gates.outputs[0].patterns;
  const Index found = patterns.rows();
  Matrix hundred(100, patterns.cols(), 1.0);
  for (Index k = 0; k < 100; ++k) {
    for (Index p = 0; p < patterns.cols(); ++p) hundred(k, p) = patterns(k % found, p);
  }
  patterns = hundred;
  std::vector<double> ratios;
  for (int repeat = 0; repeat < 15; ++repeat) {
    const double a = seconds([&] { (void)predict(l1.model, *fresh, {}, context); });
    const double b = seconds([&] { (void)predict(samkl.model, *fresh, {}, context); });
    ratios.push_back(b / a);
  }
  fmt::print("prediction with 100 patterns ({} distinct): {:.2f} times SimpleMKL's (at most 2 wanted)\n", found,
             median(ratios));
}

// Sensors that are out of order now and then: accuracy on new samples, mean over ten draws.
void accuracy() {
  constexpr int kRepeats = 5;
  std::map<std::string, std::vector<double>> all;
  for (unsigned seed = 1; seed <= kRepeats; ++seed) {
    const test::SensorProblem problem = test::sensor_problem(300, 2000, 8, 100 * seed);
    for (const Learner& learner : all_learners())
      all[learner.name].push_back(test::sensor_accuracy(learner, problem));
  }
  fmt::print(
      "eight sensors, each out of order in 15 % of the samples; accuracy on 2,000 new samples, mean "
      "of {} draws\n",
      kRepeats);
  for (const auto& [name, values] : all) {
    double mean = 0.0;
    double square = 0.0;
    for (const double v : values) mean += v / kRepeats;
    for (const double v : values) square += (v - mean) * (v - mean) / (kRepeats - 1.0) / kRepeats;
    fmt::print("  {:10} {:.3f} +- {:.3f}\n", name, mean, std::sqrt(square));
  }
}

}  // namespace

int main(int argc, char** argv) {
  cure_blas_core();
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (argc > 1 && std::filesystem::exists(std::string(argv[1]) + "/proteinfold.train.csv.gz")) {
    training(argv[1]);
  } else {
    fmt::print("no folder with proteinfold.train.csv.gz was named, so training is not measured\n");
  }
  prediction();
  accuracy();
  return 0;
}
