// SPDX-License-Identifier: BSD-3-Clause
#include "methods/auto/auto.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "algebra/blas.h"
#include "base/progress.h"
#include "data/folds.h"
#include "kernels/spec/taught_trees.h"
#include "kernels/spec/teachers.h"
#include "kloom/error.h"
#include "kloom/parts.h"
#include "methods/auto/blend.h"
#include "methods/auto/candidates.h"
#include "methods/auto/chosen.h"
#include "methods/auto/sizes.h"
#include "methods/kernel_machine/evidence.h"
#include "methods/kernel_machine/machine.h"
#include "methods/kernel_machine/part.h"
#include "models/scores.h"

namespace kloom::methods {
namespace {

constexpr const char* kName = "auto";
constexpr std::array kLossNames = {"held-out squared error over variance", "held-out log loss"};

// The samples `chosen` of a task.
MachineTask part_of_task(const MachineTask& task, const std::vector<Index>& chosen) {
  MachineTask part;
  part.classes = task.classes;
  for (const Index i : chosen) {
    if (task.classes > 0) part.labels.push_back(task.labels[at(i)]);
    if (task.classes == 0) part.numbers.push_back(task.numbers[at(i)]);
    if (!task.weights.empty()) part.weights.push_back(task.weights[at(i)]);
  }
  return part;
}

// A machine on one candidate, ready to be blended.
struct Entry {
  std::size_t candidate = 0;
  Machine machine;
  Matrix on_landmarks;  // its coefficients, before the factor
};

class Fitter {
 public:
  Fitter(const KernelBank& bank, const Targets& targets, const AutoOptions& options, const Context& context)
      : bank_(bank), targets_(targets), options_(options), context_(context), meter_(context, kName) {}

  FitResult fit();

 private:
  void set_task();
  void set_numbers();
  void set_folds();
  [[nodiscard]] Index fold_count() const {
    return options_.folds > 0 ? options_.folds : usual_folds(std::ssize(samples_));
  }
  void set_judges();
  [[nodiscard]] std::vector<Index> screening_samples(Index most) const;
  void screen();
  [[nodiscard]] double mean_diagonal(const Matrix& kernel, Index p, const std::vector<Index>& chosen) const;
  void propose();
  void propose_taught();
  [[nodiscard]] bool taught(Index p) const;
  [[nodiscard]] bool with_taught(const Vector& weights) const;
  [[nodiscard]] Matrix features_without(Index fold, Vector weights) const;
  void try_candidates();
  void try_margins(double longest);
  void try_candidate(std::size_t c, bool margin);
  void repeat(const Chosen& chosen);
  [[nodiscard]] Chosen chosen() const;
  void fill(FitResult& result) const;
  void tell(Report& report) const;
  void add_entry(std::size_t candidate, const Matrix& back, Machine machine);
  [[nodiscard]] Matrix coefficients_of(const Entry& entry) const;
  // Where samples lack kernels: what makes up for that in the sum with these weights. Else empty.
  [[nodiscard]] Vector scales_of(const Vector& weights) const {
    if (bank_.presence().complete()) return {};
    return models::present_scales(bank_.presence().rows, weights, diagonals_);
  }
  // What is tried is decided by counted operations at rates that two cores reach, so that the same data and options give
  // the same model on every machine; the clock only ends what would run over. Products of large matrices are faster than
  // passes over the features.
  static constexpr double kPassRate = 1.6e10;
  void spend_on_products(double operations) { counted_ += operations / 5e10; }
  void spend_on_passes(double operations) { counted_ += operations / kPassRate; }
  // Ridge regression of numbers takes all features once.
  [[nodiscard]] Index most_features() const {
    return task_.classes == 0 ? kSome : features_of_classes(bank_.rows(), task_.outputs());
  }
  [[nodiscard]] double budget() const {
    constexpr double kUsual = 60.0;
    constexpr double kOfFew = 20.0;
    if (options_.time > 0.0) return options_.time;
    return std::ssize(samples_) <= kFewSamples ? kOfFew : kUsual;
  }
  [[nodiscard]] bool out_of_time(double share) const {
    return counted_ > share * budget() || meter_.seconds() > 0.9 * share * budget();
  }

  // By the clock: whatever takes so long would not be done in time.
  [[nodiscard]] bool no_time_for(double seconds) const { return meter_.seconds() + seconds > budget(); }

