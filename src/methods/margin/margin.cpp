// SPDX-License-Identifier: BSD-3-Clause
#include "methods/margin/margin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "algebra/blas.h"
#include "algebra/threads.h"
#include "base/progress.h"
#include "data/folds.h"
#include "kloom/error.h"
#include "kloom/kernels.h"
#include "methods/margin/outputs.h"
#include "methods/margin/part.h"
#include "solvers/platt.h"

namespace kloom::methods {
namespace {

using Output = MarginOutput;

struct MethodInfo {
  MarginMethod method;
  const char* name;
  const char* summary;
};
constexpr MethodInfo kMethods[] = {
    {MarginMethod::uniform, "uniform",
     "support vector machine on the mean of all kernels: the baseline to beat"},
    {MarginMethod::single, "single", "support vector machine on the one kernel that cross-validates best"},
    {MarginMethod::simplemkl, "simplemkl", "l1-norm MKL: few kernels, with a duality gap as certificate"},
    {MarginMethod::lp_mkl, "lp-mkl",
     "lp-norm MKL: weights spread over all kernels, with a duality gap as certificate"},
};
const MethodInfo& info(MarginMethod method) {
  return kMethods[static_cast<std::size_t>(method)];
}

std::vector<Output> outputs_of(const Targets& targets, const MarginOptions& options, MarginPart& part) {
  const bool balanced = options.class_weight == "balanced";
  if (targets.task == Task::regression) return {regression_output(targets, options.epsilon, part)};
  if (targets.task == Task::multiclass && options.multiclass == "one-versus-one") {
    return pair_outputs(targets, balanced, part.pairs);
  }
  return class_outputs(targets, balanced);
}

// Scores of every sample, also of those that the solution has not seen.
Vector scores_of(const KernelBank& bank, const MarginSolution& solution) {
  const Matrix combined = bank.combine(solution.theta);
  Vector scores(at(bank.rows()), solution.bias);
  algebra::gemv(algebra::Op::none, 1.0, combined.view(), solution.coefficients, 1.0, scores);
  return scores;
}

// Everything learned at one price C. A path goes from one to the next by warm starts.
struct PathPoint {
  double price = 0.0;
  double error = std::numeric_limits<double>::quiet_NaN();  // held out, if asked for
  std::vector<MarginSolution> solutions;                    // one per output
  std::vector<std::vector<MarginSolution>> without_fold;    // per output and fold, if asked for
};

class Fitter {
 public:
  Fitter(MarginMethod method, const KernelBank& bank, const MarginOptions& options, const Context& context)
      : method_(method), bank_(bank), options_(options), context_(context) {}

  // Follows the path over C if asked, else takes the one C; learns all outputs.
  FitResult fit(const Targets& targets);

 private:
  [[nodiscard]] MarginSettings settings() const;
  [[nodiscard]] Vector start() const;
  [[nodiscard]] PathPoint at_price(const std::vector<Output>& outputs, double c, const PathPoint* before);
  [[nodiscard]] PathPoint along_path(const std::vector<Output>& outputs, Report& report);
  [[nodiscard]] std::vector<MarginSolution> solve_folds(const Output& output, double c,
                                                        const std::vector<MarginStart>& from);
  [[nodiscard]] double held_out_error(const Output& output, const std::vector<MarginSolution>& solutions) const;
  [[nodiscard]] std::vector<MarginStart> fold_starts(const PathPoint* before, std::size_t output,
                                                     double c) const;
  [[nodiscard]] Index best_single(const Output& output, double c, std::vector<MarginStart> from,
                                  std::vector<MarginSolution>* best_folds);
  [[nodiscard]] solvers::Sigmoid probabilities(const Output& output, double c, const MarginSolution& solution);
  void fill(Model& model, const MarginPart& part, const std::vector<MarginSolution>& solutions) const;
  void finish(Report& report, const std::vector<MarginSolution>& solutions) const;

