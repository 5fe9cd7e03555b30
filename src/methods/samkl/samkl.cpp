// SPDX-License-Identifier: BSD-3-Clause
#include "methods/samkl/samkl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "algebra/blas.h"
#include "algebra/threads.h"
#include "base/whole_progress.h"
#include "data/folds.h"
#include "kloom/error.h"
#include "methods/gated/held_out.h"
#include "methods/gated/part.h"
#include "methods/gated/scores.h"
#include "methods/margin/outputs.h"
#include "methods/samkl/solver.h"
#include "methods/seam/prepared_targets.h"

namespace kloom::methods {
namespace {

constexpr const char* kName = "samkl";
constexpr double kCollapsedMargin = 0.05;  // a τ below this is a sign of collapse
// Outputs whose held-out scores choose C, m₀ and the updates. With 200 classes and 42 choices all of them would be
// 42,000 fits.
constexpr std::size_t kMostAsked = 10;

// One way to train; a cross-validation compares several.
struct Choice {
  double price = 1.0;  // C
  Index changes = 0;   // m₀
  bool one_update = true;
};

// What a choice gets on samples that it has not seen.
struct Judged {
  Choice choice;
  Matrix scores;  // N × outputs
  double error = 0.0;
};

// Who chooses: outputs, and targets in which only the samples of their classes have weight.
struct Jury {
  Targets targets;
  std::vector<MarginOutput> outputs;
};

Jury jury_of(const Targets& targets, const std::vector<MarginOutput>& outputs) {
  Jury jury{targets, outputs};
  if (outputs.size() <= kMostAsked) return jury;
  std::vector<int> places(outputs.size(), -1);
  jury.outputs.clear();
  for (std::size_t k = 0; k < kMostAsked; ++k) {
    const std::size_t output = (2 * k + 1) * outputs.size() / (2 * kMostAsked);
    places[output] = static_cast<int>(k);
    jury.outputs.push_back(outputs[output]);
  }
  jury.targets.weights.assign(targets.codes.size(), 0.0);
  for (std::size_t i = 0; i < targets.codes.size(); ++i) {
    const int place = places[at(targets.codes[i])];
    if (place >= 0) jury.targets.weights[i] = weight_of(targets, static_cast<Index>(i));
    jury.targets.codes[i] = std::max(place, 0);
  }
  return jury;
}

// The simple ones first: of equally good choices the first is taken.
std::vector<Choice> choices_of(const SamklOptions& options, Index kernels) {
  const std::vector<double> prices =
      options.C > 0.0 ? std::vector<double>{options.C} : option_numbers("C_grid", options.C_grid, 0.0, true);
  std::vector<Choice> choices;
  for (const double changes : option_numbers("m0", options.m0, 0.0, false)) {
    if (changes != std::floor(changes)) {
      throw InvalidArgument(fmt::format("option m0 must hold whole numbers, e.g. 0..3; got {}", changes));
    }
    if (changes > static_cast<double>(kernels)) continue;
    for (const bool one : {true, false}) {
      const bool asked = one ? options.updates == "auto" || options.updates == "one" : options.updates != "one";
      // Without changes there is nothing to update.
      if (changes == 0.0 ? !one : !asked) continue;
      for (const double price : prices) choices.push_back({price, static_cast<Index>(changes), one});
    }
  }
  if (choices.empty()) {
    throw InvalidArgument(fmt::format("option m0 must be at most the number of kernels, which is {}; got '{}'",
                                      kernels, options.m0));
  }
  return choices;
}

class Fitter {
 public:
  Fitter(const KernelBank& bank, const Targets& targets, const SamklOptions& options, const Context& context)
      : bank_(bank),
        targets_(targets),
        options_(options),
        context_(context),
        outputs_(class_outputs(targets, options.class_weight == "balanced")) {}

  FitResult fit();

