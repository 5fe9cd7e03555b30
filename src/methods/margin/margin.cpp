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
#include "base/whole_progress.h"
#include "data/folds.h"
#include "kloom/error.h"
#include "methods/margin/first_weights.h"
#include "methods/margin/kernel_choice.h"
#include "methods/margin/outputs.h"
#include "methods/margin/own_margins.h"
#include "methods/margin/path_point.h"
#include "methods/margin/probability.h"
#include "methods/seam/calibration.h"
#include "methods/seam/grid.h"

namespace kloom::methods {
namespace {

using Output = MarginOutput;

std::vector<Output> outputs_of(const Targets& targets, const MarginOptions& options, MarginPart& part) {
  const bool balanced = options.class_weight == "balanced";
  if (targets.task == Task::regression) return {regression_output(targets, options.epsilon, part)};
  if (targets.task == Task::multiclass && options.multiclass == "one-versus-one") {
    return pair_outputs(targets, balanced, part.pairs);
  }
  return class_outputs(targets, balanced);
}

// Scores of the samples of one fold, which the solution has not seen, into their places.
void score_fold(const KernelBank& bank, const MarginSolution& solution, double root,
                const std::vector<Index>& folds, Index fold, Vector& scores) {
  std::vector<Index> rows;
  for (std::size_t i = 0; i < folds.size(); ++i) {
    if (folds[i] == fold) rows.push_back(static_cast<Index>(i));
  }
  Matrix combined(bank.cols(), std::ssize(rows));
  bank.combine_rows(solution.theta, rows, combined.view());
  // A sum at a time: BLAS would add in another order with another number of threads.
  for (std::size_t k = 0; k < rows.size(); ++k)
    scores[at(rows[k])] =
        solution.bias + algebra::dot(combined.column(static_cast<Index>(k)), solution.coefficients);
  if (bank.presence().complete()) return;
  const Vector margins = own_margins(bank.presence().rows, norm_shares(bank, solution, root), root);
  for (const Index i : rows) scores[at(i)] /= margins[at(i)];
}

// What the weights are grouped by; empty where the method's own norm is meant: every kernel by itself (simplemkl), or all
// together (lp-mkl).
std::string groups_of(MarginMethod method, const MarginOptions& options) {
  if (method == MarginMethod::group_mkl) return options.groups;
  if (method == MarginMethod::lp_mkl) return options.lp_groups == "all" ? "" : options.lp_groups;
  if (method != MarginMethod::simplemkl || (options.simple_groups == "none" && options.mix == 1.0)) return "";
  if (options.algorithm != MarginOptions{}.algorithm)
    throw InvalidArgument("option algorithm is for weights without groups; leave it out, or groups and mix");
  return options.simple_groups;
}

class Fitter {
 public:
  Fitter(MarginMethod method, const KernelBank& bank, const Targets& targets, const MarginOptions& options,
         const Context& context)
      : method_(method),
        bank_(bank),
        targets_(targets),
        options_(options),
        context_(context),
        first_(method, bank, targets, options, context) {
    const std::string words = groups_of(method, options);
    if (!words.empty()) set_ = weight_set(bank.names(), words, options.norm, options.mix);
  }

  // Chooses C and, for the single kernel, the kernel where they are to be chosen; learns all outputs.
  FitResult fit();