  const KernelBank& bank_;
  const Targets& targets_;
  const AutoOptions& options_;
  const Context& context_;
  ProgressMeter meter_;
  MachineTask task_;
  double centre_ = 0.0;  // regression: the target was learned as (y − centre)/scale
  double scale_ = 1.0;
  std::vector<Index> samples_;  // with a weight above 0: the others are as if absent
  std::vector<int> strata_;     // of these samples
  std::vector<Index> judges_;   // those of them whose held-out losses count
  std::vector<Index> landmarks_;
  std::vector<kernels::CrossTaught> taught_;
  Vector losses_;     // of every kernel alone; infinite of those that all samples taught
  Vector diagonals_;  // mean of each kernel
  std::vector<Candidate> candidates_;
  std::vector<Entry> entries_;
  Blend blend_;
  double counted_ = 0.0;  // seconds
  bool stopped_ = false;
  bool hurried_ = false;
};

// Kernels that learned from targets come with folds, which are then everybody's.
void Fitter::set_folds() {
  taught_ = kernels::cross_taught(bank_.names());
  if (!taught_.empty()) {
    task_.folds = kernels::tree_folds(targets_, taught_.front().folds);
    std::ranges::replace(task_.folds, Index{-1}, Index{0});
    return;
  }
  const std::vector<Index> folds =
      data::stratified_folds(strata_, std::min(fold_count(), std::ssize(samples_)), context_.seed);
  task_.folds.assign(at(bank_.rows()), 0);
  for (std::size_t k = 0; k < samples_.size(); ++k) task_.folds[at(samples_[k])] = folds[k];
}

void Fitter::set_task() {
  task_.weights = targets_.weights;
  for (Index i = 0; i < bank_.rows(); ++i) {
    if (task_.weights.empty() || task_.weights[at(i)] > 0.0) samples_.push_back(i);
  }
  const auto n = std::ssize(samples_);
  if (n < 2) throw InvalidArgument("auto needs two samples with a weight above 0");
  if (targets_.task == Task::regression) {
    set_numbers();
    strata_.assign(at(n), 0);
  } else {
    task_.classes = std::ssize(targets_.classes);
    task_.labels = targets_.codes;
    for (const Index i : samples_) strata_.push_back(targets_.codes[at(i)]);
  }
  set_folds();
  set_judges();
  const Index most = options_.landmarks > 0 ? options_.landmarks : usual_landmarks(n);
  landmarks_ = data::spread_samples(samples_, strata_, most, context_.seed + 1);
}

// Some kernels have learned from the labels of some samples, their teachers. Held-out losses of teachers would look too
// good, so only the others are judged. With many samples one fold has enough of them, and only that is held out.
void Fitter::set_judges() {
  judges_ = samples_;
  const auto first_only = [](const kernels::CrossTaught& kernel) { return std::ssize(kernel.without) == 1; };
  if (std::ranges::any_of(taught_, first_only) ||
      (task_.classes > 0 && std::ssize(samples_) >= kernels::kOneFoldJudges)) {
    task_.judged = task_.weights_without(-1);
    for (const Index i : samples_) {
      if (task_.folds[at(i)] != 0) task_.judged[at(i)] = 0.0;
    }
  }
  const std::vector<Index> teachers = kernels::teachers_of(bank_.names(), targets_);
  if (teachers.empty()) return;
  std::erase_if(judges_, [&](Index i) { return std::ranges::binary_search(teachers, i); });
  if (task_.judged.empty()) task_.judged = task_.weights_without(-1);
  for (const Index i : teachers) task_.judged[at(i)] = 0.0;
}

void Fitter::set_numbers() {
  const auto n = static_cast<double>(samples_.size());
  const auto values = targets_.values.column(0);
  for (const Index i : samples_) centre_ += values[at(i)] / n;
  double square = 0.0;
  for (const Index i : samples_) square += (values[at(i)] - centre_) * (values[at(i)] - centre_) / n;
  scale_ = square > 0.0 ? std::sqrt(square) : 1.0;
  for (const double y : values) task_.numbers.push_back((y - centre_) / scale_);
}

std::vector<Index> Fitter::screening_samples(Index most) const {
  std::vector<int> strata;
  for (const Index i : judges_) strata.push_back(task_.classes > 0 ? task_.labels[at(i)] : 0);
  return data::spread_samples(judges_, strata, most, context_.seed + 2);
}

// Over the samples that have the kernel.
double Fitter::mean_diagonal(const Matrix& kernel, Index p, const std::vector<Index>& chosen) const {
  const Matrix& presence = bank_.presence().rows;
  double count = 0.0;
  for (const Index i : chosen) count += presence.empty() || presence(i, p) > 0.0 ? 1.0 : 0.0;
  double mean = 0.0;
  for (Index i = 0; i < kernel.rows(); ++i) mean += kernel(i, i) / std::max(count, 1.0);
  return mean;
}

void Fitter::screen() {
  const Index p = bank_.kernels();
  const std::vector<Index> chosen = screening_samples(screened_samples(options_.screen_on, p));
  const auto n = std::ssize(chosen);
  const MachineTask part = part_of_task(task_, chosen);
  Vector values(at(p * n * n));
  bank_.entries(chosen, chosen, values.data());
  losses_.assign(at(p), std::numeric_limits<double>::infinity());
  diagonals_.assign(at(p), 0.0);
  for (Index k = 0; k < p; ++k) {
    Matrix kernel(n, n);
    std::copy_n(values.begin() + k * n * n, n * n, kernel.values().begin());
    diagonals_[at(k)] = mean_diagonal(kernel, k, chosen);
    if (!options_.machines.empty()) continue;  // chosen already: the sizes are all that is needed
    if (taught(k)) continue;                   // what it has learned would flatter it here
    if (p == 1) losses_[0] = 0.0;
    // Screening may take a fifth of the time; kernels that were not reached are not in play.
    if (out_of_time(0.2) && k > 0) {
      hurried_ = true;
      continue;
    }
    if (p > 1) {
      losses_[at(k)] = screening_loss(kernel, part);
      spend_on_passes(40.0 * std::pow(static_cast<double>(n), 3));
    }
    stopped_ = meter_.step(k + 1, p, losses_[at(k)]) || stopped_;
  }
}

void Fitter::propose() {
  constexpr Index kMost = 9;
  candidates_ = propose_candidates(bank_.names(), losses_, diagonals_, kMost);
  propose_taught();
  if (candidates_.empty()) {
    // Kernels without variation: the mean of all still has a bias that predicts the most frequent class.
    candidates_.push_back({"mean of all", Vector(at(bank_.kernels()), 1.0)});
  }
  if (bank_.kernels() < 2 || out_of_time(0.3)) return;
  EvidenceRequest request;
  request.samples = screening_samples(options_.screen_on);
  request.kernels = best_kernels(losses_, 16);
  EvidenceSolution found = maximise_evidence(bank_, codes_of(task_), request);
  if (!found.sound) return;
  double total = 0.0;
  for (Index p = 0; p < bank_.kernels(); ++p) total += found.weights[at(p)] * diagonals_[at(p)];
  algebra::scale(1.0 / total, found.weights);
  candidates_.push_back({"greatest evidence", std::move(found.weights)});
}

// Trees that all samples grew: alone, and as much of them as of the kernels that are best without them.
void Fitter::propose_taught() {
  const std::vector<Index> best = best_kernels(losses_, 5);
  std::vector<Candidate> found;
  for (const kernels::CrossTaught& kernel : taught_) {
    const auto whole = at(kernel.whole);
    Candidate alone{bank_.names()[whole], Vector(at(bank_.kernels()))};
    alone.weights[whole] = 1.0 / std::max(diagonals_[whole], 1e-300);
    found.push_back(alone);
    if (best.empty() || std::ssize(samples_) > kAllUpTo) continue;
    alone.name += " and the best 5 others";
    alone.weights[whole] *= 0.5;
    for (const Index p : best)
      alone.weights[at(p)] = 0.5 / (static_cast<double>(best.size()) * std::max(diagonals_[at(p)], 1e-300));
    found.push_back(std::move(alone));
  }
  candidates_.insert(candidates_.begin() + std::min<Index>(1, std::ssize(candidates_)), found.begin(),
                     found.end());
}

bool Fitter::taught(Index p) const {
  return std::ranges::any_of(taught_, [p](const kernels::CrossTaught& kernel) {
    return kernel.whole == p || std::ranges::find(kernel.without, p) != kernel.without.end();
  });
}

bool Fitter::with_taught(const Vector& weights) const {
  return std::ranges::any_of(
      taught_, [&](const kernels::CrossTaught& kernel) { return weights[at(kernel.whole)] > 0.0; });
}

// The features of the same sum with kernels that the samples of the fold did not teach.
Matrix Fitter::features_without(Index fold, Vector weights) const {
  for (const kernels::CrossTaught& kernel : taught_)
    std::swap(weights[at(kernel.whole)], weights[at(kernel.without[at(fold)])]);
  return kernel_features(bank_, weights, landmarks_, most_features(), scales_of(weights)).phi;
}

void Fitter::try_candidates() {
  const auto count = std::ssize(candidates_);
  double longest = 0.0;  // seconds that a candidate took
  for (Index c = 0; c < count; ++c) {
    const double begun = meter_.seconds();
    if (c > 0 && (stopped_ || out_of_time(0.75) || no_time_for(longest))) {
      hurried_ = true;
      candidates_.resize(at(c));
      break;
    }
    try_candidate(at(c), false);
    longest = std::max(longest, meter_.seconds() - begun);
    stopped_ = meter_.step(c + 1, count, entries_.back().machine.loss) || stopped_;
  }
  if (task_.classes > 0 && std::ssize(samples_) > kFewSamples) try_margins(longest);
}

// The candidates that did best so far, by the squared hinge, where half of the time is left. Few samples cannot tell whether
// that is better. Features are made again: those of all candidates together would take too much memory.
void Fitter::try_margins(double longest) {
  constexpr std::size_t kBest = 3;
  Vector least(candidates_.size(), std::numeric_limits<double>::infinity());
  for (const Entry& entry : entries_)
    least[entry.candidate] = std::min(least[entry.candidate], entry.machine.loss);
  std::vector<std::size_t> order(least.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t c) { return least[c]; });
  order.resize(std::min(order.size(), kBest));
  for (const std::size_t c : order) {
    if (stopped_ || out_of_time(0.5) || no_time_for(longest)) return;
    try_candidate(c, true);
    const auto tried = static_cast<Index>(candidates_.size());
    stopped_ = meter_.step(tried, tried, entries_.back().machine.loss) || stopped_;
  }
}

// By ridge regression and, for classes, the log loss; with `margin` by the squared hinge alone.
void Fitter::try_candidate(std::size_t c, bool margin) {
  const Vector& weights = candidates_[c].weights;
  KernelFeatures features = kernel_features(bank_, weights, landmarks_, most_features(), scales_of(weights));
  const auto n = static_cast<double>(bank_.rows());
  const auto m = static_cast<double>(landmarks_.size());
  const auto r = static_cast<double>(features.back.cols());
  double times = 1.0;
  std::vector<Matrix> without(at(task_.fold_count()));
  FoldFeatures phi_without;
  if (with_taught(weights)) {
    times += static_cast<double>(task_.judged_folds().size());
    phi_without = [&](Index fold) -> const Matrix& {
      // Ridge regression needs them once, logistic regression again and again.
      if (task_.classes == 0) without.assign(without.size(), Matrix());
      Matrix& phi = without[at(fold)];
      if (phi.empty()) phi = features_without(fold, weights);
      return phi;
    };
    if (!margin) add_entry(c, features.back, ridge_machine_by_folds(features, task_, phi_without));
  } else if (!margin) {
    // Only logistic regression needs the features once more.
    add_entry(c, features.back,
              ridge_machine(task_.classes > 0 ? features.phi : std::move(features.phi), task_));
  }
  spend_on_products(times * (10.0 * m * m * m + 2.0 * n * m * r + 5.0 * n * r * r + 10.0 * r * r * r));
  if (task_.classes == 0 || (!margin && out_of_time(0.75))) return;
  const double pass = 4.0 * n * r * static_cast<double>(task_.outputs());
  const double most_passes = budget() / 6.0 * kPassRate / pass;
  const auto enough = [&](Index passes) {
    return static_cast<double>(passes) > most_passes || meter_.seconds() > 0.8 * budget();
  };
  add_entry(c, features.back,
            class_machine(margin ? MachineKind::margin : MachineKind::logistic, features, task_, enough,
                          phi_without));
  spend_on_passes(pass * static_cast<double>(entries_.back().machine.passes));
}

// The machines that an earlier run chose, on all samples.
void Fitter::repeat(const Chosen& chosen) {
  for (const ChosenMachine& told : chosen.machines) {
    if (told.kind != MachineKind::ridge && task_.classes == 0)
      throw InvalidArgument("machines: all but ridge machines are for classes, and the target holds numbers");
    candidates_.push_back({"as told", told.weights});
    const KernelFeatures features =
        kernel_features(bank_, told.weights, landmarks_, most_features(), scales_of(told.weights));
    Machine machine = told.kind == MachineKind::ridge
                          ? ridge_machine_at(features, task_, told.ridge)
                          : class_machine_at(told.kind, features, task_, told.ridge);
    machine.factor = told.factor;
    add_entry(candidates_.size() - 1, features.back, std::move(machine));
    blend_.shares.push_back(told.share);
  }
  blend_.bias.assign(at(task_.outputs()), 0.0);
  blend_.loss = chosen.loss;
  blend_.deviation = chosen.deviation;
}

Chosen Fitter::chosen() const {
  Chosen all{blend_.loss, blend_.deviation, {}};
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    const Machine& machine = entries_[k].machine;
    if (blend_.shares[k] == 0.0) continue;
    all.machines.push_back({machine.kind, machine.ridge, machine.factor, blend_.shares[k],
                            candidates_[entries_[k].candidate].weights});
  }
  return all;
}