 private:
  struct Fitted {
    SwitchedSolution solution;
    Vector start;  // h⁰
    SwitchEnding ending = SwitchEnding::settled;
    std::vector<SwitchRound> rounds;
  };
  [[nodiscard]] SwitchSettings settings(Index changes) const;
  [[nodiscard]] Vector start_switches(const MarginSolution& plain) const;
  [[nodiscard]] std::vector<Judged> judge(const std::vector<Choice>& choices, const Jury& jury) const;
  [[nodiscard]] static Judged choose(std::vector<Judged> judged, const Jury& jury);
  [[nodiscard]] Judged choose_and_score(const std::vector<Choice>& choices, Report& report) const;
  void judge_fold(std::vector<Judged>& judged, std::size_t output, const Jury& jury,
                  const std::vector<Index>& folds, Index fold, WholeProgress& progress) const;
  void score_held_out(Judged& judged, std::size_t output, const MarginTask& rest,
                      const std::vector<Index>& folds, Index fold, const SwitchedSolution& solution) const;
  [[nodiscard]] Fitted learn(std::size_t output, const Choice& choice, const Context& context) const;
  void fill(Model& model, GatedPart& part, const Choice& choice, const std::vector<Fitted>& fitted) const;
  void tell(Report& report, const Choice& choice, const std::vector<Fitted>& fitted) const;
  void warn(Report& report, const std::vector<Fitted>& fitted) const;
  [[nodiscard]] bool class_has_a_pattern_of_its_own(const SwitchedSolution& solution) const;

