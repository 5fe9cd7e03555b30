// SPDX-License-Identifier: BSD-3-Clause
#include "methods/mklda/mklda.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "algebra/blas.h"
#include "algebra/threads.h"
#include "base/progress.h"
#include "kloom/error.h"
#include "kloom/kernels.h"
#include "kloom/machine.h"
#include "methods/mklda/strength_choice.h"
#include "methods/seam/calibration.h"
#include "methods/stochastic/augmentation.h"
#include "methods/stochastic/class_problem.h"
#include "methods/stochastic/counted_sgd.h"
#include "methods/stochastic/part.h"
#include "models/scores.h"
#include "solvers/draws.h"

namespace kloom::methods {
namespace {

constexpr Index kSoftSweeps = 12;
constexpr Index kGibbsSweeps = 21;

// One sweep that predicts.
struct Solution {
  Matrix penalties;  // γ, M × F
  PenaltyWeights weights;
  SweepResult sweep;
};

class Fitter {
 public:
  Fitter(const KernelBank& bank, const Targets& targets, const MkldaOptions& options, const Context& context)
      : bank_(bank),
        options_(options),
        context_(context),
        targets_(targets),
        labels_(labels_of(targets)),
        samples_(at(bank.rows())),
        draws_(context.seed),
        meter_(context, "mkl-da"),
        memory_(memory_budget(context) / 4) {
    std::iota(samples_.begin(), samples_.end(), Index{0});
  }

  FitResult fit();
  // Learns the samples `train` alone with these strengths; what it then says of the samples `held_out`.
  Matrix held_out_scores(const std::vector<Strength>& strengths, const std::vector<Index>& train,
                         const std::vector<Index>& held_out);

 private:
  [[nodiscard]] Index sweeps() const {
    return options_.sweeps > 0 ? options_.sweeps : options_.mode == "soft" ? kSoftSweeps : kGibbsSweeps;
  }
  [[nodiscard]] Index steps() const {
    return std::max<Index>(1, static_cast<Index>(std::llround(options_.epochs * size())));
  }
  [[nodiscard]] double size() const { return static_cast<double>(samples_.size()); }  // the paper's N
  std::vector<Index> shuffled_order();
  std::vector<Index> drawn_order();
  Solution sweep(Matrix penalties);
  std::vector<Strength> choose();
  void soft(const std::vector<Strength>& strengths);
  void gibbs();
  void literal();
  bool note(const Solution& solution, double strength, double group);
  // A sweep over many samples takes long, so `abort` takes effect inside it; `stop` waits for its end.
  std::function<void()> look() {
    return [this] { static_cast<void>(meter_.step(done_, planned_, std::nan(""))); };
  }
  void fill(Model& model, double temperature) const;
  void finish(Report& report) const;