 private:
  [[nodiscard]] MarginSettings settings() const;
  [[nodiscard]] Vector start(const Output& output, std::size_t k, Index fold);
  [[nodiscard]] std::vector<Index> folds_of(const Output& output, std::uint64_t seed) const {
    return data::stratified_folds(output.codes, options_.folds, seed);
  }
  [[nodiscard]] PathPoint cross_validate(const std::vector<Output>& outputs, double c, const PathPoint* before,
                                         WholeProgress& progress);
  [[nodiscard]] PathPoint along_path(const std::vector<Output>& outputs, Report& report);
  [[nodiscard]] std::vector<MarginSolution> solve_folds(const Output& output, double c,
                                                        const std::vector<MarginStart>& from,
                                                        const Context& context);
  [[nodiscard]] Vector held_out_scores(const Output& output,
                                       const std::vector<MarginSolution>& solutions) const;
  [[nodiscard]] bool against_rest() const { return options_.multiclass == "one-versus-rest"; }
  [[nodiscard]] std::vector<MarginStart> fold_starts(const PathPoint* before, const Output& output,
                                                     std::size_t k, double c);
  [[nodiscard]] std::vector<MarginSolution> best_single(const Output& output, std::size_t k,
                                                        std::vector<MarginStart> from, PathPoint& point,
                                                        const Context& context);
  [[nodiscard]] std::vector<MarginSolution> solve_whole(const std::vector<Output>& outputs,
                                                        const PathPoint& point);
  [[nodiscard]] Vector unseen_scores(const Output& output, const MarginTask& task,
                                     const MarginSolution& solution, const Vector& held_out,
                                     const Context& context) const;
  static void calibrate(std::size_t k, const MarginTask& task, const Vector& all, MarginPart& part);
  void fill(Model& model, const MarginPart& part, const std::vector<MarginSolution>& solutions) const;
  void fill_boxes(MarginPart& part, const std::vector<Output>& outputs,
                  const std::vector<MarginSolution>& solutions, double c) const;
  void tell_margins(Report& report, const std::vector<MarginSolution>& solutions) const;
  void finish(Report& report, const std::vector<MarginSolution>& solutions) const;

