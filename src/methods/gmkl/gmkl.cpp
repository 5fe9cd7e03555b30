// SPDX-License-Identifier: BSD-3-Clause
#include "methods/gmkl/gmkl.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "algebra/blas.h"
#include "base/progress.h"
#include "base/whole_progress.h"
#include "data/folds.h"
#include "kloom/parts.h"
#include "methods/gmkl/solver.h"
#include "methods/margin/outputs.h"
#include "methods/margin/path_point.h"
#include "methods/margin/probability.h"
#include "methods/seam/grid.h"

namespace kloom::methods {
namespace {

constexpr const char* kName = "gmkl";

class ProductFitter {
 public:
  ProductFitter(const KernelBank& bank, const Targets& targets, const GmklOptions& options,
                const Context& context)
      : targets_(targets), options_(options), context_(context), kernels_(bank) {
    outputs_ = targets.task == Task::regression
                   ? std::vector{regression_output(targets, options.epsilon, part_)}
                   : class_outputs(targets, options.class_weight == "balanced");
  }

  FitResult fit();

 private:
  // Without one fold each, at one price.
  struct HeldOut {
    double price = 0.0;
    double error = std::numeric_limits<double>::infinity();
    std::vector<ProductSolution> solutions;  // of every fold
    std::vector<Vector> scores;              // per output: of every sample by the solution that has not seen it
  };
  [[nodiscard]] HeldOut cross_validate(double price, const HeldOut& before, WholeProgress& progress) const;
  [[nodiscard]] HeldOut along_path(Report& report) const;
  [[nodiscard]] ProductSolution solved(double price, const std::vector<Index>& folds, Index fold,
                                       ProductStart start, const Context& context) const;
  [[nodiscard]] ProductStart first_start() const;
  void fill_curves(const HeldOut& held_out);
  void fill(const ProductSolution& solution, double price, Model& model);
  void tell(const ProductSolution& solution, Report& report) const;

  const Targets& targets_;
  const GmklOptions& options_;
  const Context& context_;
  LogKernels kernels_;
  ProductPart part_;
  std::vector<MarginOutput> outputs_;
};

// All exponents the same, with the sum 1: the geometric mean of all kernels.
ProductStart ProductFitter::first_start() const {
  return {Vector(at(kernels_.kernels()), 1.0 / static_cast<double>(kernels_.kernels()))};
}

// `fold` is held out; −1: none.
ProductSolution ProductFitter::solved(double price, const std::vector<Index>& folds, Index fold,
                                      ProductStart start, const Context& context) const {
  std::vector<MarginTask> tasks;
  for (const MarginOutput& output : outputs_) {
    MarginTask task = with_price(output.task, price);
    tasks.push_back(fold < 0 ? std::move(task) : without_fold(task, folds, fold));
  }
  return solve_product(kernels_, tasks,
                       {options_.lambda, options_.regulariser == "l2", options_.tolerance, options_.iterations},
                       std::move(start), context);
}

ProductFitter::HeldOut ProductFitter::cross_validate(double price, const HeldOut& before,
                                                     WholeProgress& progress) const {
  const std::vector<Index> folds =
      data::stratified_folds(outputs_.front().codes, options_.folds, context_.seed);
  HeldOut found;
  found.price = price;
  found.scores.assign(outputs_.size(), Vector(folds.size()));
  for (Index fold = 0; fold < options_.folds; ++fold) {
    ProductStart start = first_start();
    if (!before.solutions.empty()) {
      const ProductSolution& last = before.solutions[at(fold)];
      start.gamma = last.gamma;
      for (const MarginSolution& machine : last.machines)
        start.alpha.push_back(continued(machine, price / before.price).alpha);
    }
    ProductSolution solution = solved(price, folds, fold, std::move(start), progress.part());
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      const MarginSolution& machine = solution.machines[k];
      for (std::size_t i = 0; i < folds.size(); ++i) {
        if (folds[i] == fold)
          found.scores[k][i] =
              machine.bias + algebra::dot(solution.kernel.column(static_cast<Index>(i)), machine.coefficients);
      }
    }
    solution.kernel = {};
    found.solutions.push_back(std::move(solution));
    progress.done();
  }
  found.error = path_error(outputs_, found.scores, true);
  return found;
}

// The price of least held-out error; of equal ones the smallest.
ProductFitter::HeldOut ProductFitter::along_path(Report& report) const {
  const Vector prices =
      options_.C > 0.0 ? Vector{options_.C} : positive_grid("C_grid", options_.C_grid, GmklOptions{}.C_grid);
  WholeProgress progress(context_, "choice of C", std::ssize(prices) * options_.folds);
  Report::Table table{
      "cross-validation of C", {"C", part_.regression ? "mean squared error" : "error rate", "kernels"}, {}};
  HeldOut best;
  HeldOut last;
  for (const double price : prices) {
    last = cross_validate(price, last, progress);
    double used = 0.0;
    for (const ProductSolution& solution : last.solutions)
      used += static_cast<double>(std::ranges::count_if(solution.gamma, [](double g) { return g > 0.0; }));
    table.rows.push_back({price, last.error, used / static_cast<double>(options_.folds)});
    if (best.solutions.empty() || last.error < best.error) best = last;
    if (progress.stopped()) break;  // with the best so far
  }
  report.tables.push_back(std::move(table));
  report.seconds.emplace_back("choice of C", progress.seconds());
  return best;
}

void ProductFitter::fill_curves(const HeldOut& held_out) {
  part_.platt = Matrix(std::ssize(outputs_), 2);
  for (std::size_t k = 0; k < outputs_.size(); ++k)
    fit_sigmoid_of_output(outputs_[k].task, held_out.scores[k], static_cast<Index>(k), part_.platt);
}

void ProductFitter::fill(const ProductSolution& solution, double price, Model& model) {
  const auto outputs = std::ssize(outputs_);
  part_.norm = 0.0;
  part_.lambda = options_.lambda;
  part_.squared = options_.regulariser == "l2";
  part_.regression = targets_.task == Task::regression;
  part_.epsilon = part_.regression ? options_.epsilon : 0.0;
  part_.box = Matrix(kernels_.samples(), outputs);
  model.weights.values = Matrix(1, kernels_.kernels());
  std::ranges::copy(solution.gamma, model.weights.values.values().begin());
  model.coefficients = Matrix(kernels_.samples(), outputs);
  for (Index c = 0; c < outputs; ++c) {
    const MarginSolution& machine = solution.machines[at(c)];
    std::ranges::copy(with_price(outputs_[at(c)].task, price).box, part_.box.column(c).begin());
    std::ranges::copy(machine.coefficients, model.coefficients.column(c).begin());
    algebra::scale(part_.target_scale, model.coefficients.column(c));
    model.bias.push_back(part_.target_scale * machine.bias + part_.target_centre);
  }
  model.part = std::make_shared<ProductPart>(std::move(part_));
}

void ProductFitter::tell(const ProductSolution& solution, Report& report) const {
  report.objective_name = "primal objective";
  report.objective = solution.objective;
  report.iterations = solution.iterations;
  report.status = solution.status;
  report.trace = solution.trace;
  const auto used = std::ranges::count_if(solution.gamma, [](double g) { return g > 0.0; });
  report.message =
      fmt::format("{} of {} kernels have an exponent; what is left of the slope {:.1e}, asked for {:.1e}", used,
                  solution.gamma.size(), solution.stationarity, options_.tolerance);
}

FitResult ProductFitter::fit() {
  FitResult result;
  ProgressMeter clock(context_, kName);
  const bool curves = options_.probability && targets_.task != Task::regression;
  HeldOut held_out;
  held_out.price = options_.C;
  if (options_.C == 0.0 || curves) held_out = along_path(result.report);
  const ProductSolution solution = solved(held_out.price, {}, -1, first_start(), context_);
  result.report.seconds.emplace_back("training", clock.seconds());
  if (curves) fill_curves(held_out);
  fill(solution, held_out.price, result.model);
  tell(solution, result.report);
  result.report.options["C"] = number_text(held_out.price);
  return result;
}

// Logarithms of half of every kernel, and where the machines are K_γ three times and what they need themselves.
std::size_t working_memory(Index n, Index p, Index outputs) {
  return margin_memory(n, 1, true) +
         static_cast<std::size_t>(n * (n + 1) / 2 * (p + 1) + 3 * n * n + 4 * n * outputs) * sizeof(double);
}

}  // namespace