// `back` leads from features to coefficients; it is as large as the features, and not kept.
void Fitter::add_entry(std::size_t candidate, const Matrix& back, Machine machine) {
  Matrix on_landmarks(back.rows(), machine.w.cols());
  algebra::gemm(algebra::Op::none, algebra::Op::none, 1.0, back.view(), machine.w.view(), 0.0,
                on_landmarks.view());
  entries_.push_back({candidate, std::move(machine), std::move(on_landmarks)});
}

Matrix Fitter::coefficients_of(const Entry& entry) const {
  Matrix coefficients(bank_.rows(), entry.on_landmarks.cols());
  for (Index c = 0; c < coefficients.cols(); ++c) {
    for (std::size_t j = 0; j < landmarks_.size(); ++j)
      coefficients(landmarks_[j], c) = entry.on_landmarks(static_cast<Index>(j), c);
  }
  return coefficients;
}

void Fitter::fill(FitResult& result) const {
  const Index outputs = task_.outputs();
  Model& model = result.model;
  model.weights.values = Matrix(1, bank_.kernels());
  model.coefficients = Matrix(bank_.rows(), outputs);
  model.bias = blend_.bias;
  BlendPart part;
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    const double share = blend_.shares[k];
    if (share == 0.0) continue;
    const Entry& entry = entries_[k];
    const Vector& weights = candidates_[entry.candidate].weights;
    WeightedTerm term{Matrix(1, bank_.kernels()), coefficients_of(entry)};
    for (Index p = 0; p < bank_.kernels(); ++p) {
      term.weights(0, p) = weights[at(p)];
      model.weights.values(0, p) += blend_.relative(k) * weights[at(p)] * diagonals_[at(p)];
    }
    const double factor = share * entry.machine.factor;
    algebra::scale(factor * scale_, term.coefficients.values());
    algebra::axpy(1.0, term.coefficients.values(), model.coefficients.values());
    for (Index c = 0; c < outputs; ++c) model.bias[at(c)] += factor * entry.machine.bias[at(c)];
    part.terms.push_back(std::move(term));
    part.solutions.push_back(
        {entry.machine.kind, entry.machine.ridge, entry.machine.factor, share, entry.machine.bias});
  }
  if (task_.classes == 0) model.bias[0] = scale_ * model.bias[0] + centre_;
  part.classes = task_.classes > 0;
  part.sizes = diagonals_;
  part.centre = centre_;
  part.scale = scale_;
  part.deviation = scale_ * blend_.deviation;
  model.part = std::make_shared<BlendPart>(std::move(part));
}

