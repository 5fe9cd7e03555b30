// SPDX-License-Identifier: BSD-3-Clause
//
// Tables 1 and 2 of Gönen 2012 (BEMKL), published values beside ours.
//
//   bemkl-table1 FOLDER [--splits 20] [--set option=value] [data set …]
//   bemkl-table1 FOLDER --protein [--raw-scores] [--set option=value]
//
// Table 1: random 70/30 splits, features standardised by training statistics, Gaussian kernels of widths
// 2^-3 … 2^6 and polynomials of degrees 1 to 3 on all features and on each, unit diagonal; 200 plain iterations;
// σ_g = 1, which the paper does not state but which reproduces it. A kernel counts as selected if |e| > 1e-3.
// Splits run in parallel, one thread each. Differences are in published standard deviations.
//
// Table 2: protein fold, one kernel on each of the 12 views of proteinfold.*.csv.gz, the published training and
// test part, one-versus-all and multiclass.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/stopwatch.h"
#include "kloom/evaluate.h"
#include "kloom/learner.h"
#include "kloom/machine.h"

namespace {

using namespace kloom;  // NOLINT(google-build-using-namespace): a program, not a library

struct Published {
  double seconds, accuracy, accuracy_deviation, kernels, kernels_deviation;
};
struct Case {
  const char* name;
  Published sparse, dense;
};
const Case kCases[] = {{"breast", {18.86, 96.80, 1.02, 34.35, 2.46}, {18.84, 96.98, 0.86, 98.95, 1.32}},
                       {"bupaliver", {3.83, 68.41, 4.28, 18.40, 2.62}, {3.81, 70.72, 3.83, 70.70, 1.13}},
                       {"heart", {13.69, 80.80, 4.01, 41.85, 4.26}, {13.58, 81.36, 4.70, 181.40, 8.93}},
                       {"ionosphere", {22.72, 92.03, 1.72, 41.90, 4.42}, {22.76, 92.03, 1.77, 219.05, 7.77}},
                       {"pima", {21.15, 75.02, 2.28, 23.20, 2.02}, {20.94, 74.96, 2.08, 79.55, 2.93}},
                       {"sonar", {51.34, 76.88, 3.95, 15.30, 3.40}, {51.51, 82.81, 4.12, 372.80, 7.78}},
                       {"wdbc", {41.31, 95.70, 2.32, 35.65, 2.28}, {41.44, 95.76, 1.65, 215.50, 4.81}},
                       {"wpbc", {12.72, 75.25, 1.01, 28.25, 2.75}, {12.67, 73.64, 2.66, 220.10, 9.83}}};
constexpr const char* kSpec = "rbf(width=2^-3..2^6) on all, each; poly(degree=1..3) on all, each";

struct Settings {
  std::filesystem::path folder;
  Index splits = 20;
  OptionValues options;
  std::vector<std::string> only;
  bool protein = false;
  bool raw_scores = false;
};

struct Outcome {
  double seconds = 0.0;
  double accuracy = 0.0;
  double kernels = 0.0;
};

struct Summary {
  double mean = 0.0;
  double deviation = 0.0;
};

Summary summary_of(const std::vector<Outcome>& outcomes, double Outcome::*what) {
  Summary s;
  const auto n = static_cast<double>(outcomes.size());
  for (const Outcome& o : outcomes) s.mean += o.*what / n;
  for (const Outcome& o : outcomes) s.deviation += (o.*what - s.mean) * (o.*what - s.mean);
  s.deviation = n > 1.0 ? std::sqrt(s.deviation / (n - 1.0)) : 0.0;
  return s;
}

// Kernels, fit, prediction of one split; one thread.
Outcome run_split(const Dataset& all, Index split, bool sparse, const Settings& settings) {
  std::vector<Index> order(static_cast<std::size_t>(all.samples));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Index>(i);
  std::mt19937_64 engine(static_cast<std::uint64_t>(split) + 1);
  std::shuffle(order.begin(), order.end(), engine);
  const auto train_count = static_cast<std::ptrdiff_t>(0.7 * static_cast<double>(all.samples));
  const Dataset train = select_samples(all, {order.begin(), order.begin() + train_count});
  const Dataset test = select_samples(all, {order.begin() + train_count, order.end()});
  Context context;
  context.threads = 1;
  const Stopwatch clock;
  const Recipe recipe = Recipe::fit(train, parse_kernel_spec(kSpec), {}, context);
  const auto bank = store_bank(recipe.training_bank(), {}, context);
  OptionValues options = {{"iterations", "200"}, {"tolerance", "0"},    {"acceleration", "none"},
                          {"margin", "1"},       {"variance", "false"}, {"calibration", "none"}};
  options["sparse"] = sparse ? "true" : "false";
  for (const auto& [name, value] : settings.options) options[name] = value;
  const Targets targets = make_targets(train.labels, {});
  FitResult fit = find_learner("bemkl").fit(*bank, targets, options, context);
  fit.model.recipe = recipe;
  Outcome outcome;
  outcome.seconds = clock.seconds();
  const Predictions p = predict(fit.model, test, {}, context);
  outcome.accuracy = 100.0 * evaluate(p, targets_for(fit.model, test.labels)).values.front().second;
  for (double w : fit.model.weights.values.values()) outcome.kernels += std::abs(w) > 1e-3 ? 1.0 : 0.0;
  return outcome;
}

void print_row(const char* name, const char* kind, const std::vector<Outcome>& outcomes,
               const Published& paper) {
  const Summary accuracy = summary_of(outcomes, &Outcome::accuracy);
  const Summary kernels = summary_of(outcomes, &Outcome::kernels);
  const Summary seconds = summary_of(outcomes, &Outcome::seconds);
  fmt::print(
      "{:<11} {:<10} {:6.2f} ± {:4.2f}  ({:5.2f} ± {:4.2f}, {:+5.2f})   {:6.1f} ± {:4.1f}  ({:6.2f}, "
      "{:+6.1f})   {:6.2f} s ({:5.2f} s)\n",
      name, kind, accuracy.mean, accuracy.deviation, paper.accuracy, paper.accuracy_deviation,
      (accuracy.mean - paper.accuracy) / paper.accuracy_deviation, kernels.mean, kernels.deviation,
      paper.kernels, (kernels.mean - paper.kernels) / paper.kernels_deviation, seconds.mean, paper.seconds);
  std::fflush(stdout);
}

void table1(const Settings& settings) {
  fmt::print(
      "BEMKL Table 1, {} splits. Ours ± deviation (published ± deviation, difference in "
      "published deviations)\n",
      settings.splits);
  fmt::print("{:<11} {:<10} {:<42} {:<36} {}\n", "data", "weights", "accuracy %", "selected kernels",
             "seconds per fit");
  const Stopwatch clock;
  for (const Case& c : kCases) {
    if (!settings.only.empty() && std::ranges::find(settings.only, c.name) == settings.only.end()) continue;
    DatasetRequest request;
    request.path = (settings.folder / (std::string(c.name) + ".csv.gz")).string();
    const Dataset all = load_dataset(request, {});
    for (bool sparse : {true, false}) {
      std::vector<Outcome> outcomes(static_cast<std::size_t>(settings.splits));
#pragma omp parallel for schedule(dynamic)
      for (Index split = 0; split < settings.splits; ++split)
        outcomes[static_cast<std::size_t>(split)] = run_split(all, split, sparse, settings);
      print_row(c.name, sparse ? "sparse" : "non-sparse", outcomes, sparse ? c.sparse : c.dense);
    }
  }
  fmt::print("all of it in {:.0f} s\n", clock.seconds());
}

// Alignment scores are sums over the aligned parts and have long tails; their roots do not. Five-fold
// cross-validation of the training part alone is five points better with them.
Dataset with_roots_of_scores(Dataset data) {
  for (const View& view : data.views) {
    if (!view.name.starts_with("SW")) continue;
    for (const Index j : view.features) {
      for (double& score : data.features.column(j)) score = std::sqrt(std::max(0.0, score));
    }
  }
  return data;
}

// Second-order polynomials on the ten views of global characteristics, inner products on the two of alignment
// scores, as Damoulas and Girolami have it; σ_g = 0.1, the default of the author's program, which is what comes
// near the published accuracy (1, which reproduces Table 1, is two points lower). Replications differ in the
// random start. --raw-scores: without the roots.
void table2(const Settings& settings) {
  constexpr const char* kViews =
      "poly(degree=2) on view Composition, view Secondary, view Hydrophobicity, view Volume, view Polarity, "
      "view Polarizability, view L1, view L4, view L14, view L30; linear on view SWblosum62, view SWpam50";
  DatasetRequest request;
  request.views_by_prefix = true;
  request.path = (settings.folder / "proteinfold.train.csv.gz").string();
  const auto load = [&] {
    Dataset data = load_dataset(request, {});
    return settings.raw_scores ? data : with_roots_of_scores(std::move(data));
  };
  const Dataset train = load();
  request.path = (settings.folder / "proteinfold.test.csv.gz").string();
  const Dataset test = load();
  fmt::print("BEMKL Table 2, protein fold: {} training, {} test samples, {} random starts\n", train.samples,
             test.samples, settings.splits);
  TargetsRequest classes;
  classes.kind = TargetsRequest::Kind::classes;
  const Targets targets = make_targets(train.labels, classes);
  const Recipe recipe = Recipe::fit(train, parse_kernel_spec(kViews), {}, {});
  const auto bank = store_bank(recipe.training_bank(), {}, {});
  const double error = 100.0 * std::sqrt(0.71 * 0.29 / static_cast<double>(test.samples));
  const std::vector<std::pair<std::string, const char*>> ways = {{"one-versus-all", "71.5 ± 0.1"},
                                                                 {"shared", "71.2 ± 0.2"}};
  for (const auto& [name, published] : ways) {
    const std::string& way = name;  // clang 14 takes no structured binding into a parallel region
    std::vector<Outcome> outcomes(static_cast<std::size_t>(settings.splits));
#pragma omp parallel for schedule(dynamic)
    for (Index k = 0; k < settings.splits; ++k) {
      OptionValues options = {{"iterations", "200"}, {"margin", "1"},    {"calibration", "none"},
                              {"literal", "true"},   {"sigma_g", "0.1"}, {"variance", "false"},
                              {"multiclass", way}};
      for (const auto& [key, value] : settings.options) options[key] = value;
      Context context;
      context.threads = 1;
      context.seed = static_cast<std::uint64_t>(k) + 1;
      const Stopwatch clock;
      FitResult fit = find_learner("bemkl").fit(*bank, targets, options, context);
      Outcome& outcome = outcomes[static_cast<std::size_t>(k)];
      outcome.seconds = clock.seconds();
      fit.model.recipe = recipe;
      const Evaluation e = evaluate(predict(fit.model, test, {}, context), targets_for(fit.model, test.labels));
      outcome.accuracy = 100.0 * e.values.front().second;
    }
    const Summary accuracy = summary_of(outcomes, &Outcome::accuracy);
    fmt::print(
        "{:<16} accuracy {:.2f} ± {:.2f} (published {}; standard error of {} test samples {:.1f})   {:.1f} "
        "s a fit\n",
        way == "shared" ? "multiclass" : way, accuracy.mean, accuracy.deviation, published, test.samples, error,
        summary_of(outcomes, &Outcome::seconds).mean);
    std::fflush(stdout);
  }
}

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--protein") {
      settings.protein = true;
    } else if (argument == "--raw-scores") {
      settings.raw_scores = true;
    } else if (argument == "--splits" && i + 1 < argc) {
      settings.splits = std::stol(argv[++i]);
    } else if (argument == "--set" && i + 1 < argc) {
      const std::string pair = argv[++i];
      settings.options[pair.substr(0, pair.find('='))] = pair.substr(pair.find('=') + 1);
    } else if (settings.folder.empty()) {
      settings.folder = argument;
    } else {
      settings.only.push_back(argument);
    }
  }
  if (settings.folder.empty())
    throw std::runtime_error("usage: bemkl-table1 FOLDER [--protein [--raw-scores]] [--splits N] [data set …]");
  return settings;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    cure_blas_core();
    const Settings settings = parse(argc, argv);
    if (settings.protein) {
      table2(settings);
    } else {
      table1(settings);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "bemkl-table1: {}\n", error.what());
    return 1;
  }
  return 0;
}
