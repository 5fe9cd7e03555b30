// SPDX-License-Identifier: BSD-3-Clause
#include "methods/lmkl/lmkl.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "algebra/blas.h"
#include "algebra/threads.h"
#include "base/progress.h"
#include "data/folds.h"
#include "kloom/error.h"
#include "kloom/words.h"
#include "methods/gated/held_out.h"
#include "methods/gated/part.h"
#include "methods/gated/scores.h"
#include "methods/lmkl/solver.h"
#include "methods/margin/outputs.h"

namespace kloom::methods {
namespace {

constexpr const char* kName = "lmkl";

// Weights of the kernels in the sum whose principal components are the gates' inputs.
Vector gate_space(const std::string& name, const KernelBank& bank) {
  const Index kernels = bank.kernels();
  if (name == "mean") return Vector(at(kernels), 1.0 / static_cast<double>(kernels));
  Vector space(at(kernels));
  for (Index p = 0; p < kernels; ++p) {
    if (bank.names()[at(p)] != name) continue;
    space[at(p)] = 1.0;
    return space;
  }
  Index number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size() || number < 1 || number > kernels) {
    throw InvalidArgument(fmt::format(
        "option gate_kernel must be mean, the name of a kernel, or its number from 1 to {}; got '{}'{}",
        kernels, name, did_you_mean(name, bank.names())));
  }
  space[at(number - 1)] = 1.0;
  return space;
}

class Fitter {
 public:
  Fitter(const KernelBank& bank, const Targets& targets, const LmklOptions& options, const Context& context)
      : bank_(bank), targets_(targets), options_(options), context_(context) {}

  FitResult fit();

 private:
  [[nodiscard]] LocalSettings settings() const;
  // Scores of every sample from models that have not seen it: N × outputs.
  [[nodiscard]] Matrix held_out_scores(double price) const;
  [[nodiscard]] double choose_price(Matrix& scores, Report& report) const;
  // `held_out`: scores of samples that were left out, from which probabilities are fitted; empty: none.
  void fill(Model& model, double price, const std::vector<LocalSolution>& solutions,
            const Matrix& held_out) const;
  void tell(Report& report, double price, const std::vector<LocalSolution>& solutions) const;