void Fitter::tell(Report& report) const {
  report.objective_name = kLossNames[task_.classes > 0 ? 1 : 0];
  report.objective = blend_.loss;
  report.iterations = std::ssize(entries_);
  report.status = stopped_ ? Status::stopped : Status::converged;
  std::size_t best = 0;
  for (std::size_t k = 1; k < entries_.size(); ++k) {
    if (entries_[k].machine.loss < entries_[best].machine.loss) best = k;
  }
  const auto in_blend = std::ranges::count_if(blend_.shares, [](double s) { return s > 0.0; });
  report.message = fmt::format("{} of {} machines blended: {} {:.4g}, of the best alone ({}, {}) {:.4g}{}",
                               in_blend, entries_.size(), report.objective_name, blend_.loss,
                               candidates_[entries_[best].candidate].name,
                               kind_name(entries_[best].machine.kind), entries_[best].machine.loss,
                               hurried_ ? "; time was short, so not everything was tried (--time)" : "");
  Report::Table table{
      "machines tried (0 ridge, 1 logistic, 2 margin; held-out loss, strength, share of the blend); names in this order: ",
      {"candidate", "machine", "loss", "strength", "share"},
      {}};
  for (std::size_t k = 0; k < candidates_.size(); ++k)
    table.title += fmt::format("{}{} {}", k > 0 ? ", " : "", k + 1, candidates_[k].name);
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    const Machine& machine = entries_[k].machine;
    table.rows.push_back({static_cast<double>(entries_[k].candidate + 1),
                          static_cast<double>(static_cast<int>(machine.kind)), machine.loss, machine.ridge,
                          blend_.shares[k]});
  }
  report.tables.push_back(std::move(table));
}

