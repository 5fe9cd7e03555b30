// SPDX-License-Identifier: BSD-3-Clause
//
// Table 1 of Liu et al. 2014 (SAMKL), published values beside ours, and a study of corrupted views.
//
//   samkl-table1 FOLDER [--kernels polynomial|gaussian|linear] [--seeds N] [--methods a,b] [--corrupt SHARE]
//
// Protein fold, the ten pairs of folds 1, 7, 9, 12, 16 with their own training and test parts, one kernel of
// unit trace on each of the 12 views, C from 10^-1..10^4 by 5-fold cross-validation. (Kernels here have unit
// diagonal and C is divided by the number of samples, which is the same.) The paper does not say which kernels:
// each kind is a table of its own here, and none is taken by its test results. Seeds differ in the folds of the cross-validation (and in
// the corruption). Methods: samkl chooses C, m0 in 0..3 and the number of updates; literal is Algorithm 1 with
// m0 = 3; simplemkl; lmkl with softmax gates.
//
// --corrupt: that share of all sample × view blocks, in training and test, is replaced by Gaussian noise of
// the same mean and deviation feature by feature; the last lines are paired tests of samkl against the others
// over pairs and seeds.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "classification.h"
#include "kloom/machine.h"

namespace {

using namespace kloom;             // NOLINT(google-build-using-namespace): a program, not a library
using namespace kloom::reproduce;  // NOLINT(google-build-using-namespace)

struct Published {
  const char* first;
  const char* second;
  double samkl, lmkl, simplemkl;        // accuracy
  double samkl_s, lmkl_s, simplemkl_s;  // seconds of training
};
constexpr Published kPublished[] = {
    {"7", "16", 88.0, 80.4, 86.9, 32.7, 12.1, 2.9},  {"7", "9", 91.2, 89.5, 87.7, 33.7, 4.4, 5.9},
    {"7", "1", 98.0, 96.0, 98.0, 21.1, 4.3, 2.7},    {"7", "12", 85.7, 77.8, 79.4, 103.1, 4.9, 9.1},
    {"16", "9", 95.1, 83.6, 95.1, 89.5, 5.3, 13.9},  {"16", "1", 98.2, 96.3, 98.2, 11.1, 9.7, 1.3},
    {"16", "12", 86.6, 80.6, 86.6, 39.5, 17.5, 3.1}, {"9", "1", 94.7, 89.5, 94.7, 24.4, 12.9, 2.6},
    {"9", "12", 84.4, 68.8, 84.4, 25.3, 4.2, 5.8},   {"1", "12", 92.0, 72.0, 88.0, 7.8, 3.9, 1.3},
};

struct Arguments {
  std::string folder;
  std::string kernels = "polynomial";
  std::vector<std::string> methods = {"samkl", "literal", "simplemkl", "lmkl"};
  std::string spec;  // of the kernels, instead
  bool raw = false;  // features as they are, not standardised
  int seeds = 20;
  double corrupt = 0.0;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool more = i + 1 < argc;
    if (word == "--kernels" && more)
      arguments.kernels = argv[++i];
    else if (word == "--methods" && more)
      arguments.methods = split(argv[++i]);
    else if (word == "--spec" && more)
      arguments.spec = argv[++i];
    else if (word == "--raw")
      arguments.raw = true;
    else if (word == "--seeds" && more)
      arguments.seeds = std::atoi(argv[++i]);
    else if (word == "--corrupt" && more)
      arguments.corrupt = std::atof(argv[++i]);
    else
      arguments.folder = word;
  }
  return arguments;
}

Dataset load_views(const std::string& path) {
  DatasetRequest request;
  request.path = path;
  request.views_by_prefix = true;
  return load_dataset(request, {});
}

Dataset of_classes(const Dataset& data, const std::string& a, const std::string& b) {
  std::vector<Index> rows;
  for (Index i = 0; i < data.samples; ++i) {
    const std::string& label = data.labels[static_cast<std::size_t>(i)];
    if (label == a || label == b) rows.push_back(i);
  }
  return select_samples(data, rows);
}

// Noise of the training part's mean and deviation in a share of the sample × view blocks.
void corrupt(Dataset& data, const Dataset& train, double share, std::mt19937& engine) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  const auto n = static_cast<double>(train.samples);
  for (Index i = 0; i < data.samples; ++i) {
    for (const View& view : data.views) {
      if (uniform(engine) >= share) continue;
      for (const Index d : view.features) {
        double mean = 0.0;
        double square = 0.0;
        for (const double value : train.features.column(d)) mean += value / n;
        for (const double value : train.features.column(d)) square += (value - mean) * (value - mean) / n;
        data.features(i, d) = mean + std::sqrt(square) * normal(engine);
      }
    }
  }
}

struct Outcome {
  double accuracy = 0.0;
  double seconds = 0.0;
};

OptionValues options_of(const std::string& method, Index samples) {
  std::string grid;
  for (int power = -1; power <= 4; ++power)
    grid += fmt::format("{}{}", grid.empty() ? "" : ",", std::pow(10.0, power) / static_cast<double>(samples));
  OptionValues options = {{"C_grid", grid}, {"probability", "false"}};
  if (method == "literal") options.insert({{"m0", "3"}, {"updates", "literal"}});
  return options;
}