const OptionTable<GmklOptions>& gmkl_option_table() {
  using O = GmklOptions;
  static const OptionTable<O> table = {
      {"C", &O::C, kNonNegative,
       "price of a margin violation: larger fits the training samples more closely; 0: chosen from C_grid"},
      {"C_grid", &O::C_grid, "values to choose C from by cross-validation, with warm starts"},
      {"folds", &O::folds, NumberRule{2.0}, "folds for choosing C and for probabilities"},
      {"lambda", &O::lambda, kNonNegative,
       "strength of the regulariser: larger makes exponents smaller, and so kernels wider"},
      {"regulariser", &O::regulariser, one_of("l1", "l2"),
       "of the exponents: l1 makes some of them 0, l2 keeps more"},
      {"epsilon", &O::epsilon, kNonNegative,
       "regression: errors below this are free, in standard deviations of the target", kForNumbers},
      {"tolerance", &O::tolerance, kPositive,
       "stop when no exponent's slope promises a change of the objective by more than this part of it"},
      {"iterations", &O::iterations, kAtLeastOne, "at most this many steps of the exponents"},
      {"class_weight", &O::class_weight, one_of("none", "balanced"),
       "balanced: C of a class inversely to its size", kForClasses},
      {"probability", &O::probability, "fit class probabilities on held-out folds (Platt scaling)",
       kForClasses},
  };
  return table;
}

FitResult fit_gmkl(const KernelBank& bank, const Targets& targets, const GmklOptions& options,
                   const Context& context) {
  return complete_fit(
      find_learner(kName), bank, targets, option_texts(gmkl_option_table(), options), context,
      [&](FitResult& result) { result = ProductFitter(bank, targets, options, context).fit(); });
}

Learner gmkl_learner() {
  Learner learner;
  learner.name = kName;
  learner.summary = "GMKL: support vector machine on a product of kernels, such as one width for every column";
  learner.doc_page = "docs/methods/gmkl.md";
  learner.tasks = {Task::binary, Task::multiclass, Task::regression};
  learner.options = describe_options(gmkl_option_table());
  learner.fit = [](const KernelBank& bank, const Targets& targets, const OptionValues& values,
                   const Context& context) {
    return fit_gmkl(bank, targets, parse_options(gmkl_option_table(), values, kName), context);
  };
  learner.load = load_gmkl;
  learner.working_memory = working_memory;
  learner.wants_entries = true;
  return learner;
}

}  // namespace kloom::methods