  const KernelBank& bank_;
  const Targets& targets_;
  const SamklOptions& options_;
  const Context& context_;
  std::vector<MarginOutput> outputs_;
};

SwitchSettings Fitter::settings(Index changes) const {
  SwitchSettings settings;
  settings.inner.tolerance = options_.tolerance;
  settings.inner.iterations = options_.iterations;
  settings.inner.stage = kName;
  settings.changes = changes;
  settings.updates = options_.update_limit;
  settings.update_margins = options_.margins == "updated";
  settings.literal = options_.updates == "literal";
  settings.least_margin = options_.least_margin;
  return settings;
}

// h⁰ by the option; `plain` is ℓ1 MKL's solution.
Vector Fitter::start_switches(const MarginSolution& plain) const {
  Vector start(at(bank_.kernels()), 1.0);
  if (options_.h0 == "all") return start;
  for (std::size_t p = 0; p < start.size(); ++p) {
    start[p] = options_.h0 == "l1" ? (plain.theta[p] > 0.0 ? 1.0 : 0.0) : (options_.h0[p] == '1' ? 1.0 : 0.0);
  }
  return start;
}

void check_start(const std::string& h0, Index kernels) {
  if (h0 == "all" || h0 == "l1") return;
  const bool digits = h0.find_first_not_of("01") == std::string::npos;
  if (digits && std::ssize(h0) == kernels && h0.find('1') != std::string::npos) return;
  throw InvalidArgument(fmt::format(
      "option h0 must be all, l1, or {} digits 0 and 1, one per kernel and not all of them 0; got '{}'",
      kernels, h0));
}

void Fitter::score_held_out(Judged& judged, std::size_t output, const MarginTask& rest,
                            const std::vector<Index>& folds, Index fold,
                            const SwitchedSolution& solution) const {
  const Matrix outputs =
      gated_outputs(bank_, solution.inner.theta, solution.inner.coefficients, solution.in_prediction());
  const PatternScores best = best_patterns(outputs, distinct_patterns(solution.in_prediction(), rest.box),
                                           solution.inner.bias, targets_.task == Task::binary);
  for (std::size_t i = 0; i < folds.size(); ++i) {
    if (folds[i] == fold) judged.scores(static_cast<Index>(i), static_cast<Index>(output)) = best.scores[i];
  }
}

// All choices of one price begin with the same ℓ1 solution, and running to the stop begins with one update:
// each part is solved once, and prices follow each other by warm starts.
void Fitter::judge_fold(std::vector<Judged>& judged, std::size_t output, const Jury& jury,
                        const std::vector<Index>& folds, Index fold, WholeProgress& progress) const {
  const Context& context = progress.part();
  const MarginTask part = without_fold(jury.outputs[output].task, folds, fold);
  std::set<double> prices;
  for (const Judged& one : judged) prices.insert(one.choice.price);
  double before = 0.0;
  MarginSolution plain;
  for (const double price : prices) {
    const MarginTask rest = with_price(part, price);
    MarginStart from = before > 0.0
                           ? continued(plain, price / before)
                           : MarginStart(start_weights(bank_.kernels(), WeightRule::second_order, 1.0));
    before = price;
    Vector start(at(bank_.kernels()), 1.0);
    SwitchedSolution base = SwitchedMkl(bank_, rest, settings(0), start, context).first(std::move(from));
    plain = base.inner;
    start = start_switches(plain);
    if (options_.h0 != "all") {
      base = SwitchedMkl(bank_, rest, settings(0), start, context).first(uniform_weights(bank_.kernels(), 1.0));
    }
    SwitchedSolution updated;  // once, for the m₀ of the choice before
    Index updated_for = 0;
    for (Judged& one : judged) {
      const Choice& choice = one.choice;
      if (choice.price != price) continue;
      if (progress.stopped()) return;
      if (choice.changes == 0) {
        score_held_out(one, output, rest, folds, fold, base);
        continue;
      }
      SwitchedMkl mkl(bank_, rest, settings(choice.changes), start, context);
      if (updated_for != choice.changes) updated = mkl.next(base);
      updated_for = choice.changes;
      score_held_out(one, output, rest, folds, fold, choice.one_update ? updated : mkl.run(updated));
    }
  }
}

std::vector<Judged> Fitter::judge(const std::vector<Choice>& choices, const Jury& jury) const {
  const std::vector<Index> folds = data::stratified_folds(targets_.codes, options_.folds, context_.seed);
  std::vector<Judged> judged;
  judged.reserve(choices.size());
  for (const Choice& choice : choices) {
    judged.push_back({choice, Matrix(bank_.rows(), std::ssize(jury.outputs)), 0.0});
  }
  const std::string stage = choices.size() > 1 ? "samkl: cross-validation" : "samkl: held-out scores";
  WholeProgress progress(context_, stage, options_.folds * std::ssize(jury.outputs));
  for (Index fold = 0; fold < options_.folds; ++fold) {
    for (std::size_t k = 0; k < jury.outputs.size(); ++k) {
      judge_fold(judged, k, jury, folds, fold, progress);
      if (progress.done()) {
        throw Interrupted(
            "stopped while C and m0 were being chosen; with --C, --m0, --updates and --no-probability "
            "nothing is chosen");
      }
    }
  }
  for (Judged& one : judged) one.error = held_out_error(jury.targets, jury.outputs, one.scores);
  return judged;
}

// The lowest held-out error, of equal ones the first; but with switches only if that is clearly better than the
// best without (where m₀ = 0 is a candidate): switches can fit anything, and few samples tell little.
Judged Fitter::choose(std::vector<Judged> judged, const Jury& jury) {
  auto best = std::ranges::min_element(judged, {}, &Judged::error);
  auto plain = judged.end();
  for (auto one = judged.begin(); one != judged.end(); ++one) {
    if (one->choice.changes == 0 && (plain == judged.end() || one->error < plain->error)) plain = one;
  }
  if (plain != judged.end() && best->choice.changes > 0 &&
      !clearly_better(jury.targets, jury.outputs, best->scores, plain->scores)) {
    best = plain;
  }
  return std::move(*best);
}

// The choice, with what it gets from every output on samples that it has not seen.
Judged Fitter::choose_and_score(const std::vector<Choice>& choices, Report& report) const {
  const Jury jury = jury_of(targets_, outputs_);
  const bool all = jury.outputs.size() == outputs_.size();
  Judged best{choices.front(), {}, 0.0};
  if (choices.size() > 1 || all) {
    std::vector<Judged> judged = judge(choices, jury);
    Report::Table table{"cross-validation (updates 0: to the stop)", {"C", "m0", "updates", "error rate"}, {}};
    for (const Judged& one : judged) {
      const double updates = one.choice.changes > 0 && one.choice.one_update ? 1.0 : 0.0;
      table.rows.push_back({one.choice.price, static_cast<double>(one.choice.changes), updates, one.error});
    }
    report.tables.push_back(std::move(table));
    best = choose(std::move(judged), jury);
  }
  if (all || !options_.probability) return best;
  return std::move(judge({best.choice}, {targets_, outputs_}).front());
}

Fitter::Fitted Fitter::learn(std::size_t output, const Choice& choice, const Context& context) const {
  const MarginTask task = with_price(outputs_[output].task, choice.price);
  const MarginStart from(start_weights(bank_.kernels(), WeightRule::second_order, 1.0));
  Fitted fitted;
  fitted.start.assign(at(bank_.kernels()), 1.0);
  fitted.solution = SwitchedMkl(bank_, task, settings(0), fitted.start, context).first(from);
  if (options_.h0 != "all") {
    fitted.start = start_switches(fitted.solution.inner);
    fitted.solution = SwitchedMkl(bank_, task, settings(0), fitted.start, context)
                          .first(uniform_weights(bank_.kernels(), 1.0));
  }
  SwitchSettings chosen = settings(choice.changes);
  chosen.updates = choice.changes == 0 ? 0 : choice.one_update ? 1 : chosen.updates;
  chosen.literal = chosen.literal && choice.changes > 0;
  SwitchedMkl mkl(bank_, task, chosen, fitted.start, context);
  fitted.solution = mkl.run(std::move(fitted.solution));
  fitted.ending = mkl.ending();
  if (choice.changes == 0 || choice.one_update) fitted.ending = SwitchEnding::settled;
  if (fitted.solution.inner.status == Status::stopped) fitted.ending = SwitchEnding::stopped;
  fitted.rounds = mkl.rounds();
  return fitted;
}

void Fitter::fill(Model& model, GatedPart& part, const Choice& choice,
                  const std::vector<Fitted>& fitted) const {
  const Index outputs = std::ssize(fitted);
  model.weights.shape = outputs > 1 ? KernelWeights::Shape::per_class : KernelWeights::Shape::shared;
  model.weights.values = Matrix(outputs, bank_.kernels());
  model.coefficients = Matrix(bank_.rows(), outputs);
  part.box = Matrix(bank_.rows(), outputs);
  part.gates.start = fitted.front().start;
  part.gates.changes = static_cast<double>(choice.changes);
  for (Index c = 0; c < outputs; ++c) {
    const SwitchedSolution& s = fitted[at(c)].solution;
    const Vector box = with_price(outputs_[at(c)].task, choice.price).box;
    for (Index p = 0; p < bank_.kernels(); ++p) model.weights.values(c, p) = s.inner.theta[at(p)];
    std::ranges::copy(s.inner.coefficients, model.coefficients.column(c).begin());
    model.bias.push_back(s.inner.bias);
    for (Index i = 0; i < bank_.rows(); ++i) part.box(i, c) = box[at(i)] / s.margins[at(i)];
    part.gates.outputs.push_back(
        {s.switches, distinct_patterns(s.in_prediction(), box), s.margins, {}, s.last});
    if (part.gates.outputs.back().patterns.empty()) {
      throw InvalidArgument("every sample has weight 0, so there is nothing to learn from");
    }
  }
}

// All samples of a class share a pattern, among kernels with weight, that no sample of another class has.
bool Fitter::class_has_a_pattern_of_its_own(const SwitchedSolution& solution) const {
  std::vector<std::set<Vector>> patterns(targets_.classes.size());
  for (Index i = 0; i < bank_.rows(); ++i) {
    Vector pattern;
    for (Index p = 0; p < bank_.kernels(); ++p) {
      if (solution.inner.theta[at(p)] > 0.0) pattern.push_back(solution.in_prediction()(i, p));
    }
    patterns[at(targets_.codes[at(i)])].insert(std::move(pattern));
  }
  for (std::size_t c = 0; c < patterns.size(); ++c) {
    if (patterns[c].size() != 1) continue;
    bool apart = true;
    for (std::size_t d = 0; d < patterns.size(); ++d)
      apart &= d == c || !patterns[d].contains(*patterns[c].begin());
    if (apart) return true;
  }
  return false;
}

void Fitter::warn(Report& report, const std::vector<Fitted>& fitted) const {
  double least = 1.0;
  bool apart = false;
  bool endless = false;
  for (const Fitted& one : fitted) {
    for (const double tau : one.solution.margins) least = std::min(least, tau);
    apart |= class_has_a_pattern_of_its_own(one.solution);
    endless |= one.ending == SwitchEnding::repeat || one.ending == SwitchEnding::update_limit;
  }
  if (least < kCollapsedMargin) {
    report.warnings.push_back(fmt::format(
        "sign of collapse: some samples keep {:.1g} of the margin (tau), almost all of their kernels are off; "
        "a smaller m0 or updates = one would help",
        least));
  }
  if (apart) {
    report.warnings.emplace_back(
        "sign of collapse: all samples of a class share a pattern of switches that no other class has, so "
        "training accuracy says nothing; compare with m0 = 0 on held-out samples");
  }
  if (endless) {
    report.warnings.emplace_back(
        "the switches did not settle: they came back to earlier ones, or the limit of updates was reached");
  }
}

std::string ending_text(SwitchEnding ending) {
  switch (ending) {
    case SwitchEnding::settled:
      return "the switches settled";
    case SwitchEnding::small_change:
      return "the objective changed by less than 1e-4";
    case SwitchEnding::rise:
      return "the objective rose, where Algorithm 1 stops";
    case SwitchEnding::repeat:
      return "the switches came back to earlier ones";
    case SwitchEnding::update_limit:
      return "the limit of updates was reached";
    case SwitchEnding::stopped:
      break;
  }
  return "stopped";
}

void Fitter::tell(Report& report, const Choice& choice, const std::vector<Fitted>& fitted) const {
  report.objective_name = "primal objective";
  Report::Table rounds{"updates of the switches",
                       {"output", "update", "objective", "kernels", "off", "patterns", "least tau"},
                       {}};
  double gap = 0.0;
  for (std::size_t k = 0; k < fitted.size(); ++k) {
    const Fitted& one = fitted[k];
    report.objective += one.solution.inner.primal;
    report.iterations += one.solution.updates;
    gap = std::max(gap, one.solution.inner.gap());
    if (one.solution.inner.status != Status::converged) report.status = one.solution.inner.status;
    if (one.ending == SwitchEnding::update_limit) report.status = Status::iteration_limit;
    for (std::size_t r = 0; r < one.rounds.size(); ++r) {
      const SwitchRound& round = one.rounds[r];
      rounds.rows.push_back({static_cast<double>(k + 1), static_cast<double>(r), round.objective,
                             static_cast<double>(round.kernels), round.off, static_cast<double>(round.patterns),
                             round.least_margin});
      if (fitted.size() == 1) report.trace.push_back({static_cast<Index>(r), round.objective, 0.0});
    }
    report.maps.push_back({Report::SampleMap::Kind::switches, fitted.size() > 1 ? targets_.classes[k] : "",
                           bank_.names(), one.solution.inner.theta, targets_.classes, targets_.codes,
                           one.solution.in_prediction()});
  }
  report.tables.push_back(std::move(rounds));
  const std::string how = choice.changes == 0 ? "no switches (m0 = 0): l1 MKL"
                          : choice.one_update ? "one update of the switches"
                                              : ending_text(fitted.front().ending);
  report.message =
      fmt::format("{}; m0 = {}, C = {}; inner duality gap {:.1e}", how, choice.changes, choice.price, gap);
  report.options["C"] = number_text(choice.price);
  report.options["m0"] = number_text(static_cast<double>(choice.changes));
  if (options_.updates == "auto") report.options["updates"] = choice.one_update ? "one" : "stop";
  warn(report, fitted);
}

FitResult Fitter::fit() {
  FitResult result;
  ProgressMeter clock(context_, kName);
  const std::vector<Choice> choices = choices_of(options_, bank_.kernels());
  Judged best{choices.front(), {}, 0.0};
  if (choices.size() > 1 || options_.probability) {
    best = choose_and_score(choices, result.report);
    result.report.seconds.emplace_back("cross-validation", clock.seconds());
  }
  const double chosen = clock.seconds();
  std::vector<Fitted> fitted;
  WholeProgress progress(context_, kName, std::ssize(outputs_));
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    fitted.push_back(learn(k, best.choice, progress.part()));
    if (outputs_.size() > 1) progress.done();  // who is told to stop ends the others at once
  }
  result.report.seconds.emplace_back("training", clock.seconds() - chosen);
  GatedPart part;
  fill(result.model, part, best.choice, fitted);
  if (options_.probability) part.platt = held_out_sigmoids(outputs_, best.scores);
  result.model.part = std::make_shared<GatedPart>(std::move(part));
  tell(result.report, best.choice, fitted);
  return result;
}

// Bytes for the inner solver, and for switches, outputs and patterns.
std::size_t working_memory(Index n, Index p, Index outputs, bool whole_kernel) {
  return margin_memory(n, p, whole_kernel) +
         static_cast<std::size_t>(6 * n * p + (2 + p) * n * outputs) * sizeof(double);
}

}  // namespace

