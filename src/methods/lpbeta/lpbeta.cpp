// SPDX-License-Identifier: BSD-3-Clause
#include "methods/lpbeta/lpbeta.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "algebra/blas.h"
#include "algebra/threads.h"
#include "base/progress.h"
#include "base/whole_progress.h"
#include "data/folds.h"
#include "kloom/error.h"
#include "kloom/parts.h"
#include "methods/lpbeta/machines.h"
#include "methods/seam/calibration.h"
#include "methods/seam/grid.h"
#include "methods/seam/prepared_targets.h"
#include "models/scores.h"
#include "solvers/margin_programme.h"

namespace kloom::methods {
namespace {

constexpr const char* kName = "lp-beta";

class Boosting {
 public:
  Boosting(const KernelBank& bank, const Targets& targets, const LpBetaOptions& options, const Context& context)
      : bank_(bank),
        targets_(targets),
        options_(options),
        context_(context),
        outputs_(class_outputs(targets, options.class_weight == "balanced")) {}

  FitResult fit();

 private:
  [[nodiscard]] Index outputs() const { return std::ssize(outputs_); }
  void hear_kernels(Report& report);
  void choose_nu(Report& report);
  [[nodiscard]] double error_of(const Matrix& scores, const std::vector<Index>& folds, Index fold) const;
  [[nodiscard]] solvers::MarginWeights weights_of(double nu, const std::vector<Index>& samples) const;
  [[nodiscard]] solvers::MarginWeights weights_without(double nu, const std::vector<Index>& folds,
                                                       Index fold) const;
  void train_machines();
  [[nodiscard]] double temperature() const;
  void fill(Model& model) const;
  void tell(Report& report) const;