  MarginMethod method_;
  const KernelBank& bank_;
  const MarginOptions& options_;
  const Context& context_;
};

MarginSettings Fitter::settings() const {
  MarginSettings settings;
  settings.tolerance = options_.tolerance;
  settings.iterations = options_.iterations;
  settings.stage = info(method_).name;
  settings.rule = WeightRule::fixed;
  if (method_ == MarginMethod::simplemkl) {
    settings.rule =
        options_.algorithm == "second-order" ? WeightRule::second_order : WeightRule::reduced_gradient;
  }
  if (method_ == MarginMethod::lp_mkl) {
    settings.norm = options_.norm;
    settings.rule = options_.norm == 1.0 ? WeightRule::second_order : WeightRule::norm;
  }
  return settings;
}

Vector Fitter::start() const {
  return start_weights(bank_.kernels(), settings().rule, settings().norm);
}

Vector only(Index kernels, Index one) {
  Vector theta(at(kernels));
  theta[at(one)] = 1.0;
  return theta;
}

double sample_error(const MarginTask& task, std::size_t i, double score) {
  if (task.regression) return (task.y[i] - score) * (task.y[i] - score);
  return task.y[i] * score > 0.0 ? 0.0 : 1.0;
}

std::vector<MarginSolution> Fitter::solve_folds(const Output& output, double c,
                                                const std::vector<MarginStart>& from) {
  const std::vector<Index> folds = data::stratified_folds(output.codes, options_.folds, context_.seed);
  const MarginTask task = with_price(output.task, c);
  std::vector<MarginSolution> solutions;
  for (Index fold = 0; fold < options_.folds; ++fold) {
    solutions.push_back(
        solve_margin_mkl(bank_, without_fold(task, folds, fold), settings(), from[at(fold)], context_));
  }
  return solutions;
}

// Weighted sum of the errors on held-out samples.
double Fitter::held_out_error(const Output& output, const std::vector<MarginSolution>& solutions) const {
  const std::vector<Index> folds = data::stratified_folds(output.codes, options_.folds, context_.seed);
  double error = 0.0;
  for (std::size_t fold = 0; fold < solutions.size(); ++fold) {
    const Vector scores = scores_of(bank_, solutions[fold]);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (at(folds[i]) == fold) error += output.task.box[i] * sample_error(output.task, i, scores[i]);
    }
  }
  return error;
}

std::vector<MarginStart> Fitter::fold_starts(const PathPoint* before, std::size_t output, double c) const {
  std::vector<MarginStart> starts(at(options_.folds), MarginStart(start()));
  if (before == nullptr || before->without_fold.empty()) return starts;
  for (std::size_t fold = 0; fold < starts.size(); ++fold) {
    starts[fold] = continued(before->without_fold[output][fold], c / before->price);
  }
  return starts;
}

// The kernel with the lowest held-out error; of equal ones the first. Dual variables pass from one kernel to
// the next as a start.
Index Fitter::best_single(const Output& output, double c, std::vector<MarginStart> from,
                          std::vector<MarginSolution>* best_folds) {
  Index best = 0;
  double lowest = std::numeric_limits<double>::infinity();
  ProgressMeter meter(context_, "choice of the kernel");
  for (Index m = 0; m < bank_.kernels(); ++m) {
    for (MarginStart& start : from) start.theta = only(bank_.kernels(), m);
    std::vector<MarginSolution> folds = solve_folds(output, c, from);
    for (std::size_t fold = 0; fold < from.size(); ++fold) from[fold].alpha = folds[fold].alpha;
    const double error = held_out_error(output, folds);
    if (error < lowest) {
      lowest = error;
      best = m;
      *best_folds = std::move(folds);
    }
    if (meter.step(m + 1, bank_.kernels(), lowest)) break;  // with the best so far
  }
  return best;
}

// `before`: the point of another price, to start from.
PathPoint Fitter::at_price(const std::vector<Output>& outputs, double c, const PathPoint* before) {
  PathPoint point;
  point.price = c;
  const bool judge = !options_.C_grid.empty();
  double error = 0.0;
  double total = 0.0;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const Output& output = outputs[k];
    MarginStart from =
        before != nullptr ? continued(before->solutions[k], c / before->price) : MarginStart(start());
    std::vector<MarginSolution> folds;
    if (method_ == MarginMethod::single) {
      from.theta = only(bank_.kernels(), best_single(output, c, fold_starts(before, k, c), &folds));
    } else if (judge) {
      folds = solve_folds(output, c, fold_starts(before, k, c));
    }
    point.solutions.push_back(
        solve_margin_mkl(bank_, with_price(output.task, c), settings(), std::move(from), context_));
    if (!judge) continue;
    error += held_out_error(output, folds);
    total += std::accumulate(output.task.box.begin(), output.task.box.end(), 0.0);
    point.without_fold.push_back(std::move(folds));
  }
  if (judge) point.error = total > 0.0 ? error / total : 0.0;
  return point;
}

double count_nonzero(const Vector& values) {
  return static_cast<double>(std::ranges::count_if(values, [](double value) { return value != 0.0; }));
}

// A row of the path's table: C, held-out error, then means over the outputs.
Vector path_row(const PathPoint& point) {
  double kernels = 0.0;
  double supports = 0.0;
  double gap = 0.0;
  for (const MarginSolution& s : point.solutions) {
    kernels += count_nonzero(s.theta) / static_cast<double>(point.solutions.size());
    supports += count_nonzero(s.coefficients) / static_cast<double>(point.solutions.size());
    gap = std::max(gap, s.gap());
  }
  return {point.price, point.error, kernels, supports, gap};
}