const OptionTable<SamklOptions>& samkl_option_table() {
  using O = SamklOptions;
  static const OptionTable<O> table = {
      {"C", &O::C, kNonNegative, "price of a margin violation; 0: chosen by cross-validation from C_grid"},
      {"C_grid", &O::C_grid, "values to choose C from"},
      {"m0", &O::m0,
       "kernels that a sample may switch away from h0, e.g. 3; "
       "of several, e.g. 0..3, cross-validation chooses (0 is l1 MKL)"},
      {"updates", &O::updates, one_of("auto", "one", "stop", "literal"),
       "of the switches: one, or to the stop; auto: chosen by cross-validation; "
       "literal: the paper's Algorithm 1 to its end, with m0 = 3 where nothing else is said"},
      {"update_limit", &O::update_limit, kAtLeastOne, "at most this many updates of the switches"},
      {"h0", &O::h0, "where the switches begin: all, l1 (kernels with weight in l1 MKL), or digits 0 and 1"},
      {"margins", &O::margins, one_of("updated", "one"),
       "tau, the margin asked of a sample: by the kernels that it keeps, or always 1"},
      {"least_margin", &O::least_margin, NumberRule{0.0, true, 1.0},
       "floor of tau, for samples whose kernels are almost all off"},
      {"folds", &O::folds, NumberRule{2.0}, "folds of the cross-validation and for probabilities"},
      {"tolerance", &O::tolerance, kPositive, "relative duality gap of every inner problem"},
      {"iterations", &O::iterations, kAtLeastOne, "at most this many updates of the kernel weights in each"},
      {"class_weight", &O::class_weight, one_of("none", "balanced"),
       "balanced: C of a class inversely to its size"},
      {"probability", &O::probability, "fit class probabilities on held-out folds (Platt scaling)"},
  };
  return table;
}