  const KernelBank& bank_;
  const MkldaOptions& options_;
  const Context& context_;
  const Targets& targets_;
  ClassLabels labels_;
  std::vector<Index> samples_;   // that are learned
  std::vector<Index> held_out_;  // that are scored after every sweep,
  Matrix held_out_sum_;          // and the sum of those scores
  solvers::Draws draws_;
  ProgressMeter meter_;
  std::size_t memory_;
  std::vector<Solution> solutions_;
  Matrix norms_;  // of the last sweep
  Index done_ = 0;
  Index planned_ = 0;
  Report report_;
  Report::Table table_{
      "sweeps", {"C", "beta", "support vectors", "violations", "kernel evaluations", "seconds"}, {}};
};

// Passes over all samples, each pass in a new random order: every sample is used equally often.
std::vector<Index> Fitter::shuffled_order() {
  std::vector<Index> order;
  while (static_cast<Index>(order.size()) < steps()) {
    std::vector<Index> pass = samples_;
    draws_.shuffle(pass);
    order.insert(order.end(), pass.begin(), pass.end());
  }
  order.resize(at(steps()));
  return order;
}

std::vector<Index> Fitter::drawn_order() {
  std::vector<Index> order(at(steps()));
  for (Index& n : order) n = draws_.index(bank_.rows());
  return order;
}

Solution Fitter::sweep(Matrix penalties) {
  Solution solution;
  solution.weights = weights_of(penalties);
  solution.penalties = std::move(penalties);
  const auto kernel = bank_.combination(solution.weights.weights.view(), memory_);
  const std::vector<Index> order = shuffled_order();
  solution.sweep =
      run_sweep(*kernel, labels_, bank_.rows(), {order, solution.weights.scales, true, {}, look()});
  norms_ = norms_of(bank_.quadratic_forms(solution.sweep.counts.view()), solution.penalties,
                    static_cast<double>(solution.sweep.steps));
  if (!held_out_.empty()) {
    const Matrix scores = sweep_scores(*kernel, solution.sweep, solution.weights.scales, held_out_);
    algebra::axpy(1.0, scores.values(), held_out_sum_.values());
  }
  return solution;
}

Matrix Fitter::held_out_scores(const std::vector<Strength>& strengths, const std::vector<Index>& train,
                               const std::vector<Index>& held_out) {
  samples_ = train;
  held_out_ = held_out;
  held_out_sum_ = Matrix(std::ssize(held_out), labels_.outputs());
  soft(strengths);
  algebra::scale(1.0 / static_cast<double>(done_), held_out_sum_.values());
  return held_out_sum_;
}

// Adds a sweep to the report; true if the caller should stop.
bool Fitter::note(const Solution& solution, double strength, double group) {
  const auto& s = solution.sweep;
  const double share = static_cast<double>(s.violations) / static_cast<double>(s.steps);
  const auto support = static_cast<double>(models::used_rows(s.counts).size());
  ++done_;
  table_.rows.push_back({strength, group, support, static_cast<double>(s.violations),
                         static_cast<double>(s.evaluations), meter_.seconds()});
  report_.trace.push_back({done_, share, meter_.seconds()});
  report_.objective = share;
  return meter_.step(done_, planned_, share);
}

// λ_mf⁻¹ = median‖w‖/‖w_mf‖, within 10^±3.
Matrix soft_inverse_lambda(const Matrix& norms) {
  Vector sorted(norms.values().begin(), norms.values().end());
  const auto middle = sorted.begin() + std::ssize(sorted) / 2;
  std::nth_element(sorted.begin(), middle, sorted.end());
  Matrix result(norms.rows(), norms.cols(), 1.0);
  if (!(*middle > 0.0)) return result;
  for (Index f = 0; f < norms.cols(); ++f) {
    for (Index m = 0; m < norms.rows(); ++m)
      result(m, f) = std::clamp(*middle / std::max(norms(m, f), 1e-300), 1e-3, 1e3);
  }
  return result;
}

std::vector<Strength> Fitter::choose() {
  std::vector<Strength> chosen = choose_strengths(
      bank_, labels_,
      {parse_range(options_.strengths, -1, 0.0), options_.epochs, options_.choose_on, sweeps(), memory_},
      context_);
  report_.tables.push_back(strength_table(chosen));
  report_.seconds.emplace_back("choice of C", meter_.seconds());
  return chosen;
}

void Fitter::soft(const std::vector<Strength>& strengths) {
  const auto f = static_cast<double>(bank_.kernels());
  planned_ = 0;
  for (const Strength& s : strengths) planned_ += s.sweeps;
  for (const Strength& strength : strengths) {
    Matrix inverse_lambda(labels_.classes, bank_.kernels(), 1.0);
    for (Index k = 0; k < strength.sweeps; ++k) {
      Matrix penalties = inverse_lambda;
      for (double& value : penalties.values()) value = f / (2.0 * strength.price * size()) * (1.0 + value);
      solutions_.push_back(sweep(std::move(penalties)));
      inverse_lambda = soft_inverse_lambda(norms_);
      if (note(solutions_.back(), strength.price, 0.0)) return;
      if (!held_out_.empty()) solutions_.clear();  // nobody asks for anything but the scores
    }
  }
}

// The first third of the sweeps is the burn-in of the Gibbs sampler and is dropped.
void Fitter::gibbs() {
  planned_ = sweeps();
  const Index burn_in = planned_ / 3;
  Augmentation augmentation({options_.kappa, options_.theta, options_.mu, options_.sigma}, labels_.classes,
                            bank_.kernels(), false);
  for (Index l = 0; l < planned_; ++l) {
    augmentation.draw_strengths(draws_);
    Solution next = sweep(augmentation.penalties(static_cast<double>(bank_.rows())));
    if (l <= burn_in) solutions_.clear();
    solutions_.push_back(std::move(next));
    const bool stop =
        note(solutions_.back(), static_cast<double>(bank_.kernels()) / augmentation.alpha, augmentation.beta);
    augmentation.draw_auxiliaries(norms_, draws_);
    if (stop) return;
  }
}

// Algorithm 1, line by line; the first step of a sweep still scores with the W of the sweep before.
void Fitter::literal() {
  planned_ = sweeps();
  Augmentation augmentation({options_.kappa, options_.theta, options_.mu, options_.sigma}, labels_.classes,
                            bank_.kernels(), true);
  std::unique_ptr<Combination> before;
  for (Index l = 0; l < planned_; ++l) {
    augmentation.draw_strengths(draws_);
    Solution next;
    next.penalties = augmentation.penalties(static_cast<double>(bank_.rows()));
    next.weights = weights_of(next.penalties);
    auto kernel = bank_.combination(next.weights.weights.view(), memory_);
    const std::vector<Index> order = drawn_order();
    SweepPlan plan{order, next.weights.scales, false, {}, look()};
    if (l > 0) {
      const Solution& last = solutions_.back();
      const Matrix first = sweep_scores(*before, last.sweep, last.weights.scales, {order.data(), 1});
      plan.first_scores.assign(first.values().begin(), first.values().end());
    }
    next.sweep = run_sweep(*kernel, labels_, bank_.rows(), plan);
    norms_ = norms_of(bank_.quadratic_forms(next.sweep.counts.view()), next.penalties,
                      static_cast<double>(next.sweep.steps));
    solutions_.clear();
    solutions_.push_back(std::move(next));
    before = std::move(kernel);
    const bool stop =
        note(solutions_.back(), static_cast<double>(bank_.kernels()) / augmentation.alpha, augmentation.beta);
    augmentation.draw_auxiliaries(norms_, draws_);
    if (stop) return;
  }
}

void Fitter::fill(Model& model, double temperature) const {
  const Index outputs = labels_.outputs();
  const Index p = bank_.kernels();
  shape_outputs(model, bank_, outputs);
  StochasticPart part;
  part.temperature = temperature;
  const double share = 1.0 / static_cast<double>(solutions_.size());
  part.penalties = Matrix(std::ssize(solutions_) * labels_.classes, p);
  Index row = 0;
  for (const Solution& s : solutions_) {
    StochasticPart::Term term{Matrix(outputs, p), Matrix(bank_.rows(), outputs)};
    for (Index k = 0; k < outputs; ++k) {
      const double scale = share * s.weights.scales[at(k)] / static_cast<double>(s.sweep.steps);
      for (Index f = 0; f < p; ++f) term.weights(k, f) = s.weights.weights(f, k);
      for (Index n = 0; n < bank_.rows(); ++n) term.coefficients(n, k) = scale * s.sweep.counts(n, k);
    }
    for (Index m = 0; m < labels_.classes; ++m, ++row) {
      for (Index f = 0; f < p; ++f) part.penalties(row, f) = s.penalties(m, f);
    }
    part.terms.push_back(std::move(term));
  }
  summarise_terms(part, model);
  model.part = std::make_shared<StochasticPart>(std::move(part));
}

void Fitter::finish(Report& report) const {
  report = report_;
  report.status = done_ < planned_ ? Status::stopped : Status::iteration_limit;
  report.iterations = done_;
  report.objective_name = "steps that violated the margin";
  report.message =
      fmt::format("{} sweeps of {} steps, {} averaged; stochastic, so nothing converges to the last digit",
                  done_, steps(), solutions_.size());
  report.tables.push_back(table_);
  // Sums of kernels that do not share a distance are matrices, held whole where a quarter of the memory is enough.
  const std::size_t whole = at(bank_.rows() * bank_.cols() * labels_.outputs()) * sizeof(double);
  if (!bank_.combines_cheaply() && whole <= memory_) report.memory_bytes += whole;
}

FitResult Fitter::fit() {
  std::vector<Strength> chosen;
  if (options_.mode == "soft") {
    chosen = choose();
    soft(chosen);
  } else if (options_.mode == "plain") {
    gibbs();
  } else {
    literal();
  }
  report_.seconds.emplace_back("training", meter_.seconds());
  FitResult result;
  // Only `soft` has strengths. Whoever stopped the fit does not want more of them.
  double temperature = 0.0;
  if (options_.probability && !chosen.empty() && done_ == planned_) {
    const double trained = meter_.seconds();
    const auto scores = [&](const std::vector<Index>& train, const std::vector<Index>& held_out) {
      return Fitter(bank_, targets_, options_, context_).held_out_scores(chosen, train, held_out);
    };
    temperature = held_out_temperature(targets_, scores, context_);
    report_.seconds.emplace_back("probabilities", meter_.seconds() - trained);
  }
  fill(result.model, temperature);
  finish(result.report);
  return result;
}

std::size_t working_memory(Index n, Index p, Index outputs) {
  const Index terms = kGibbsSweeps;
  return static_cast<std::size_t>(n * outputs * (terms + 4) + 4 * p * outputs * terms + (Index{1} << 20)) *
         sizeof(double);
}

}  // namespace

const OptionTable<MkldaOptions>& mklda_option_table() {
  using O = MkldaOptions;
  static const OptionTable<O> table = {
      {"mode", &O::mode, one_of("soft", "plain", "literal"),
       "soft: strength by held-out samples; plain: drawn from the published conditionals; literal: as printed"},
      {"sweeps", &O::sweeps, kNonNegative, "rounds of gradient descent; 0: 12 (soft) or 21"},
      {"epochs", &O::epochs, kPositive, "passes over the samples in one round"},
      {"strengths", &O::strengths, "soft: prices of a violation to choose from"},
      {"choose_on", &O::choose_on, NumberRule{10.0}, "soft: at most so many samples choose the strength"},
      {"probability", &O::probability, "soft: fit class probabilities on held-out samples (a temperature)",
       kForClasses},
      {"kappa", &O::kappa, kPositive, "plain, literal: shape of the prior of alpha"},
      {"theta", &O::theta, kPositive, "plain, literal: scale of the prior of alpha"},
      {"mu", &O::mu, "plain, literal: mean of the prior of beta"},
      {"sigma", &O::sigma, kPositive, "plain, literal: standard deviation of the prior of beta"},
  };
  return table;
}

FitResult fit_mklda(const KernelBank& bank, const Targets& targets, const MkldaOptions& options,
                    const Context& context) {
  return complete_fit(find_learner("mkl-da"), bank, targets, option_texts(mklda_option_table(), options),
                      context, [&](FitResult& result) {
                        result = balanced_fit(bank, [&](const KernelBank& own) {
                          return Fitter(own, targets, options, context).fit();
                        });
                      });
}

Learner mklda_learner() {
  Learner learner;
  learner.name = "mkl-da";
  learner.summary =
      "hundreds of kernels at the price of one, by stochastic "
      "gradients; no Gram matrix; strength by held-out samples";
  learner.doc_page = "docs/methods/mkl-da.md";
  learner.tasks = {Task::binary, Task::multiclass};
  learner.absent_tasks = learner.tasks;
  learner.options = describe_options(mklda_option_table());
  learner.fit = [](const KernelBank& bank, const Targets& targets, const OptionValues& values,
                   const Context& context) {
    return fit_mklda(bank, targets, parse_options(mklda_option_table(), values, "mkl-da"), context);
  };
  learner.working_memory = working_memory;
  learner.operations = [](double n, double /*p*/) { return 10.0 * n * n; };
  learner.wants_families = true;
  learner.load = load_stochastic;
  learner.also = {"mkl-dao"};
  return learner;
}

}  // namespace kloom::methods