  const KernelBank& bank_;
  const Targets& targets_;
  const LpBetaOptions& options_;
  const Context& context_;
  std::vector<MarginOutput> outputs_;
  LpBetaPart part_;
  solvers::MarginWeights found_;
  double nu_ = 0.0;
  double gap_ = 0.0;  // largest of the machines
  bool stopped_ = false;
};

// What the machines of every kernel say of samples that they have not seen. Whoever stops meanwhile leaves scores of 0 for the
// kernels that were not reached: less than what any kernel says that knows something.
void Boosting::hear_kernels(Report& report) {
  AloneSettings settings;
  settings.prices =
      options_.C > 0.0 ? Vector{options_.C} : positive_grid("C_grid", options_.C_grid, LpBetaOptions{}.C_grid);
  settings.folds = options_.folds;
  settings.seed = context_.seed;
  settings.tolerance = options_.tolerance;
  const Index p = bank_.kernels();
  part_.held_out = Matrix(bank_.rows(), p * outputs());
  part_.prices.assign(at(p), settings.prices.front());
  Report::Table table{"machines on single kernels", {"kernel", "C", "error rate"}, {}};
  WholeProgress progress(context_, "machines on single kernels", p);
  for (Index m = 0; m < p && !stopped_; ++m) {
    const HeldOutMachines alone = AloneKernel(bank_, m).held_out(outputs_, settings, progress.part());
    for (Index c = 0; c < outputs(); ++c)
      std::ranges::copy(alone.scores[at(c)], part_.held_out.column(m + p * c).begin());
    part_.prices[at(m)] = alone.price;
    report.errors_alone.push_back(alone.error);
    table.rows.push_back({static_cast<double>(m + 1), alone.price, alone.error});
    stopped_ = progress.done();
  }
  report.errors_alone.resize(at(p), std::numeric_limits<double>::quiet_NaN());
  report.tables.push_back(std::move(table));
  report.seconds.emplace_back("machines on single kernels", progress.seconds());
}

solvers::MarginWeights Boosting::weights_of(double nu, const std::vector<Index>& samples) const {
  solvers::MarginProgramme programme{part_.held_out, targets_.codes, Vector(at(bank_.rows()))};
  for (const Index i : samples) programme.weights[at(i)] = weight_of(targets_, i);
  // Who leaves out all of the weight leaves nothing to learn from, and every weight is as good.
  if (std::ranges::none_of(programme.weights, [](double s) { return s > 0.0; }))
    std::ranges::fill(programme.weights, 1.0);
  programme.outputs = outputs();
  programme.shared = options_.weights_per == "kernel";
  programme.nu = nu;
  return solve_margin_programme(programme);
}

solvers::MarginWeights Boosting::weights_without(double nu, const std::vector<Index>& folds, Index fold) const {
  std::vector<Index> rest;
  for (Index i = 0; i < bank_.rows(); ++i) {
    if (folds[at(i)] != fold) rest.push_back(i);
  }
  return weights_of(nu, rest);
}

double Boosting::error_of(const Matrix& scores, const std::vector<Index>& folds, Index fold) const {
  const std::vector<int> codes = models::codes_of(scores);
  double error = 0.0;
  for (Index i = 0; i < bank_.rows(); ++i) {
    if (folds[at(i)] == fold && codes[at(i)] != targets_.codes[at(i)]) error += weight_of(targets_, i);
  }
  return error;
}

// The ν of least held-out error; of equal ones the largest, which goes by more of the samples.
void Boosting::choose_nu(Report& report) {
  nu_ = options_.nu;
  if (nu_ > 0.0) return;
  const Vector grid = positive_grid("nu_grid", options_.nu_grid, LpBetaOptions{}.nu_grid);
  if (grid.back() > 1.0)
    throw InvalidArgument(fmt::format("option nu_grid must hold numbers up to 1; got {}", grid.back()));
  double total = 0.0;
  for (Index i = 0; i < bank_.rows(); ++i) total += weight_of(targets_, i);
  const std::vector<Index> folds = data::stratified_folds(targets_.codes, options_.folds, context_.seed + 1);
  Report::Table table{"cross-validation of nu", {"nu", "error rate", "kernels"}, {}};
  double least = std::numeric_limits<double>::infinity();
  ProgressMeter meter(context_, "choice of nu");
  for (std::size_t k = 0; k < grid.size(); ++k) {
    double error = 0.0;
    double kernels = 0.0;
    for (Index fold = 0; fold < options_.folds; ++fold) {
      const solvers::MarginWeights without = weights_without(grid[k], folds, fold);
      error += error_of(solvers::weighted_scores(part_.held_out, without.beta, outputs()), folds, fold);
      for (Index p = 0; p < without.beta.cols(); ++p)
        kernels += std::ranges::any_of(without.beta.column(p), [](double b) { return b > 0.0; }) ? 1.0 : 0.0;
    }
    table.rows.push_back({grid[k], error / total, kernels / static_cast<double>(options_.folds)});
    if (error <= least) nu_ = grid[k];
    least = std::min(least, error);
    if (meter.step(static_cast<Index>(k) + 1, std::ssize(grid), error / total)) {
      stopped_ = true;
      break;  // with the best so far
    }
  }
  report.tables.push_back(std::move(table));
  report.seconds.emplace_back("choice of nu", meter.seconds());
}

// From all samples, on the kernels that have weight in the output.
void Boosting::train_machines() {
  const Index p = bank_.kernels();
  part_.machines = Matrix(bank_.rows(), p * outputs());
  part_.biases = Matrix(p, outputs());
  WholeProgress progress(context_, "machines of the weighted kernels", p);
  for (Index m = 0; m < p; ++m) {
    const auto column = found_.beta.column(m);
    const bool used = std::ranges::any_of(column, [](double b) { return b > 0.0; });
    if (used) {
      const AloneKernel alone(bank_, m);
      for (Index c = 0; c < outputs(); ++c) {
        if (found_.beta(found_.beta.rows() == 1 ? 0 : c, m) == 0.0) continue;
        const MarginSolution machine =
            alone.machine(outputs_[at(c)], part_.prices[at(m)], options_.tolerance, progress.part());
        std::ranges::copy(machine.coefficients, part_.machines.column(m + p * c).begin());
        part_.biases(m, c) = machine.bias;
        gap_ = std::max(gap_, machine.gap());
      }
    }
    stopped_ = progress.done() || stopped_;
  }
}

// Weights are learned anew for every fold; the machines behind the scores have not seen the sample.
double Boosting::temperature() const {
  const auto scores = [&](const std::vector<Index>& train, const std::vector<Index>& held_out) {
    const Matrix all = solvers::weighted_scores(part_.held_out, weights_of(nu_, train).beta, outputs());
    return models::selected(all, held_out, models::all_of(outputs()));
  };
  return held_out_temperature(targets_, scores, context_);
}

// Coefficients of the model are Σ_p β_pc A_pc: which samples matter, for people and for prediction.
void Boosting::fill(Model& model) const {
  const Index p = bank_.kernels();
  model.weights.shape =
      found_.beta.rows() == 1 ? KernelWeights::Shape::shared : KernelWeights::Shape::per_class;
  model.weights.values = found_.beta;
  model.coefficients = solvers::weighted_scores(part_.machines, found_.beta, outputs());
  for (Index c = 0; c < outputs(); ++c) {
    double bias = 0.0;
    for (Index m = 0; m < p; ++m) bias += found_.beta(found_.beta.rows() == 1 ? 0 : c, m) * part_.biases(m, c);
    model.bias.push_back(bias);
  }
}

void Boosting::tell(Report& report) const {
  report.objective_name = "primal objective";
  report.objective = found_.primal;
  report.gap = std::max(found_.gap() / std::max(1.0, std::abs(found_.primal)), gap_);
  report.iterations = found_.rounds;
  report.status = stopped_                     ? Status::stopped
                  : !found_.converged          ? Status::numerical_trouble
                  : gap_ <= options_.tolerance ? Status::converged
                                               : Status::iteration_limit;
  Index used = 0;
  for (Index m = 0; m < found_.beta.cols(); ++m)
    used += std::ranges::any_of(found_.beta.column(m), [](double b) { return b > 0.0; }) ? 1 : 0;
  report.message = fmt::format("{} of {} kernels have weight; the margin aimed at is {:.3g}", used,
                               found_.beta.cols(), found_.rho);
  report.options["nu"] = number_text(nu_);
}

FitResult Boosting::fit() {
  FitResult result;
  ProgressMeter clock(context_, kName);
  hear_kernels(result.report);
  choose_nu(result.report);
  found_ = weights_of(nu_, models::all_of(bank_.rows()));
  train_machines();
  result.report.seconds.emplace_back("training", clock.seconds());
  part_.shared = options_.weights_per == "kernel";
  part_.balanced = options_.class_weight == "balanced";
  part_.nu = nu_;
  part_.dual = found_.dual;
  part_.sample_weights = targets_.weights;
  // Whoever stopped the fit does not want three more.
  if (options_.probability && !stopped_) part_.temperature = temperature();
  fill(result.model);
  tell(result.report);
  result.model.part = std::make_shared<LpBetaPart>(std::move(part_));
  return result;
}

// A kernel twice (whole, and as the machine has it), what the machines say and their coefficients, and the programme: its
// columns, and the like for CLP's own copies.
std::size_t working_memory(Index n, Index p, Index outputs) {
  return margin_memory(n, 1, true) +
         static_cast<std::size_t>(n * n + 2 * n * p * outputs + 4 * n * p + 20 * n) * sizeof(double);
}

}  // namespace

const OptionTable<LpBetaOptions>& lp_beta_option_table() {
  using O = LpBetaOptions;
  static const OptionTable<O> table = {
      {"weights_per", &O::weights_per, one_of("kernel", "class"),
       "kernel: all classes share the weights (LP-beta); class: every class has its own (LP-B)"},
      {"nu", &O::nu, NumberRule{0.0, false, 1.0},
       "share of the samples whose margins may be short of the goal, about; 0: chosen from nu_grid"},
      {"nu_grid", &O::nu_grid, "values to choose nu from by cross-validation"},
      {"C", &O::C, kNonNegative,
       "price of a margin violation in the machines; 0: chosen for every kernel from C_grid"},
      {"C_grid", &O::C_grid, "values to choose C from by cross-validation, with warm starts"},
      {"folds", &O::folds, NumberRule{2.0},
       "folds for scores of samples that machines have not seen, C and nu"},
      {"tolerance", &O::tolerance, kPositive, "relative duality gap at which the machines stop"},
      {"class_weight", &O::class_weight, one_of("none", "balanced"),
       "balanced: C of a class inversely to its size"},
      {"probability", &O::probability, "fit class probabilities on held-out folds (a temperature)"},
  };
  return table;
}

FitResult fit_lp_beta(const KernelBank& bank, const Targets& targets, const LpBetaOptions& options,
                      const Context& context) {
  return complete_fit(find_learner(kName), bank, targets, option_texts(lp_beta_option_table(), options),
                      context,
                      [&](FitResult& result) { result = Boosting(bank, targets, options, context).fit(); });
}

Learner lp_beta_learner() {
  Learner learner;
  learner.name = kName;
  learner.summary =
      "a support vector machine on every kernel, their scores weighted by a linear programme (LP-beta, LP-B)";
  learner.doc_page = "docs/methods/lp-beta.md";
  learner.tasks = {Task::binary, Task::multiclass};
  learner.options = describe_options(lp_beta_option_table());
  learner.fit = [](const KernelBank& bank, const Targets& targets, const OptionValues& values,
                   const Context& context) {
    return fit_lp_beta(bank, targets, parse_options(lp_beta_option_table(), values, kName), context);
  };
  learner.load = load_lp_beta;
  learner.working_memory = working_memory;
  learner.operations = [](double n, double /*p*/) { return n * n; };
  learner.wants_entries = true;
  return learner;
}

}  // namespace kloom::methods