// The point with the lowest held-out error; of equal ones the smallest C, the simplest model.
PathPoint Fitter::along_path(const std::vector<Output>& outputs, Report& report) {
  std::vector<double> prices = parse_range(options_.C_grid, -1, 0.0);
  std::ranges::sort(prices);
  if (!(prices.front() > 0.0)) {
    throw InvalidArgument(fmt::format("option C_grid must hold numbers > 0; got {}", prices.front()));
  }
  Report::Table table{"cross-validation of C",
                      {"C", outputs.front().task.regression ? "mean squared error" : "error rate", "kernels",
                       "support vectors", "gap"},
                      {}};
  PathPoint best;
  PathPoint last;
  for (std::size_t k = 0; k < prices.size(); ++k) {
    last = at_price(outputs, prices[k], k > 0 ? &last : nullptr);
    table.rows.push_back(path_row(last));
    if (k == 0 || last.error < best.error) best = last;
  }
  report.tables.push_back(std::move(table));
  return best;
}

// Scores on held-out folds with the kernel weights of the whole fit, then Platt's sigmoid.
solvers::Sigmoid Fitter::probabilities(const Output& output, double c, const MarginSolution& solution) {
  const std::vector<Index> folds = data::stratified_folds(output.codes, options_.folds, context_.seed + 1);
  const MarginTask task = with_price(output.task, c);
  MarginSettings fixed = settings();
  fixed.rule = WeightRule::fixed;
  Vector scores;
  Vector positive;
  for (Index fold = 0; fold < options_.folds; ++fold) {
    const MarginSolution part =
        solve_margin_mkl(bank_, without_fold(task, folds, fold), fixed, solution.theta, context_);
    const Vector all = scores_of(bank_, part);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (folds[i] != fold || task.box[i] == 0.0) continue;
      scores.push_back(all[i]);
      positive.push_back(task.y[i] > 0.0 ? 1.0 : 0.0);
    }
  }
  return solvers::fit_sigmoid(scores, positive);
}

void Fitter::fill(Model& model, const MarginPart& part, const std::vector<MarginSolution>& solutions) const {
  const auto outputs = static_cast<Index>(solutions.size());
  model.weights.shape = outputs > 1 ? KernelWeights::Shape::per_class : KernelWeights::Shape::shared;
  model.weights.values = Matrix(outputs, bank_.kernels());
  model.coefficients = Matrix(bank_.rows(), outputs);
  for (Index c = 0; c < outputs; ++c) {
    const MarginSolution& s = solutions[at(c)];
    for (Index m = 0; m < bank_.kernels(); ++m) model.weights.values(c, m) = s.theta[at(m)];
    std::ranges::copy(s.coefficients, model.coefficients.column(c).begin());
    algebra::scale(part.target_scale, model.coefficients.column(c));
    model.bias.push_back(part.target_scale * s.bias + part.target_centre);
  }
}

void Fitter::finish(Report& report, const std::vector<MarginSolution>& solutions) const {
  report.objective_name = "primal objective";
  double worst = 0.0;
  report.status = Status::converged;
  for (const MarginSolution& s : solutions) {
    report.objective += s.primal;
    report.iterations += s.iterations;
    worst = std::max(worst, s.gap());
    if (s.status != Status::converged) report.status = s.status;
    if (solutions.size() == 1) report.trace = s.trace;
  }
  report.gap = worst;
  if (report.status == Status::converged) {
    report.message = fmt::format("relative duality gap {:.1e}, asked for {:.1e}", worst, options_.tolerance);
  } else {
    report.message = fmt::format(
        "relative duality gap {:.1e} is above the {:.1e} asked for: more --iterations, a larger "
        "--tolerance, or normalised kernels would help",
        worst, options_.tolerance);
  }
}