  MarginMethod method_;
  const KernelBank& bank_;
  const Targets& targets_;
  const MarginOptions& options_;
  const Context& context_;
  FirstWeights first_;
  WeightSet set_;                               // no groups: the method's own norm
  std::vector<std::vector<Index>> candidates_;  // single: kernels to choose from, per output
};

MarginSettings Fitter::settings() const {
  MarginSettings settings;
  settings.tolerance = options_.tolerance;
  settings.iterations = options_.iterations;
  settings.stage = name_of(method_);
  settings.rule = WeightRule::fixed;
  if (method_ == MarginMethod::simplemkl) settings.rule = l1_rule(options_.algorithm);
  if (method_ == MarginMethod::lp_mkl) {
    settings.norm = options_.norm;
    settings.rule = options_.norm == 1.0 ? WeightRule::second_order : WeightRule::norm;
  }
  if (set_.groups > 0) {
    settings.rule = WeightRule::grouped;
    settings.norm = 0.0;
    settings.set = set_;
  }
  settings.margin_root = margin_root(settings.rule == WeightRule::fixed ? 0.0 : settings.norm);
  return settings;
}

// Weights to begin with for output k; those of a rule are also those to end with.
Vector Fitter::start(const Output& output, std::size_t k, Index fold) {
  if (is_two_step(method_))
    return first_.of(output, static_cast<Index>(k), fold, folds_of(output, context_.seed)).theta;
  if (set_.groups > 0) return even_weights(set_);
  return start_weights(bank_.kernels(), settings().rule, settings().norm);
}

Vector only(Index kernels, Index one) {
  Vector theta(at(kernels));
  theta[at(one)] = 1.0;
  return theta;
}

std::vector<MarginSolution> Fitter::solve_folds(const Output& output, double c,
                                                const std::vector<MarginStart>& from, const Context& context) {
  const std::vector<Index> folds = folds_of(output, context_.seed);
  const MarginTask task = with_price(output.task, c);
  std::vector<MarginSolution> solutions;
  for (Index fold = 0; fold < options_.folds; ++fold) {
    solutions.push_back(
        solve_with_own_margins(bank_, without_fold(task, folds, fold), settings(), from[at(fold)], context));
  }
  return solutions;
}

Vector Fitter::held_out_scores(const Output& output, const std::vector<MarginSolution>& solutions) const {
  const std::vector<Index> folds = folds_of(output, context_.seed);
  Vector scores(at(bank_.rows()));
  for (std::size_t fold = 0; fold < solutions.size(); ++fold)
    score_fold(bank_, solutions[fold], settings().margin_root, folds, static_cast<Index>(fold), scores);
  return scores;
}

std::vector<MarginStart> Fitter::fold_starts(const PathPoint* before, const Output& output, std::size_t k,
                                             double c) {
  std::vector<MarginStart> starts;
  for (Index fold = 0; fold < options_.folds; ++fold) {
    starts.push_back(before == nullptr ? MarginStart(start(output, k, fold))
                                       : continued(before->without_fold[k][at(fold)], c / before->price));
  }
  return starts;
}

// Appends to the point the kernel with the lowest held-out error, of equal ones the first, and the scores of all that were
// tried. Dual variables pass from one kernel to the next as a start. Returns the solutions with that kernel.
std::vector<MarginSolution> Fitter::best_single(const Output& output, std::size_t k,
                                                std::vector<MarginStart> from, PathPoint& point,
                                                const Context& context) {
  const Index count = options_.candidates == 0 ? bank_.kernels() : options_.candidates;
  if (candidates_.size() <= k) candidates_.push_back(promising_kernels(bank_, output, count, context));
  std::vector<MarginSolution> best_folds;
  Index best = 0;
  double lowest = std::numeric_limits<double>::infinity();
  point.alone.emplace_back(at(bank_.kernels()));
  ProgressMeter meter(context, "choice of the kernel");
  Index done = 0;
  for (const Index m : candidates_[k]) {
    for (MarginStart& start : from) start.theta = only(bank_.kernels(), m);
    std::vector<MarginSolution> folds = solve_folds(output, point.price, from, context);
    for (std::size_t fold = 0; fold < from.size(); ++fold) from[fold].alpha = folds[fold].alpha;
    Vector& scores = point.alone.back()[at(m)] = held_out_scores(output, folds);
    const double error = output_errors(output.task, scores);
    if (error < lowest) {
      lowest = error;
      best = m;
      best_folds = std::move(folds);
    }
    if (meter.step(++done, std::ssize(candidates_[k]), lowest)) break;  // with the best so far
  }
  point.kernels.push_back(best);
  return best_folds;
}

// `before`: the point of a lower price, to start from.
PathPoint Fitter::cross_validate(const std::vector<Output>& outputs, double c, const PathPoint* before,
                                 WholeProgress& progress) {
  PathPoint point;
  point.price = c;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const Output& output = outputs[k];
    std::vector<MarginSolution> folds;
    if (method_ == MarginMethod::single) {
      folds = best_single(output, k, fold_starts(before, output, k, c), point, progress.part());
    } else if (before != nullptr && is_free(output, before->without_fold[k], before->price)) {
      folds = before->without_fold[k];
    } else {
      folds = solve_folds(output, c, fold_starts(before, output, k, c), progress.part());
    }
    point.whole = !progress.done();
    point.scores.push_back(held_out_scores(output, folds));
    point.without_fold.push_back(std::move(folds));
  }
  point.error = path_error(outputs, point.scores, against_rest());
  return point;
}

// The point with the lowest held-out error; of equal ones the smallest C, the simplest model.
PathPoint Fitter::along_path(const std::vector<Output>& outputs, Report& report) {
  const Vector prices = positive_grid("C_grid", options_.C_grid, MarginOptions{}.C_grid);
  Report::Table table{"cross-validation of C",
                      {"C", outputs.front().task.regression ? "mean squared error" : "error rate", "kernels",
                       "support vectors", "gap"},
                      {}};
  WholeProgress progress(context_, "choice of C", std::ssize(prices) * std::ssize(outputs));
  PathPoint best;
  PathPoint last;
  for (std::size_t k = 0; k < prices.size(); ++k) {
    last = cross_validate(outputs, prices[k], k > 0 ? &last : nullptr, progress);
    if (k > 0 && !last.whole) break;  // with the best so far
    table.rows.push_back(path_row(last));
    if (k == 0 || last.error < best.error) best = last;
    if (!last.whole) break;
  }
  report.tables.push_back(std::move(table));
  report.seconds.emplace_back("choice of C", progress.seconds());
  return best;
}

// All samples at the price of the point. A solution without one fold is a start: its samples have the same bounds, and
// those of the fold are at 0.
std::vector<MarginSolution> Fitter::solve_whole(const std::vector<Output>& outputs, const PathPoint& point) {
  std::vector<MarginSolution> solutions;
  WholeProgress progress(context_, name_of(method_), std::ssize(outputs));
  const Context& context = progress.part();
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    MarginStart from(start(outputs[k], k, FirstWeights::kNone));
    if (!point.without_fold.empty()) {
      MarginStart warm = continued(point.without_fold[k].front(), 1.0);
      if (is_two_step(method_)) warm.theta = std::move(from.theta);
      from = std::move(warm);
    }
    if (!point.kernels.empty()) from.theta = only(bank_.kernels(), point.kernels[k]);
    solutions.push_back(solve_with_own_margins(bank_, with_price(outputs[k].task, point.price), settings(),
                                               std::move(from), context));
    if (outputs.size() > 1) progress.done();  // who is told to stop ends the others at once
  }
  return solutions;
}