  const KernelBank& bank_;
  const Targets& targets_;
  const LmklOptions& options_;
  const Context& context_;
  std::vector<MarginOutput> outputs_;
  GatedPart part_;
  Matrix inputs_;
};

LocalSettings Fitter::settings() const {
  LocalSettings settings;
  settings.kind = part_.gates.kind;
  settings.steps = options_.steps;
  settings.change = options_.change;
  settings.tolerance = options_.tolerance;
  return settings;
}

Vector scores_of(const KernelBank& bank, const LocalSolution& solution) {
  const Vector ones(at(bank.kernels()), 1.0);
  const Matrix outputs = gated_outputs(bank, ones, solution.inner.coefficients, solution.gates);
  Vector scores(at(bank.rows()), solution.inner.bias);
  for (Index p = 0; p < bank.kernels(); ++p) {
    for (Index i = 0; i < bank.rows(); ++i) scores[at(i)] += solution.gates(i, p) * outputs(i, p);
  }
  return scores;
}

Matrix Fitter::held_out_scores(double price) const {
  const std::vector<Index> folds =
      data::stratified_folds(outputs_.front().codes, options_.folds, context_.seed);
  Matrix scores(bank_.rows(), std::ssize(outputs_));
  ProgressMeter meter(context_, "lmkl: cross-validation");
  for (Index fold = 0; fold < options_.folds; ++fold) {
    for (Index c = 0; c < scores.cols(); ++c) {
      const MarginTask rest = without_fold(with_price(outputs_[at(c)].task, price), folds, fold);
      const Vector of_all = scores_of(bank_, solve_local_mkl(bank_, rest, inputs_, settings(), context_));
      for (Index i = 0; i < bank_.rows(); ++i) {
        if (folds[at(i)] == fold) scores(i, c) = of_all[at(i)];
      }
    }
    if (meter.step(fold + 1, options_.folds, std::numeric_limits<double>::quiet_NaN())) {
      throw Interrupted("stopped while held-out folds were being scored");
    }
  }
  return scores;
}

// The price with the lowest held-out error; of equal ones the smallest. `scores`: held out, of that price,
// where they are needed.
double Fitter::choose_price(Matrix& scores, Report& report) const {
  if (options_.C_grid.empty()) {
    if (options_.probability && !part_.regression) scores = held_out_scores(options_.C);
    return options_.C;
  }
  Report::Table table{
      "cross-validation of C", {"C", part_.regression ? "mean squared error" : "error rate"}, {}};
  double best = 0.0;
  double lowest = std::numeric_limits<double>::infinity();
  for (const double price : option_numbers("C_grid", options_.C_grid, 0.0, true)) {
    Matrix held_out = held_out_scores(price);
    const double error = held_out_error(targets_, outputs_, held_out);
    table.rows.push_back({price, error});
    if (!(error < lowest)) continue;
    lowest = error;
    best = price;
    scores = std::move(held_out);
  }
  report.tables.push_back(std::move(table));
  return best;
}

void Fitter::fill(Model& model, double price, const std::vector<LocalSolution>& solutions,
                  const Matrix& held_out) const {
  const Index outputs = std::ssize(solutions);
  // The gates are the weights of each sample; the weights shared by all samples are 1.
  model.weights.values = Matrix(1, bank_.kernels(), 1.0);
  model.coefficients = Matrix(bank_.rows(), outputs);
  GatedPart part = part_;
  part.norm = 0.0;
  part.box = Matrix(bank_.rows(), outputs);
  for (Index c = 0; c < outputs; ++c) {
    const LocalSolution& s = solutions[at(c)];
    std::ranges::copy(s.inner.coefficients, model.coefficients.column(c).begin());
    algebra::scale(part_.target_scale, model.coefficients.column(c));
    model.bias.push_back(part_.target_scale * s.inner.bias + part_.target_centre);
    std::ranges::copy(with_price(outputs_[at(c)].task, price).box, part.box.column(c).begin());
    part.gates.outputs.push_back({s.gates, {}, {}, s.parameters});
  }
  if (!held_out.empty()) part.platt = held_out_sigmoids(outputs_, held_out);
  model.part = std::make_shared<GatedPart>(std::move(part));
}

void Fitter::tell(Report& report, double price, const std::vector<LocalSolution>& solutions) const {
  report.objective_name = "primal objective";
  double gap = 0.0;
  for (std::size_t k = 0; k < solutions.size(); ++k) {
    const LocalSolution& s = solutions[k];
    report.objective += s.inner.primal;
    report.iterations += s.steps;
    gap = std::max(gap, s.inner.gap());
    if (s.status != Status::converged) report.status = s.status;
    if (solutions.size() == 1) report.trace = s.trace;
    report.maps.push_back({Report::SampleMap::Kind::gating, solutions.size() > 1 ? targets_.classes[k] : "",
                           bank_.names(), Vector(at(bank_.kernels()), 1.0), targets_.classes, targets_.codes,
                           s.gates});
  }
  report.message = fmt::format("{} steps of the gates, which see {} inputs; duality gap of the SVM {:.1e}",
                               report.iterations, inputs_.cols(), gap);
  if (!(gap <= options_.tolerance))
    report.message += fmt::format(
        ", above the {:.1e} asked for: a smaller --C or normalised kernels would help", options_.tolerance);
  report.options["C"] = number_text(price);
}

FitResult Fitter::fit() {
  FitResult result;
  ProgressMeter clock(context_, kName);
  part_.regression = targets_.task == Task::regression;
  if (part_.regression) {
    outputs_ = {regression_output(targets_, options_.epsilon, part_)};
    part_.epsilon = options_.epsilon;
  } else {
    outputs_ = class_outputs(targets_, options_.class_weight == "balanced");
  }
  part_.gates.kind = options_.gate == "softmax" ? Gates::Kind::softmax : Gates::Kind::sigmoid;
  set_gate_inputs(part_.gates, bank_, gate_space(options_.gate_kernel, bank_), options_.gate_inputs);
  inputs_ = gate_inputs(part_.gates, bank_);
  Matrix scores;
  const double price = choose_price(scores, result.report);
  result.report.seconds.emplace_back("cross-validation", clock.seconds());
  const double chosen = clock.seconds();
  std::vector<LocalSolution> solutions;
  for (const MarginOutput& output : outputs_) {
    solutions.push_back(solve_local_mkl(bank_, with_price(output.task, price), inputs_, settings(), context_));
  }
  result.report.seconds.emplace_back("training", clock.seconds() - chosen);
  fill(result.model, price, solutions, options_.probability && !part_.regression ? scores : Matrix());
  tell(result.report, price, solutions);
  return result;
}

// Bytes for the SVM, the gates with their outputs at two points, and the principal components.
std::size_t working_memory(Index n, Index p, Index outputs, bool whole_kernel) {
  return margin_memory(n, p, whole_kernel) +
         static_cast<std::size_t>(8 * n * p + (2 + p) * n * outputs + 2 * n * std::min<Index>(n, 500)) *
             sizeof(double);
}

}  // namespace