FitResult Fitter::fit() {
  FitResult result;
  set_task();
  screen();
  if (!options_.machines.empty()) {
    repeat(parse_chosen(options_.machines, bank_.kernels()));
    fill(result);
    result.report.objective_name = kLossNames[task_.classes > 0 ? 1 : 0];
    result.report.objective = blend_.loss;
    result.report.iterations = std::ssize(entries_);
    result.report.message = fmt::format("{} machines as told; nothing was chosen", entries_.size());
    return result;
  }
  propose();
  const double screened = meter_.seconds();
  result.report.seconds.emplace_back("screening", screened);
  try_candidates();
  std::vector<const Machine*> machines;
  for (const Entry& entry : entries_) machines.push_back(&entry.machine);
  blend_ = blend_machines(machines, task_);
  fill(result);
  tell(result.report);
  result.report.options["machines"] = to_text(chosen());
  result.report.seconds.emplace_back("candidates", meter_.seconds() - screened);
  return result;
}

// Before the kernels are there it is not known that none is of trees.
std::size_t working_memory(Index n, Index p, Index outputs) {
  return working_bytes(n, p, outputs, true);
}

}  // namespace

const OptionTable<AutoOptions>& auto_option_table() {
  using O = AutoOptions;
  static const OptionTable<O> table = {
      {"time", &O::time, kNonNegative,
       "seconds that choosing may take, about; with less, fewer candidates are tried; 0: 60, and 20 up to 500 samples"},
      {"folds", &O::folds, kNonNegative, "folds of the held-out losses; 0: 5, and 10 up to 500 samples"},
      {"landmarks", &O::landmarks, kNonNegative, "samples that carry a coefficient, at most; 0: 1,500"},
      {"screen_on", &O::screen_on, NumberRule{20.0}, "samples on which single kernels are compared"},
      {"machines", &O::machines,
       "what to fit without choosing again, as an earlier run with the same kernels printed it"},
  };
  return table;
}