// Scores of samples that took no part: those that chose C where it was chosen, else by folds with the kernel weights of the
// whole fit.
Vector Fitter::unseen_scores(const Output& output, const MarginTask& task, const MarginSolution& solution,
                             const Vector& held_out, const Context& context) const {
  if (!held_out.empty()) return held_out;
  const std::vector<Index> folds = folds_of(output, context_.seed + 1);
  MarginSettings fixed = settings();
  fixed.rule = WeightRule::fixed;
  Vector all(task.y.size());
  for (Index fold = 0; fold < options_.folds; ++fold) {
    const MarginSolution part =
        solve_with_own_margins(bank_, without_fold(task, folds, fold), fixed, solution.theta, context);
    score_fold(bank_, part, fixed.margin_root, folds, fold, all);
  }
  return all;
}

// What held-out scores say of output k: Platt's sigmoid of a class, or the deviation of numbers.
void Fitter::calibrate(std::size_t k, const MarginTask& task, const Vector& all, MarginPart& part) {
  if (!part.regression) return fit_sigmoid_of_output(task, all, static_cast<Index>(k), part.platt);
  Vector errors;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (task.box[i] > 0.0) errors.push_back(std::abs(all[i] - task.y[i]));
  }
  part.deviation = part.target_scale * deviation_of_errors(std::move(errors));
}

void Fitter::fill(Model& model, const MarginPart& part, const std::vector<MarginSolution>& solutions) const {
  const auto outputs = static_cast<Index>(solutions.size());
  const bool per_output = outputs > 1 && !shares_weights(method_);
  model.weights.shape = per_output ? KernelWeights::Shape::per_class : KernelWeights::Shape::shared;
  model.weights.values = Matrix(per_output ? outputs : 1, bank_.kernels());
  model.coefficients = Matrix(bank_.rows(), outputs);
  for (Index c = 0; c < outputs; ++c) {
    const MarginSolution& s = solutions[at(c)];
    for (Index m = 0; m < bank_.kernels(); ++m) model.weights.values(per_output ? c : 0, m) = s.theta[at(m)];
    std::ranges::copy(s.coefficients, model.coefficients.column(c).begin());
    algebra::scale(part.target_scale, model.coefficients.column(c));
    model.bias.push_back(part.target_scale * s.bias + part.target_centre);
  }
}

void Fitter::fill_boxes(MarginPart& part, const std::vector<Output>& outputs,
                        const std::vector<MarginSolution>& solutions, double c) const {
  part.norm_shares = Matrix(bank_.kernels(), std::ssize(outputs));
  if (!bank_.presence().complete()) part.margins = Matrix(bank_.rows(), std::ssize(outputs));
  for (Index k = 0; k < std::ssize(outputs); ++k) {
    Vector box = with_price(outputs[at(k)].task, c).box;
    const MarginSolution& solution = solutions[at(k)];
    for (std::size_t i = 0; i < solution.margins.size(); ++i) box[i] /= solution.margins[i];
    std::ranges::copy(box, part.box.column(k).begin());
    std::ranges::copy(norm_shares(bank_, solution, margin_root(part.norm)), part.norm_shares.column(k).begin());
    if (!part.margins.empty()) std::ranges::copy(solution.margins, part.margins.column(k).begin());
  }
}