FitResult Fitter::fit(const Targets& targets) {
  FitResult result;
  MarginPart part;
  const std::vector<Output> outputs = outputs_of(targets, options_, part);
  ProgressMeter clock(context_, info(method_).name);
  part.regression = outputs.front().task.regression;
  part.epsilon = part.regression ? options_.epsilon : 0.0;
  part.norm = settings().rule == WeightRule::fixed ? 0.0 : settings().norm;
  part.box = Matrix(bank_.rows(), static_cast<Index>(outputs.size()));
  const PathPoint point =
      options_.C_grid.empty() ? at_price(outputs, options_.C, nullptr) : along_path(outputs, result.report);
  const double c = point.price;
  const std::vector<MarginSolution>& solutions = point.solutions;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    std::ranges::copy(with_price(outputs[k].task, c).box, part.box.column(static_cast<Index>(k)).begin());
  }
  result.report.seconds.emplace_back("training", clock.seconds());
  if (options_.probability && !part.regression) {
    const double fitted = clock.seconds();
    part.platt = Matrix(static_cast<Index>(outputs.size()), 2);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const solvers::Sigmoid sigmoid = probabilities(outputs[k], c, solutions[k]);
      part.platt(static_cast<Index>(k), 0) = sigmoid.a;
      part.platt(static_cast<Index>(k), 1) = sigmoid.b;
    }
    result.report.seconds.emplace_back("probabilities", clock.seconds() - fitted);
  }
  fill(result.model, part, solutions);
  result.model.part = std::make_shared<MarginPart>(std::move(part));
  finish(result.report, solutions);
  result.report.options["C"] = number_text(c);
  return result;
}

// The solver's, and box and coefficients of all outputs.
std::size_t working_memory(Index n, Index p, Index outputs, bool whole_kernel) {
  return margin_memory(n, p, whole_kernel) + static_cast<std::size_t>(2 * n * outputs) * sizeof(double);
}

}  // namespace

const OptionTable<MarginOptions>& margin_option_table(MarginMethod method) {
  using O = MarginOptions;
  static const NumberRule norm_rule{1.0, false, std::numeric_limits<double>::infinity(), true};
  static const OptionTable<O> common = {
      {"C", &O::C, kPositive, {}, "price of a margin violation: larger fits the training samples more closely"},
      {"C_grid", &O::C_grid, {}, {}, "choose C by cross-validation from these values, e.g. 10^-1..10^4"},
      {"folds", &O::folds, NumberRule{2.0}, {}, "folds for choosing C and for probabilities"},
      {"epsilon",
       &O::epsilon,
       kNonNegative,
       {},
       "regression: errors below this are free, in standard deviations of the target",
       OptionInfo::Suits::numbers},
      {"tolerance", &O::tolerance, kPositive, {}, "stop at this relative duality gap"},
      {"iterations", &O::iterations, kAtLeastOne, {}, "at most this many updates of the kernel weights"},
      {"multiclass",
       &O::multiclass,
       {},
       {"one-versus-rest", "one-versus-one"},
       "how several classes become two",
       OptionInfo::Suits::classes},
      {"class_weight",
       &O::class_weight,
       {},
       {"none", "balanced"},
       "balanced: C of a class inversely to its size",
       OptionInfo::Suits::classes},
      {"probability", &O::probability, {}, {}, "fit class probabilities on held-out folds (Platt scaling)",
       OptionInfo::Suits::classes},
  };
  static const OptionTable<O> simple = [] {
    OptionTable<O> table = common;
    table.push_back({"algorithm",
                     &O::algorithm,
                     {},
                     {"second-order", "reduced-gradient"},
                     "reduced-gradient is SimpleMKL's own; both solve the same problem"});
    return table;
  }();
  static const OptionTable<O> norm = [] {
    OptionTable<O> table = common;
    table.push_back({"norm",
                     &O::norm,
                     norm_rule,
                     {},
                     "p: 1 selects few kernels, 2 spreads the weights, inf makes them equal"});
    return table;
  }();
  return method == MarginMethod::simplemkl ? simple : method == MarginMethod::lp_mkl ? norm : common;
}

FitResult fit_margin(MarginMethod method, const KernelBank& bank, const Targets& targets,
                     const MarginOptions& options, const Context& context) {
  return complete_fit(find_learner(info(method).name), bank, targets,
                      option_texts(margin_option_table(method), options), context,
                      [&](FitResult& result) { result = Fitter(method, bank, options, context).fit(targets); });
}

Learner margin_learner(MarginMethod method) {
  Learner learner;
  learner.name = info(method).name;
  learner.summary = info(method).summary;
  learner.doc_page = fmt::format("docs/methods/{}.md", learner.name);
  learner.tasks = {Task::binary, Task::multiclass, Task::regression};
  learner.options = describe_options(margin_option_table(method));
  learner.fit = [method](const KernelBank& bank, const Targets& targets, const OptionValues& values,
                         const Context& context) {
    const std::string name = info(method).name;
    return fit_margin(method, bank, targets, parse_options(margin_option_table(method), values, name), context);
  };
  learner.working_memory = [](Index n, Index p, Index m) { return working_memory(n, p, m, true); };
  learner.least_memory = [](Index n, Index p, Index m) { return working_memory(n, p, m, false); };
  learner.wants_entries = true;
  learner.load = load_margin;
  return learner;
}

}  // namespace kloom::methods