FitResult fit_auto(const KernelBank& bank, const Targets& targets, const AutoOptions& options,
                   const Context& context) {
  FitResult result =
      complete_fit(find_learner(kName), bank, targets, option_texts(auto_option_table(), options), context,
                   [&](FitResult& fitted) { fitted = Fitter(bank, targets, options, context).fit(); });
  if (kernels::cross_taught(bank.names()).empty()) {
    const Index outputs = outputs_of(targets);
    result.report.memory_bytes -= working_bytes(bank.rows(), bank.kernels(), outputs, true) -
                                  working_bytes(bank.rows(), bank.kernels(), outputs, false);
  }
  return result;
}

Learner auto_learner() {
  Learner learner;
  learner.name = kName;
  learner.summary = "chooses kernels, strength and a blend of kernel machines by held-out loss; the default";
  learner.doc_page = "docs/methods/auto.md";
  learner.tasks = {Task::binary, Task::multiclass, Task::regression};
  learner.absent_tasks = learner.tasks;
  learner.options = describe_options(auto_option_table());
  learner.fit = [](const KernelBank& bank, const Targets& targets, const OptionValues& values,
                   const Context& context) {
    return fit_auto(bank, targets, parse_options(auto_option_table(), values, kName), context);
  };
  learner.load = load_blend;
  learner.operations = [](double n, double /*p*/) { return n * n * n; };
  learner.working_memory = working_memory;
  learner.wants_entries = true;
  learner.spares_teachers = true;
  learner.stores_up_to = kAllUpTo;
  return learner;
}

}  // namespace kloom::methods