Outcome run(const std::string& method, const Split& split, const Arguments& arguments, unsigned seed) {
  Context context;
  context.seed = seed;
  context.threads = 1;
  TargetsRequest request;
  request.kind = TargetsRequest::Kind::classes;
  const Targets targets = make_targets(split.train.labels, request);
  RecipeOptions options;
  options.normalisation = Normalisation::unit_diagonal;
  options.preprocessing.standardise = !arguments.raw;
  Recipe recipe = Recipe::fit(split.train, parse_kernel_spec(arguments.spec), options, context);
  BankRequest dense;
  dense.kind = BankKind::dense;
  const auto bank = store_bank(recipe.training_bank(), dense, context);
  const ProcessorClock watch;
  FitResult fit = find_learner(method == "literal" ? "samkl" : method)
                      .fit(*bank, targets, options_of(method, bank->rows()), context);
  Outcome outcome;
  outcome.seconds = watch.seconds();
  fit.model.recipe = std::move(recipe);
  const Predictions p = predict(fit.model, split.test, {}, context);
  for (std::size_t i = 0; i < p.codes.size(); ++i) {
    const std::string& guess = fit.model.classes[static_cast<std::size_t>(p.codes[i])];
    outcome.accuracy += guess == split.test.labels[i] ? 100.0 / static_cast<double>(p.codes.size()) : 0.0;
  }
  return outcome;
}

// Mean difference of paired values, its standard error and t.
void paired(const std::string& a, const std::string& b, const std::vector<double>& x,
            const std::vector<double>& y) {
  std::vector<double> difference;
  for (std::size_t k = 0; k < x.size(); ++k) difference.push_back(x[k] - y[k]);
  const Mean m = mean_of(difference);
  fmt::print("{} - {}: {:+.2f} +- {:.2f} over {} runs, t = {:.1f}\n", a, b, m.mean, m.error, x.size(),
             m.error > 0.0 ? m.mean / m.error : 0.0);
}

int study(const Arguments& arguments) {
  const Dataset train = load_views(arguments.folder + "/proteinfold.train.csv.gz");
  const Dataset test = load_views(arguments.folder + "/proteinfold.test.csv.gz");
  fmt::print(
      "{}, {} seeds, {:.0f} % of sample x view blocks corrupted; mean test accuracy and median seconds\n",
      arguments.spec, arguments.seeds, 100.0 * arguments.corrupt);
  fmt::print("{:10} {:>26}", "pair", "published samkl/lmkl/simple");
  for (const auto& method : arguments.methods) fmt::print(" {:>18}", method);
  fmt::print("\n");
  std::map<std::string, std::vector<double>> all;      // accuracy of every run
  std::map<std::string, std::vector<double>> by_seed;  // mean over the pairs
  double published[3] = {0.0, 0.0, 0.0};
  for (const Published& pair : kPublished) {
    const Split whole{of_classes(train, pair.first, pair.second), of_classes(test, pair.first, pair.second)};
    fmt::print("{:>3} vs {:<3} {:>11} {:5.1f} {:5.1f} {:5.1f}", pair.first, pair.second, "", pair.samkl,
               pair.lmkl, pair.simplemkl);
    published[0] += 0.1 * pair.samkl, published[1] += 0.1 * pair.lmkl, published[2] += 0.1 * pair.simplemkl;
    for (const auto& method : arguments.methods) {
      std::vector<double> accuracies;
      std::vector<double> seconds;
      by_seed[method].resize(static_cast<std::size_t>(arguments.seeds));
      for (int seed = 1; seed <= arguments.seeds; ++seed) {
        Split split = whole;
        std::mt19937 engine(static_cast<unsigned>(seed));
        if (arguments.corrupt > 0.0) {
          corrupt(split.train, whole.train, arguments.corrupt, engine);
          corrupt(split.test, whole.train, arguments.corrupt, engine);
        }
        const Outcome outcome = run(method, split, arguments, static_cast<unsigned>(seed));
        accuracies.push_back(outcome.accuracy);
        seconds.push_back(outcome.seconds);
        by_seed[method][static_cast<std::size_t>(seed - 1)] += 0.1 * outcome.accuracy;
      }
      std::ranges::sort(seconds);
      fmt::print(" {:7.1f} {:8.2f} s", mean_of(accuracies).mean, seconds[seconds.size() / 2]);
      std::fflush(stdout);
      all[method].insert(all[method].end(), accuracies.begin(), accuracies.end());
    }
    fmt::print("\n");
  }
  fmt::print("{:10} {:>11} {:5.1f} {:5.1f} {:5.1f}", "mean", "", published[0], published[1], published[2]);
  for (const auto& method : arguments.methods) {
    const Mean m = mean_of(by_seed[method]);
    fmt::print(" {:7.2f} +-{:6.2f}  ", m.mean, m.error);
  }
  fmt::print("  (+-: standard error over seeds)\n");
  // The pairs have 520 test samples in all.
  const double error = 100.0 * std::sqrt(0.9 * 0.1 / 520.0);
  const std::map<std::string, double> paper = {
      {"samkl", published[0]}, {"literal", published[0]}, {"simplemkl", published[2]}, {"lmkl", published[1]}};
  for (const auto& method : arguments.methods) {
    if (paper.contains(method))
      check(arguments.spec, method, {mean_of(by_seed[method]).mean, paper.at(method), error});
  }
  for (const auto& method : arguments.methods) {
    if (method != arguments.methods.front()) {
      paired(arguments.methods.front(), method, all[arguments.methods.front()], all[method]);
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  cure_blas_core();
  Arguments arguments = parse(argc, argv);
  if (arguments.spec.empty())
    arguments.spec = arguments.kernels == "gaussian" ? "rbf(auto, count=1) on views"
                     : arguments.kernels == "linear" ? "linear on views"
                                                     : "poly(degree=2) on views";
  if (arguments.folder.empty()) {
    fmt::print(stderr,
               "usage: samkl-table1 FOLDER [--kernels polynomial|gaussian] [--seeds N] [--methods "
               "a,b] [--corrupt SHARE]\n");
    return 2;
  }
  try {
    return study(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "samkl-table1: {}\n", error.what());
    return 1;
  }
}