const OptionTable<LmklOptions>& lmkl_option_table() {
  using O = LmklOptions;
  static const OptionTable<O> table = {
      {"C", &O::C, kPositive, "price of a margin violation: larger fits the training samples more closely"},
      {"C_grid", &O::C_grid, "choose C by cross-validation from these values, e.g. 10^-1..10^4"},
      {"gate", &O::gate, one_of("softmax", "sigmoid"),
       "softmax: kernels compete for a sample; sigmoid: each is turned up or down by itself"},
      {"gate_kernel", &O::gate_kernel,
       "kernel through which the gates see a sample: mean (of all), "
       "a name, or a number; linear: they see the features"},
      {"gate_inputs", &O::gate_inputs, kAtLeastOne,
       "principal components of that kernel that they see, at most"},
      {"steps", &O::steps, kNonNegative,
       "at most this many gradient steps of the gates; 0: the mean of all kernels"},
      {"change", &O::change, kPositive, "stop when a step lowers the objective by less, relative"},
      {"tolerance", &O::tolerance, kPositive, "relative duality gap of every SVM"},
      {"epsilon", &O::epsilon, kNonNegative,
       "regression: errors below this are free, in standard deviations of the target", kForNumbers},
      {"folds", &O::folds, NumberRule{2.0}, "folds for choosing C and for probabilities"},
      {"class_weight", &O::class_weight, one_of("none", "balanced"),
       "balanced: C of a class inversely to its size", kForClasses},
      {"probability", &O::probability, "fit class probabilities on held-out folds (Platt scaling)",
       kForClasses},
  };
  return table;
}

FitResult fit_lmkl(const KernelBank& bank, const Targets& targets, const LmklOptions& options,
                   const Context& context) {
  return complete_fit(find_learner(kName), bank, targets, option_texts(lmkl_option_table(), options), context,
                      [&](FitResult& result) { result = Fitter(bank, targets, options, context).fit(); });
}

Learner lmkl_learner() {
  Learner learner;
  learner.name = kName;
  learner.summary = "localised MKL: how much each kernel counts is a function of the sample";
  learner.doc_page = "docs/methods/lmkl.md";
  learner.tasks = {Task::binary, Task::multiclass, Task::regression};
  learner.sample_maps = true;
  learner.load = load_gated;
  learner.options = describe_options(lmkl_option_table());
  learner.fit = [](const KernelBank& bank, const Targets& targets, const OptionValues& values,
                   const Context& context) {
    return fit_lmkl(bank, targets, parse_options(lmkl_option_table(), values, kName), context);
  };
  learner.working_memory = [](Index n, Index p, Index m) { return working_memory(n, p, m, true); };
  learner.least_memory = [](Index n, Index p, Index m) { return working_memory(n, p, m, false); };
  return learner;
}

}  // namespace kloom::methods