// The settings of the paper, in place of defaults.
static SamklOptions as_published(SamklOptions options) {
  constexpr Index kNoLimit = 1000;  // Algorithm 1 knows none; the objective cannot fall by 1e-4 for ever
  const SamklOptions defaults;
  if (options.m0 == defaults.m0) options.m0 = "3";
  if (options.update_limit == defaults.update_limit) options.update_limit = kNoLimit;
  return options;
}

FitResult fit_samkl(const KernelBank& bank, const Targets& targets, const SamklOptions& options,
                    const Context& context) {
  return complete_fit(
      find_learner(kName), bank, targets, option_texts(samkl_option_table(), options), context,
      [&](FitResult& result) {
        const SamklOptions settled = options.updates == "literal" ? as_published(options) : options;
        check_start(settled.h0, bank.kernels());
        result = Fitter(bank, targets, settled, context).fit();
        result.report.options["update_limit"] = number_text(static_cast<double>(settled.update_limit));
      });
}

Learner samkl_learner() {
  Learner learner;
  learner.name = kName;
  learner.summary =
      "kernels switched on and off sample by sample (SAMKL), chosen against l1 MKL by cross-validation";
  learner.doc_page = "docs/methods/samkl.md";
  learner.tasks = {Task::binary, Task::multiclass};
  learner.sample_maps = true;
  learner.load = load_gated;
  learner.options = describe_options(samkl_option_table());
  learner.fit = [](const KernelBank& bank, const Targets& targets, const OptionValues& values,
                   const Context& context) {
    return fit_samkl(bank, targets, parse_options(samkl_option_table(), values, kName), context);
  };
  learner.working_memory = [](Index n, Index p, Index m) { return working_memory(n, p, m, true); };
  learner.least_memory = [](Index n, Index p, Index m) { return working_memory(n, p, m, false); };
  return learner;
}

}  // namespace kloom::methods