// What to know about margins that are measured in the space of each sample's own kernels.
void Fitter::tell_margins(Report& report, const std::vector<MarginSolution>& solutions) const {
  double least = 1.0;
  double change = 0.0;
  for (const MarginSolution& s : solutions) {
    for (const double tau : s.margins) least = std::min(least, tau);
    change = std::max(change, s.margin_change);
  }
  report.message += fmt::format("; margins are those of each sample's own kernels, tau from {:.2g}", least);
  if (change > 1e-2)
    report.warnings.push_back(fmt::format(
        "the margins of samples that lack kernels did not settle: tau would still change by {:.1g}", change));
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

FitResult Fitter::fit() {
  FitResult result;
  MarginPart part;
  const std::vector<Output> outputs = outputs_of(targets_, options_, part);
  ProgressMeter clock(context_, name_of(method_));
  part.regression = outputs.front().task.regression;
  part.epsilon = part.regression ? options_.epsilon : 0.0;
  part.norm = settings().rule == WeightRule::fixed ? 0.0 : settings().norm;
  part.groups.assign(set_.group.begin(), set_.group.end());
  part.group_norm = set_.norm;
  part.mix = set_.mix;
  part.box = Matrix(bank_.rows(), static_cast<Index>(outputs.size()));
  PathPoint point;
  point.price = options_.C;
  if (options_.C == 0.0) {
    point = along_path(outputs, result.report);
  } else if (method_ == MarginMethod::single) {
    WholeProgress progress(context_, "choice of kernels", std::ssize(outputs));
    point = cross_validate(outputs, options_.C, nullptr, progress);
  }
  const double c = point.price;
  const std::vector<MarginSolution> solutions = solve_whole(outputs, point);
  fill_boxes(part, outputs, solutions, c);
  result.report.seconds.emplace_back("training", clock.seconds());
  // The scores that chose C give numbers their deviation for nothing; probabilities are worth fits of their own.
  if (part.regression ? !point.scores.empty() : options_.probability) {
    const double fitted = clock.seconds();
    if (!part.regression) part.platt = Matrix(static_cast<Index>(outputs.size()), 2);
    WholeProgress progress(context_, "probabilities", std::ssize(outputs));
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const MarginTask task = with_price(outputs[k].task, c);
      const Vector held_out = point.scores.empty() ? Vector{} : point.scores[k];
      calibrate(k, task, unseen_scores(outputs[k], task, solutions[k], held_out, progress.part()), part);
      progress.done();
    }
    result.report.seconds.emplace_back("probabilities", clock.seconds() - fitted);
  }
  if (!point.alone.empty()) result.report.errors_alone = errors_alone(outputs, point, against_rest());
  fill(result.model, part, solutions);
  if (is_two_step(method_)) {
    result.model.part = first_.part(std::move(part), outputs);
  } else {
    result.model.part = std::make_shared<MarginPart>(std::move(part));
  }
  finish(result.report, solutions);
  if (method_ == MarginMethod::gram) first_.tell(result.report, outputs);
  if (!bank_.presence().complete()) tell_margins(result.report, solutions);
  result.report.options["C"] = number_text(c);
  return result;
}

}  // namespace

FitResult fit_margin(MarginMethod method, const KernelBank& bank, const Targets& targets,
                     const MarginOptions& options, const Context& context) {
  return complete_fit(
      find_learner(name_of(method)), bank, targets, option_texts(margin_option_table(method), options), context,
      [&](FitResult& result) { result = Fitter(method, bank, targets, options, context).fit(); });
}

}  // namespace kloom::methods
